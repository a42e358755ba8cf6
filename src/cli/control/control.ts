/** The control of a served device: JSON-RPC 2.0 on a Unix socket, a WebSocket, or standard input and output. */
import { once } from "node:events";
import { chmodSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { badUsage } from "../refusal.js";
import type { Switchboard } from "../serve/switchboard.js";
import { endpointAt } from "../wire/address.js";
import { freePath } from "../wire/unixPath.js";
import { converse, type Limits } from "./connection.js";
import { FacadeCalls } from "./facade.js";
import { methodsOf } from "./methods.js";
import { LinePeer } from "./peer.js";
import type { Call } from "./rpc.js";
import type { WebSocketControl } from "./webSocket.js";

const MAX_CONNECTIONS = 16;
/** Only the user of the process may connect. */
const OWN = 0o600;

export class Control {
  readonly #board: Switchboard;
  readonly #limits: Limits;
  #methods: ReadonlyMap<string, Call> = new Map();
  readonly #peers = new Set<Socket>();
  #server: Server | null = null;
  #sockets: WebSocketControl | null = null;
  /** Is called when standard input has ended. */
  onEnd: (() => void) | null = null;

  constructor(board: Switchboard, limits: Limits) {
    this.#board = board;
    this.#limits = limits;
  }

  /**
   * @param place `-`, `unix:PATH`, or `ws:HOST:PORT`
   * @param token who connects by a WebSocket must have it; null for none
   * @returns where it listens, in words
   */
  async open(place: string, token: string | null): Promise<string> {
    const option = `--control ${place}`;
    this.#methods = methodsOf(this.#board, (await FacadeCalls.open(this.#board.loaded)).methods());
    if (place === "-") {
      const peer = new LinePeer(process.stdin, process.stdout);
      void converse(this.#board, this.#methods, peer, this.#limits).then(() => this.onEnd?.());
      return "standard input and output";
    }
    const [, address] = /^ws:(.+)$/.exec(place) ?? [];
    if (address !== undefined) return this.#openSockets(option, address, token);
    const [, path] = /^unix:(.+)$/.exec(place) ?? [];
    if (path === undefined)
      throw badUsage(option, "expected unix:PATH, ws:HOST:PORT, or - for standard input and output");
    await freePath(path);
    const server = createServer((peer) => this.#take(peer));
    // More are closed at once.
    server.maxConnections = MAX_CONNECTIONS;
    const listening = once(server, "listening");
    server.listen({ path });
    try {
      await listening;
    } catch (error) {
      throw badUsage(option, (error as Error).message);
    }
    chmodSync(path, OWN);
    this.#server = server;
    return `Unix socket ${path}`;
  }

  async #openSockets(option: string, address: string, token: string | null): Promise<string> {
    const [endpoint, rest] = endpointAt(option, address, token !== null, "--token");
    if (rest !== "") throw badUsage(option, `unexpected text after the address: ${rest}`);
    const guard = { message: this.#limits.message, connections: MAX_CONNECTIONS, token };
    const { WebSocketControl: Sockets } = await import("./webSocket.js");
    this.#sockets = await Sockets.open(option, endpoint, guard, (peer) =>
      converse(this.#board, this.#methods, peer, this.#limits),
    );
    return `WebSocket ${this.#sockets.url}`;
  }

  async close(): Promise<void> {
    for (const peer of this.#peers) peer.end().destroySoon();
    await this.#sockets?.close();
    const server = this.#server;
    if (server !== null) await new Promise((resolve) => server.close(resolve));
  }

  #take(peer: Socket): void {
    this.#peers.add(peer);
    peer.on("error", () => peer.destroy());
    peer.once("close", () => this.#peers.delete(peer));
    void converse(this.#board, this.#methods, new LinePeer(peer, peer), this.#limits).finally(() => peer.end());
  }
}
