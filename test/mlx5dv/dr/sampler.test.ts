/** Samplers: effects of sampled copies beside the original frames. */
import { expect, test } from "vitest";
import type { Outcome } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import type { Action } from "../../../src/model/action/action.js";
import type { Table } from "../../../src/model/table/domain.js";
import * as v from "../../../src/verbs/index.js";
import { isSampled } from "../../oracle/act/sampler.js";
import { ipv4Frame } from "../support/directRules.js";
import { enter, openSwitch, type Place, ruleFor, type SwitchBench, tagged } from "../support/switchBench.js";

const names = (list: Outcome["to"]): string[] => list.map(({ name }) => name);
const told = ({ verdict, reason, to, copies }: Outcome): unknown[] => [verdict, reason, names(to), names(copies)];

/**
 * Every frame is sampled with these actions, and continues with those; `before`: earlier actions of
 * the rule.
 */
function sampleAll(
  { domain, table }: Place,
  sample_actions: Action[],
  onward: Action[],
  sample_ratio = 1,
  before: Action[] = [],
): Table {
  const next = dv.mlx5dv_dr_table_create(domain, 2);
  const sampler = dv.mlx5dv_dr_action_create_flow_sampler({ sample_ratio, default_next_table: next, sample_actions });
  ruleFor(table, {}, [...before, sampler]);
  ruleFor(next, {}, onward);
  return next;
}

const toQueue = ({ queues }: SwitchBench, n = 0): Action => dv.mlx5dv_dr_action_create_dest_ibv_qp(queues[n]!);
const drop = (): Action => dv.mlx5dv_dr_action_create_drop();

/** It is not ready to receive. */
function deafQueue({ context }: SwitchBench): v.QueuePair {
  const cq = v.ibv_create_cq(context, 1);
  const cap = { max_send_wr: 1, max_recv_wr: 1, max_send_sge: 1, max_recv_sge: 1, max_inline_data: 0 };
  const attributes = { send_cq: cq, recv_cq: cq, cap, qp_type: v.IBV_QPT_RAW_PACKET };
  return v.ibv_create_qp(v.ibv_alloc_pd(context), attributes);
}

test("chance is a function of seed, frame and sampler", async () => {
  for (const seed of [0, 5, -7, 2 ** 40, -(2 ** 31)]) {
    const bench = await openSwitch({ seed });
    enter(bench.rx);
    const next = dv.mlx5dv_dr_table_create(bench.rx.domain, 9);
    const attr = { sample_ratio: 3, default_next_table: next, sample_actions: [toQueue(bench)] };
    dv.mlx5dv_dr_action_create_flow_sampler(attr);
    sampleAll(bench.rx, [toQueue(bench)], [drop()], 3);
    const frames = Array.from({ length: 40 }, () => ipv4Frame());
    const few = bench.device.receiveBatch(1, frames.slice(0, 20));
    const others = frames.slice(20).map((frame) => bench.device.receive(1, frame));
    const sampled = [...few, ...others].map(({ copies }) => copies.length === 1);
    expect(sampled).toEqual(frames.map((_, n) => isSampled(BigInt(seed), BigInt(n), 1n, 3)));
  }
});

test("what comes of a copy that a rule delivers is not counted as if it came to nobody", async () => {
  const bench = await openSwitch();
  enter(bench.fdb);
  sampleAll(bench.fdb, [dv.mlx5dv_dr_action_create_dest_vport(bench.fdb.domain, 0)], [drop()]);
  ruleFor(bench.rx.root, {}, [toQueue(bench)]);
  expect(told(bench.device.receive(1, ipv4Frame()))).toEqual(["drop", "drop_action", [], ["qp:q0"]]);
  expect(bench.device.reasons()).toMatchObject({ drop_action: 1n, no_destination: 0n });
});

test("a copy that has left by a port does not make up for a queue that refuses the frame", async () => {
  const bench = await openSwitch();
  const { domain } = bench.fdb;
  enter(bench.fdb);
  const toPort = dv.mlx5dv_dr_action_create_dest_ib_port(domain, 2);
  sampleAll(bench.fdb, [toPort], [dv.mlx5dv_dr_action_create_dest_vport(domain, 0)]);
  ruleFor(bench.rx.root, {}, [dv.mlx5dv_dr_action_create_dest_ibv_qp(deafQueue(bench))]);
  expect(told(bench.device.receive(1, ipv4Frame()))).toEqual(["drop", "queue_not_ready", [], ["port:2"]]);
});

