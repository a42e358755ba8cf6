/**
 * No frame and no list of actions makes the core trap, write beside a frame, or answer otherwise in one build than in the
 * other: generated and broken frames through random rules that change headers, tags and tunnels, split, and go on.
 */
import { expect, test } from "vitest";
import { ARRAY_FIRST, MEMBER_SIZE, Op, TABLE_FDB, TABLE_ROOT } from "../../../src/abi/engine.js";
import { DEST_PORT, Reason, Verdict } from "../../../src/abi/outcome.js";
import { Batch } from "../../../src/engine/batch.js";
import type { Core } from "../../../src/engine/core.js";
import { loadOpenCore } from "../../support/openCore.js";
import { createRecord } from "../../../src/engine/records.js";
import { insertRule } from "../../../src/engine/rules.js";
import { linkOf } from "../../../src/model/traffic/links.js";
import { matchOf } from "../../../src/model/match/match.js";
import type { ModifyAction } from "../../../src/model/action/modifyActions.js";
import { modifyFields, type ModifyField } from "../../../src/model/action/modifyFields.js";
import { modifyProgram } from "../../../src/model/action/modifyHeader.js";
import { reformatRecord } from "../../../src/model/action/reformat.js";
import { Random } from "../../oracle/generate/frame.js";
import { broken } from "../wire/support/mutate.js";
import { BUILDS, generated } from "../wire/support/run.js";
import { frameText, seedFor, type TestFrame } from "../support/core.js";
import { settingUnder } from "../../model/support/settings.js";
import { checkReached, rounds } from "../../support/tier.js";
import { hexOf } from "../../../src/base/hex.js";

const WORLDS = rounds(60);
const FRAMES = 256;
const TABLES = 6;
const SETTING = settingUnder("manual", "fdb");

/** A rule as both builds get it: what its records hold, and its operations with records by their place in the list. */
interface Plan {
  records: Uint8Array[];
  /** Operation, operand, and whether that is a record. */
  rules: [table: number, match: Record<string, string>, actions: [Op, number, boolean?][]][];
}

const TEMPLATES = [
  // VXLAN over IPv4 and over IPv6, GRE, and no IP at all.
  `${"02".repeat(6)}${"04".repeat(6)}08004500000000004000401100000a0000010a0000020000` +
    "12b500000000080000000000010000",
  `${"02".repeat(6)}${"04".repeat(6)}86dd6000000000001140${"20".repeat(32)}000017c1000000000000655800000100`,
  `${"02".repeat(6)}${"04".repeat(6)}8100006408004500000000000000402f00000a0000010a00000200006558`,
].map((hex) => Uint8Array.from(hex.match(/../g)!, (byte) => parseInt(byte, 16)));

function randomChange(random: Random): ModifyAction {
  const fields = modifyFields().filter(({ name }) => !/REG_[AB]$/.test(name));
  const field = random.pick(fields);
  const part = ({ width }: ModifyField): { offset: number; length: number } => {
    const length = random.between(1, width);
    return { offset: random.below(width - length + 1), length };
  };
  const data = random.below(2 ** 32);
  switch (random.below(3)) {
    case 0:
      return { type: "set", field: field.name, data, ...part(field) };
    case 1:
      return { type: "add", field: field.name, data };
    default: {
      const to = random.pick(fields);
      const length = random.between(1, Math.min(field.width, to.width));
      const [src_offset, dst_offset] = [random.below(field.width - length + 1), random.below(to.width - length + 1)];
      return { type: "copy", field: field.name, src_offset, length, to: to.name, dst_offset };
    }
  }
}

function draw(random: Random): Plan {
  const plan: Plan = { records: [], rules: [] };
  const record = (bytes: Uint8Array): number => plan.records.push(bytes) - 1;
  const program = (): number => {
    const actions = Array.from({ length: random.between(1, 6) }, () => randomChange(random));
    return record(modifyProgram(SETTING, actions, undefined));
  };
  const reformat = (type: number): number => {
    const data = type === 0 ? undefined : type === 2 ? new Uint8Array(random.pick([14, 18])) : random.pick(TEMPLATES);
    return record(reformatRecord(SETTING, type, data, undefined));
  };
  for (let table = 0; table < TABLES; table++) {
    for (let n = random.between(1, 4); n > 0; n--) {
      const match: Record<string, string> = random.chance(0.5)
        ? {}
        : random.pick([
            { "outer.ip_version": "4" },
            { "outer.ip_protocol": "17" },
            { "inner.ip_version": "0x4/0x4" },
            { "misc2.metadata_reg_c_2": "0/1" },
            { "outer.cvlan_tag": "1" },
          ]);
      const actions: [Op, number, boolean?][] = [];
      for (let left = random.below(5); left > 0; left--) {
        const kind = random.below(6);
        if (kind < 2) actions.push([Op.modify, program(), true]);
        else if (kind === 2) actions.push([Op.push_vlan, 0x81000000 + random.below(65536)]);
        else if (kind === 3) actions.push([Op.pop_vlan, 0]);
        else actions.push([Op.reformat, reformat(random.pick([0, 1, 1, 2, 3, 3])), true]);
      }
      const onward = (): [Op, number] =>
        random.chance(0.7)
          ? [Op.table, random.below(TABLES)]
          : random.pick([
              [Op.port, 1],
              [Op.vport, 0xffff],
            ]);
      if (random.chance(0.2)) {
        const members = Array.from({ length: random.between(2, 5) }, onward);
        const bytes = new Uint8Array(ARRAY_FIRST + members.length * MEMBER_SIZE);
        const view = new DataView(bytes.buffer);
        view.setUint32(0, members.length, true);
        for (const [i, [op, operand]] of members.entries()) {
          view.setUint32(ARRAY_FIRST + i * MEMBER_SIZE, op, true);
          // Tables are known when the plan is carried out.
          view.setUint32(ARRAY_FIRST + i * MEMBER_SIZE + 4, operand, true);
        }
        actions.push([Op.array, record(bytes), true]);
      } else if (random.chance(0.9)) actions.push(onward());
      plan.rules.push([table, match, actions]);
    }
  }
  return plan;
}

