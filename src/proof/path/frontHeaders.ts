/**
 * The headers that a reformat puts before a packet: how the parser reads them, and which packet it reads after them. The engine
 * parses them once, with packets that it can be told apart by.
 */
import { NEEDS_ALL } from "../../abi/key.js";
import {
  EXT_PRESENT_INNER,
  EXT_PRESENT_OUTER,
  INNER,
  LAYER_DMAC,
  LAYER_OK,
  LAYER_SRC,
  LAYER_SRC_IPV4,
  LAYER_UDP_PORTS,
  OUTER,
  PRESENT_UDP,
} from "../../abi/key.js";
import {
  REFORMAT_DATA,
  REFORMAT_ENTROPY,
  REFORMAT_IP,
  REFORMAT_LENGTH,
  REFORMAT_UDP,
  REFORMAT_VERSION,
} from "../../abi/reformat.js";
import type { TracedCore } from "../../engine/tracedCore.js";
import { headersIn } from "../../model/match/parseResult.js";
import { ConstantKey } from "./bits.js";
import { presenceBit } from "./levels.js";

export interface FrontHeaders {
  /** Their key; of bits in `open` the packet or its length decides. */
  readonly key: ConstantKey;
  readonly open: ReadonlySet<number>;
  /** Whether the parser takes a frame, an IPv4 packet, an IPv6 packet after them for the packet inside, or the packet itself. */
  readonly takesEthernet: boolean;
  readonly takesIpv4: boolean;
  readonly takesIpv6: boolean;
  /** Whether the headers end within one, which the packet after them completes, or have a packet inside themselves. */
  readonly isPartial: boolean;
}

/** A MAC address and the first bytes of addresses that tell the packet after the headers from one in them. */
const MARK = [0x02, 0xf1, 0x0e, 0x5e, 0xed, 0x99] as const;

/** Source ports for entropy have its bits, and 14 others. */
const FIRST_PORT = 0xc000;

const READ = new WeakMap<TracedCore, { readonly copy: number; readonly known: Map<number, FrontHeaders> }>();

/** The headers of the reformat record at an address. */
export function frontHeadersAt(traced: TracedCore, record: number): FrontHeaders {
  let read = READ.get(traced);
  if (read?.copy !== traced.copies) READ.set(traced, (read = { copy: traced.copies, known: new Map() }));
  let front = read.known.get(record);
  if (front === undefined) read.known.set(record, (front = frontHeaders(traced, record)));
  return front;
}

function frontHeaders(traced: TracedCore, record: number): FrontHeaders {
  const { core } = traced;
  const half = (at: number): number => (core.u8[at] as number) | ((core.u8[at + 1] as number) << 8);
  const length = half(record + REFORMAT_LENGTH);
  const data = core.u8.slice(record + REFORMAT_DATA, record + REFORMAT_DATA + length);
  const fixed = {
    version: core.u8[record + REFORMAT_VERSION] as number,
    ip: half(record + REFORMAT_IP),
    udp: half(record + REFORMAT_UDP),
    entropy: core.u8[record + REFORMAT_ENTROPY] !== 0,
  };
  const parse = (packet: Uint8Array): ReturnType<typeof parsed> => parsed(traced, data, packet, fixed);
  const [frame, four, six] = [ethernetPacket(), ipv4Packet(), ipv6Packet()].map(parse);
  const alone = parse(new Uint8Array(0));
  const { key } = frame as typeof alone;
  const stop = alone.stopped;
  const hasInner = alone.key.subarray(EXT_PRESENT_INNER, EXT_PRESENT_INNER + 4).some((byte) => byte !== 0);
  const open = openBits(key, fixed);
  // One byte after UDP to port 4500 is a keepalive; with a packet after it, it is the start of ESP.
  const known = new Set(alone.headers.map(({ header, offset }) => `${header} ${offset}`));
  const begins = [frame, four, six].some((one) =>
    one?.headers.some(({ header, offset }) => offset < length && !known.has(`${header} ${offset}`)),
  );
  return {
    key: new ConstantKey(key),
    open,
    takesEthernet: hasMark(frame, INNER + LAYER_DMAC),
    takesIpv4: hasMark(four, INNER + LAYER_SRC_IPV4) || hasMark(four, OUTER + LAYER_SRC_IPV4),
    takesIpv6: hasMark(six, INNER + LAYER_SRC) || hasMark(six, OUTER + LAYER_SRC),
    isPartial: hasInner || begins || (stop !== null && (stop.offset < length || !STARTS_PACKET.has(stop.header))),
  };
}

