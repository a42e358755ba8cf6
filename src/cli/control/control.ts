/** The control of a served device: JSON-RPC 2.0 on a Unix socket, a WebSocket, or standard input and output. */
import { createServer, type Server, type Socket } from "node:net";
import { badUsage } from "../refusal.js";
import type { Switchboard } from "../serve/switchboard.js";
import { endpointAt } from "../wire/address.js";
import { listenAt } from "../wire/unixPath.js";
import { converse, type Limits } from "./connection.js";
import { LinePeer, type Peer } from "./peer.js";
import { Sessions } from "./sessions.js";
import type { WebSocketControl } from "./webSocket.js";

const MAX_CONNECTIONS = 16;

/** Talks with a peer to its end. */
type Talk = (peer: Peer) => Promise<void>;

export class Control {
  readonly #board: Switchboard;
  readonly #limits: Limits;
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
    const sessions = await Sessions.open(this.#board.loaded);
    const talk = (peer: Peer): Promise<void> => converse(this.#board, sessions, peer, this.#limits);
    if (place === "-") {
      void talk(new LinePeer(process.stdin, process.stdout)).then(() => this.onEnd?.());
      return "standard input and output";
    }
    const [, address] = /^ws:(.+)$/.exec(place) ?? [];
    if (address !== undefined) return this.#openSockets(option, address, token, talk);
    const [, path] = /^unix:(.+)$/.exec(place) ?? [];
    if (path === undefined)
      throw badUsage(option, "expected unix:PATH, ws:HOST:PORT, or - for standard input and output");
    const server = createServer((peer) => this.#take(peer, talk));
    // More are closed at once.
    server.maxConnections = MAX_CONNECTIONS;
    try {
      await listenAt(server, path);
    } catch (error) {
      throw badUsage(option, (error as Error).message);
    }
    this.#server = server;
    return `Unix socket ${path}`;
  }

  async #openSockets(option: string, address: string, token: string | null, talk: Talk): Promise<string> {
    const [endpoint, rest] = endpointAt(option, address, token !== null, "--token");
    if (rest !== "") throw badUsage(option, `unexpected text after the address: ${rest}`);
    const guard = { message: this.#limits.message, connections: MAX_CONNECTIONS, token };
    const { WebSocketControl: Sockets } = await import("./webSocket.js");
    this.#sockets = await Sockets.open(option, endpoint, guard, talk);
    return `WebSocket ${this.#sockets.url}`;
  }

  async close(): Promise<void> {
    for (const peer of this.#peers) peer.end().destroySoon();
    await this.#sockets?.close();
    const server = this.#server;
    if (server !== null) await new Promise((resolve) => server.close(resolve));
  }

  /** Closes it at once, where a peer reads too slowly. */
  abandon(): void {
    for (const peer of this.#peers) peer.destroy();
    this.#sockets?.abandon();
  }

  #take(peer: Socket, talk: Talk): void {
    this.#peers.add(peer);
    peer.on("error", () => peer.destroy());
    peer.once("close", () => this.#peers.delete(peer));
    void talk(new LinePeer(peer, peer)).finally(() => peer.end());
  }
}
