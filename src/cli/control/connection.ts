/** A peer of the control: a message in each line, within limits. */
import type { Readable, Writable } from "node:stream";
import type { Switchboard } from "../serve/switchboard.js";
import { ERRORS, RpcServer, written, type Call } from "./rpc.js";
import { Subscription } from "./subscription.js";

export interface Limits {
  /** Bytes of a message. */
  readonly message: number;
  /** Messages of a connection in a second. */
  readonly rate: number;
}

/** Bytes of notifications that wait for a slow peer. */
const MOST_WAITING = 1 << 20;
const SECOND = 1000;
const NEW_LINE = 10;

/** Answers the messages of a peer, one after the other, until it has no more. */
export async function converse(
  board: Switchboard,
  methods: ReadonlyMap<string, Call>,
  from: Readable,
  to: Writable,
  { message: longest, rate }: Limits,
): Promise<void> {
  let lost = 0;
  const subscription = new Subscription(board.loaded.device, (params) => {
    if (to.writableLength > MOST_WAITING) lost++;
    else {
      to.write(
        `${written({ jsonrpc: "2.0", method: "event", params: { ...params, ...(lost > 0 ? { lost } : {}) } })}\n`,
      );
      lost = 0;
    }
  });
  const own: Readonly<Record<string, Call>> = {
    subscribe: (params) => subscription.subscribe(params),
    unsubscribe: (params) => subscription.unsubscribe(params),
  };
  const server = new RpcServer((name) => methods.get(name) ?? (Object.hasOwn(own, name) ? own[name] : undefined));
  let [since, count] = [Date.now(), 0];
  try {
    for await (const line of linesOf(from, longest)) {
      if (line === null) {
        const error = { code: ERRORS.request, message: `a message has at most ${longest} bytes` };
        to.write(`${written({ jsonrpc: "2.0", id: null, error })}\n`);
        break;
      }
      if (++count > rate) {
        const early = since + SECOND - Date.now();
        if (early > 0) await new Promise((resolve) => setTimeout(resolve, early));
        [since, count] = [Date.now(), 1];
      }
      board.tick();
      const answer = await server.answer(line);
      if (answer !== null && !to.write(`${answer}\n`)) await drained(to);
    }
  } catch {
    // The peer is gone.
  } finally {
    subscription.end();
  }
}

/** The lines of a stream; null for one that is too long, and then no more. */
async function* linesOf(from: Readable, longest: number): AsyncGenerator<string | null> {
  let held = Buffer.alloc(0);
  for await (const chunk of from as AsyncIterable<Buffer>) {
    let at = 0;
    for (let end = chunk.indexOf(NEW_LINE); end >= 0; end = chunk.indexOf(NEW_LINE, at)) {
      const line = held.length === 0 ? chunk.subarray(at, end) : Buffer.concat([held, chunk.subarray(at, end)]);
      held = Buffer.alloc(0);
      at = end + 1;
      if (line.length > longest) {
        yield null;
        return;
      }
      const text = line.toString("utf8").trim();
      if (text !== "") yield text;
    }
    held = Buffer.concat([held, chunk.subarray(at)]);
    if (held.length > longest) {
      yield null;
      return;
    }
  }
}

function drained(to: Writable): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      to.off("drain", done).off("close", done);
      resolve();
    };
    to.on("drain", done).on("close", done);
    if (to.destroyed) done();
  });
}