/** Headers that a packet after the new headers begins with. */
const STARTS_PACKET: ReadonlySet<string> = new Set(["ethernet", "ip", "ipv4", "ipv6"]);

interface Fixed {
  readonly version: number;
  readonly ip: number;
  readonly udp: number;
  /** Whether the packet decides the UDP source port. */
  readonly entropy: boolean;
}

/** The bits that depend on the packet after the headers. */
function openBits(key: Uint8Array, { version, udp, entropy }: Fixed): Set<number> {
  const open = new Set<number>();
  const ok = 8 * (OUTER + LAYER_OK);
  const hasUdp = new ConstantKey(key).bit(presenceBit(EXT_PRESENT_OUTER, PRESENT_UDP)) > 0;
  // OK_L3, OK_L4, OK_IPV4_CHECKSUM, OK_L4_CHECKSUM are the last four bits.
  if (version === 0) open.add(ok + 4).add(ok + 6);
  if (version === 0 || !hasUdp || udp === 0) open.add(ok + 5);
  open.add(ok + 7);
  // Of the source port for entropy only the first two bits are known.
  if (entropy && udp !== 0) for (let bit = 2; bit < 16; bit++) open.add(8 * (OUTER + LAYER_UDP_PORTS) + bit);
  return open;
}

function hasMark(one: { readonly key: Uint8Array } | undefined, at: number): boolean {
  return MARK.slice(0, 4).every((byte, i) => one?.key[at + i] === byte);
}

function parsed(
  { batch }: TracedCore,
  data: Uint8Array,
  packet: Uint8Array,
  fixed: Fixed,
): ReturnType<typeof headersIn> & { readonly key: Uint8Array } {
  const frame = Uint8Array.from([...data, ...packet]);
  fixUp(frame, fixed);
  batch.clear();
  batch.put(frame, frame.length, 1, 0);
  batch.parse(NEEDS_ALL);
  return { ...headersIn(batch.map(0)), key: batch.key(0).slice() };
}

/** Writes the lengths of the headers, and the IPv4 header checksum, as the engine does. */
function fixUp(frame: Uint8Array, { version, ip, udp, entropy }: Fixed): void {
  const view = new DataView(frame.buffer);
  const packet = frame.length - ip;
  if (version === 6) view.setUint16(ip + 4, packet - 40);
  else if (version === 4) {
    view.setUint16(ip + 2, packet);
    view.setUint16(ip + 10, 0);
    view.setUint16(ip + 10, headerChecksum(view, ip));
  }
  if (version === 0 || udp === 0) return;
  view.setUint16(udp + 4, frame.length - udp);
  if (entropy) view.setUint16(udp, FIRST_PORT);
}

function headerChecksum(view: DataView, ip: number): number {
  let sum = 0;
  for (let at = 0; at < 4 * (view.getUint8(ip) & 15); at += 2) sum += view.getUint16(ip + at);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}

function ethernetPacket(): Uint8Array {
  return Uint8Array.from([...MARK, ...MARK, 0x08, 0x00, ...ipv4Packet()]);
}

/** A whole IPv4 packet without an upper layer that the parser knows. */
function ipv4Packet(): Uint8Array {
  return Uint8Array.from([0x45, 0, 0, 20, 0, 0, 0, 0, 64, 253, 0, 0, ...MARK.slice(0, 4), 192, 0, 2, 1]);
}

function ipv6Packet(): Uint8Array {
  return Uint8Array.from([0x60, 0, 0, 0, 0, 0, 253, 64, ...MARK, ...new Uint8Array(26)]);
}
