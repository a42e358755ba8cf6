/** Why an earlier rule took the frame: the chain goes on with what wrote the fields that it matches. */
import { describe, expect, test } from "vitest";
import { why, type Explanation } from "../../../src/explain/index.js";
import { loadScenario } from "../../../src/scenario/index.js";
import { buildFrame } from "../../../src/packet/index.js";

const frame = buildFrame([
  { header: "ethernet" },
  { header: "ipv4", source: "198.51.100.9", destination: "192.0.2.80" },
  { header: "tcp", destination_port: 443 },
]);

/** A rule that does `actions` on the way to a table, where `earlier` comes before the target. */
async function explain(actions: readonly unknown[], match: object, taker: readonly unknown[]): Promise<Explanation> {
  const { device } = await loadScenario({
    flowsteer: 1,
    queues: [{ name: "q" }],
    tables: [
      { name: "first", level: 0 },
      { name: "second", level: 1 },
    ],
    actions: [
      {
        name: "meter",
        flow_meter: { next_table: "second", reg_c_index: 1, meter_mode: "pkt", cir: 1, cbs: 1, start_color: "red" },
      },
    ],
    rules: [
      { name: "first", table: "first", match: {}, actions },
      { name: "earlier", table: "second", priority: 1, match, actions: taker },
      { name: "target", table: "second", priority: 2, match: { "outer.tcp_dport": 443 }, actions: [{ queue: "q" }] },
    ],
  });
  return why(device, 1, frame, { kind: "rule", name: "target" });
}

const on = { table: "second" };

describe("the chain of an earlier rule", () => {
  test("names the meter whose colour it takes, and no repair moves or weakens it where it drops", async () => {
    const { reasons, repairs, mistake } = await explain([{ action: "meter" }], { "misc2.metadata_reg_c_1": "0/0xff" }, [
      "drop",
    ]);
    expect(reasons.map(({ kind }) => kind)).toEqual(["earlier rule", "state"]);
    expect(reasons[1]?.sentence).toBe(
      'meter "flow_meter (second)" coloured the frame red: it has the start colour red, and gets no better one; rule "earlier" takes red frames',
    );
    expect(repairs).toEqual([]);
    expect(mistake).toBeNull();
  });

  test("moves a rule that takes a colour without dropping it", async () => {
    const { repairs } = await explain([{ action: "meter" }], { "misc2.metadata_reg_c_1": "0/0xff" }, [{ queue: "q" }]);
    expect(repairs.map(({ of, fields }) => [of, fields[0]?.field])).toEqual([["rule", "priority"]]);
  });

  test("names the action that rewrote a field", async () => {
    const change = { modify: [{ set: "outer.ipv4_dst", to: "10.0.0.7" }] };
    const { reasons } = await explain([change, on], { "outer.ipv4_dst": "10.0.0.7" }, ["drop"]);
    expect(reasons.map(({ sentence }) => sentence).slice(1)).toEqual([
      'rule "first" changed outer.ipv4_dst from 192.0.2.80 to 10.0.0.7 before table "second" (modify)',
    ]);
  });

  test("names the action that wrote a register, also one that left its value", async () => {
    for (const [to, sentence] of [
      [7, 'rule "first" changed misc2.metadata_reg_c_1 from 0 to 7 before table "second" (modify)'],
      [0, 'rule "first" wrote misc2.metadata_reg_c_1 0 before table "second" (modify)'],
    ] as const) {
      const change = { modify: [{ set: "misc2.metadata_reg_c_1", to }] };
      const { reasons } = await explain([change, on], { "misc2.metadata_reg_c_1": to }, ["drop"]);
      expect(reasons[1]?.sentence).toBe(sentence);
    }
  });

  test("ends where the frame brought what the earlier rule matches", async () => {
    const { reasons } = await explain([on], { "outer.ipv4_dst": "192.0.2.80" }, ["drop"]);
    expect(reasons.map(({ kind }) => kind)).toEqual(["earlier rule"]);
  });
});
