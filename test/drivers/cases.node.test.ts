/** Reported trouble with drivers (test/drivers/cases/README.md): the answers that were right. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { importRules, type ImportOptions, type ImportResult } from "../../src/import/index.js";
import { buildFrame } from "../../src/packet/builder/build.js";
import { parsePacket } from "../../src/packet/notation/parse.js";
import { loadScenario } from "../../src/scenario/index.js";
import { decodeAll } from "../packet/support/captureHelpers.js";

const file = (name: string): URL => new URL(`cases/${name}`, import.meta.url);
const text = (name: string): string => readFileSync(file(name), "utf8");
const read = (name: string, options: ImportOptions = {}): ImportResult =>
  importRules([{ file: name, text: text(name) }], options);

/** Where frames arrive, and how many. */
async function arrivals({ scenario, findings }: ImportResult, frames: readonly Uint8Array[]): Promise<object> {
  if (scenario === null) throw new Error(JSON.stringify(findings));
  const { device } = await loadScenario(scenario);
  const counts: Record<string, number> = {};
  for (const [n, frame] of frames.entries()) {
    const { to, verdict } = device.receive(1, frame, { time: BigInt(n) * 6400n });
    const name = to[0]?.name ?? verdict;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

describe("ethtool", () => {
  test("GRE to queue 0, and frames without a rule to the queues of the default context", async () => {
    const frames = decodeAll(readFileSync(file("ethtool-gre.pcap"))).frames.map(({ bytes }) => bytes);
    // Three frames to port 8001 and one of GRE; three without a rule.
    expect(await arrivals(read("ethtool-gre.sh"), frames)).toEqual({
      "qp:ens1f0np0 queue 0": 4,
      "qp:ens1f0np0 queue 1": 2,
      "qp:ens1f0np0 queue 3": 1,
    });
  });

  test("contexts, with one hash for both directions", () => {
    const { scenario, findings } = read("ethtool-contexts.sh");
    expect(findings.filter(({ severity }) => severity === "refused")).toEqual([]);
    expect(findings.find(({ reason }) => reason.includes("EINVAL"))?.line).toBe(10);
    expect(scenario?.rules?.map(({ name }) => name)).toEqual([
      "eth0 1022",
      "eth0 1023",
      "eth0 1021",
      "driver: eth0 receives",
    ]);
    expect(scenario?.tirs?.map(({ name, rx_hash_symmetric }) => [name, rx_hash_symmetric])).toEqual([
      ["eth0 context 2 UDP over IPv6", undefined],
      ["eth0 context 1 TCP over IPv4", true],
    ]);
    expect(scenario?.rqts?.map(({ queues }) => queues.length)).toEqual([128, 8]);
  });

  test("a listing has the context of a rule, over all rings", () => {
    const { scenario } = read("ethtool-listing.txt");
    expect(scenario?.rqts?.map(({ name, queues }) => [name, queues.length])).toEqual([["eth0 context 1", 8]]);
  });
});

test("Open vSwitch: green frames of a meter reach the VF", async () => {
  const frame = buildFrame(parsePacket("ipv4 192.0.2.1 > 192.0.2.2 / udp 5000 > 5201").layers);
  const counts = await arrivals(
    read("ovs-meter.sh"),
    Array.from({ length: 20_000 }, () => frame),
  );
  expect(Object.keys(counts).sort()).toEqual(["drop", "qp:vf1"]);
});
