/** Device commands: refusals, and flow counters. */
import { beforeEach, expect, test } from "vitest";
import * as dv from "../../../src/mlx5dv/index.js";
import { ibv_close_device, ibv_open_device, type Context } from "../../../src/verbs/index.js";
import { answer, created, creating, make, refusal } from "../support/devx.js";
import { ipv4Frame, openBench, refused, type Bench } from "../support/directRules.js";

let bench: Bench;

beforeEach(async () => {
  bench = await openBench();
});

test("a bulk counts packets and bytes on each of its counters", () => {
  const bulk = created(bench.context, dv.allocFlowCounterCommand(2));
  for (const [offset, dport] of [
    [0, 80],
    [3, 443],
  ] as const) {
    const match = dv.matchParameters({ "outer.tcp_dport": dport });
    const matcher = dv.mlx5dv_dr_matcher_create(bench.root, 0, match.match_criteria_enable, match.mask);
    const actions = [dv.mlx5dv_dr_action_create_flow_counter(bulk, offset), dv.mlx5dv_dr_action_create_drop()];
    dv.mlx5dv_dr_rule_create(matcher, match.value, 2, actions);
  }
  bench.device.receive(1, ipv4Frame({ dport: 80 }));
  bench.device.receive(1, ipv4Frame({ dport: 443 }));
  // The wire length counts, not the captured length.
  bench.device.receive(1, ipv4Frame({ dport: 443 }), { wireLength: 1500 });

  const nothing = { packets: 0n, bytes: 0n };
  const output = new Uint8Array(dv.flowCounterOutputSize(4));
  const ask = dv.queryFlowCounterCommand(bulk.id, 4);
  dv.mlx5dv_devx_general_cmd(bench.context, ask, undefined, output, undefined);
  const counted = [{ packets: 1n, bytes: 64n }, nothing, nothing, { packets: 2n, bytes: 1564n }];
  expect(dv.flowCounterOutput(output)).toEqual(counted);
  const last = new Uint8Array(dv.flowCounterOutputSize());
  const clear = dv.queryFlowCounterCommand(bulk.id + 3, 1, true);
  dv.mlx5dv_devx_obj_query(bulk, clear, undefined, last, undefined);
  expect(dv.flowCounterOutput(last)).toEqual([counted[3]]);
  dv.mlx5dv_devx_obj_query(bulk, ask, undefined, output, undefined);
  expect(dv.flowCounterOutput(output)).toEqual([counted[0], nothing, nothing, nothing]);
});

test("bulk sizes, and numbers that do not overlap", () => {
  const size = (log: number, bulk: number): number =>
    created(bench.context, dv.allocFlowCounterCommand(log, bulk)).size;
  expect([size(0, 0), size(2, 0), size(0, 1), size(0, 0x80)]).toEqual([1, 4, 128, 16384]);
  const { object, output } = make(bench.context, dv.allocFlowCounterCommand(3));
  expect(dv.commandOutput(output)).toEqual({ status: 0, syndrome: 0, id: object.id });
  expect(created(bench.context, dv.allocFlowCounterCommand()).id).toBeGreaterThanOrEqual(object.id + 8);
});

test("what is wrong with a command stands in its output, and nothing is left behind", () => {
  const unknown = dv.allocFlowCounterCommand();
  unknown[1] = 0xff;
  expect(creating(bench, unknown)).toEqual(refusal("unknown_opcode"));
  expect(creating(bench, dv.syncSteeringCommand())).toEqual(refusal("wrong_call"));
  expect(creating(bench, dv.allocFlowCounterCommand(2, 1))).toEqual(refusal("bad_value"));
  expect(creating(bench, dv.allocFlowCounterCommand(0, 3))).toEqual(refusal("bad_value"));
  expect(creating(bench, dv.allocFlowCounterCommand(31))).toEqual(refusal("bad_value"));
  expect(creating(bench, dv.allocFlowCounterCommand().subarray(0, 12))).toEqual(refusal("short_input"));
  expect(creating(bench, dv.allocFlowCounterCommand(), 12)).toEqual(refusal("short_output"));
  const chosen = dv.allocFlowCounterCommand();
  chosen[11] = 7;
  expect(creating(bench, chosen)).toEqual(refusal("unsupported"));
});

test("a command without memory is refused, and leaves what was there", async () => {
  const small = await openBench({ limits: { memory: 65536 } });
  const one = created(small.context, dv.allocFlowCounterCommand());
  expect(creating(small, dv.allocFlowCounterCommand(20))).toEqual(refusal("no_memory"));
  expect(one.read()).toEqual({ packets: 0n, bytes: 0n });
  expect(dv.mlx5dv_devx_obj_destroy(one)).toBe(0);
});

