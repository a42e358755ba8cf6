/**
 * The notation of `structs.ts` and `functions.ts`, which is C's with these additions:
 *
 *     u8 ... u64, i32, i64, size, bool, be32, be64   integers; be are in network byte order
 *     enum NAME type                                 an enumeration, 4 bytes
 *     bytes raw[16]                                  an array of bytes in a struct
 *     const void in[inlen]                           memory whose length is another member
 *     pointer data[length]                           the same, as a pointer in a struct
 *     mlx5dv_dr_action *actions[n]                   a list of handles, or of pointers to structs
 *     comp_mask & 1 ? u32 flags                      a member that is there only then
 *     out, inout                                     filled by the call; of inout structs only comp_mask goes in
 *     free                                           the handle is destroyed if the call succeeds
 *     pointer val_ptr[len] as val                    the facades have another name
 *     ~                                              no function of this name is generated: C calls it itself
 */
import { HANDLES, type HandleName } from "./handles.js";
import { FUNCTIONS } from "./functions.js";
import { STRUCTS } from "./structs.js";

/** Integers with their size in bytes. */
export const INTEGERS = {
  u8: 1,
  u16: 2,
  u32: 4,
  u64: 8,
  i32: 4,
  i64: 8,
  size: 8,
  bool: 1,
  be32: 4,
  be64: 8,
} as const;
export type IntegerName = keyof typeof INTEGERS;

/** When a member is there: `of & bits`, or `of == bits`. */
export interface Condition {
  readonly of: string;
  readonly operator: "&" | "==";
  readonly bits: number;
}

export type Type =
  | { readonly kind: "integer"; readonly name: IntegerName; readonly enumeration: string | null }
  | { readonly kind: "handle"; readonly name: HandleName }
  | { readonly kind: "struct"; readonly name: string; readonly pointer: boolean }
  /** A number of bytes, or the name of the member with their number. */
  | { readonly kind: "bytes"; readonly length: number | string; readonly words: boolean; readonly constant: boolean }
  | { readonly kind: "text"; readonly length: number }
  | { readonly kind: "list"; readonly of: Type; readonly length: string };

export interface Member {
  readonly name: string;
  /** Its name in the facades. */
  readonly key: string;
  readonly type: Type;
  readonly when: Condition | null;
}

export interface Parameter extends Member {
  readonly direction: "in" | "out" | "inout" | "free";
}

export type Returns = "errno" | "int" | "void" | "text" | { readonly handle: HandleName };

export interface CFunction {
  readonly name: string;
  /** Its number in messages. */
  readonly number: number;
  readonly returns: Returns;
  readonly parameters: readonly Parameter[];
  /** Whether the function of this name is generated. */
  readonly generated: boolean;
}

/** Structs by name. */
export const structs: ReadonlyMap<string, readonly Member[]> = readStructs(STRUCTS);
/** Functions by number. */
export const functions: readonly CFunction[] = FUNCTIONS.trim().split("\n").map(readFunction);

/** Both ends of a connection must have the same table. */
export const tableHash = hashOf(STRUCTS + FUNCTIONS);

function hashOf(text: string): number {
  let hash = 0;
  for (let i = 0; i < text.length; i++) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) & 0x7fff_ffff;
  return hash;
}

function readStructs(text: string): Map<string, readonly Member[]> {
  const found = new Map<string, readonly Member[]>();
  for (const [, name = "", body = ""] of text.matchAll(/^([\w.]+) \{([^}]*)\}/gm)) {
    const members = body.split(";").map((one) => one.trim());
    found.set(name, members.filter((one) => one !== "").map(readMember));
  }
  return found;
}

function readMember(text: string): Member {
  const [, of, operator, bits, rest = text] = /^(\w+) (&|==) (\d+) \? (.*)$/.exec(text) ?? [];
  const when = of === undefined ? null : { of, operator: operator as Condition["operator"], bits: Number(bits) };
  return { ...readDeclaration(rest), when };
}

function readDeclaration(text: string): Pick<Member, "name" | "key" | "type"> {
  const [, constant, enumeration, type = "", stars, name = "", length, key = name] =
    /^(const )?(enum )?([\w.]+) (\**)(\w+)(?:\[(.*)\])?(?: as (\w+))?$/.exec(text) ?? [];
  if (name === "") throw new Error(`not a declaration: ${text}`);
  return { name, key, type: typeOf(type, { constant, enumeration, stars, length }) };
}

interface Marks {
  readonly constant: string | undefined;
  readonly enumeration: string | undefined;
  readonly stars: string | undefined;
  readonly length: string | undefined;
}

function typeOf(name: string, { constant, enumeration, stars, length }: Marks): Type {
  if (enumeration !== undefined) return { kind: "integer", name: "u32", enumeration: name };
  if (name in INTEGERS) return { kind: "integer", name: name as IntegerName, enumeration: null };
  if (length !== undefined && ["void", "bytes", "pointer", "be64s"].includes(name)) {
    const number = Number(length);
    const exact = Number.isNaN(number) ? length : number;
    return { kind: "bytes", length: exact, words: name === "be64s", constant: constant !== undefined };
  }
  if (name === "text") return { kind: "text", length: Number(length) };
  const one: Type = Object.hasOwn(HANDLES, name)
    ? { kind: "handle", name: name as HandleName }
    : { kind: "struct", name, pointer: stars === "*" };
  return length === undefined ? one : { kind: "list", of: one, length };
}

function readFunction(line: string, number: number): CFunction {
  const [, own, result = "", name = "", list = ""] = /^(~?)(\w+ \*?)(\w+)\((.*)\)$/.exec(line) ?? [];
  if (name === "") throw new Error(`not a function: ${line}`);
  const word = result.trim();
  const returns = word.endsWith("*") ? { handle: word.slice(0, -1).trim() as HandleName } : (word as Returns);
  const parameters = list === "" ? [] : list.split(", ").map(readParameter);
  return { name, number, returns, parameters, generated: own === "" };
}

function readParameter(text: string): Parameter {
  const [, direction = "in", rest = ""] = /^(?:(out|inout|free) )?(.*)$/.exec(text) ?? [];
  return { ...readDeclaration(rest), when: null, direction: direction as Parameter["direction"] };
}