test.each([
  { rule: "nobody wants it", takes: false, copy: "port:1" },
  { rule: "a rule takes it", takes: true, copy: "qp:q0" },
])("a copy of the PF that leaves by default asks the rules of its port: $rule", async ({ takes, copy }) => {
  const bench = await openSwitch();
  const { root, domain } = bench.fdb;
  const other = await openSwitch();
  bench.device.connect(1, other.device, 1);
  const miss = dv.mlx5dv_dr_action_create_default_miss();
  sampleAll({ ...bench.fdb, table: root }, [miss], [dv.mlx5dv_dr_action_create_dest_ib_port(domain, 2)]);
  if (takes) ruleFor(bench.rx.root, {}, [toQueue(bench)]);
  const outcome = bench.device.send(bench.queues[0]!, ipv4Frame());
  expect(told(outcome)).toEqual(["transmit", null, ["port:2"], [copy]]);
  const [aside] = outcome.copies;
  expect(aside?.kind === "port" ? aside.outcome?.verdict : null).toBe(takes ? null : "miss");
});

const TAG = 0x81000005;

test("every frame of a large batch has room for its sample", async () => {
  const bench = await openSwitch();
  enter(bench.fdb);
  const toPf = (): Action => dv.mlx5dv_dr_action_create_dest_vport(bench.fdb.domain, 0);
  sampleAll(bench.fdb, [toPf()], [toPf()], 1, [dv.mlx5dv_dr_action_create_push_vlan(bench.fdb.domain, TAG)]);
  ruleFor(bench.rx.root, {}, [toQueue(bench)]);
  const frames = Array.from({ length: 256 }, (_, n) => ipv4Frame({ dport: n }));
  const outcomes = bench.device.receiveBatch(1, frames);
  expect(outcomes.map(told)).toEqual(frames.map(() => ["deliver", null, ["qp:q0"], ["qp:q0"]]));
  for (const [n, { to, copies }] of outcomes.entries()) {
    for (const { frame } of [...to, ...copies]) expect(frame).toEqual(tagged(frames[n]!, TAG));
  }
});

test("samples that a frame has no room for are counted", async () => {
  const bench = await openSwitch();
  const { domain, table } = bench.rx;
  const before = dv.mlx5dv_dr_table_create(domain, 3);
  const dests = Array.from({ length: 64 }, () => dv.mlx5dv_dr_action_create_dest_table(table));
  const members = dests.map((dest) => ({ type: dv.MLX5DV_DR_ACTION_DEST, dest }));
  ruleFor(bench.rx.root, {}, [dv.mlx5dv_dr_action_create_dest_table(before)]);
  ruleFor(before, {}, [dv.mlx5dv_dr_action_create_dest_array(domain, 64, members)]);
  sampleAll(bench.rx, [toQueue(bench)], [drop()]);
  expect(told(bench.device.receive(1, ipv4Frame()))).toEqual(["drop", "copy_limit", [], []]);
  // One member exceeds the limit; each of the others would have a sample.
  expect(bench.device.reasons()).toMatchObject({ copy_limit: 64n, drop_action: 63n });
});

test("what a sampler sets in register C0 leaves its other bits 0", async () => {
  const bench = await openSwitch();
  const { domain, root } = bench.fdb;
  const set = (data: number, length: number) =>
    [{ type: "set", field: "METADATA_REG_C_0", data, offset: 0, length }] as const;
  const toPort = (): Action => dv.mlx5dv_dr_action_create_dest_ib_port(domain, 2);
  const { MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL: flags } = dv;
  const modify = dv.mlx5dv_dr_action_create_modify_header(domain, flags, undefined, [...set(0xffffffff, 0)]);
  const rule = ruleFor(root, {}, [modify, toPort()]);
  expect(bench.device.receive(1, ipv4Frame()).registers).toEqual({ C0: 0xffffffff });
  dv.mlx5dv_dr_rule_destroy(rule);
  enter(bench.fdb);
  const next = dv.mlx5dv_dr_table_create(domain, 2);
  const attr = { sample_ratio: 2 ** 32 - 1, default_next_table: next, sample_actions: [toPort()] };
  ruleFor(bench.fdb.table, {}, [dv.mlx5dv_dr_action_create_flow_sampler({ ...attr, action: set(0x12, 8) })]);
  ruleFor(next, {}, [toPort()]);
  expect(bench.device.receive(1, ipv4Frame()).registers).toEqual({ C0: 0x12 });
});
