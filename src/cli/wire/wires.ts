/** The wires that the command line names: `--wire PLACE=KIND:...`. */
import { badUsage } from "../refusal.js";
import { endpointAt } from "./address.js";
import { PcapWire } from "./pcapWire.js";
import { ConnectingWire, ListeningWire } from "./streamWire.js";
import { UdpWire } from "./udpWire.js";
import type { Wire } from "./wire.js";

/** A wire and the name of the place that it is plugged into: `uplink`, `port2`, or the name of a queue. */
export interface PlacedWire {
  /** As on the command line, for refusals. */
  readonly option: string;
  readonly place: string;
  readonly wire: Wire;
}

const KINDS: Readonly<Record<string, (option: string, rest: string, beyondLoopback: boolean) => Wire>> = {
  udp: (option, rest, beyondLoopback) => {
    const [local, more] = endpointAt(option, rest, beyondLoopback);
    if (!more.startsWith(":"))
      throw badUsage(option, `the address of the peer is missing; write udp:${rest}:127.0.0.1:10002`);
    const [remote, end] = endpointAt(option, more.slice(1), beyondLoopback);
    checkEnd(option, end);
    if (remote.port === 0) throw badUsage(option, "the port of the peer must not be 0");
    if (local.host.includes(":") !== remote.host.includes(":"))
      throw badUsage(option, "both addresses must be IPv4, or both IPv6");
    return new UdpWire(local, remote);
  },
  "tcp-listen": (option, rest, beyondLoopback) => new ListeningWire(onlyEndpoint(option, rest, beyondLoopback)),
  tcp: (option, rest, beyondLoopback) => new ConnectingWire(onlyEndpoint(option, rest, beyondLoopback)),
  "unix-listen": (option, path) => new ListeningWire({ path: checkPath(option, path) }),
  unix: (option, path) => new ConnectingWire({ path: checkPath(option, path) }),
  pcap: (option, rest) => {
    const [from = "", to, ...more] = rest.split(":");
    if (to === undefined || more.length > 0 || (from === "" && to === ""))
      throw badUsage(
        option,
        "expected pcap:IN:OUT, with pipes, or - for standard input and output; one of them may be empty",
      );
    return new PcapWire(from === "" ? null : from, to === "" ? null : to);
  },
};

/** Reads a value of --wire. */
export function wireOf(text: string, beyondLoopback: boolean): PlacedWire {
  const option = `--wire ${text}`;
  const [, place, kind, rest] = /^(.+?)=([a-z-]+):(.*)$/.exec(text) ?? [];
  if (place === undefined || kind === undefined || rest === undefined || !Object.hasOwn(KINDS, kind))
    throw badUsage(
      option,
      `expected PLACE=KIND:..., where KIND is one of ${Object.keys(KINDS).join(", ")}, such as uplink=udp:127.0.0.1:10001:127.0.0.1:10002`,
    );
  return { option, place, wire: KINDS[kind]?.(option, rest, beyondLoopback) as Wire };
}

function onlyEndpoint(option: string, text: string, beyondLoopback: boolean): { host: string; port: number } {
  const [endpoint, end] = endpointAt(option, text, beyondLoopback);
  checkEnd(option, end);
  return endpoint;
}

function checkEnd(option: string, rest: string): void {
  if (rest !== "") throw badUsage(option, `unexpected text after the address: ${rest}`);
}

/** The longest path of a Unix socket on all systems. */
const MAX_PATH = 103;

function checkPath(option: string, path: string): string {
  if (path === "") throw badUsage(option, "expected the path of a Unix socket, such as unix:/run/user/1000/uplink");
  if (Buffer.byteLength(path) > MAX_PATH)
    throw badUsage(option, `the path of a Unix socket has at most ${MAX_PATH} bytes`);
  return path;
}