test("the table of causes: each has a syndrome of its own", () => {
  const causes = Object.values(dv.DEVX_SYNDROMES);
  expect(new Set(causes.map(({ syndrome }) => syndrome)).size).toBe(causes.length);
  for (const { status, syndrome } of causes) expect(syndrome >>> 8).toBe(status);
  // Numbers that programs compare.
  expect(dv.DEVX_SYNDROMES.unknown_opcode).toMatchObject({ status: 2, syndrome: 0x0201 });
  expect(dv.DEVX_SYNDROMES.in_use).toMatchObject({ status: 6, syndrome: 0x0601 });
  expect(dv.DEVX_SYNDROMES.short_output).toMatchObject({ status: 0x51, syndrome: 0x5101 });
});

test("lengths beyond the bytes, or without room for an answer, are the caller's fault: EINVAL", () => {
  const input = dv.allocFlowCounterCommand();
  const run = (inlen: number | undefined, out: Uint8Array, outlen?: number): string | undefined =>
    refused(() => dv.mlx5dv_devx_obj_create(bench.context, input, inlen, out, outlen))?.code;
  expect(run(17, new Uint8Array(16))).toBe("EINVAL");
  expect(run(1, new Uint8Array(16))).toBe("EINVAL");
  expect(run(16, new Uint8Array(16), 17)).toBe("EINVAL");
  expect(run(16, new Uint8Array(7))).toBe("EINVAL");
  // Fewer bytes than the complete command: the given lengths count.
  expect(creating(bench, dv.allocFlowCounterCommand(), 15)).toEqual(refusal("short_output"));
  expect(run(12, new Uint8Array(16))).toBe("EREMOTEIO");
  expect(() => dv.mlx5dv_devx_obj_create(bench.context, [] as never, 16, new Uint8Array(16), 16)).toThrow(TypeError);
  expect(() => dv.mlx5dv_devx_general_cmd({} as never, input, 16, new Uint8Array(16), 16)).toThrow(TypeError);
});

test("every context has DEVX, with the flag and without it", () => {
  const { device } = bench;
  const contexts = [
    ibv_open_device(device),
    dv.mlx5dv_open_device(device),
    dv.mlx5dv_open_device(device, null),
    dv.mlx5dv_open_device(device, { flags: 0, comp_mask: 0n }),
    dv.mlx5dv_open_device(device, { flags: dv.MLX5DV_CONTEXT_FLAGS_DEVX }),
  ];
  for (const context of contexts) {
    const counter = created(context, dv.allocFlowCounterCommand());
    const out = new Uint8Array(32);
    expect(dv.mlx5dv_devx_obj_query(counter, dv.queryFlowCounterCommand(counter.id), undefined, out, undefined)).toBe(
      0,
    );
    expect(dv.mlx5dv_devx_general_cmd(context, dv.syncSteeringCommand(), undefined, out, undefined)).toBe(0);
    expect(dv.mlx5dv_devx_obj_destroy(counter)).toBe(0);
  }
});

test("mlx5dv_open_device refuses bits that it does not know", () => {
  const { device } = bench;
  const why = (attr: dv.ContextAttr): string | undefined => {
    const error = refused(() => dv.mlx5dv_open_device(device, attr));
    return error && `${error.code} ${error.path}`;
  };
  const users = device.users;
  for (const flags of [2, 3, 2 ** 31, 2 ** 32]) expect(why({ flags })).toBe("EINVAL attr.flags");
  for (const comp_mask of [2, 3, 2n, 2n ** 63n]) expect(why({ comp_mask })).toBe("EINVAL attr.comp_mask");
  // comp_mask comes first.
  expect(why({ flags: 2, comp_mask: 2 })).toBe("EINVAL attr.comp_mask");
  expect(device.users).toBe(users);
  expect(() => dv.mlx5dv_open_device(device, 1 as never)).toThrow(TypeError);
  expect(() => dv.mlx5dv_open_device(device, { flags: "1" as never })).toThrow(TypeError);
});

test("mlx5dv_open_device takes file descriptors", () => {
  const { device } = bench;
  const comp_mask = dv.MLX5DV_CONTEXT_ATTR_MASK_FD_ARRAY;
  const open = (fds: unknown, mask = comp_mask): Context =>
    dv.mlx5dv_open_device(device, { comp_mask: mask, fds: fds as dv.FileDescriptors });
  const why = (fds: unknown): string | undefined => {
    const error = refused(() => open(fds));
    return error && `${error.code} ${error.path}`;
  };
  const users = device.users;
  expect(why({ arr: [3, -1] })).toBe("EINVAL attr.fds.arr[1]");
  expect(why({ arr: [2 ** 31] })).toBe("EINVAL attr.fds.arr[0]");
  expect(why({ arr: [3], count: 2 })).toBe("EINVAL attr.fds.count");
  for (const fds of [3, [3], { arr: 3 }, { arr: ["3"] }]) expect(() => open(fds)).toThrow(TypeError);
  expect(device.users).toBe(users);
  const contexts = [open({ arr: [3, 4], count: 2 }), open({ arr: [3, -1], count: 1 }), open({ arr: [] }), open(null)];
  // Without the bit the member is not read.
  contexts.push(open({ arr: [-1] }, 0));
  for (const context of contexts) {
    expect(dv.mlx5dv_devx_obj_destroy(created(context, dv.allocFlowCounterCommand()))).toBe(0);
    expect(ibv_close_device(context)).toBe(0);
  }
});

