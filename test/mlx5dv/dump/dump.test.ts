/** mlx5dv_dump_dr_*: content of the records; these calls never throw. */
import { beforeAll, describe, expect, test } from "vitest";
import { createDevice } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import type { Domain, Table } from "../../../src/model/table/domain.js";
import { openScene, readDump, textOf, type Columns, type Scene } from "../support/dumpScene.js";
import { ruleFor } from "../support/switchBench.js";

let scene: Scene;
beforeAll(async () => {
  scene = await openScene();
});

const dumpOf = (domain: Domain): ReturnType<typeof readDump> =>
  readDump(textOf((file) => dv.mlx5dv_dump_dr_domain(file, domain)));
const ofType = (records: ReturnType<typeof readDump>, ...types: number[]): Columns[] =>
  records.filter(({ type }) => types.includes(type)).map(({ columns }) => columns);

describe("a domain", () => {
  test("says what device and function it is of", () => {
    const records = dumpOf(scene.fdb.domain);
    expect(ofType(records, 3000).map((columns) => columns.slice(1))).toEqual([
      ["2", "00", "1", "flowsteer", "flowsteer0", "0", "0", "0", "0", "2"],
    ]);
    expect(ofType(records, 3003).map(([, number]) => number)).toEqual(["0", "1", "2", "65535"]);
    expect(ofType(records, 3004)[0]!.slice(5)).toEqual(["3", "1"]);
  });

  test("without tables is not empty; its flags and its device tell", async () => {
    const device = await createDevice({ profile: "connectx5", vports: 3 });
    const domain = dv.mlx5dv_dr_domain_create(dv.mlx5dv_open_device(device.function(3)), 1);
    dv.mlx5dv_dr_domain_allow_duplicate_rules(domain, false);
    dv.mlx5dv_dr_domain_set_reclaim_device_memory(domain, true);
    const records = dumpOf(domain);
    expect(records.map(({ type }) => type)).toEqual([3000, 3002, 3004]);
    const [, type, gvmi, steers, , name, flags, , , , format] = records[0]!.columns;
    expect([type, gvmi, steers, name, flags, format]).toEqual(["1", "03", "1", "flowsteer0/vf3", "3", "0"]);
    // It is not an eSwitch manager.
    expect(records[2]!.columns.slice(5)).toEqual(["0", "0"]);
    const switchOfVf = dv.mlx5dv_dr_domain_create(dv.mlx5dv_open_device(device.function(3)), 2);
    expect(ofType(dumpOf(switchOfVf), 3000)[0]![3]).toBe("0");
  });

  test("has its tables, theirs theirs, each behind what it is in", () => {
    const records = dumpOf(scene.rx.domain);
    const inside = new Map<number, Set<string>>();
    const parents: Record<number, number> = { 3100: 3000, 3101: 3100, 3200: 3100, 3205: 3200, 3300: 3200, 4300: 3300 };
    for (const { type, columns } of records) {
      const [id = "", of = ""] = columns;
      const action = type > 3400 && type < 3500;
      const parent = action ? 3300 : parents[type];
      const named = type === 3101 || type === 3205 || type === 4300 ? id : action ? columns[1]! : of;
      if (parent !== undefined) expect([...inside.get(parent)!].at(-1), `${type},${columns.join()}`).toBe(named);
      inside.set(type, (inside.get(type) ?? new Set()).add(id));
    }
    expect([...inside.get(3100)!]).toHaveLength(4);
    expect([...inside.get(3300)!]).toHaveLength(5);
    expect(ofType(records, 3100).map((columns) => columns.slice(2).join())).toEqual(["0,1", "0,0", "0,5", "0,6"]);
    expect(ofType(dumpOf(scene.fdb.domain), 3100).map(([, , type]) => type)).toEqual(["4", "4"]);
  });

  test("has every kind of action", () => {
    const types = [scene.rx, scene.tx, scene.fdb].flatMap(({ domain }) => dumpOf(domain).map(({ type }) => type));
    const actions = [...new Set(types.filter((type) => type >= 3400 && type < 3500))].sort((a, b) => a - b);
    const all = [3400, 3401, 3402, 3403, 3404, 3405, 3406, 3407, 3408, 3409, 3410, 3412, 3413, 3414, 3415, 3416];
    expect(actions).toEqual([...all, 3417, 3418, 3419, 3423, 3424]);
  });
});