/** Carries a plan out; gives its first table. */
function build(core: Core, plan: Plan): number {
  const tables = Array.from({ length: TABLES }, (_, n) =>
    core.exports.createTable(TABLE_FDB | (n === 0 ? TABLE_ROOT : 0)),
  );
  const operand = (op: number, value: number): number => (op === (Op.table as number) ? tables[value]! : value);
  const records = plan.records.map((bytes) => bytes.slice());
  for (const rule of plan.rules) {
    for (const [op, index] of rule[2]) {
      if (op !== Op.array) continue;
      const view = new DataView(records[index]!.buffer);
      for (let at = ARRAY_FIRST; at < view.byteLength; at += MEMBER_SIZE) {
        view.setUint32(at + 4, operand(view.getUint32(at, true), view.getUint32(at + 4, true)), true);
      }
    }
  }
  const addresses = records.map((bytes) => createRecord(core, bytes));
  for (const [id, [table, fields, actions]] of plan.rules.entries()) {
    const record = actions.flatMap(([op, value, named]) => [
      op,
      named === true ? addresses[value]! : operand(op, value),
    ]);
    const match = matchOf("match", fields);
    expect(insertRule(core, tables[table]!, { id, rankHigh: 0, rankLow: id, ...match, actions: record })).not.toBe(0);
  }
  core.exports.setFdb(tables[0]!);
  core.exports.setVport(0, core.exports.emptyTable());
  return tables[0]!;
}

/** Everything that is said of a frame, as text. */
function said(batch: Batch, i: number): string {
  const parts = [Verdict[batch.verdict(i)]!, Reason[batch.reason(i)]!, `written ${batch.written(i).toString(2)}`];
  for (let n = 0; n < batch.hits(i); n++) parts.push(`rule ${batch.hit(i, n)}`);
  let at = batch.firstDestination(i);
  for (let n = 0; n < batch.destinations(i); n++, at = batch.nextDestination(at)) {
    expect(batch.flagsOf(at) & DEST_PORT).not.toBe(0);
    parts.push(`port ${batch.queueOf(at)}: ${hexOf(batch.frameAt(at))}`);
  }
  return parts.join(", ");
}

test(`${WORLDS} random worlds of ${FRAMES} frames`, async () => {
  const random = new Random(seedFor("fuzzRewrite"));
  const seen = new Map<string, number>();
  const frames = generated(random);
  let copies = 0;
  for (let world = 0; world < WORLDS; world++) {
    const plan = draw(random);
    const batches = await Promise.all(
      Object.values(BUILDS).map(async (bytes) => {
        const core = await loadOpenCore(bytes);
        return { batch: new Batch(core), root: build(core, plan) };
      }),
    );
    const list: TestFrame[] = [];
    while (list.length < FRAMES) {
      const whole = frames.next().value;
      list.push(whole, broken(whole, [], frames.next().value, random), { ...whole, wireLength: 0xffffffff });
    }
    const texts = batches.map(({ batch, root }) => {
      batch.clear();
      let count = 0;
      for (const { bytes, linkType, wireLength } of list) {
        if (batch.put(bytes, wireLength, 2, linkOf("linkType", linkType)) < 0) break;
        count++;
      }
      batch.steer(root);
      return Array.from({ length: count }, (_, i) => said(batch, i));
    });
    expect(batches[0]!.batch.reasons()).toEqual(batches[1]!.batch.reasons());
    copies += Number(batches[0]!.batch.reasons()[Reason.copy_limit]);
    for (const [i, text] of texts[0]!.entries()) {
      if (text !== texts[1]![i]) expect(text, frameText(list[i]!)).toBe(texts[1]![i]);
      const [verdict, reason] = text.split(", ");
      seen.set(`${verdict} ${reason}`, (seen.get(`${verdict} ${reason}`) ?? 0) + 1);
    }
  }
  console.log([...seen].map(([what, count]) => `${what} ${count}`).join(", "));
  const outcomes = ["forward none", "drop not_a_tunnel", "drop frame_too_long", "drop hop_limit"];
  checkReached(() => {
    expect(copies).toBeGreaterThan(0);
    expect(outcomes.filter((one) => !seen.has(one))).toEqual([]);
  });
});
