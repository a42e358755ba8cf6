/** JSON-RPC 2.0: a message in, its answer out. What is no request of the protocol gets an error and changes nothing. */
import { isObject } from "../../base/checks.js";
import { parseJson } from "../../base/json.js";
import { SteeringError } from "../../index.js";

export const ERRORS = {
  parse: -32700,
  request: -32600,
  method: -32601,
  params: -32602,
  internal: -32603,
  /** The device or the scenario refused the call; `data` says why. */
  refused: 1,
} as const;

/** An error that the caller is told. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export type Params = Readonly<Record<string, unknown>>;
export type Call = (params: Params) => unknown;

type Id = string | number | null;

/** The most calls in a batch. */
const MAX_CALLS = 64;

/** Answers messages by the methods that it is given. */
export class RpcServer {
  readonly #find: (method: string) => Call | undefined;

  constructor(find: (method: string) => Call | undefined) {
    this.#find = find;
  }

  /** @returns the answer; null where none is due */
  async answer(text: string): Promise<string | null> {
    let message: unknown;
    try {
      message = parseJson(text);
    } catch {
      return written(failure(null, new RpcError(ERRORS.parse, "the message is not JSON")));
    }
    if (!Array.isArray(message)) {
      const one = await this.#one(message);
      return one === null ? null : written(one);
    }
    if (message.length === 0 || message.length > MAX_CALLS)
      return written(failure(null, new RpcError(ERRORS.request, `a batch has 1 to ${MAX_CALLS} calls`)));
    const all: object[] = [];
    for (const one of message) {
      const answer = await this.#one(one);
      if (answer !== null) all.push(answer);
    }
    return all.length === 0 ? null : written(all);
  }

  async #one(message: unknown): Promise<object | null> {
    if (!isObject(message)) return failure(null, new RpcError(ERRORS.request, "a request is an object"));
    const { jsonrpc, method, params = {}, id } = message;
    const known = id === undefined || id === null || typeof id === "string" || typeof id === "number";
    const to: Id = known ? (id ?? null) : null;
    if (jsonrpc !== "2.0" || typeof method !== "string" || !known)
      return failure(to, new RpcError(ERRORS.request, 'a request has "jsonrpc": "2.0", a method, and an id or none'));
    try {
      const call = this.#find(method);
      if (call === undefined) throw new RpcError(ERRORS.method, "unknown method: the method methods lists all");
      if (!isObject(params)) throw new RpcError(ERRORS.params, "params are an object, by name");
      const result = (await call(params)) ?? null;
      return id === undefined ? null : { jsonrpc: "2.0", id: to, result };
    } catch (error) {
      const told = rpcError(error);
      return id === undefined ? null : failure(to, told);
    }
  }
}

function rpcError(error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  if (!(error instanceof SteeringError))
    return new RpcError(ERRORS.internal, `a defect of flowsteer: ${String(error)}`);
  return new RpcError(ERRORS.refused, error.message, refusalData(error));
}

/** The parts of a refusal, for programs. */
export function refusalData({ code, errno, call, reason, path, hint }: SteeringError): object {
  return { code, errno, call, reason, path: path ?? null, hint: hint ?? null };
}

function failure(id: Id, { code, message, data }: RpcError): object {
  return { jsonrpc: "2.0", id, error: { code, message, ...(data === undefined ? {} : { data }) } };
}

/** Integers beyond 2^53 - 1 are text. */
export function written(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) => {
    if (typeof one !== "bigint") return one;
    return one <= BigInt(Number.MAX_SAFE_INTEGER) && one >= BigInt(Number.MIN_SAFE_INTEGER) ? Number(one) : String(one);
  });
}
