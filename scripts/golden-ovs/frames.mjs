// Frames that cases are about: built, or of captures that nobody in this project wrote (test/captures).

import { readFileSync } from "node:fs";
import { readCapture } from "../../src/index.ts";
import { buildFrame } from "../../src/packet/index.ts";

/** Where a frame is from, and its bytes. */
export const built = (...layers) => ({ from: "built", bytes: buildFrame(layers) });
export const padded = (...layers) => ({ from: "built", bytes: buildFrame(layers, { pad: true }) });

const captures = new Map();

/** Frame `number` of a capture, the first one is 1. */
export async function captured(name, number) {
  if (!captures.has(name)) {
    const frames = [];
    for await (const batch of readCapture(readFileSync(new URL(`../../test/captures/${name}`, import.meta.url)))) {
      frames.push(...batch.map(({ bytes }) => bytes.slice()));
    }
    captures.set(name, frames);
  }
  return { from: `${name}, frame ${number}`, bytes: captures.get(name)[number - 1] };
}

/** The same frame with its 16 bits at `at` changed. */
export function spoilt({ from, bytes }, at, change = 0x1234) {
  const changed = bytes.slice();
  const view = new DataView(changed.buffer);
  view.setUint16(at, view.getUint16(at) ^ change);
  return { from, bytes: changed };
}

/** `length` bytes that are no pattern of anything. */
export const data = (length, seed = 1) =>
  Uint8Array.from({ length }, (_, i) => (Math.imul(i + seed, 0x9e3779b1) >>> 13) & 0xff);

export const ethernet = { header: "ethernet" };
export const ipv4 = { header: "ipv4", identification: 0x1d2e, dscp: 10, ecn: 1, ttl: 64 };
export const ipv6 = { header: "ipv6", dscp: 10, ecn: 1, flow_label: 0x5a5a5, hop_limit: 64 };
export const tcp = { header: "tcp", source_port: 40000, destination_port: 443, sequence: 0x01020304, flags: "ack" };
export const udp = { header: "udp", source_port: 40000, destination_port: 5000 };
export const icmp = { header: "icmp" };
export const icmpv6 = { header: "icmpv6" };
export const arp = { header: "arp" };
export const vlan = (vid, more = {}) => ({ header: "vlan", vid, ...more });

/**
 * A frame whose checksum at `at` is `wanted`: `build` makes it of a word that the checksum covers, RFC 1071 says which word that is. Of
 * checksums that are the same number, 0 and 0xffff, it is the one that a right frame has.
 */
export function tuned(build, at, wanted) {
  const { bytes } = build(0);
  const word = (((bytes[at] << 8) | bytes[at + 1]) + 0xffff - wanted) % 0xffff;
  return build(word);
}
