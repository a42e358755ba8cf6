/** A run that is recorded is the same when it is replayed, and the first call that differs is named. */
import { expect, it } from "vitest";
import * as flowsteer from "../../src/index.js";
import * as dv from "../../src/mlx5dv/index.js";
import * as v from "../../src/verbs/index.js";
import { recordTo, replay, type Recorder } from "../../src/replay/index.js";
import { Random } from "../oracle/generate/random.js";
import { seedFor } from "../assembly/support/core.js";
import { rounds } from "../support/tier.js";

const MODULES = [flowsteer, v, dv];

/** A TCP frame to this port. */
function tcp(port: number): Uint8Array {
  const frame = new Uint8Array(60);
  frame.set([
    2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0, 0, 40, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 9,
  ]);
  frame.set([0x9c, 0x40, port >> 8, port & 0xff], 34);
  frame[46] = 0x50;
  return frame;
}

/** Random calls: rules come and go, frames arrive, calls are refused, memory is received into. */
async function randomRun(recorder: Recorder, random: Random, calls: number): Promise<void> {
  const [host, verbs, direct] = [recorder.functions(flowsteer), recorder.functions(v), recorder.functions(dv)];
  const device = await host.createDevice({ countHits: true, seed: random.below(100) });
  const nic = recorder.methods(device);
  const context = verbs.ibv_open_device(device);
  const domain = direct.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
  const table = direct.mlx5dv_dr_table_create(domain, 0);
  const matchOf = (port: number): ReturnType<typeof dv.matchParameters> =>
    dv.matchParameters({ "outer.tcp_dport": port, "outer.ip_protocol": 6 });
  const { match_criteria_enable, mask } = matchOf(80);
  const matcher = direct.mlx5dv_dr_matcher_create(table, 0, match_criteria_enable, mask);
  const cq = verbs.ibv_create_cq(context, 1000);
  const pd = verbs.ibv_alloc_pd(context);
  const memory = new Uint8Array(4096);
  const { lkey } = verbs.ibv_reg_mr(pd, memory, undefined, v.IBV_ACCESS_LOCAL_WRITE);
  const cap = { max_send_wr: 1, max_recv_wr: 1000, max_send_sge: 1, max_recv_sge: 1 };
  const qp = verbs.ibv_create_qp(pd, { send_cq: cq, recv_cq: cq, cap, qp_type: v.IBV_QPT_RAW_PACKET });
  verbs.ibv_modify_qp(qp, { qp_state: v.IBV_QPS_INIT, port_num: 1 }, v.IBV_QP_STATE | v.IBV_QP_PORT);
  verbs.ibv_modify_qp(qp, { qp_state: v.IBV_QPS_RTR }, v.IBV_QP_STATE);
  const actions = [direct.mlx5dv_dr_action_create_drop(), direct.mlx5dv_dr_action_create_dest_ibv_qp(qp)];
  const rules: ReturnType<typeof dv.mlx5dv_dr_rule_create>[] = [];
  const steps: (() => void)[] = [
    () => {
      const { value } = matchOf(random.below(4));
      rules.push(direct.mlx5dv_dr_rule_create(matcher, value, 1, [random.pick(actions)]));
    },
    () => {
      if (rules.length > 0)
        direct.mlx5dv_dr_rule_destroy(rules.splice(random.below(rules.length), 1)[0] as (typeof rules)[0]);
    },
    () => nic.receive(1, tcp(random.below(5))),
    () =>
      verbs.ibv_post_recv(qp, {
        wr_id: BigInt(random.below(99)),
        sg_list: [{ addr: memory.subarray(64 * random.below(60)), length: 64, lkey }],
        num_sge: 1,
      }),
    () => verbs.ibv_poll_cq(cq, 4),
    () => nic.advance(BigInt(random.below(1000))),
    () => nic.metrics(),
    () => expect(() => direct.mlx5dv_dr_table_create(domain, -1)).toThrow(),
  ];
  for (let i = 0; i < calls; i++) random.pick(steps)();
}

it("replays random runs", { timeout: 600_000 }, async () => {
  const random = new Random(seedFor("replay"));
  for (let round = 0; round < rounds(50); round++) {
    const lines: string[] = [];
    const recorder = recordTo((line) => lines.push(line));
    await randomRun(recorder, random, 80);
    expect(lines).toHaveLength(recorder.count);
    expect(await replay(lines, MODULES)).toEqual({ calls: recorder.count, difference: null });
    // One frame of the log is another one: from there on the runs part, or nothing saw the frame.
    const at = lines.findIndex((line) => line.includes('"call":"receive"'));
    if (at < 0) continue;
    lines[at] = (lines[at] as string).replace(/"verdict":"\w+"/, '"verdict":"changed"');
    const { calls, difference } = await replay(lines, MODULES);
    expect([calls, difference?.n, difference?.call]).toEqual([at + 1, at + 1, "receive"]);
  }
});

