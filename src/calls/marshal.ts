/** The arguments of a call from its message, in the form that the facades take, and its answer. `cSource.ts` is the other end. */
import { refuse } from "../errors.js";
import { HANDLES, type HandleName } from "./handles.js";
import { MessageWriter, NO_LENGTH, type MessageReader } from "./message.js";
import { structs, type CFunction, type IntegerName, type Member, type Parameter, type Type } from "./notation.js";

/** Finds the object of a number. @throws SteeringError EINVAL: none of this kind has the number */
export type ObjectOf = (number: number, kind: HandleName, path: string) => object;

/** Bytes of an out parameter, and members of a list, at most. */
const MAX_OUT = 4 << 20;
const MAX_LIST = 1 << 16;

type Values = Record<string, unknown>;

/** Reads the arguments in their order. Out parameters are empty objects and arrays, for the call to fill. */
export function readArguments({ parameters }: CFunction, reader: MessageReader, objectOf: ObjectOf): unknown[] {
  const values: Values = {};
  for (const { name, type, direction } of parameters) {
    if (direction === "inout") values[name] = { comp_mask: reader.wide() };
    else if (direction !== "out") values[name] = readValue(type, reader, name, objectOf);
  }
  for (const { name, type, direction } of parameters) {
    if (direction === "out") values[name] = type.kind === "bytes" ? new Uint8Array(roomOf(type, values)) : {};
  }
  return parameters.map(({ name }) => values[name]);
}

function roomOf({ length }: { readonly length: number | string }, values: Values): number {
  const room = typeof length === "number" ? length : Number(values[length]);
  if (room <= MAX_OUT) return room;
  return refuse({ code: "ENOMEM", reason: "out_of_range", path: String(length), value: room, hint: `0 to ${MAX_OUT}` });
}

function readValue(type: Type, reader: MessageReader, path: string, objectOf: ObjectOf): unknown {
  switch (type.kind) {
    case "integer":
      return readInteger(type.name, reader);
    case "handle": {
      const number = reader.u32();
      return number === 0 ? null : objectOf(number, type.name, path);
    }
    case "bytes":
      return reader.bytes();
    case "text":
      return reader.text();
    case "struct":
      if (type.pointer && reader.u8() === 0) return null;
      return readStruct(type.name, reader, path, objectOf);
    case "list": {
      const count = reader.u32();
      if (count === NO_LENGTH) return null;
      if (count > MAX_LIST)
        refuse({ code: "EINVAL", reason: "out_of_range", path, value: count, hint: `at most ${MAX_LIST} members` });
      return Array.from({ length: count }, (_, i) => readValue(type.of, reader, `${path}[${i}]`, objectOf));
    }
  }
}

function readInteger(name: IntegerName, reader: MessageReader): number | bigint | boolean {
  switch (name) {
    case "u8":
      return reader.u8();
    case "u16":
      return reader.u16();
    case "u32":
    case "be32":
      return reader.u32();
    case "i32":
      return reader.i32();
    case "be64":
      return reader.u64();
    case "u64":
    case "i64":
    case "size":
      return reader.wide();
    case "bool":
      return reader.u8() !== 0;
  }
}

function readStruct(name: string, reader: MessageReader, path: string, objectOf: ObjectOf): Values {
  const values: Values = {};
  for (const member of membersOf(name)) {
    if (!isThere(member, values)) continue;
    const value = readValue(member.type, reader, `${path}.${member.key}`, objectOf);
    // A null pointer is a member that is left out.
    if (value !== null) values[member.key] = value;
  }
  return values;
}

function membersOf(name: string): readonly Member[] {
  const found = structs.get(name);
  if (found === undefined) throw new Error(`no struct ${name}`);
  return found;
}

function isThere({ when }: Member, values: Values): boolean {
  if (when === null) return true;
  const value = BigInt((values[when.of] ?? 0) as number | bigint);
  return when.operator === "&" ? (value & BigInt(when.bits)) !== 0n : value === BigInt(when.bits);
}

/**
 * Writes the answer of a call that succeeded.
 * @param number that of the object which the call made; 0 for other calls
 * @param args its arguments, with the out parameters as the call left them
 */
export function writeAnswer(
  { returns, parameters }: CFunction,
  result: unknown,
  number: number,
  args: readonly unknown[],
): MessageWriter {
  const writer = new MessageWriter();
  writer.u32(0);
  if (returns === "text") writer.text(result as string);
  else if (typeof returns === "object") {
    writer.u32(number);
    for (const name of HANDLES[returns.handle].returns)
      writer.u32(Number((result as Readonly<Record<string, unknown>>)[name] ?? 0));
  } else writer.u32(typeof result === "number" ? result : 0);
  for (const [i, { type, direction }] of parameters.entries())
    if (direction === "out" || direction === "inout") writeValue(type, writer, args[i]);
  return writer;
}

function writeValue(type: Parameter["type"], writer: MessageWriter, value: unknown): void {
  switch (type.kind) {
    case "integer":
      writeInteger(type.name, writer, (value ?? 0) as number | bigint | boolean);
      break;
    case "handle":
      // The program knows the objects that it gave.
      writer.u32(0);
      break;
    case "bytes":
      writer.bytes((value ?? new Uint8Array()) as Uint8Array);
      break;
    case "text": {
      const bytes = new Uint8Array(type.length);
      bytes.set(new TextEncoder().encode((value ?? "") as string).subarray(0, type.length - 1));
      writer.bytes(bytes);
      break;
    }
    case "struct": {
      const values = (value ?? {}) as Values;
      for (const member of membersOf(type.name))
        if (isThere(member, values)) writeValue(member.type, writer, values[member.key]);
      break;
    }
    case "list":
      throw new Error("no out parameter has a list");
  }
}

function writeInteger(name: IntegerName, writer: MessageWriter, value: number | bigint | boolean): void {
  const number = typeof value === "boolean" ? Number(value) : value;
  switch (name) {
    case "u8":
    case "bool":
      writer.u8(Number(number));
      break;
    case "u16":
      writer.u16(Number(number));
      break;
    case "u32":
    case "be32":
    case "i32":
      writer.u32(Number(number) >>> 0);
      break;
    default:
      writer.wide(number);
  }
}
