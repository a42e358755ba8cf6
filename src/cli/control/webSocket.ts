/** The control on a WebSocket: a message of the protocol in each message of the socket. */
import { createHash, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { WebSocket, WebSocketServer } from "ws";
import { badUsage } from "../refusal.js";
import { hostPort, type Endpoint } from "../wire/address.js";
import type { Peer } from "./peer.js";

/** Messages that wait while the one before is answered; then the socket is not read. */
const MAX_QUEUED = 64;
/** Bytes that wait for a slow peer before an answer waits too. */
const HIGH_WATER = 1 << 16;
/** Milliseconds between two looks at a slow peer. */
const LOOK = 20;
/** The close code of a server that goes away (RFC 6455, 7.4.1). */
const GOING_AWAY = 1001;

/** What the path of a request follows. */
const BASE = "ws://none";

/** Who may connect. */
export interface Guard {
  /** The longest message in bytes. */
  readonly message: number;
  /** Connections that are open at once. */
  readonly connections: number;
  /** Null where none is needed: on this machine, and not from pages. */
  readonly token: string | null;
}

/** A server of WebSockets on one address. */
export class WebSocketControl {
  readonly #http: Server;
  readonly #sockets: WebSocketServer;

  private constructor(http: Server, sockets: WebSocketServer) {
    this.#http = http;
    this.#sockets = sockets;
  }

  /** Listens. `take` talks with a peer to its end. @throws CommandRefusal the package ws is missing; the address is taken */
  static async open(
    option: string,
    { host, port }: Endpoint,
    guard: Guard,
    take: (peer: Peer) => Promise<void>,
  ): Promise<WebSocketControl> {
    const { WebSocketServer: Sockets } = await import("ws").catch(() => {
      throw badUsage(option, "WebSockets need the package ws; run npm install ws");
    });
    const http = createServer((_, response) => response.writeHead(426).end("a WebSocket\n"));
    const sockets = new Sockets({ noServer: true, maxPayload: guard.message, perMessageDeflate: false });
    http.on("upgrade", (request, socket, head) => {
      socket.on("error", () => socket.destroy());
      const status = sockets.clients.size >= guard.connections ? 503 : statusOf(request, guard.token);
      if (status !== null) socket.end(`HTTP/1.1 ${status} Refused\r\nConnection: close\r\n\r\n`);
      else
        sockets.handleUpgrade(request, socket, head, (one) => {
          one.on("error", () => one.terminate());
          void take(new SocketPeer(one)).finally(() => one.close());
        });
    });
    const listening = once(http, "listening");
    http.listen({ host, port, exclusive: true });
    try {
      await listening;
    } catch (error) {
      throw badUsage(option, (error as Error).message);
    }
    return new WebSocketControl(http, sockets);
  }

  /** Its address: `ws://127.0.0.1:8080`. */
  get url(): string {
    const { address, port } = this.#http.address() as AddressInfo;
    return `ws://${hostPort({ host: address, port })}`;
  }

  async close(): Promise<void> {
    for (const one of this.#sockets.clients) one.close(GOING_AWAY);
    this.#http.closeAllConnections();
    await new Promise((resolve) => this.#http.close(resolve));
  }

  abandon(): void {
    for (const one of this.#sockets.clients) one.terminate();
  }
}

/** Why a request is refused, as an HTTP status; null where it is not. */
function statusOf({ headers, url = "/" }: IncomingMessage, token: string | null): number | null {
  // Any page that a browser shows may open sockets to this machine: it says where it is from.
  if (token === null) return headers.origin === undefined ? null : 403;
  const [, given] = /^Bearer (.+)$/.exec(headers.authorization ?? "") ?? [];
  // A path such as "//" is no URL.
  const inUrl = URL.canParse(url, BASE) ? new URL(url, BASE).searchParams.get("token") : null;
  return isSame(given ?? inUrl ?? "", token) ? null : 401;
}

/** Compares in a time that does not tell how much is right. */
function isSame(given: string, token: string): boolean {
  const hash = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(hash(given), hash(token));
}

class SocketPeer implements Peer {
  readonly #socket: WebSocket;

  constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  /** The socket ends itself at a message that is too long. */
  async *messages(): AsyncGenerator<string> {
    const socket = this.#socket;
    const queue: string[] = [];
    let open = true;
    let wake = (): void => undefined;
    socket.on("message", (data: Buffer) => {
      queue.push(data.toString("utf8"));
      if (queue.length >= MAX_QUEUED) socket.pause();
      wake();
    });
    socket.once("close", () => {
      open = false;
      wake();
    });
    for (;;) {
      const message = queue.shift();
      if (message !== undefined) {
        if (queue.length === 0) socket.resume();
        yield message;
      } else if (open) await new Promise<void>((resolve) => (wake = resolve));
      else return;
    }
  }

  send(text: string): boolean {
    this.#socket.send(text, () => undefined);
    return this.#socket.bufferedAmount < HIGH_WATER;
  }

  get waiting(): number {
    return this.#socket.bufferedAmount;
  }

  async drained(): Promise<void> {
    const { OPEN } = this.#socket;
    while (this.#socket.readyState === OPEN && this.waiting >= HIGH_WATER)
      await new Promise((resolve) => setTimeout(resolve, LOOK));
  }
}
