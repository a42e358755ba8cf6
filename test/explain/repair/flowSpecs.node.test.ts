/** Repairs of verbs flows: edits of their specs that the profile of the device takes. */
import { expect, test } from "vitest";
import { why } from "../../../src/explain/index.js";
import { canMatch } from "../../../src/explain/repair/flowSpecs.js";
import { isVerbsFlow } from "../../../src/model/flow/kinds.js";
import { matchOf } from "../../../src/model/match/match.js";
import { loadScenario } from "../../../src/scenario/index.js";

const load = (specs: readonly object[], profile: string, headers: readonly object[] = []) =>
  loadScenario({
    flowsteer: 1,
    device: { profile },
    flows: [{ name: "https", queue: "web", specs }],
    queues: [{ name: "web" }],
    frames: [{ name: "frame", headers: [{ header: "ethernet" }, ...headers] }],
  });

test("a field that no spec of the flow has is that of a new spec", async () => {
  const { device, frames } = await load([{ tcp: { dst_port: 443 } }], "manual", [
    { header: "ipv4" },
    { header: "udp", destination_port: 443 },
  ]);
  const { repairs } = await why(device, 1, frames[0]!.bytes, { kind: "flow", name: "https" });
  expect(repairs[0]?.sentence).toContain('In flow "https" match udp.dst_port 443 instead of tcp.dst_port');
});

test.each([
  ["manual", true],
  ["connectx7", false],
])("%s: a TTL in a spec of IPv4 is taken: %s", async (profile, taken) => {
  const loaded = await load([{ ipv4_ext: { dst_ip: "192.0.2.80" } }], profile);
  const flow = loaded.flows.get("https");
  if (!isVerbsFlow(flow)) throw new Error("no flow of the verbs");
  const match = { "outer.ipv4_dst": "192.0.2.80", "outer.ip_version": 4, "ext.port": 1 };
  expect(canMatch(flow, matchOf("match", match))).toBe(true);
  expect(canMatch(flow, matchOf("match", { ...match, "outer.ip_ttl_hoplimit": 63 }))).toBe(taken);
  // No spec has registers.
  expect(canMatch(flow, matchOf("match", { ...match, "misc2.metadata_reg_c_0": 1 }))).toBe(false);
});
