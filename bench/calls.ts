/** Calls that make bytes for the engine: match parameters of names, frames of headers. */
import { DEVICE_KEY_SIZE, LAYER_DST_IPV4, LAYER_STATE, LAYER_TCP_PORTS, OUTER } from "../src/abi/key.js";
import { matchParameters } from "../src/mlx5dv/index.js";
import { buildFrame, type Layer } from "../src/packet/index.js";
import { expectEqual, timed, type Suite, type Workload } from "./workload.js";
import { tupleAt } from "./tuples.js";

/** Different arguments of a call, taken in turn. */
const CALLS = 256;

/** Addresses and ports as text and numbers, as a program has them. */
interface Ends {
  source: string;
  destination: string;
  sourcePort: number;
  destinationPort: number;
}

const ENDS: readonly Ends[] = Array.from({ length: CALLS }, (_, i) => {
  const { src, dst, ports } = tupleAt(i);
  return { source: text(src), destination: text(dst), sourcePort: ports >>> 16, destinationPort: ports & 0xffff };
});

function text(address: number): string {
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 0xff).join(".");
}

export const calls: Suite = {
  name: "calls",
  title: "Calls that make bytes, arguments as text and numbers",
  async *workloads() {
    yield matching();
    yield building();
  },
};

/** The names of the manual's example: a destination and a port. */
function matching(): Workload {
  const fields = ENDS.map(({ destination, destinationPort }) => ({
    "outer.ipv4_dst": `${destination}/32`,
    "outer.tcp_dport": destinationPort,
  }));
  return {
    name: "matchParameters of two fields",
    unit: "call",
    units: CALLS,
    check() {
      for (const [i, one] of fields.entries()) {
        const { mask, value } = matchParameters(one);
        const plain = plainParameters(one["outer.ipv4_dst"], one["outer.tcp_dport"]);
        expectEqual(`mask ${i}`, [...mask.match_buf], [...plain.mask]);
        expectEqual(`value ${i}`, [...value.match_buf], [...plain.value]);
      }
    },
    cases: [
      { name: "engine", seconds: timed(() => fields.map((one) => matchParameters(one)).length) },
      {
        name: "plain JavaScript, bytes by hand",
        peer: true,
        seconds: timed(
          () => fields.map((one) => plainParameters(one["outer.ipv4_dst"], one["outer.tcp_dport"])).length,
        ),
      },
    ],
  };
}

/** The same match without names, tables and checks. */
function plainParameters(prefix: string, port: number): { mask: Uint8Array; value: Uint8Array } {
  const mask = new Uint8Array(DEVICE_KEY_SIZE);
  const value = new Uint8Array(DEVICE_KEY_SIZE);
  const [address = "", length = "32"] = prefix.split("/");
  const [masks, values] = [new DataView(mask.buffer), new DataView(value.buffer)];
  masks.setUint32(OUTER + LAYER_DST_IPV4, (-1 << (32 - Number(length))) >>> 0);
  values.setUint32(OUTER + LAYER_DST_IPV4, addressOf(address));
  mask[OUTER + LAYER_STATE] = value[OUTER + LAYER_STATE] = 4 << 1;
  masks.setUint16(OUTER + LAYER_TCP_PORTS + 2, 0xffff);
  values.setUint16(OUTER + LAYER_TCP_PORTS + 2, port);
  return { mask, value };
}

function addressOf(address: string): number {
  let number = 0;
  for (const byte of address.split(".")) number = number * 256 + Number(byte);
  return number;
}

/** Ethernet, IPv4, TCP and 10 bytes, all that is not given derived. */
function building(): Workload {
  const payload = new Uint8Array(10);
  const frames = ENDS.map(({ source, destination, sourcePort, destinationPort }): Layer[] => [
    { header: "ethernet" },
    { header: "ipv4", source, destination },
    { header: "tcp", source_port: sourcePort, destination_port: destinationPort },
    payload,
  ]);
  return {
    name: "buildFrame of 64 bytes of TCP",
    unit: "call",
    units: CALLS,
    check() {
      for (const [i, layers] of frames.entries()) {
        expectEqual(`frame ${i}`, [...buildFrame(layers)], [...plainFrame(ENDS[i]!, payload)]);
      }
    },
    cases: [
      { name: "engine", seconds: timed(() => frames.map((layers) => buildFrame(layers)).length) },
      {
        name: "plain JavaScript, bytes by hand",
        peer: true,
        seconds: timed(() => ENDS.map((ends) => plainFrame(ends, payload)).length),
      },
    ],
  };
}

const IP = 14;
const TCP = 34;
const PAYLOAD = 54;

/** The same frame, its headers written at fixed places. */
function plainFrame(ends: Ends, payload: Uint8Array): Uint8Array {
  const frame = new Uint8Array(PAYLOAD + payload.length);
  const view = new DataView(frame.buffer);
  frame[0] = frame[6] = 0x02;
  frame[5] = 2;
  frame[11] = 1;
  view.setUint16(12, 0x0800);
  view.setUint16(IP, 0x4500);
  view.setUint16(IP + 2, frame.length - IP);
  view.setUint16(IP + 8, (64 << 8) | 6);
  view.setUint32(IP + 12, addressOf(ends.source));
  view.setUint32(IP + 16, addressOf(ends.destination));
  view.setUint16(IP + 10, checksum(view, IP, TCP, 0));
  view.setUint16(TCP, ends.sourcePort);
  view.setUint16(TCP + 2, ends.destinationPort);
  view.setUint16(TCP + 12, 0x5002);
  view.setUint16(TCP + 14, 0xffff);
  frame.set(payload, PAYLOAD);
  // The addresses are in front of the segment; protocol and length complete the pseudo header.
  view.setUint16(TCP + 16, checksum(view, IP + 12, frame.length, 6 + frame.length - TCP));
  return frame;
}

/** The Internet checksum of an even number of bytes, added to `sum`. */
function checksum(view: DataView, from: number, to: number, sum: number): number {
  for (let at = from; at < to; at += 2) sum += view.getUint16(at);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return 0xffff - sum;
}
