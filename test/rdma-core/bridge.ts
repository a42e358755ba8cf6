/**
 * The device that rdma-core's tests run on: reads calls as JSON lines on standard input, makes them
 * on flowsteer's functions with C names, and writes each result as a JSON line. README.md has the
 * protocol.
 */
import { readSync, writeSync } from "node:fs";
import { createDevice, SteeringError, type Device } from "../../src/index.js";
import * as mlx5dv from "../../src/mlx5dv/index.js";
import * as verbs from "../../src/verbs/index.js";

type Values = Record<string, unknown>;

/** One line of input: a call, with the time on the caller's clock in nanoseconds. */
interface Request {
  call: string;
  args: unknown[];
  now: number;
  /** Members of the first argument to read after the call, where C reads a struct. */
  read?: string[];
}

const names: Readonly<Values> = { ...verbs, ...mlx5dv };

let device: Device | undefined;
let now = 0n;
let lastHandle = 0;
const objects = new Map<number, object>();
let handles = new WeakMap<object, number>();

/** Buffers that a call fills, and text that it writes, in the order of its arguments. */
let outputs: unknown[] = [];

function decode(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(decode);
  const one = value as Values;
  if ("$handle" in one) return objectOf(one.$handle as number);
  if ("$bytes" in one) return new Uint8Array(Buffer.from(one.$bytes as string, "base64"));
  if ("$int" in one) return BigInt(one.$int as string);
  if ("$view" in one) {
    const [memory, offset, length] = one.$view as [number, number, number];
    return (objectOf(memory) as Uint8Array).subarray(offset, offset + length);
  }
  if ("$out" in one) {
    const bytes = new Uint8Array(one.$out as number);
    outputs.push(bytes);
    return bytes;
  }
  if ("$file" in one) {
    const text: string[] = [];
    outputs.push(text);
    return (piece: string) => text.push(piece);
  }
  return Object.fromEntries(Object.entries(one).map(([name, member]) => [name, decode(member)]));
}

function encode(value: unknown): unknown {
  if (typeof value === "bigint") return { $int: value.toString() };
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(encode);
  if (value instanceof Uint8Array) return { $bytes: Buffer.from(value).toString("base64") };
  if (Object.getPrototypeOf(value) !== Object.prototype) return { $handle: handleOf(value) };
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, encode(member)]));
}

function objectOf(handle: number): object {
  const object = objects.get(handle);
  if (object === undefined) throw new TypeError(`no object has the handle ${handle}`);
  return object;
}

function handleOf(object: object): number {
  const known = handles.get(object);
  if (known !== undefined) return known;
  handles.set(object, ++lastHandle);
  objects.set(lastHandle, object);
  return lastHandle;
}

/** What the stand-in needs besides calls with C names. */
const ownCalls: Readonly<Record<string, (...args: never[]) => unknown>> = {
  /** Replaces the device by a new one. Its port is connected to nothing: the tests' frames are multicast. */
  async open(profile: string): Promise<void> {
    objects.clear();
    handles = new WeakMap();
    device = await createDevice({ name: "mlx5_0", vports: 1, profile, now: () => now });
  },
  /** Closes the device. @throws EBUSY if a context is open */
  close(): void {
    device?.close();
    device = undefined;
  },
  constants: () => Object.fromEntries(Object.entries(names).filter(([, value]) => typeof value === "number")),
  /** A struct that calls fill. */
  struct: () => ({ struct: { $handle: handleOf({}) } }),
  allocate: (length: number) => ({ memory: { $handle: handleOf(new Uint8Array(length)) } }),
  load: (view: Uint8Array) => view,
  store(view: Uint8Array, bytes: Uint8Array): void {
    view.set(bytes);
  },
  member: (object: Values, name: string) => object[name],
  assign: (object: Values, members: Values) => void Object.assign(object, members),
};

async function answer({ call, args, now: time, read = [] }: Request): Promise<unknown> {
  now = BigInt(time);
  outputs = [];
  const work = ownCalls[call] ?? names[call];
  if (typeof work !== "function") return { missing: call };
  const values = args.map(decode);
  try {
    const result: unknown = await (work as (...args: unknown[]) => unknown)(...values);
    const members = result === 0 ? read.map((name) => encode((values[0] as Values)[name])) : [];
    return { result: encode(result), outputs: outputs.map(encode), members };
  } catch (error) {
    if (!(error instanceof SteeringError)) throw error;
    return { errno: error.errno, message: error.message, outputs: outputs.map(encode) };
  }
}

/** Lines of standard input, read synchronously: a call and its answer cost two system calls. */
function* lines(): Generator<string> {
  const chunk = Buffer.alloc(1 << 16);
  let pending = "";
  for (let length = readSync(0, chunk); length > 0; length = readSync(0, chunk)) {
    const parts = (pending + chunk.toString("latin1", 0, length)).split("\n");
    pending = parts.pop() as string;
    yield* parts;
  }
}

for (const line of lines()) {
  let reply: unknown;
  try {
    reply = await answer(JSON.parse(line) as Request);
  } catch (error) {
    reply = { crash: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
  writeSync(1, `${JSON.stringify(reply ?? {})}\n`);
}
