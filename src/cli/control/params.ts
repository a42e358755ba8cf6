/** Parameters of calls, checked before anything is done. */
import { rangeText } from "../../base/checks.js";
import { ERRORS, RpcError, type Params } from "./rpc.js";

/** Refuses names that the call does not know. */
export function only(params: Params, names: readonly string[]): void {
  const other = Object.keys(params).find((name) => !names.includes(name));
  if (other !== undefined)
    throw bad(other, names.length === 0 ? "the call has no params" : `the params are ${names.join(", ")}`);
}

export function bad(name: string, hint: string): RpcError {
  return new RpcError(ERRORS.params, `params.${name}: ${hint}`);
}

export function textParam(params: Params, name: string): string {
  const value = params[name];
  if (typeof value !== "string") throw bad(name, "text");
  return value;
}

export function intParam(params: Params, name: string, least: number, most: number, standard: number): number {
  const value = params[name] ?? standard;
  if (typeof value !== "number" || !Number.isInteger(value) || value < least || value > most)
    throw bad(name, least === most ? `expected ${least}` : `expected a whole number, ${rangeText(least, most)}`);
  return value;
}

/** Nanoseconds: a whole number, or its digits as text. */
export function timeParam(params: Params, name: string): bigint {
  const value = params[name];
  if (Number.isSafeInteger(value) || (typeof value === "string" && /^\d{1,20}$/.test(value))) {
    const time = BigInt(value as number | string);
    if (time === BigInt.asUintN(64, time)) return time;
  }
  throw bad(name, "expected nanoseconds, 0 to 2^64 - 1, as a number, or as text above 2^53 - 1");
}

/** Bytes as hexadecimal digits. */
export function bytesParam(params: Params, name: string): Uint8Array {
  const text = textParam(params, name);
  if (!/^([0-9a-fA-F]{2})*$/.test(text)) throw bad(name, "bytes as hexadecimal digits");
  return new Uint8Array(Buffer.from(text, "hex"));
}

export function oneOf<T>(params: Params, name: string, all: ReadonlyMap<string, T>): T {
  const found = all.get(textParam(params, name));
  if (found === undefined) throw bad(name, "nothing has this name");
  return found;
}
