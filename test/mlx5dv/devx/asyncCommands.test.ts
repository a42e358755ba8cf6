/** mlx5dv_devx_obj_query_async(3): answers, their order, and what is refused at once. */
import { beforeEach, expect, test } from "vitest";
import * as dv from "../../../src/mlx5dv/index.js";
import type { FlowCounter } from "../../../src/model/action/counter.js";
import * as v from "../../../src/verbs/index.js";
import { created, refusal } from "../support/devx.js";
import { ipv4Frame, openBench, refused, type Bench } from "../support/directRules.js";

let bench: Bench;
let counter: FlowCounter;
let answers: dv.CommandCompletions;
beforeEach(async () => {
  bench = await openBench();
  counter = created(bench.context, dv.allocFlowCounterCommand());
  answers = dv.mlx5dv_devx_create_cmd_comp(bench.context);
});

const query = (id = counter.id): Uint8Array => dv.queryFlowCounterCommand(id);
const ask = (wr_id: bigint | number, input = query(), outlen = 32): 0 =>
  dv.mlx5dv_devx_obj_query_async(counter, input, undefined, outlen, wr_id, answers);
const take = (size = 32, length?: number): dv.AsyncCommandResponse => {
  const response = { out_data: new Uint8Array(size) };
  expect(dv.mlx5dv_devx_get_async_cmd_comp(answers, response, length)).toBe(0);
  return response;
};
const code = (run: () => unknown): string | undefined => refused(run)?.code;

test("answers come in the order of the queries, with the values of their time", () => {
  const matcher = dv.mlx5dv_dr_matcher_create(bench.root, 0, 0, null);
  const counted = [dv.mlx5dv_dr_action_create_flow_counter(counter, 0), dv.mlx5dv_dr_action_create_drop()];
  dv.mlx5dv_dr_rule_create(matcher, null, 2, counted);
  for (const wr_id of [7, 8n, 2n ** 64n - 1n]) {
    expect(ask(wr_id)).toBe(0);
    bench.device.receive(1, ipv4Frame());
  }
  const taken = [1, 2, 3].map(() => take());
  expect(taken.map(({ wr_id }) => wr_id)).toEqual([7n, 8n, 2n ** 64n - 1n]);
  const packets = taken.map(({ out_data }) => dv.flowCounterOutput(out_data)[0]?.packets);
  expect(packets).toEqual([0n, 1n, 2n]);
  expect(code(() => take())).toBe("EAGAIN");
});

test("a refusal of the device is an answer", () => {
  expect(ask(1n, query(counter.id + 1))).toBe(0);
  const { status, syndrome } = dv.commandOutput(take().out_data);
  expect({ code: "EREMOTEIO", status, syndrome }).toEqual(refusal("unknown_object"));
  ask(2n, dv.allocFlowCounterCommand());
  expect(dv.commandOutput(take().out_data).status).toBe(2);
});

test("an answer that is too long stays", () => {
  ask(5);
  for (const length of [39, 8]) expect(code(() => take(32, length))).toBe("ENOSPC");
  expect(code(() => take(31))).toBe("ENOSPC");
  for (const length of [7, 41]) expect(code(() => take(32, length))).toBe("EINVAL");
  expect(take(100, 40).wr_id).toBe(5n);
});

test("programs await answers", async () => {
  const promise = answers.answers.next();
  ask(3);
  expect(await promise).toMatchObject({ wr_id: 3n });
  ask(4);
  expect((await answers.answers.next()).wr_id).toBe(4n);
  expect(code(() => take())).toBe("EAGAIN");
});

test("at most 1 MiB of answers wait", () => {
  const most = 1024 * 1024;
  expect(code(() => ask(1, query(), most + 1))).toBe("EAGAIN");
  ask(1, query(), most - 32);
  ask(2);
  expect(code(() => ask(3))).toBe("EAGAIN");
  take(most);
  expect(ask(3)).toBe(0);
});

test("what is refused at once leaves no answer", () => {
  const other = dv.mlx5dv_devx_create_cmd_comp(v.ibv_open_device(bench.device));
  const of = (cmd_comp: dv.CommandCompletions) => () =>
    dv.mlx5dv_devx_obj_query_async(counter, query(), undefined, 32, 1n, cmd_comp);
  expect(code(of(other))).toBe("EINVAL");
  expect(code(() => ask(1, query(), 7))).toBe("EINVAL");
  expect(code(() => ask(1, query().subarray(0, 1)))).toBe("EINVAL");
  expect(code(() => ask(-1))).toBe("EINVAL");
  expect(() => ask("1" as never)).toThrow(TypeError);
  expect(answers.answers.length).toBe(0);
});

test("destroying it forgets its answers, and rejects those who wait", async () => {
  const users = bench.context.users;
  ask(1);
  dv.mlx5dv_devx_destroy_cmd_comp(answers);
  expect(bench.context.users).toBe(users - 1);
  expect(code(() => take())).toBe("EINVAL");
  expect(code(() => ask(1))).toBe("EINVAL");
  expect(code(() => dv.mlx5dv_devx_destroy_cmd_comp(answers))).toBe("EINVAL");
  const late = dv.mlx5dv_devx_create_cmd_comp(bench.context);
  const waiting = late.answers.next();
  dv.mlx5dv_devx_destroy_cmd_comp(late);
  await expect(waiting).rejects.toMatchObject({ code: "EINVAL", reason: "object_destroyed" });
});
