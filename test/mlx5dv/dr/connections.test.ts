/** Connections through direct rules: directions by their flags, syndromes that later tables match, objects read and written. */
import { beforeEach, expect, test } from "vitest";
import * as dv from "../../../src/mlx5dv/index.js";
import { AsoObject } from "../../../src/model/action/asoObject.js";
import { connectionBytes, connectionFromBytes } from "../../../src/model/action/connection.js";
import type { Table } from "../../../src/model/table/domain.js";
import type { Action } from "../../../src/model/action/action.js";
import type { HitRule } from "../../../src/model/traffic/outcome.js";
import { ACK, FIN, RST, segmentFrame, SECOND, SYN } from "../../assembly/act/support/connections.js";
import { openBench, type Bench } from "../support/directRules.js";

const INITIATOR = dv.MLX5DV_DR_ACTION_FLAGS_ASO_CT_DIRECTION_INITIATOR;
const RESPONDER = dv.MLX5DV_DR_ACTION_FLAGS_ASO_CT_DIRECTION_RESPONDER;
const EMPTY = new Uint8Array(64);

let bench: Bench;
beforeEach(async () => {
  bench = await openBench();
});

function rule(table: Table, fields: Record<string, number | string>, actions: Action[]): HitRule {
  const { match_criteria_enable, mask, value } = dv.matchParameters(fields);
  const matcher = dv.mlx5dv_dr_matcher_create(table, 0, match_criteria_enable, mask);
  return dv.mlx5dv_dr_rule_create(matcher, value, undefined, actions);
}

/**
 * Derives the direction from the source MAC address, tracks, and continues by syndrome; the tag
 * names the rule that matched.
 */
function track(object: AsoObject, offset: number): Map<HitRule, string> {
  const { domain, root, queue } = bench;
  const [tracked, judged] = [1, 2].map((level) => dv.mlx5dv_dr_table_create(domain, level)) as [Table, Table];
  rule(root, {}, [dv.mlx5dv_dr_action_create_dest_table(tracked)]);
  for (const [smac, flags] of [
    ["02:00:00:00:00:0a", INITIATOR],
    ["02:00:00:00:00:0b", RESPONDER],
  ] as const) {
    const action = dv.mlx5dv_dr_action_create_aso(domain, object, offset, flags, 3);
    rule(tracked, { "outer.smac": smac }, [action, dv.mlx5dv_dr_action_create_dest_table(judged)]);
  }
  const names = new Map<HitRule, string>();
  for (const [name, syndrome] of Object.entries({ valid: 0, changed: 2, invalid: 0x40, bad: 0x41, trap: 0x80 })) {
    names.set(
      rule(judged, { "misc2.metadata_reg_c_3": syndrome }, [dv.mlx5dv_dr_action_create_dest_ibv_qp(queue)]),
      name,
    );
  }
  return names;
}

function frame(original: boolean, flags: number, seq: number, ack = 0): Uint8Array {
  const bytes = segmentFrame({ flags, seq, ack });
  bytes.set([2, 0, 0, 0, 0, original ? 0x0a : 0x0b], 6);
  return bytes;
}

test("a connection that begins with its SYN is told by its rules", () => {
  const { device, context } = bench;
  const object = AsoObject.create(context, "connection", 1, EMPTY);
  const names = track(object, 1);
  const take = (original: boolean, flags: number, seq: number, ack = 0, time = 0n): string => {
    return names.get(device.receive(1, frame(original, flags, seq, ack), { time }).rules.at(-1)!)!;
  };
  expect(take(false, SYN | ACK, 500, 101)).toBe("invalid");
  expect(take(true, SYN, 100)).toBe("changed");
  expect(take(true, SYN | ACK, 500, 101)).toBe("invalid");
  expect(take(true, SYN | FIN, 100)).toBe("bad");
  expect(take(false, SYN | ACK, 500, 101)).toBe("changed");
  expect(take(true, ACK, 101, 501)).toBe("changed");
  expect(take(true, ACK, 101, 501)).toBe("valid");
  const read = connectionFromBytes("data", object.read(1));
  expect(read).toMatchObject({ valid: 1, state: 1, last_dir: 1, original: { sent_end: 101, max_ack: 501 } });
  expect(object.read(0)).toEqual(EMPTY);

  // The state that was read continues in another object; its time starts with its first frame.
  object.write(1, connectionBytes("data", { ...read, state: 4 }));
  expect(take(false, ACK, 501, 101, 1_000_000n * SECOND)).toBe("changed");
  object.write(1, connectionBytes("data", { ...read, freeze_track: 1 }));
  expect(take(false, RST, 501, 101)).toBe("trap");
});