it("names the first call that differs on another device", async () => {
  const lines: string[] = [];
  const recorder = recordTo((line) => lines.push(line));
  const nic = recorder.methods(await recorder.functions(flowsteer).createDevice());
  nic.receive(1, tcp(80));
  nic.advance(5n);
  expect(nic.now()).toBe(5n);
  lines[2] = (lines[2] as string).replace('"value":"5"', '"value":"6"');
  expect((await replay(lines, MODULES)).difference).toEqual({
    n: 4,
    call: "now",
    expected: { result: { $: "bigint", value: "5" } },
    got: { result: { $: "bigint", value: "6" } },
  });
});

it("records refusals, and refuses what is no log", async () => {
  const lines: string[] = [];
  const recorder = recordTo((line) => lines.push(line));
  const nic = recorder.methods(await recorder.functions(flowsteer).createDevice());
  expect(() => nic.advance(-1n)).toThrow();
  expect(JSON.parse(lines[1] ?? "")).toMatchObject({ call: "advance", error: { code: "EINVAL" } });
  expect((await replay(lines, MODULES)).difference).toBeNull();
  await expect(replay(["{}"], MODULES)).rejects.toMatchObject({ reason: "bad_object", path: "log[0]" });
  await expect(replay(lines, [])).rejects.toMatchObject({ reason: "unknown_name", value: "createDevice" });
});

/** A run of calls that fill what the program gives them. */
async function queryingRun(recorder: Recorder): Promise<string> {
  const [host, verbs, direct] = [recorder.functions(flowsteer), recorder.functions(v), recorder.functions(dv)];
  const device = await host.createDevice();
  const nic = recorder.methods(device);
  const context = verbs.ibv_open_device(device);
  const counters = verbs.ibv_create_counters(context, { comp_mask: 0 });
  verbs.ibv_attach_counters_point_flow(counters, { counter_desc: v.IBV_COUNTER_BYTES, index: 1 }, null);
  const sink = host.createSink(context, "web");
  verbs.ibv_create_flow(sink, {
    type: v.IBV_FLOW_ATTR_NORMAL,
    port: 1,
    specs: [
      { type: v.IBV_FLOW_SPEC_ETH, val: {}, mask: {} },
      { type: v.IBV_FLOW_SPEC_ACTION_COUNT, counters },
    ],
  });
  nic.receive(1, tcp(80));
  const values = new BigUint64Array(2);
  verbs.ibv_read_counters(counters, values, undefined, 0);
  expect([...values]).toEqual([0n, 60n]);
  verbs.ibv_query_device(context, {});
  verbs.ibv_query_rt_values_ex(context, { comp_mask: v.IBV_VALUES_MASK_RAW_CLOCK });
  direct.mlx5dv_query_port(context, 1, {});
  const cq = verbs.ibv_create_cq(context, 4);
  const pd = verbs.ibv_alloc_pd(context);
  const qp = verbs.ibv_create_qp(pd, { send_cq: cq, recv_cq: cq, cap: {}, qp_type: v.IBV_QPT_RC });
  const bad_wr = {};
  expect(() => verbs.ibv_post_send(qp, { wr_id: 7, opcode: v.IBV_WR_SEND, sg_list: [] }, bad_wr)).toThrow();
  expect(bad_wr).toHaveProperty("wr");
  const counter = new Uint8Array(16);
  direct.mlx5dv_devx_obj_create(context, dv.allocFlowCounterCommand(), undefined, counter, undefined);
  const domain = direct.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
  let text = "";
  direct.mlx5dv_dump_dr_domain((more) => (text += more), domain);
  direct.mlx5dv_dump_dr_domain({ write: (more) => (text += more) }, domain);
  return text;
}