test("actions say what they do, where they lead, what they count on", () => {
  const { rx, fdb, queues } = scene;
  const [records, switched] = [dumpOf(rx.domain), dumpOf(fdb.domain)];
  const tables = ofType(records, 3100).map(([id]) => id);
  const details = (type: number, of = records): string[] => ofType(of, type).flatMap((columns) => columns.slice(2));
  expect(details(3407)).toEqual(["0x1234"]);
  expect(details(3404)).toEqual([`0x${queues[0]!.qp_num.toString(16)}`]);
  expect(details(3412)).toEqual(["0x81000064"]);
  expect(details(3405)).toEqual([tables[0], tables[0]]);
  expect(details(3414)[0]).toBe(tables[2]);
  expect(details(3415)[0]).toBe(tables[3]);
  // In the order of lookups: of equal priority the newer matcher is first.
  expect(details(3408, switched)).toEqual(["0xffff", "0x2"]);
  expect(ofType(records, 3405)[0]).toHaveLength(4);
});

test("counters of a bulk have the numbers of the device", () => {
  const bulk = dv.mlx5dv_devx_obj_create(
    scene.context,
    dv.allocFlowCounterCommand(2),
    undefined,
    new Uint8Array(16),
    undefined,
  );
  const counts = [0, 3].map((offset) => dv.mlx5dv_dr_action_create_flow_counter(bulk as never, offset));
  const table = dv.mlx5dv_dr_table_create(scene.tx.domain, 9);
  const rule = ruleFor(table, {}, counts);
  const numbers = ofType(readDump(textOf((file) => dv.mlx5dv_dump_dr_rule(file, rule))), 3406).map(([, , n]) =>
    Number(n),
  );
  expect(numbers[1]! - numbers[0]!).toBe(3);
  dv.mlx5dv_dr_rule_destroy(rule);
});

test("masks and values are words of the library's structs", () => {
  const rule = scene.rules["every group"]!;
  const records = readDump(textOf((file) => dv.mlx5dv_dump_dr_rule(file, rule)));
  const [[, outer, inner, misc, misc2, misc3, misc4, misc5]] = ofType(records, 3205) as [Columns];
  const word = (group: string, n: number): number =>
    Number(`0x${(group.slice(n * 8, n * 8 + 8).match(/../g) ?? []).reverse().join("")}`);
  for (const group of [outer, inner, misc, misc2, misc3, misc4, misc5]) expect(group).toMatch(/^[0-9a-f]{128}$/);
  // struct dr_match_spec: dmac_47_16; dmac_15_0 16, prio 3, cfi 1, vid 12.
  expect([word(outer!, 2), word(outer!, 3)]).toEqual([0xffffff00, 0xfff000ff]);
  expect([word(outer!, 7), word(outer!, 15)]).toEqual([0xffff0000, 0xffff0000]);
  // gre_key_h 24, gre_key_l 8.
  expect(word(misc!, 4)).toBe(0xffffffff);
  const [[, ...values]] = ofType(records, 4300) as [Columns];
  expect([word(values[0]!, 2), word(values[0]!, 3) & 0xff, word(values[0]!, 3) >>> 20]).toEqual([0x02000000, 1, 100]);
  expect(word(values[2]!, 4)).toBe(0x04010203);
  expect(word(values[3]!, 9)).toBe(7);
  expect([word(values[5]!, 6), word(values[5]!, 7)]).toEqual([5, 3]);
  expect([word(misc4!, 6), word(misc4!, 7)]).toEqual([0xffffffff, 3]);
  expect(word(values[6]!, 5)).toBe(9);
  expect(misc5 === values[6]).toBe(false);
});