test("frames of one batch are tracked one after the other", () => {
  const { device, context } = bench;
  const names = track(AsoObject.create(context, "connection", 0, EMPTY), 0);
  const frames = [
    frame(true, SYN, 100),
    frame(false, SYN | ACK, 500, 101),
    frame(true, ACK, 101, 501),
    frame(true, ACK, 900_000, 501),
  ];
  const outcomes = device.receiveBatch(1, frames);
  expect(outcomes.map(({ rules }) => names.get(rules.at(-1)!))).toEqual(["changed", "changed", "changed", "invalid"]);
  expect(outcomes.map(({ registers }) => registers["C3"])).toEqual([2, 2, 2, 0x40]);
});

test("an option that ends before its length is none (RFC 9293, 3.1)", () => {
  const { device, context } = bench;
  const object = AsoObject.create(context, "connection", 1, EMPTY);
  track(object, 0);
  const begun = (options: readonly number[]): Uint8Array => {
    object.write(0, EMPTY);
    const bytes = segmentFrame({ flags: SYN, seq: 100, options: [...options] });
    bytes.set([2, 0, 0, 0, 0, 0x0a], 6);
    device.receive(1, bytes, { time: 0n });
    return object.read(0);
  };
  const [NOP, SCALE] = [1, 3];
  const plain = begun([NOP, NOP, NOP, NOP]);
  expect(begun([SCALE, 3, 7, NOP])).not.toEqual(plain);
  expect(begun([NOP, NOP, NOP, SCALE])).toEqual(plain);
});

test("a SYN goes on after another SYN of which only the kind was written", () => {
  const { device, context } = bench;
  const object = AsoObject.create(context, "connection", 1, EMPTY);
  const names = track(object, 0);
  const take = (original: boolean, flags: number, seq: number, ack = 0): string =>
    names.get(device.receive(1, frame(original, flags, seq, ack)).rules.at(-1)!)!;
  expect(take(true, SYN, 100)).toBe("changed");
  const { last_index, last_dir } = connectionFromBytes("data", object.read(0));
  object.write(0, connectionBytes("data", { valid: 0, last_index, last_dir }));
  expect(take(true, SYN, 300)).toBe("valid");
  expect(take(false, SYN | ACK, 500, 301)).toBe("changed");
  expect(take(true, ACK, 301, 501)).toBe("changed");
  expect(take(true, ACK, 301, 501)).toBe("valid");
});

test("a liberal side opens with any acknowledgement, and windows end at 2 ** 32", () => {
  const { device, context } = bench;
  const object = AsoObject.create(context, "connection", 1, EMPTY);
  const names = track(object, 0);
  const take = (original: boolean, flags: number, seq: number, ack = 0): string =>
    names.get(device.receive(1, frame(original, flags, seq, ack)).rules.at(-1)!)!;
  const read = (): ReturnType<typeof connectionFromBytes> => connectionFromBytes("data", object.read(0));
  expect(take(true, SYN, 100)).toBe("changed");
  const half = read();
  expect(take(false, SYN | ACK, 500, 999)).toBe("invalid");
  object.write(0, connectionBytes("data", { ...half, reply: { ...half.reply, liberal: 1 } }));
  expect(take(false, SYN | ACK, 500, 999)).toBe("changed");

  expect(take(true, ACK, 101, 501)).toBe("changed");
  const open = read();
  const [original, reply] = [
    { ...open.original, liberal: 1 },
    { ...open.reply, max_win: 0xffff_fff0 },
  ];
  object.write(0, connectionBytes("data", { ...open, original, reply }));
  // Beyond the window, which must have been larger.
  expect(take(true, ACK, original.reply_end + 100, 501)).toBe("valid");
  expect(read().reply.max_win).toBe(0xffff_ffff);
});
