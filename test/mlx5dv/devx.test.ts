/** Flow counters by device commands. */
import { expect, test } from "vitest";
import { allocFlowCounterCommand, queryFlowCounterCommand } from "../../src/mlx5dv/index.js";
import * as dv from "../../src/mlx5dv/index.js";
import { ibv_open_device } from "../../src/verbs/index.js";
import { ipv4Frame, openBench, refused, type Bench } from "./support.js";

function create({ context }: Bench, input: Uint8Array): ReturnType<typeof dv.mlx5dv_devx_obj_create> {
  return dv.mlx5dv_devx_obj_create(context, input, undefined, new Uint8Array(16), undefined);
}

test("a bulk counts packets and bytes on each of its counters", async () => {
  const bench = await openBench();
  const bulk = create(bench, allocFlowCounterCommand(2));
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
  // The wire length counts, not what a capture kept of it.
  bench.device.receive(1, ipv4Frame({ dport: 443 }), { wireLength: 1500 });

  const output = new Uint8Array(16 + 4 * 16);
  dv.mlx5dv_devx_obj_query(bulk, queryFlowCounterCommand(bulk.id, 4, true), undefined, output, undefined);
  const view = new DataView(output.buffer);
  const read = [0, 1, 2, 3].map((i) => [view.getBigUint64(16 + 16 * i), view.getBigUint64(24 + 16 * i)]);
  expect(read).toEqual([
    [1n, 64n],
    [0n, 0n],
    [0n, 0n],
    [2n, 1564n],
  ]);
  dv.mlx5dv_devx_obj_query(bulk, queryFlowCounterCommand(bulk.id + 3), undefined, output, undefined);
  expect(view.getBigUint64(16)).toBe(0n);
});

test("bulk sizes", async () => {
  const bench = await openBench();
  const size = (log: number, bulk: number): number => {
    const input = allocFlowCounterCommand(log);
    input[15] = bulk;
    return create(bench, input).size;
  };
  expect([size(0, 0), size(2, 0), size(0, 1), size(0, 0x80)]).toEqual([1, 4, 128, 16384]);
});

test("numbers of counters do not overlap", async () => {
  const bench = await openBench();
  const first = create(bench, allocFlowCounterCommand(3));
  const second = create(bench, allocFlowCounterCommand());
  expect(second.id).toBeGreaterThanOrEqual(first.id + 8);
});

test("a refused command leaves status in the output and nothing behind", async () => {
  const bench = await openBench();
  const used = bench.device.memoryUsed;
  const attempt = (input: Uint8Array, outlen = 16): [number, string | undefined] => {
    const output = new Uint8Array(outlen);
    const error = refused(() => dv.mlx5dv_devx_obj_create(bench.context, input, undefined, output, undefined));
    return [output[0] ?? 0, error?.code];
  };
  const unknown = allocFlowCounterCommand();
  unknown[1] = 0;
  expect(attempt(unknown)).toEqual([2, "EREMOTEIO"]);
  const both = allocFlowCounterCommand(2);
  both[15] = 1;
  expect(attempt(both)).toEqual([3, "EREMOTEIO"]);
  expect(attempt(allocFlowCounterCommand().subarray(0, 12))).toEqual([0x50, "EREMOTEIO"]);
  expect(attempt(allocFlowCounterCommand(), 12)).toEqual([0x51, "EREMOTEIO"]);
  expect(bench.device.memoryUsed).toBe(used);
});

test("commands need a context with DEVX", async () => {
  const bench = await openBench();
  const plain = ibv_open_device(bench.device);
  const error = refused(() => dv.mlx5dv_devx_obj_create(plain, allocFlowCounterCommand(), 16, new Uint8Array(16), 16));
  expect(error).toMatchObject({ code: "EINVAL", reason: "bad_object" });
});

test("EBUSY while an action counts on it, and offsets lie inside the bulk", async () => {
  const bench = await openBench();
  const counter = create(bench, allocFlowCounterCommand(1));
  expect(refused(() => dv.mlx5dv_dr_action_create_flow_counter(counter, 2))?.reason).toBe("out_of_range");
  const action = dv.mlx5dv_dr_action_create_flow_counter(counter, 1);
  expect(refused(() => dv.mlx5dv_devx_obj_destroy(counter))?.code).toBe("EBUSY");
  dv.mlx5dv_dr_action_destroy(action);
  expect(dv.mlx5dv_devx_obj_destroy(counter)).toBe(0);
  expect(() => dv.mlx5dv_dr_action_create_flow_counter({} as never, 0)).toThrow(TypeError);
});
