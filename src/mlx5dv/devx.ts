/**
 * Device commands, as far as flow counters need them (device objects: 1, 2). Everything is big-endian.
 *
 *     ALLOC_FLOW_COUNTER   | 0x939 2 | uid 2 | 0 2 | op_mod 2 | counter id 4 | 0 2 | log size 1 | bulk 1 |
 *     QUERY_FLOW_COUNTER   | 0x93b 2 | uid 2 | 0 2 | op_mod 2 | 0 4 | mkey 4 | address 8 |
 *                          | clear 1 bit, to memory 1 bit, counters 30 bits | counter id 4 |
 *     output               | status 1 | 0 3 | syndrome 4 | counter id 4 ... , or 8 bytes and | packets 8 | octets 8 | each
 */
import { refuse } from "../errors.js";
import { Context } from "../model/context.js";
import { FlowCounter } from "../model/counter.js";
import type { Device } from "../model/device.js";
import type { DeviceFunction } from "../model/deviceFunction.js";
import { describe, living, unsigned } from "../model/handle.js";
import { MLX5DV_CONTEXT_FLAGS_DEVX } from "./constants.js";

const ALLOC_FLOW_COUNTER = 0x939;
const QUERY_FLOW_COUNTER = 0x93b;

const STATUS_BAD_OPCODE = 2;
const STATUS_BAD_PARAMETER = 3;
const STATUS_BAD_INPUT_LENGTH = 0x50;
const STATUS_BAD_OUTPUT_LENGTH = 0x51;

const OUTPUT_SIZE = 16;
const COUNTER_SIZE = 16;
const MAX_LOG_SIZE = 24;

/** Opens a device, or a function of one, with the flags of `attr`; MLX5DV_CONTEXT_FLAGS_DEVX lets device commands through. */
export function mlx5dv_open_device(device: Device | DeviceFunction, attr: { flags?: number } = {}): Context {
  return new Context("mlx5dv_open_device", device, ((attr.flags ?? 0) & MLX5DV_CONTEXT_FLAGS_DEVX) !== 0);
}

/**
 * Runs a creating command; this release has ALLOC_FLOW_COUNTER, bulks included.
 * @throws EINVAL a context without DEVX; EREMOTEIO refused by the device, with status and syndrome in `out`
 */
export function mlx5dv_devx_obj_create(
  context: Context,
  input: Uint8Array,
  inlen: number | undefined,
  output: Uint8Array,
  outlen: number | undefined,
): FlowCounter {
  const call = "mlx5dv_devx_obj_create";
  living(call, "context", context, Context);
  if (!context.devx) {
    const hint = "open it by mlx5dv_open_device(device, { flags: MLX5DV_CONTEXT_FLAGS_DEVX })";
    refuse({ code: "EINVAL", call, reason: "bad_object", path: "context", value: context, hint });
  }
  const command = new Command(call, input, inlen, output, outlen);
  command.expect(ALLOC_FLOW_COUNTER, "ALLOC_FLOW_COUNTER", 16, OUTPUT_SIZE);
  const logSize = command.in.getUint8(14) & 0x1f;
  const bulk = command.in.getUint8(15);
  const size = bulkSize(logSize, bulk);
  if (size === undefined) return command.fail(STATUS_BAD_PARAMETER, "flow_counter_bulk", `0x${bulk.toString(16)}`);
  const counter = new FlowCounter(call, context, size);
  command.done();
  command.out.setUint32(8, counter.id);
  return counter;
}

/** Runs a query on an object; this release has QUERY_FLOW_COUNTER. */
export function mlx5dv_devx_obj_query(
  obj: FlowCounter,
  input: Uint8Array,
  inlen: number | undefined,
  output: Uint8Array,
  outlen: number | undefined,
): 0 {
  const call = "mlx5dv_devx_obj_query";
  living(call, "obj", obj, FlowCounter);
  const command = new Command(call, input, inlen, output, outlen);
  command.expect(QUERY_FLOW_COUNTER, "QUERY_FLOW_COUNTER", 32, OUTPUT_SIZE);
  const word = command.in.getUint32(24);
  const count = Math.max(word & 0x3fffffff, 1);
  const first = command.in.getUint32(28) - obj.id;
  if ((word & 0x40000000) !== 0) command.fail(STATUS_BAD_PARAMETER, "dump_to_memory", 1);
  if (first < 0 || first + count > obj.size) {
    command.fail(STATUS_BAD_PARAMETER, "flow_counter_id", command.in.getUint32(28));
  }
  if (command.out.byteLength < OUTPUT_SIZE + count * COUNTER_SIZE) {
    command.fail(STATUS_BAD_OUTPUT_LENGTH, "outlen", command.out.byteLength);
  }
  command.done();
  for (let i = 0; i < count; i++) {
    const { packets, bytes } = obj.read(first + i);
    command.out.setBigUint64(OUTPUT_SIZE + i * COUNTER_SIZE, packets);
    command.out.setBigUint64(OUTPUT_SIZE + i * COUNTER_SIZE + 8, bytes);
    if (word >>> 31 === 1) obj.clear(first + i);
  }
  return 0;
}