it("replays what calls write into their arguments, and compares it", async () => {
  const lines: string[] = [];
  const recorder = recordTo((line) => lines.push(line));
  expect(await queryingRun(recorder)).toContain("flowsteer");
  expect(await replay(lines, MODULES)).toEqual({ calls: recorder.count, difference: null });
  const written = lines.flatMap((line) => {
    const { call, out } = JSON.parse(line) as { call: string; out?: object };
    return out === undefined ? [] : [[call, Object.keys(out)] as const];
  });
  expect(written).toEqual([
    ["ibv_read_counters", ["1"]],
    ["ibv_query_device", ["1"]],
    ["ibv_query_rt_values_ex", ["1"]],
    ["mlx5dv_query_port", ["2"]],
    ["ibv_post_send", ["2"]],
    ["mlx5dv_devx_obj_create", ["3"]],
    ["mlx5dv_dump_dr_domain", ["0"]],
    ["mlx5dv_dump_dr_domain", ["0"]],
  ]);
  for (const [changed, to] of [
    ["3c00000000000000", "3d00000000000000"],
    ['"max_qp":131072', '"max_qp":131073'],
    ['"vport":65535', '"vport":1'],
    ['"tv_nsec":{"$":"bigint","value":"0"}', '"tv_nsec":{"$":"bigint","value":"1"}'],
    ["flowsteer,", "flowstear,"],
  ] as const) {
    const at = lines.findIndex((line) => line.includes(changed));
    expect([changed, at]).not.toEqual([changed, -1]);
    const { difference } = await replay(lines.with(at, (lines[at] as string).replace(changed, to)), MODULES);
    expect([changed, difference?.n]).toEqual([changed, at + 1]);
  }
});

it("has each member of a value, and refuses others", async () => {
  const line = (value: object): string => JSON.stringify({ n: 1, on: null, call: "ibv_fork_init", args: [value] });
  const refusalOf = async (value: object): Promise<unknown> => {
    const { difference } = await replay([line(value)], MODULES);
    return (difference?.got as { error?: { hint?: string } }).error?.hint;
  };
  expect(await refusalOf({ $: "file" })).toBe("$ is one of object, bytes, text, bigint, number, undefined");
  expect(await refusalOf({ $: "bytes", hex: "00", size: 1 })).toBe(
    '"bytes" has no size: id, at, of, hex, length, type',
  );
  expect(await refusalOf({ $: "undefined", value: 1 })).toBe('"undefined" has no value: no members');
  expect(await refusalOf({ $: "bytes", hex: "000000", type: "BigUint64Array" })).toBe(
    "BigUint64Array has items of 8 bytes",
  );
  expect(await refusalOf({ $: "bytes", length: 8, type: "Float32Array" })).toMatch(/^type is one of Uint8Array/);
  for (const length of [-1, 1.5, 2 ** 40])
    expect(await refusalOf({ $: "bytes", length })).toBe("length is 0 to 1048576");
  expect(await refusalOf({ $: "bytes", length: 8, type: "BigUint64Array" })).toBeUndefined();
});

it("refuses a damaged line, or makes another call of it", async () => {
  const lines: string[] = [];
  const recorder = recordTo((line) => lines.push(line));
  const [host, verbs] = [recorder.functions(flowsteer), recorder.functions(v)];
  const device = await host.createDevice({ seed: 7 });
  const queue = host.createSink(verbs.ibv_open_device(device), "web");
  verbs.ibv_create_flow(queue, { type: v.IBV_FLOW_ATTR_ALL_DEFAULT, port: 1, specs: [] });
  recorder.methods(device).receive(1, new Uint8Array(64));
  const random = new Random(seedFor("damaged lines"));
  const values = [null, 5, "x", [], {}, { $: "object", id: 99 }, { $: "bytes", hex: "zz" }, { $: "nope" }, -1, 1e300];
  const damaged = (line: string): string => {
    const record = JSON.parse(line) as Record<string, unknown>;
    const at = random.below(line.length);
    if (random.chance(0.3)) return line.slice(0, at) + line.slice(at + 1 + random.below(4));
    record[random.pick([...Object.keys(record), "on"])] = random.pick(values);
    return JSON.stringify(record);
  };
  const strange = [lines[0] ?? "", (lines[1] ?? "").replace('"on":null', '"on":99')];
  await expect(replay(strange, MODULES)).rejects.toMatchObject({ path: "log[1].on", value: 99 });
  for (let n = rounds(3000); n > 0; n--) {
    const log = [...lines];
    const at = random.below(log.length);
    log[at] = damaged(log[at] ?? "");
    const failed: unknown = await replay(log, MODULES).then(
      () => null,
      (error: unknown) => error,
    );
    if (failed !== null) expect(failed, log[at]).toBeInstanceOf(flowsteer.SteeringError);
  }
});