test("a query names its own object, of its own context", () => {
  const { context, device } = bench;
  const bulk = created(context, dv.allocFlowCounterCommand(1));
  const other = created(context, dv.allocFlowCounterCommand());
  const query = (id: number, count: number, outlen = 256): unknown =>
    answer(
      (out) => dv.mlx5dv_devx_obj_query(bulk, dv.queryFlowCounterCommand(id, count), undefined, out, undefined),
      outlen,
    );
  expect(query(bulk.id, 2)).toMatchObject({ code: undefined, status: 0 });
  expect(query(other.id, 1)).toEqual(refusal("other_object"));
  expect(query(bulk.id + 1, 2)).toEqual(refusal("bad_value"));
  expect(query(bulk.id, 2, 47)).toEqual(refusal("short_output"));
  expect(query(0, 1)).toEqual(refusal("unknown_object"));
  const toMemory = dv.queryFlowCounterCommand(bulk.id);
  toMemory[24] = 0x40;
  const ask = (out: Uint8Array): 0 => dv.mlx5dv_devx_obj_query(bulk, toMemory, undefined, out, undefined);
  expect(answer(ask)).toEqual(refusal("unsupported"));
  const modify = (out: Uint8Array): 0 =>
    dv.mlx5dv_devx_obj_modify(bulk, dv.queryFlowCounterCommand(bulk.id), undefined, out, undefined);
  expect(answer(modify)).toEqual(refusal("wrong_call"));
  const stranger = dv.mlx5dv_open_device(device, { flags: dv.MLX5DV_CONTEXT_FLAGS_DEVX });
  const general = (out: Uint8Array): 0 =>
    dv.mlx5dv_devx_general_cmd(stranger, dv.queryFlowCounterCommand(bulk.id), undefined, out, undefined);
  expect(answer(general)).toEqual(refusal("unknown_object"));
  expect(
    answer((out) => dv.mlx5dv_devx_general_cmd(context, dv.allocFlowCounterCommand(), undefined, out, undefined)),
  ).toEqual(refusal("wrong_call"));
});

test("numbers of destroyed objects name nothing, and those around them stay", () => {
  const { context } = bench;
  const [a, b, c] = [3, 0, 2].map((log) => created(context, dv.allocFlowCounterCommand(log)));
  const knows = (id: number): number =>
    answer((out) => dv.mlx5dv_devx_general_cmd(context, dv.queryFlowCounterCommand(id), undefined, out, undefined))
      .status;
  dv.mlx5dv_devx_obj_destroy(b!);
  expect([a!.id, a!.id + 7, b!.id, c!.id, c!.id + 3, c!.id + 4].map(knows)).toEqual([0, 0, 5, 0, 0, 5]);
  expect(refused(() => dv.mlx5dv_devx_obj_destroy(b!))?.code).toBe("EINVAL");
  dv.mlx5dv_devx_obj_destroy(a!);
  expect([a!.id, c!.id].map(knows)).toEqual([5, 0]);
});

test("EBUSY while an action counts on it, and offsets lie inside the bulk", () => {
  const { context } = bench;
  const counter = created(context, dv.allocFlowCounterCommand(1));
  expect(refused(() => dv.mlx5dv_dr_action_create_flow_counter(counter, 2))?.reason).toBe("out_of_range");
  const action = dv.mlx5dv_dr_action_create_flow_counter(counter, 1);
  expect(refused(() => dv.mlx5dv_devx_obj_destroy(counter))).toMatchObject({ code: "EBUSY", errno: 16 });
  dv.mlx5dv_dr_action_destroy(action);
  expect(dv.mlx5dv_devx_obj_destroy(counter)).toBe(0);
  expect(() => dv.mlx5dv_dr_action_create_flow_counter({} as never, 0)).toThrow(TypeError);
  expect(() => dv.mlx5dv_devx_obj_destroy(bench.queue as never)).toThrow(TypeError);
  const table = created(context, dv.createFlowTableCommand(dv.FS_FT_NIC_RX));
  const error = refused(() => dv.mlx5dv_dr_action_create_flow_counter(table, 0));
  expect(error).toMatchObject({ code: "EINVAL", reason: "bad_object" });
});

test("objects of device commands stay when their context is closed", () => {
  const context = dv.mlx5dv_open_device(bench.device, { flags: dv.MLX5DV_CONTEXT_FLAGS_DEVX });
  const counter = created(context, dv.allocFlowCounterCommand());
  expect(ibv_close_device(context)).toBe(0);
  expect(dv.mlx5dv_devx_obj_destroy(counter)).toBe(0);
});

test("SYNC_STEERING has nothing to wait for", () => {
  const run = (out: Uint8Array): 0 =>
    dv.mlx5dv_devx_general_cmd(bench.context, dv.syncSteeringCommand(), undefined, out, undefined);
  expect(answer(run, 16)).toEqual({ code: undefined, status: 0, syndrome: 0 });
  expect(answer(run, 8)).toEqual(refusal("short_output"));
});
