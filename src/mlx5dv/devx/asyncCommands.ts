/** Asynchronous device commands: mlx5dv_devx_obj_query_async(3), mlx5dv_devx_create_cmd_comp(3). */
import { checkBytes, checkObject, unsigned, wrongType } from "../../base/checks.js";
import { inCall, refuse } from "../../errors.js";
import type { Context } from "../../model/base/context.js";
import { living } from "../../model/base/handle.js";
import { Command } from "../../model/devx/command.js";
import { CommandCompletions } from "../../model/devx/commandCompletions.js";
import { askObject } from "../../model/devx/commands.js";
import { devxObject, DevxObject } from "../../model/base/devxObject.js";

export type { CommandAnswer, CommandCompletions } from "../../model/devx/commandCompletions.js";

/** `struct mlx5dv_devx_async_cmd_hdr` and the data after it. */
export interface AsyncCommandResponse {
  /** Filled: the number that the command had. */
  wr_id?: bigint;
  /** Memory for the output of the command. */
  out_data: Uint8Array;
}

/** Bytes of `wr_id`, which lies before the data in C. */
const HEADER_SIZE = 8;

/**
 * Makes an object for the answers of asynchronous commands (mlx5dv_devx_create_cmd_comp(3)). Where C
 * polls its `fd`, programs here await `answers.next()`.
 * @example
 * const cmd_comp = mlx5dv_devx_create_cmd_comp(context);
 * mlx5dv_devx_obj_query_async(counter, queryFlowCounterCommand(counter.id), undefined, 32, 1n, cmd_comp);
 * const { wr_id, out_data } = await cmd_comp.answers.next();
 */
export function mlx5dv_devx_create_cmd_comp(context: Context): CommandCompletions {
  return inCall("mlx5dv_devx_create_cmd_comp", () => new CommandCompletions(context));
}

/** Destroys it and its waiting answers (mlx5dv_devx_create_cmd_comp(3)). */
export function mlx5dv_devx_destroy_cmd_comp(cmd_comp: CommandCompletions): void {
  inCall("mlx5dv_devx_destroy_cmd_comp", () => living("cmd_comp", cmd_comp, CommandCompletions).destroy());
}

/**
 * Runs a device command that queries `obj`; its answer goes to `cmd_comp`
 * (mlx5dv_devx_obj_query_async(3)). What the device refuses is in the answer: status and syndrome.
 * @param inlen bytes of `input` that are used; all if undefined
 * @param outlen bytes of the output
 * @param wr_id a number for the answer
 * @throws EINVAL if a length is wrong, or `cmd_comp` is of another context
 * @throws EAGAIN if more than 1 MiB of answers would wait
 */
export function mlx5dv_devx_obj_query_async(
  obj: DevxObject,
  input: Uint8Array,
  inlen: number | undefined,
  outlen: number,
  wr_id: bigint | number,
  cmd_comp: CommandCompletions,
): 0 {
  return inCall("mlx5dv_devx_obj_query_async", () => {
    const object = devxObject("obj", obj, DevxObject);
    const completions = living("cmd_comp", cmd_comp, CommandCompletions);
    if (completions.context !== object.context) {
      const hint = "use one of the context of the object";
      refuse({ code: "EINVAL", reason: "bad_object", path: "cmd_comp", value: cmd_comp, hint });
    }
    const number = wrIdOf(wr_id);
    completions.checkRoom(unsigned("outlen", outlen, 32));
    const output = new Uint8Array(outlen);
    const command = new Command(object.context, input, inlen, output, undefined);
    completions.run(number, output, () => {
      askObject(command, object, "query");
    });
    return 0;
  });
}

function wrIdOf(wr_id: unknown): bigint {
  if (typeof wr_id === "bigint") return BigInt.asUintN(64, wr_id);
  if (typeof wr_id !== "number") wrongType("wr_id", "a bigint or a number", wr_id);
  return BigInt(unsigned("wr_id", wr_id, 53));
}

/**
 * Takes the oldest answer (mlx5dv_devx_get_async_cmd_comp(3)).
 * @param cmd_resp gets `wr_id`, and the output in `out_data`
 * @param cmd_resp_len 8 and the bytes of `out_data` that may be written; all of them if undefined
 * @throws EAGAIN if no answer waits, as with O_NONBLOCK
 * @throws ENOSPC if the answer is longer; it stays
 */
export function mlx5dv_devx_get_async_cmd_comp(
  cmd_comp: CommandCompletions,
  cmd_resp: AsyncCommandResponse,
  cmd_resp_len: number | undefined,
): 0 {
  return inCall("mlx5dv_devx_get_async_cmd_comp", () => {
    living("cmd_comp", cmd_comp, CommandCompletions);
    checkObject("cmd_resp", cmd_resp);
    checkBytes("cmd_resp.out_data", cmd_resp.out_data);
    const most = HEADER_SIZE + cmd_resp.out_data.length;
    const length = unsigned("cmd_resp_len", cmd_resp_len ?? most, 32);
    if (length < HEADER_SIZE || length > most) {
      const hint = `${HEADER_SIZE} to ${most}, for the out_data given`;
      refuse({ code: "EINVAL", reason: "out_of_range", path: "cmd_resp_len", value: length, hint });
    }
    const { wr_id, out_data } = cmd_comp.take(length - HEADER_SIZE);
    cmd_resp.out_data.set(out_data);
    cmd_resp.wr_id = wr_id;
    return 0;
  });
}
