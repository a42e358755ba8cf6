// Frames in hex, for tests of single rules.

import { type Packet, type ParserOptions } from "./packet.js";
import { type ReferenceResult, parseReference } from "./parse.js";

/** Bytes from hex digits; blanks are ignored. */
export function hex(...parts: string[]): Uint8Array {
  const digits = parts.join("").replace(/\s/g, "");
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

export interface Over {
  linkType?: number;
  wireLength?: number;
  /** Bytes captured. */
  cut?: number;
  parser?: ParserOptions;
}

export interface Parsed extends ReferenceResult {
  /** A field's value. */
  f: (name: string) => bigint | undefined;
  /** The fields with this prefix, named without it. */
  of: (prefix: string) => Record<string, bigint>;
  kinds: string[];
}

export function parse(parts: string[], over: Over = {}): Parsed {
  const whole = hex(...parts);
  const bytes = whole.subarray(0, over.cut ?? whole.length);
  const result = parseReference(bytes, { linkType: 1, wireLength: whole.length, ...over });
  return {
    ...result,
    f: (name) => result.fields.get(name),
    of: (prefix) => fieldsOf(result.fields, prefix),
    kinds: result.headers.map(({ kind }) => kind),
  };
}

function fieldsOf(fields: Packet["fields"], prefix: string): Record<string, bigint> {
  const found = [...fields].filter(([name]) => name.startsWith(prefix));
  return Object.fromEntries(found.map(([name, value]) => [name.slice(prefix.length), value]));
}

export const u8 = (value: number) => value.toString(16).padStart(2, "0");
export const u16 = (value: number) => value.toString(16).padStart(4, "0");
/** Number of bytes in a hex text. */
export const size = (...parts: string[]) => hex(...parts).length;

export const MACS = "66 11 22 33 44 55  02 00 00 00 00 01";
export const ETH4 = `${MACS} 0800`;
export const ETH6 = `${MACS} 86dd`;
export const ip4 = (payload: number, protocol: number, fragment = 0, total = 20 + payload) =>
  `45 b9 ${u16(total)} 0001 ${u16(fragment)} 40 ${u8(protocol)} 0000 0a000001 0a000002`;
const ADDRESSES6 = "fe80 0000 0000 0000 0000 0000 0000 0001  fe80 0000 0000 0000 0000 0000 0000 0002";
export const ip6 = (length: number, next: number) => `6 b9 12345 ${u16(length)} ${u8(next)} 40 ${ADDRESSES6}`;
export const udp = (dport: number, length: number) => `1234 ${u16(dport)} ${u16(length)} 0000`;
export const TCP = "0050 0051 00000001 00000002 5112 ffff 0000 0000"; // flags NS, ACK, SYN

/** Ethernet, IPv4 and its payload. */
export const over4 = (protocol: number, ...payload: string[]) => [ETH4, ip4(size(...payload), protocol), ...payload];
export const over6 = (next: number, ...payload: string[]) => [ETH6, ip6(size(...payload), next), ...payload];
export const overUdp = (dport: number, ...payload: string[]) => over4(17, udp(dport, 8 + size(...payload)), ...payload);

/** Inner packets of 40 and 28 bytes. */
export const TCP4 = `${ip4(20, 6)} ${TCP}`;
export const UDP4 = `${ip4(8, 17)} ${udp(53, 8)}`;
export const UDP6 = `${ip6(8, 17)} ${udp(53, 8)}`;
/** Offsets of the payload of IPv4 and of UDP over IPv4. */
export const AT_IP4 = 34;
export const AT_UDP = 42;
