/** What is summed up of answers: by whom a register was written last, and nothing where that is not known. */
import { describe, expect, it } from "vitest";
import { loadScenario } from "../../src/scenario/index.js";

const FRAME = { headers: [{ header: "ethernet" }, { header: "ipv4" }, { header: "udp" }] };
const METER = (flags: string, return_reg_c: number): object => ({
  aso: { object: "m", flags: `flow_meter_${flags}`, return_reg_c },
});

/** The answers of two rules that a frame passes one after the other, as `name answer frames ends`. */
async function answers(first: object[], second: object[], more: object = {}): Promise<string[]> {
  const loaded = await loadScenario({
    flowsteer: 1,
    queues: [{ name: "a" }],
    asoObjects: [
      { name: "m", flow_meter: { cbs: 255 } },
      { name: "f", first_hit: [] },
    ],
    tables: [
      { name: "root", level: 0 },
      { name: "one", level: 1 },
      { name: "two", level: 2 },
    ],
    rules: [
      { name: "all", table: "root", actions: [{ table: "one" }] },
      { name: "first", table: "one", actions: [...first, { table: "two" }] },
      { name: "second", table: "two", actions: [...second, { queue: "a" }] },
    ],
    frames: [FRAME, FRAME],
    ...more,
  });
  loaded.run();
  return loaded.state.answers.map(
    ({ use, answer, frames, ends }) => `${use.name} ${answer} ${frames} ${[...ends.keys()].join()}`,
  );
}

describe("answers", () => {
  const hit = { aso: { object: "f", offset: 5, flags: "first_hit_set", return_reg_c: 1 } };

  it("are those of each register, by what was asked", async () => {
    expect(await answers([METER("green", 3)], [hit])).toEqual(["m[0] 2 2 qp:a", "f[5] 0 1 qp:a", "f[5] 1 1 qp:a"]);
  });

  it("are those of who wrote the register last", async () => {
    expect(await answers([METER("red", 1)], [hit])).toEqual(["f[5] 0 1 qp:a", "f[5] 1 1 qp:a"]);
  });

  it("are none where a change has written the register", async () => {
    const change = (register: number): object => ({ modify: [{ set: `misc2.metadata_reg_c_${register}`, to: 1 }] });
    expect(await answers([hit], [change(1)])).toEqual([]);
    expect(await answers([hit], [change(2)])).toEqual(["f[5] 0 1 qp:a", "f[5] 1 1 qp:a"]);
    expect(await answers([hit], [{ modify: ["1016000000000000"] }])).toEqual([]);
    const shared = { actions: [{ name: "change", ...change(1) }] };
    expect(await answers([hit], [{ action: "change" }], shared)).toEqual([]);
  });

  it("are none where two actions of a rule write one register", async () => {
    expect(await answers([METER("green", 1), hit], [])).toEqual([]);
  });

  it("are of the offset that an action was modified to", async () => {
    const actions = [{ name: "flag", aso: { object: "f", return_reg_c: 1 } }];
    const modified = { action: "flag", modify_aso: { offset: 7, return_reg_c: 3 } };
    expect(await answers([{ action: "flag" }], [modified], { actions })).toEqual(["f[0] 0 2 qp:a", "f[7] 0 2 qp:a"]);
  });

  it("of frames that come in again are those beyond the port too", async () => {
    const rules = [
      { name: "out", table: "root", match: { "ext.port": 1 }, actions: [{ port: 2 }] },
      { name: "in", table: "root", priority: 1, actions: [{ table: "one" }] },
      { name: "asks", table: "one", actions: [hit, { vport: 0 }] },
      { name: "here", table: "nic", actions: [{ queue: "a" }] },
    ];
    const tables = [
      { name: "root", domain: "fdb", level: 0 },
      { name: "one", domain: "fdb", level: 1 },
      { name: "nic", level: 0 },
      { name: "two", level: 2 },
    ];
    const more = { rules, tables, device: { ports: 3 }, connect: [{ port: 2, to: 3 }] };
    expect(await answers([], [], more)).toEqual(["f[5] 0 1 qp:a", "f[5] 1 1 qp:a"]);
  });
});
