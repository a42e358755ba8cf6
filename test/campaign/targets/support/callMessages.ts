/** Messages to the host of `flowsteer exec`: the other end of `src/calls/marshal.ts`, and values that no program sends. */
import { functions, MessageWriter, type CFunction, type HandleName } from "../../../../src/calls/index.js";
import { NO_LENGTH } from "../../../../src/calls/message.js";
import { INTEGERS, structs, type Member, type Type } from "../../../../src/calls/notation.js";
import type { Random } from "../../../oracle/generate/random.js";

/** Arguments by the names of parameters: numbers of objects, integers, bytes, and structs and lists of these. */
export type Values = Readonly<Record<string, unknown>>;

/** Integers at which something ends. */
const EDGES = [0, 1, 2, 7, 0x7f, 0xff, 0xffff, 0x1_0000, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, 0xffff_ffff];
const MAX_BYTES = 300;
const MAX_LIST = 5;

export function functionNamed(name: string): CFunction {
  const found = functions.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no function ${name}`);
  return found;
}

/** The bytes of a message with its size. */
export function framed(call: number, body: Uint8Array): Uint8Array {
  const writer = new MessageWriter();
  writer.u16(call);
  writer.raw(body);
  return writer.framed();
}

/** The arguments as the C library writes them; what is left out is 0 or a null pointer. */
export function argumentsOf({ parameters }: CFunction, values: Values): Uint8Array {
  const writer = new MessageWriter();
  for (const { name, type, direction } of parameters) {
    if (direction === "inout") writer.wide((values[name] as { comp_mask?: number } | null)?.comp_mask ?? 0);
    else if (direction !== "out") write(type, writer, values[name]);
  }
  return writer.framed().subarray(4);
}

function write(type: Type, writer: MessageWriter, value: unknown): void {
  switch (type.kind) {
    case "integer":
      writeInteger(INTEGERS[type.name], writer, (value ?? 0) as number | bigint);
      break;
    case "handle":
      writer.u32((value ?? 0) as number);
      break;
    case "bytes":
    case "text":
      if (value instanceof Uint8Array) writer.bytes(value);
      else writer.u32(NO_LENGTH);
      break;
    case "struct":
      if (type.pointer) writer.u8(value === undefined || value === null ? 0 : 1);
      if (!type.pointer || (value ?? null) !== null) writeStruct(type.name, writer, (value ?? {}) as Values);
      break;
    case "list":
      if (!Array.isArray(value)) writer.u32(NO_LENGTH);
      else {
        writer.u32(value.length);
        for (const one of value) write(type.of, writer, one);
      }
  }
}

function writeInteger(size: number, writer: MessageWriter, value: number | bigint): void {
  const number = BigInt.asUintN(8 * size, BigInt(value));
  if (size === 8) writer.wide(number);
  else if (size === 4) writer.u32(Number(number));
  else if (size === 2) writer.u16(Number(number));
  else writer.u8(Number(number));
}

function writeStruct(name: string, writer: MessageWriter, values: Values): void {
  for (const member of structs.get(name) ?? [])
    if (isThere(member, values)) write(member.type, writer, values[member.key]);
}

function isThere({ when }: Member, values: Values): boolean {
  if (when === null) return true;
  const value = BigInt((values[when.of] ?? 0) as number);
  return when.operator === "&" ? (value & BigInt(when.bits)) !== 0n : value === BigInt(when.bits);
}

/** Objects that messages name. */
export type Numbers = ReadonlyMap<HandleName, readonly number[]>;

/** Draws arguments: mostly those that are given, else values of the right type. */
export function drawnArguments({ parameters }: CFunction, given: Values, numbers: Numbers, random: Random): Values {
  const kept = 1 - random.pick([0, 0.02, 0.1, 0.5]);
  return Object.fromEntries(
    parameters.map(({ name, type }) => [name, drawn(type, given[name], { numbers, random, kept })]),
  );
}

interface Drawing {
  readonly numbers: Numbers;
  readonly random: Random;
  /** The chance that a value stays. */
  readonly kept: number;
}

function drawn(type: Type, given: unknown, drawing: Drawing): unknown {
  const { random, numbers, kept } = drawing;
  const keeps = given !== undefined && random.chance(kept);
  switch (type.kind) {
    case "integer":
      if (keeps) return given;
      return random.chance(0.5) ? random.pick(EDGES) : random.bits(random.pick([3, 8, 16, 32, 64]));
    case "handle":
      if (keeps) return given;
      return random.chance(0.8) ? random.pick([0, ...(numbers.get(type.name) ?? [])]) : random.below(100);
    case "bytes":
    case "text":
      if (keeps) return given;
      return random.chance(0.1) ? null : Uint8Array.from(random.bytes(random.below(MAX_BYTES)));
    case "struct": {
      if (type.pointer && !random.chance(0.95)) return null;
      const values = (given ?? {}) as Values;
      const members = structs.get(type.name) ?? [];
      return Object.fromEntries(members.map(({ key, type: of }) => [key, drawn(of, values[key], drawing)]));
    }
    case "list": {
      const list = Array.isArray(given) && random.chance(kept) ? given : Array.from({ length: random.below(MAX_LIST) });
      return list.map((one: unknown) => drawn(type.of, one, drawing));
    }
  }
}

/** Damages bytes: some are changed, left out or added, or a word becomes an integer at which something ends. */
export function damaged(bytes: Uint8Array, random: Random): Uint8Array {
  const at = random.below(bytes.length + 1);
  const fresh = Uint8Array.from(random.bytes(random.below(9)));
  switch (random.below(4)) {
    case 0:
      return bytes.slice(0, at);
    case 1:
      return Uint8Array.from([...bytes.subarray(0, at), ...fresh, ...bytes.subarray(at)]);
    case 2:
      return Uint8Array.from([...bytes.subarray(0, at), ...fresh, ...bytes.subarray(at + fresh.length)]);
    default: {
      const word = new Uint8Array(Uint32Array.of(random.pick(EDGES)).buffer);
      return Uint8Array.from([...bytes.subarray(0, at), ...word, ...bytes.subarray(at + 4)]);
    }
  }
}
