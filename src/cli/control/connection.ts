/** A conversation with a peer of the control, within limits. */
import type { Switchboard } from "../serve/switchboard.js";
import type { Peer } from "./peer.js";
import { methodsOf } from "./methods.js";
import { ERRORS, RpcServer, written, type Call } from "./rpc.js";
import type { Sessions } from "./sessions.js";
import { Subscription } from "./subscription.js";

export interface Limits {
  /** Bytes of a message. */
  readonly message: number;
  /** Messages of a connection in a second. */
  readonly rate: number;
}

/** Bytes of notifications that wait for a slow peer. */
const MAX_WAITING = 1 << 20;
const SECOND = 1000;

/** Answers the messages of a peer, one after the other, until it has no more. It is a session. */
export async function converse(
  board: Switchboard,
  sessions: Sessions,
  peer: Peer,
  { message: longest, rate }: Limits,
): Promise<void> {
  let lost = 0;
  const subscription = new Subscription(board, (params) => {
    if (peer.waiting > MAX_WAITING) lost++;
    else {
      peer.send(written({ jsonrpc: "2.0", method: "event", params: { ...params, ...(lost > 0 ? { lost } : {}) } }));
      lost = 0;
    }
  });
  const own: Readonly<Record<string, Call>> = {
    subscribe: (params) => subscription.subscribe(params),
    unsubscribe: (params) => subscription.unsubscribe(params),
  };
  const session = sessions.begin();
  const methods = methodsOf(board, session.methods());
  const server = new RpcServer((name) => methods.get(name) ?? (Object.hasOwn(own, name) ? own[name] : undefined));
  let [since, count] = [Date.now(), 0];
  try {
    for await (const message of peer.messages(longest)) {
      if (message === null) {
        const error = { code: ERRORS.request, message: `a message has at most ${longest} bytes` };
        peer.send(written({ jsonrpc: "2.0", id: null, error }));
        break;
      }
      if (++count > rate) {
        const early = since + SECOND - Date.now();
        if (early > 0) await new Promise((resolve) => setTimeout(resolve, early));
        [since, count] = [Date.now(), 1];
      }
      board.tick();
      const answer = await server.answer(message);
      if (answer !== null && !peer.send(answer)) await peer.drained();
    }
  } catch {
    // The peer is gone.
  } finally {
    subscription.end();
    sessions.end(session);
  }
}
