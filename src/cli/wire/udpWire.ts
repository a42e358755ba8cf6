/** A wire of UDP datagrams, a frame each: GNS3, QEMU `-netdev dgram`, VirtualBox UDP tunnels. */
import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { hostPort, type Endpoint } from "./address.js";
import { MAX_WAITING, Wire, type Loss, type Plug } from "./wire.js";

/** The longest datagram: 65,535 bytes with the headers of IPv4 and UDP. */
const MAX_LENGTH = 65_507;
const RECEIVE_BUFFER = 4 << 20;

export class UdpWire extends Wire {
  readonly #local: Endpoint;
  readonly #remote: Endpoint;
  readonly #socket: Socket;
  #waiting = 0;
  #idle: (() => void) | null = null;

  constructor(local: Endpoint, remote: Endpoint) {
    super();
    this.#local = local;
    this.#remote = remote;
    const type = local.host.includes(":") ? "udp6" : "udp4";
    // The addresses are numbers: nothing is looked up.
    const lookup: NonNullable<Parameters<typeof createSocket>[0] & object>["lookup"] = (host, _, done) =>
      done(null, host, type === "udp6" ? 6 : 4);
    this.#socket = createSocket({ type, lookup });
  }

  async open(): Promise<void> {
    const { host, port } = this.#local;
    // Without a look-up it may be bound when the call returns.
    const listening = once(this.#socket, "listening");
    this.#socket.bind({ address: host, port, exclusive: true });
    await listening;
    try {
      this.#socket.setRecvBufferSize(RECEIVE_BUFFER);
    } catch {
      // The system allows less.
    }
    // An error of a datagram is that of one frame.
    this.#socket.on("error", () => this.lose("not_sent"));
    this.#socket.on("message", (frame, { address, port: from }) => {
      if (address !== this.#remote.host || from !== this.#remote.port) {
        this.lose("stranger");
        return;
      }
      this.arrived(frame);
    });
  }

  describe(): string {
    return `UDP ${hostPort(this.#bound)}, peer ${hostPort(this.#remote)}`;
  }

  plugs(name: string): Plug[] {
    const [here, there] = [this.#bound, this.#remote];
    const family = here.host.includes(":") ? "UDP6" : "UDP4";
    const ends = `local.type=inet,local.host=${there.host},local.port=${there.port},remote.type=inet,remote.host=${here.host},remote.port=${here.port}`;
    return [
      { what: "QEMU", command: `-netdev dgram,id=${name},${ends} -device virtio-net-pci,netdev=${name}` },
      { what: "TAP", command: `${tapOf(name)} ${family}:${hostPort(here)},bind=${hostPort(there)}` },
    ];
  }

  get connected(): boolean {
    return true;
  }

  async flush(): Promise<void> {
    if (this.#waiting > 0) await new Promise<void>((resolve) => (this.#idle = resolve));
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => this.#socket.close(() => resolve()));
  }

  protected transmit(frame: Uint8Array): Loss | null {
    if (frame.length > MAX_LENGTH) return "too_long";
    if (this.#waiting + frame.length > MAX_WAITING) return "too_slow";
    this.#waiting += frame.length;
    this.#socket.send(frame, this.#remote.port, this.#remote.host, (error) => {
      this.#waiting -= frame.length;
      if (error !== null) this.lose("not_sent");
      if (this.#waiting === 0) this.#idle?.();
    });
    return null;
  }

  /** The address that it has: port 0 is any free one. */
  get #bound(): Endpoint {
    const { address, port } = this.#socket.address();
    return { host: address, port };
  }
}

/** The beginning of a socat command that makes a TAP device, whose names have 15 letters at most. */
export function tapOf(name: string): string {
  return `socat TUN,tun-type=tap,iff-no-pi,iff-up,tun-name=${name.replace(/\W/g, "").slice(0, 15)}`;
}