test("a table, a matcher, a rule, behind what they are in alone", () => {
  const { rx, rules } = scene;
  const rule = rules["state"]!;
  const types = (dump: (file: dv.DumpFile) => number): number[] => readDump(textOf(dump)).map(({ type }) => type);
  const head = [3000, 3002, 3004, 3100, 3101];
  const whole = [...head, 3200, 3205, 3300, 4300, 3417, 3418, 3419, 3414];
  expect(types((file) => dv.mlx5dv_dump_dr_rule(file, rule))).toEqual(whole);
  expect(types((file) => dv.mlx5dv_dump_dr_matcher(file, rule.matcher))).toEqual(whole);
  const table = types((file) => dv.mlx5dv_dump_dr_table(file, rx.table));
  expect(table.slice(0, 5)).toEqual(head);
  expect(table.filter((type) => type === 3300)).toHaveLength(4);
  expect(table.filter((type) => type === 3100)).toHaveLength(1);
});

test("numbers stay; rules that are gone are not there", () => {
  const { tx } = scene;
  const table: Table = dv.mlx5dv_dr_table_create(tx.domain, 8);
  const made = [1, 2, 3].map((n) => ruleFor(table, { "misc.source_sqn": n }, []));
  const dump = (): string => textOf((file) => dv.mlx5dv_dump_dr_table(file, table));
  const before = dump();
  expect(dump()).toBe(before);
  dv.mlx5dv_dr_rule_destroy(made[1]!);
  const lines = before.split("\n");
  const gone = lines.filter((line) => !dump().includes(line)).map((line) => line.slice(0, 4));
  expect(gone).toEqual(["3300", "4300"]);
});

test("rules that wait for a sync have no value yet", async () => {
  const device = await createDevice({ asyncRules: true });
  const domain = dv.mlx5dv_dr_domain_create(dv.mlx5dv_open_device(device), 1);
  const table = dv.mlx5dv_dr_table_create(domain, 1);
  const rule = ruleFor(table, {}, [dv.mlx5dv_dr_action_create_drop()]);
  const types = (): number[] =>
    dumpOf(domain)
      .map(({ type }) => type)
      .slice(-4);
  expect(types()).toEqual([3200, 3205, 3300, 3403]);
  dv.mlx5dv_dr_domain_sync(domain, 1);
  expect(types()).toEqual([3205, 3300, 4300, 3403]);
  dv.mlx5dv_dr_rule_destroy(rule);
  expect(types().slice(-2)).toEqual([3200, 3205]);
});

test("without a file or an object they give a negative EINVAL, and write nothing", () => {
  const { rx, rules } = scene;
  const rule = rules["state"]!;
  let text = "";
  const file = (more: string): unknown => (text += more);
  const calls = [
    [dv.mlx5dv_dump_dr_domain, rx.domain],
    [dv.mlx5dv_dump_dr_table, rx.table],
    [dv.mlx5dv_dump_dr_matcher, rule.matcher],
    [dv.mlx5dv_dump_dr_rule, rule],
  ] as [(file: unknown, object: unknown) => number, object][];
  for (const [dump, object] of calls) {
    for (const wrong of [null, undefined, 0, "file", {}, { write: 1 }]) expect(dump(wrong, object)).toBe(-22);
    for (const [, other] of [
      ...calls.filter(([, one]) => one !== object),
      [0, null],
      [0, undefined],
      [0, {}],
      [0, 7],
    ]) {
      expect(dump(file, other)).toBe(-22);
    }
  }
  const gone = dv.mlx5dv_dr_table_create(rx.domain, 30);
  dv.mlx5dv_dr_table_destroy(gone);
  expect(dv.mlx5dv_dump_dr_table(file, gone)).toBe(-22);
  expect(text).toBe("");
});

test("a file is a stream, or a function", () => {
  const lines: string[] = [];
  const stream = {
    lines,
    write(this: { lines: string[] }, text: string): boolean {
      this.lines.push(text);
      return true;
    },
  };
  expect(dv.mlx5dv_dump_dr_rule(stream, scene.rules["sent"]!)).toBe(0);
  expect(lines.join("")).toBe(textOf((file) => dv.mlx5dv_dump_dr_rule(file, scene.rules["sent"]!)));
});
