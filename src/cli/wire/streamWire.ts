/**
 * A wire of a stream socket, TCP or Unix: QEMU `-netdev stream`. It listens, and takes one peer at a
 * time; or it connects, and tries again while there is no peer.
 */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { hostPort, type Endpoint } from "./address.js";
import { LengthFrames, withLength } from "./lengthFrames.js";
import { listenAt } from "./unixPath.js";
import { MAX_WAITING, Wire, type Loss, type Plug } from "./wire.js";

/** Milliseconds until the next try to connect. */
const RETRY = 500;

/** A TCP address, or the path of a Unix socket. */
export type StreamPlace = Endpoint | { readonly path: string };

abstract class StreamWire extends Wire {
  protected readonly place: StreamPlace;
  #peer: Socket | null = null;

  constructor(place: StreamPlace) {
    super();
    this.place = place;
  }

  get connected(): boolean {
    return this.#peer !== null;
  }

  async flush(): Promise<void> {
    const peer = this.#peer;
    if (peer !== null) await new Promise<void>((resolve) => peer.write(new Uint8Array(), () => resolve()));
  }

  async close(): Promise<void> {
    const peer = this.#peer;
    if (peer === null) return;
    peer.end();
    if (!peer.destroyed) await Promise.race([once(peer, "finish"), once(peer, "close")]);
    peer.destroy();
  }

  override abandon(): void {
    this.#peer?.destroy();
  }

  protected transmit(frame: Uint8Array): Loss | null {
    const peer = this.#peer;
    if (peer === null) return "not_connected";
    if (peer.writableLength + frame.length > MAX_WAITING) return "too_slow";
    peer.write(withLength(frame));
    return null;
  }

  /** Takes a connected peer. */
  protected plug(peer: Socket): void {
    this.#peer = peer;
    const frames = new LengthFrames();
    peer.setNoDelay(true);
    peer.on("error", () => peer.destroy());
    peer.on("data", (chunk: Buffer) => {
      if (frames.push(chunk, (frame) => this.arrived(frame))) return;
      this.lose("bad_length");
      peer.destroy();
    });
    peer.once("close", () => {
      if (this.#peer === peer) this.#peer = null;
      this.unplugged();
    });
  }

  protected abstract unplugged(): void;

  protected get text(): string {
    return "path" in this.place ? `Unix socket ${this.place.path}` : `TCP ${hostPort(this.place)}`;
  }
}

/** Milliseconds in which the end of a connection is seen that a peer closed before it connected again. */
const LAST_GOODBYE = 200;

export class ListeningWire extends StreamWire {
  readonly #server: Server = createServer({ pauseOnConnect: true }, (peer) => this.#take(peer));
  /** A peer that has connected while another is plugged in. */
  #next: Socket | null = null;

  async open(): Promise<void> {
    const { place } = this;
    if ("path" in place) return listenAt(this.#server, place.path);
    this.#server.listen({ ...place, exclusive: true });
    await once(this.#server, "listening");
  }

  describe(): string {
    const bound = this.#bound;
    return "path" in bound ? `${this.text}, listens` : `TCP ${hostPort(bound)}, listens`;
  }

  plugs(name: string): Plug[] {
    const place = this.#bound;
    const at =
      "path" in place
        ? `addr.type=unix,addr.path=${place.path}`
        : `addr.type=inet,addr.host=${place.host},addr.port=${place.port}`;
    return [
      { what: "QEMU", command: `-netdev stream,id=${name},server=off,${at} -device virtio-net-pci,netdev=${name}` },
    ];
  }

  override async close(): Promise<void> {
    this.#next?.destroy();
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    await super.close();
    await closed;
  }

  #take(peer: Socket): void {
    if (this.connected) {
      this.#next?.destroy();
      this.#next = peer;
      peer.on("error", () => peer.destroy());
      setTimeout(() => this.#next === peer && this.#refuse(peer), LAST_GOODBYE).unref();
    } else {
      this.plug(peer);
      peer.resume();
    }
  }

  #refuse(peer: Socket): void {
    this.#next = null;
    peer.destroy();
  }

  protected override unplugged(): void {
    const next = this.#next;
    this.#next = null;
    if (next !== null && !next.destroyed && this.#server.listening) this.#take(next);
  }

  get #bound(): StreamPlace {
    const address = this.#server.address() as AddressInfo | string;
    return typeof address === "string" ? { path: address } : { host: address.address, port: address.port };
  }
}

export class ConnectingWire extends StreamWire {
  #timer: NodeJS.Timeout | null = null;
  #closed = false;

  open(): Promise<void> {
    this.#connect();
    return Promise.resolve();
  }

  describe(): string {
    return `${this.text}, connects`;
  }

  plugs(name: string): Plug[] {
    const { place } = this;
    const at =
      "path" in place
        ? `addr.type=unix,addr.path=${place.path}`
        : `addr.type=inet,addr.host=${place.host},addr.port=${place.port}`;
    return [
      { what: "QEMU", command: `-netdev stream,id=${name},server=on,${at} -device virtio-net-pci,netdev=${name}` },
    ];
  }

  override async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await super.close();
  }

  protected override unplugged(): void {
    if (!this.#closed) this.#timer = setTimeout(() => this.#connect(), RETRY);
  }

  #connect(): void {
    const { place } = this;
    const socket = connect("path" in place ? { path: place.path } : { ...place });
    const failed = (): void => {
      socket.destroy();
      this.unplugged();
    };
    socket.once("error", failed);
    socket.once("connect", () => {
      socket.off("error", failed);
      if (this.#closed) socket.destroy();
      else this.plug(socket);
    });
  }
}
