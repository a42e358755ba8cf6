/** The control of a served device: JSON-RPC 2.0 on a Unix socket, or on standard input and output. */
import { once } from "node:events";
import { chmodSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { badUsage } from "../refusal.js";
import type { Switchboard } from "../serve/switchboard.js";
import { freePath } from "../wire/unixPath.js";
import { converse, type Limits } from "./connection.js";
import { methodsOf } from "./methods.js";
import type { Call } from "./rpc.js";

const MOST_CONNECTIONS = 16;
/** Only the user of the process may connect. */
const OWN = 0o600;

export class Control {
  readonly #board: Switchboard;
  readonly #limits: Limits;
  readonly #methods: ReadonlyMap<string, Call>;
  readonly #peers = new Set<Socket>();
  #server: Server | null = null;
  /** Is called when standard input has ended. */
  onEnd: (() => void) | null = null;

  constructor(board: Switchboard, limits: Limits) {
    this.#board = board;
    this.#limits = limits;
    this.#methods = methodsOf(board);
  }

  /** @param place `-`, or `unix:PATH` */
  async open(place: string): Promise<void> {
    const option = `--control ${place}`;
    if (place === "-") {
      void converse(this.#board, this.#methods, process.stdin, process.stdout, this.#limits).then(() => this.onEnd?.());
      return;
    }
    const [, path] = /^unix:(.+)$/.exec(place) ?? [];
    if (path === undefined) throw badUsage(option, "unix:PATH, or - for standard input and output");
    await freePath(path);
    const server = createServer((peer) => this.#take(peer));
    // More are closed at once.
    server.maxConnections = MOST_CONNECTIONS;
    const listening = once(server, "listening");
    server.listen({ path });
    try {
      await listening;
    } catch (error) {
      throw badUsage(option, (error as Error).message);
    }
    chmodSync(path, OWN);
    this.#server = server;
  }

  async close(): Promise<void> {
    for (const peer of this.#peers) peer.end().destroySoon();
    const server = this.#server;
    if (server !== null) await new Promise((resolve) => server.close(resolve));
  }

  #take(peer: Socket): void {
    this.#peers.add(peer);
    peer.on("error", () => peer.destroy());
    peer.once("close", () => this.#peers.delete(peer));
    void converse(this.#board, this.#methods, peer, peer, this.#limits).finally(() => peer.end());
  }
}
