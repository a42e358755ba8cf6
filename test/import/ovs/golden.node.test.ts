/**
 * Random flow tables, imported: each frame leaves by the ports, and with the bytes, that Open vSwitch gave it. The files are
 * made by scripts/golden-ovs-flows.mjs, scripts/golden-ovs-conjunctions.mjs and scripts/golden-ovs-bridges.mjs, which has
 * three bridges with patch ports; FLOWSTEER_OVS_FLOWS and FLOWSTEER_OVS_BRIDGES name longer ones.
 */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { importRules, printFinding } from "../../../src/import/index.js";
import { loadBridge, sorted, steer, type PortFrame } from "./support/steer.js";

interface Case {
  readonly flows?: readonly string[];
  readonly groups?: readonly string[];
  /** The text as a whole, of several bridges. */
  readonly text?: string;
  readonly frames: readonly { readonly port: string; readonly bytes: string; readonly out: readonly PortFrame[] }[];
}

const LONGER = process.env["FLOWSTEER_OVS_FLOWS"];
const LONGER_BRIDGES = process.env["FLOWSTEER_OVS_BRIDGES"];
const FILES = [
  ...(LONGER === undefined ? ["ovs-flows", "ovs-conjunctions"] : [LONGER]),
  LONGER_BRIDGES ?? "ovs-bridges",
];
const ONE = { 1: "uplink", 2: "vf1", 3: "vf2", 4: "vf3" };
const SEVERAL = {
  p1: "uplink",
  p2: "vf1",
  p3: "vf2",
  p4: "vf3",
  p5: "vf4",
  p6: "vf5",
  "br1:LOCAL": "vf6",
  br2: "vf7",
  p7: "vf8",
  p8: "vf9",
};

it.each(FILES)(
  "steers frames as Open vSwitch does: %s",
  async (file) => {
    const path =
      file === LONGER || file === LONGER_BRIDGES ? file : new URL(`../../golden/${file}.json`, import.meta.url);
    const { cases } = JSON.parse(readFileSync(path, "utf8")) as { cases: readonly Case[] };
    let steered = 0;
    for (const [n, { text: whole, flows = [], groups = [], frames }] of cases.entries()) {
      const text = whole ?? [...groups, ...flows].join("\n");
      const map = whole === undefined ? ONE : SEVERAL;
      const { scenario, findings } = importRules(text, { format: "ovs", map });
      expect(findings.filter(({ severity }) => severity === "refused").map(printFinding)).toEqual([]);
      if (scenario === null) throw new Error("refused");
      const loaded = await loadBridge(scenario);
      for (const { port, bytes, out } of frames) {
        const got = steer(loaded, [port, bytes]);
        steered++;
        if (JSON.stringify(got) === JSON.stringify(sorted(out))) continue;
        expect(got, `table set ${n}, from ${port}: ${bytes}\n${text}`).toEqual(sorted(out));
      }
    }
    expect(steered).toBeGreaterThanOrEqual(960);
  },
  600_000,
);
