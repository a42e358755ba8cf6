/** Repairs of explanations as edits of the document: with them the frame comes to its target. */
import { readFileSync } from "node:fs";
import { applyEdits } from "jsonc-parser";
import { expect, test } from "vitest";
import { applyRepair } from "../../../playground/src/state/edits.js";
import { buildFrame } from "../../../src/packet/builder/build.js";
import { parsePacket } from "../../../src/packet/notation/parse.js";
import { loadScenario } from "../../../src/scenario/index.js";
import { ENTRIES } from "../../explain/catalogue/entries.js";
import { explained } from "../../explain/catalogue/support/explained.js";
import { reached } from "../../explain/catalogue/support/reached.js";

const folder = new URL("../../explain/catalogue/", import.meta.url);

/** What follows from the type of a flow is no field of the document. */
const UNSAID = ["verbs/multicast-default-only", "rdma/not-rdma"];

test.each(ENTRIES)("$file", async ({ file, target }) => {
  const text = readFileSync(new URL(`${file}.json`, folder), "utf8");
  const loaded = await loadScenario(text);
  const { repairs } = await explained(loaded, target);
  for (const repair of repairs) {
    const edits = applyRepair(text, repair, loaded.frames.length);
    expect(edits === null, repair.sentence).toBe(repair.of === "rule" && UNSAID.includes(file));
    if (edits === null) continue;
    const after = applyEdits(text, edits);
    const outcome = (await loadScenario(after)).run().at(-1);
    expect(outcome !== undefined && reached(outcome, target), `${repair.sentence}\n${after}`).toBe(true);
  }
});

test("a port that is registered for a rule which asks for another one changes both", async () => {
  const vxlan = "ipv4 192.168.0.2 > 192.168.0.1 / udp 5000 > 8472 / vxlan 7 / ethernet / ipv4 10.0.0.1 > 10.0.0.5";
  const text = JSON.stringify({
    flowsteer: 1,
    queues: [{ name: "a" }],
    tables: [{ name: "root", level: 0 }],
    rules: [
      {
        name: "tunnel",
        table: "root",
        match: { "outer.udp_dport": 4789, "misc.vxlan_vni": 7 },
        actions: [{ queue: "a" }],
      },
    ],
    frames: [{ hex: Buffer.from(buildFrame(parsePacket(vxlan).layers)).toString("hex") }],
  });
  const target = { kind: "rule", name: "tunnel" } as const;
  const loaded = await loadScenario(text);
  const { repairs } = await explained(loaded, target);
  const [first] = repairs;
  expect(first).toMatchObject({
    of: "device",
    rule: "tunnel",
    fields: [
      { field: "device.parser.vxlanPorts", after: "[4789, 8472]" },
      { field: "outer.udp_dport", before: "4789", after: "8472" },
    ],
  });
  const edits = first === undefined ? null : applyRepair(text, first, 1);
  const after = applyEdits(text, edits ?? []);
  expect(JSON.parse(after)).toMatchObject({
    device: { parser: { vxlanPorts: [4789, 8472] } },
    rules: [{ match: { "outer.udp_dport": 8472, "misc.vxlan_vni": 7 } }],
  });
  const outcome = (await loadScenario(after)).run().at(-1);
  expect(outcome !== undefined && reached(outcome, target)).toBe(true);
});
