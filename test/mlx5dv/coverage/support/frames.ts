/** Frames of the cases, and their bytes with parts inserted or removed. */
import { buildFrame, type Layer } from "../../../../src/packet/index.js";
import { ipv4Frame } from "../../support/directRules.js";

/** TCP over IPv4, 64 bytes, to 02:00:00:00:00:01. */
export const FRAME = ipv4Frame();
/** The same to 02:00:00:00:00:02. */
export const OTHER = changed(FRAME, 5, 2);
/** Fields that match OTHER, and fields that match FRAME. */
export const TO_OTHER = { "outer.dmac_15_0": 2 };
export const TO_FRAME = { "outer.dmac_15_0": 1 };

const ethernet = { header: "ethernet" } as const;
const ipv4 = { header: "ipv4" } as const;
const DATA = Uint8Array.from({ length: 26 }, (_, i) => 0xa0 + i);

/** A complete inner frame, and the frames that carry it. */
const INNER_LAYERS: readonly Layer[] = [ethernet, ipv4, { header: "tcp", destination_port: 80 }, DATA];
export const INNER = buildFrame(INNER_LAYERS);
/**
 * Ethernet, IPv4 and GRE: data of an encapsulation; lengths and checksum are those of the data
 * alone.
 */
export const GRE_DATA = buildFrame([ethernet, ipv4, { header: "gre", key: 0x1234, protocol_type: 0x6558 }]);
export const GRE_L3_DATA = buildFrame([ethernet, ipv4, { header: "gre", key: 0x1234, protocol_type: 0x0800 }]);
const VXLAN_LAYERS: readonly Layer[] = [
  ethernet,
  ipv4,
  { header: "udp", source_port: 0xc001, checksum: 0 },
  { header: "vxlan", vni: 0x1234 },
];
export const VXLAN_DATA = buildFrame(VXLAN_LAYERS);
export const VXLAN = buildFrame([...VXLAN_LAYERS, ...INNER_LAYERS]);
export const GRE = encapsulated(GRE_DATA, INNER);
/** GRE that carries IP only. */
export const GRE_L3 = encapsulated(GRE_L3_DATA, INNER.subarray(14));

/** A frame with other bytes from `at` on. */
export function changed(frame: Uint8Array, at: number, ...bytes: readonly number[]): Uint8Array {
  const copy = frame.slice();
  copy.set(bytes, at);
  return copy;
}

export function joined(...parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

/** A frame with 4 bytes of a tag after its MACs. */
export function tagged(frame: Uint8Array, tpid: number, tci: number): Uint8Array {
  const tag = Uint8Array.of(tpid >> 8, tpid & 255, tci >> 8, tci & 255);
  return joined(frame.subarray(0, 12), tag, frame.subarray(12));
}

/**
 * Ethernet and IPv4 data before its payload: updates total length and header checksum (RFC 791).
 */
export function encapsulated(data: Uint8Array, carried: Uint8Array): Uint8Array {
  const whole = joined(data, carried);
  const length = whole.length - 14;
  return summed(changed(whole, 16, length >> 8, length & 255));
}

/** Sets the checksum of the IPv4 header at 14, of 20 bytes. */
export function summed(frame: Uint8Array): Uint8Array {
  const zero = changed(frame, 24, 0, 0);
  let sum = 0;
  for (let at = 14; at < 34; at += 2) sum += ((zero[at] ?? 0) << 8) | (zero[at + 1] ?? 0);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return changed(zero, 24, (~sum >> 8) & 255, ~sum & 255);
}
