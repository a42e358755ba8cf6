/** Device commands (mlx5dv_devx_obj_create(3)): docs/devx.md says what each does here. */
import { checkArray, checkObject, objectArgument, unsigned } from "../../base/checks.js";
import { inCall, refuse } from "../../errors.js";
import { Context } from "../../model/base/context.js";
import type { Device } from "../../model/device/device.js";
import type { DeviceFunction } from "../../model/device/function.js";
import { Command } from "../../model/devx/command.js";
import { askObject, createObject, destroyObject, runCommand } from "../../model/devx/commands.js";
import { devxObject, DevxObject } from "../../model/base/devxObject.js";
import { living } from "../../model/base/handle.js";
import type { CommandFor } from "./commandBytes.js";
import { MLX5DV_CONTEXT_ATTR_MASK_FD_ARRAY, MLX5DV_CONTEXT_FLAGS_DEVX } from "../../abi/mlx5dv.js";

export type { CommandFor } from "./commandBytes.js";
export { DevxObject } from "../../model/base/devxObject.js";
export { STATUS as DEVX_STATUS, SYNDROMES as DEVX_SYNDROMES } from "../../model/devx/syndromes.js";

/** `struct mlx5dv_context_attr`. */
export interface ContextAttr {
  /** MLX5DV_CONTEXT_FLAGS_DEVX or 0. Device commands work with both. */
  flags?: number | undefined;
  /** MLX5DV_CONTEXT_ATTR_MASK_FD_ARRAY: `fds` is given. */
  comp_mask?: number | bigint | undefined;
  /** Open device files that allow more to a context. Every context here is allowed everything. */
  fds?: FileDescriptors | null | undefined;
}

/** `struct ibv_fd_arr`. */
export interface FileDescriptors {
  arr: readonly number[];
  /** How many of `arr` are used. @default all */
  count?: number | undefined;
}

/**
 * Opens a device, or a function of one (mlx5dv_open_device(3)). Device commands work on every
 * context, also on those of `ibv_open_device`.
 * @throws EINVAL if a bit of `flags` or `comp_mask` is unknown, or `fds` has a number that is no
 *   file descriptor
 * @example
 * const context = mlx5dv_open_device(device, { flags: MLX5DV_CONTEXT_FLAGS_DEVX });
 */
export function mlx5dv_open_device(device: Device | DeviceFunction, attr?: ContextAttr | null): Context {
  return inCall("mlx5dv_open_device", () => {
    const { flags = 0, comp_mask = 0, fds } = objectArgument<ContextAttr>("attr", attr ?? {});
    const mask = typeof comp_mask === "bigint" ? Number(comp_mask) : comp_mask;
    checkBits("attr.comp_mask", unsigned("attr.comp_mask", mask, 64), MLX5DV_CONTEXT_ATTR_MASK_FD_ARRAY);
    checkBits("attr.flags", unsigned("attr.flags", flags, 32), MLX5DV_CONTEXT_FLAGS_DEVX);
    if (mask !== 0) checkDescriptors("attr.fds", fds ?? null);
    return new Context(device);
  });
}

/** @throws TypeError, EINVAL a member that is no file descriptor */
function checkDescriptors(path: string, fds: FileDescriptors | null): void {
  if (fds === null) return;
  checkObject(path, fds);
  checkArray(`${path}.arr`, fds.arr);
  const count = unsigned(`${path}.count`, fds.count ?? fds.arr.length, 32);
  if (count > fds.arr.length) {
    const hint = `the array has ${fds.arr.length}`;
    refuse({ code: "EINVAL", reason: "out_of_range", path: `${path}.count`, value: count, hint });
  }
  for (const [i, one] of fds.arr.slice(0, count).entries()) unsigned(`${path}.arr[${i}]`, one, 31);
}

/** @throws EINVAL a bit other than the known one */
function checkBits(path: string, value: number, known: number): void {
  if (value === 0 || value === known) return;
  refuse({ code: "EINVAL", reason: "out_of_range", path, value, hint: `0 or ${known}` });
}

/**
 * Runs a device command that makes an object; its opcode decides which (mlx5dv_devx_obj_create(3),
 * docs/devx.md).
 * @param input the command; encoders such as `allocFlowCounterCommand` make it
 * @param inlen bytes of `input` that are used; all if undefined
 * @param output at least 16 bytes: status, syndrome, number (`commandOutput`)
 * @param outlen bytes of `output` that are used; all if undefined
 * @throws EINVAL if a length is wrong
 * @throws EREMOTEIO if the device refuses; status and syndrome are in `output` (DEVX_SYNDROMES)
 * @example
 * const counter = mlx5dv_devx_obj_create(context, allocFlowCounterCommand(), undefined, new Uint8Array(16), undefined);
 */
export function mlx5dv_devx_obj_create<T extends DevxObject = DevxObject>(
  context: Context,
  input: CommandFor<T>,
  inlen: number | undefined,
  output: Uint8Array,
  outlen: number | undefined,
): T {
  return inCall("mlx5dv_devx_obj_create", () => {
    living("context", context, Context);
    // Only encoders say what T is, and the opcode decides that.
    return createObject(new Command(context, input, inlen, output, outlen)) as T;
  });
}

/**
 * Runs a device command that queries `obj`. Lengths as for `mlx5dv_devx_obj_create`.
 * @throws EINVAL, EREMOTEIO as `mlx5dv_devx_obj_create`
 */
export function mlx5dv_devx_obj_query(
  obj: DevxObject,
  input: Uint8Array,
  inlen: number | undefined,
  output: Uint8Array,
  outlen: number | undefined,
): 0 {
  return inCall("mlx5dv_devx_obj_query", () => ask("query", obj, [input, inlen, output, outlen]));
}

/**
 * Runs a device command that changes `obj`. Lengths as for `mlx5dv_devx_obj_create`.
 * @throws EINVAL, EREMOTEIO as `mlx5dv_devx_obj_create`
 */
export function mlx5dv_devx_obj_modify(
  obj: DevxObject,
  input: Uint8Array,
  inlen: number | undefined,
  output: Uint8Array,
  outlen: number | undefined,
): 0 {
  return inCall("mlx5dv_devx_obj_modify", () => ask("modify", obj, [input, inlen, output, outlen]));
}

/**
 * Destroys an object that a device command made.
 * @throws EBUSY if something uses it
 */
export function mlx5dv_devx_obj_destroy(obj: DevxObject): 0 {
  return inCall("mlx5dv_devx_obj_destroy", () => {
    destroyObject(devxObject("obj", obj, DevxObject));
    return 0;
  });
}

/**
 * Runs a device command that makes no object: queries, SYNC_STEERING, and those that destroy an
 * object by its number.
 * @throws EINVAL, EREMOTEIO as `mlx5dv_devx_obj_create`
 */
export function mlx5dv_devx_general_cmd(
  context: Context,
  input: Uint8Array,
  inlen: number | undefined,
  output: Uint8Array,
  outlen: number | undefined,
): 0 {
  return inCall("mlx5dv_devx_general_cmd", () => {
    living("context", context, Context);
    const command = new Command(context, input, inlen, output, outlen);
    runCommand(command);
    return 0;
  });
}

type Buffers = [input: Uint8Array, inlen: number | undefined, output: Uint8Array, outlen: number | undefined];

function ask(does: "query" | "modify", obj: DevxObject, buffers: Buffers): 0 {
  const object = devxObject("obj", obj, DevxObject);
  askObject(new Command(object.context, ...buffers), object, does);
  return 0;
}