/** @throws EBUSY while an action counts on it */
export function mlx5dv_devx_obj_destroy(obj: FlowCounter): 0 {
  const call = "mlx5dv_devx_obj_destroy";
  living(call, "obj", obj, FlowCounter).destroy(call);
  return 0;
}

/** The input bytes of ALLOC_FLOW_COUNTER for 2^logSize counters: so that nobody writes offsets by hand. */
export function allocFlowCounterCommand(logSize = 0): Uint8Array {
  const input = new Uint8Array(16);
  new DataView(input.buffer).setUint16(0, ALLOC_FLOW_COUNTER);
  input[14] = logSize;
  return input;
}

/** The input bytes of QUERY_FLOW_COUNTER for `count` counters from device number `id`. */
export function queryFlowCounterCommand(id: number, count = 1, clear = false): Uint8Array {
  const input = new Uint8Array(32);
  const view = new DataView(input.buffer);
  view.setUint16(0, QUERY_FLOW_COUNTER);
  view.setUint32(24, (count & 0x3fffffff) | (clear ? 0x80000000 : 0));
  view.setUint32(28, id);
  return input;
}

/** Device objects 2, bulk size: one of the two fields, or neither; a bit k of `bulk` is 128 << k counters. */
function bulkSize(logSize: number, bulk: number): number | undefined {
  if (bulk === 0) return logSize <= MAX_LOG_SIZE ? 2 ** logSize : undefined;
  return logSize === 0 && (bulk & (bulk - 1)) === 0 ? 128 * bulk : undefined;
}

/** One command: its input and output, and the way it is refused. */
class Command {
  readonly call: string;
  readonly in: DataView;
  readonly out: DataView;

  constructor(
    call: string,
    input: Uint8Array,
    inlen: number | undefined,
    output: Uint8Array,
    outlen: number | undefined,
  ) {
    this.call = call;
    this.in = viewOf(call, "in", input, inlen);
    this.out = viewOf(call, "out", output, outlen);
  }

  /** The opcode, and lengths that hold it. */
  expect(opcode: number, name: string, inlen: number, outlen: number): void {
    if (this.out.byteLength < 8 || this.in.byteLength < 2) {
      const hint = "no room for opcode, status and syndrome";
      refuse({
        code: "EINVAL",
        call: this.call,
        reason: "bad_command",
        path: "outlen",
        value: this.out.byteLength,
        hint,
      });
    }
    const found = this.in.getUint16(0);
    if (found !== opcode) this.fail(STATUS_BAD_OPCODE, "opcode", `0x${found.toString(16)}`, `this release has ${name}`);
    if (this.in.byteLength < inlen) this.fail(STATUS_BAD_INPUT_LENGTH, "inlen", this.in.byteLength, `${inlen} bytes`);
    if (this.out.byteLength < outlen)
      this.fail(STATUS_BAD_OUTPUT_LENGTH, "outlen", this.out.byteLength, `${outlen} bytes`);
  }

  done(): void {
    for (let i = 0; i < this.out.byteLength; i++) this.out.setUint8(i, 0);
  }

  fail(status: number, path: string, value: unknown, hint?: string): never {
    this.out.setUint8(0, status);
    this.out.setUint32(4, 0);
    const text = `status 0x${status.toString(16)}${hint === undefined ? "" : `; ${hint}`}`;
    return refuse({ code: "EREMOTEIO", call: this.call, reason: "bad_command", path, value, hint: text });
  }
}

function viewOf(call: string, path: string, bytes: Uint8Array, length: number | undefined): DataView {
  if (!(bytes instanceof Uint8Array))
    throw new TypeError(`${call}: ${path} must be a Uint8Array, not ${describe(bytes)}`);
  const size = unsigned(call, `${path}len`, length ?? bytes.length, 32);
  if (size > bytes.length) {
    const hint = `it has ${bytes.length} bytes`;
    refuse({ code: "EINVAL", call, reason: "out_of_range", path: `${path}len`, value: size, hint });
  }
  return new DataView(bytes.buffer, bytes.byteOffset, size);
}
