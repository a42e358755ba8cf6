// Reference of RSS: written from docs/queues.md ("RSS") and from Microsoft's public description of
// the Toeplitz hash, over the fields of the reference parser. It processes single bits, as the
// description does.

import { type Fields } from "./match.js";

/** The hashed fields of a packet. */
export interface Selection {
  version: 4 | 6;
  protocol: "tcp" | "udp";
  source?: boolean;
  destination?: boolean;
  sourcePort?: boolean;
  destinationPort?: boolean;
  spi?: boolean;
}

export interface Hash {
  function: "none" | "xor8" | "toeplitz";
  symmetric: boolean;
  outer: Selection | null;
  inner: Selection | null;
  key: Uint8Array;
}

/** The hash of a frame with these fields. */
export function hashReference(fields: Fields, hash: Hash): number {
  const input = [
    ...(hash.outer === null ? [] : selected(fields, "outer", hash.outer, hash.symmetric)),
    ...(hash.inner === null ? [] : selected(fields, "inner", hash.inner, hash.symmetric)),
  ];
  switch (hash.function) {
    case "none":
      return 0;
    case "xor8":
      return ~input.reduce((sum, byte) => sum ^ byte, 0) & 0xff;
    case "toeplitz":
      return toeplitzReference(input, hash.key);
  }
}

/**
 * Each bit i of the input that is 1 XORs in the 32 bits of the key from bit i on. The key wraps
 * around.
 */
export function toeplitzReference(input: readonly number[], key: Uint8Array): number {
  const bit = (bytes: ArrayLike<number>, at: number): number => ((bytes[at >> 3] ?? 0) >> (7 - (at & 7))) & 1;
  let result = 0;
  for (let i = 0; i < input.length * 8; i++) {
    if (bit(input, i) === 0) continue;
    let word = 0;
    for (let j = 0; j < 32; j++) word = word * 2 + bit(key, (i + j) % (key.length * 8));
    result = (result ^ word) >>> 0;
  }
  return result;
}

function selected(fields: Fields, level: string, choice: Selection, symmetric: boolean): number[] {
  const { version, protocol } = choice;
  const bytes = version === 4 ? 4 : 16;
  const addresses = pair(
    field(fields, `${level}.ipv${version}_src`, bytes, choice.source),
    field(fields, `${level}.ipv${version}_dst`, bytes, choice.destination),
    symmetric,
  );
  const whole = fields.get(`${level}.frag`) !== 1n;
  const ports = pair(
    field(fields, `${level}.${protocol}_sport`, 2, whole && choice.sourcePort),
    field(fields, `${level}.${protocol}_dport`, 2, whole && choice.destinationPort),
    symmetric,
  );
  return [...addresses, ...ports, ...(field(fields, `misc.${level}_esp_spi`, 4, choice.spi) ?? [])];
}

/** The bytes of a field; null if it is not selected or not present. */
function field(fields: Fields, name: string, bytes: number, asked: boolean | undefined): number[] | null {
  const value = fields.get(name);
  if (asked !== true || value === undefined) return null;
  return Array.from({ length: bytes }, (_, i) => Number((value >> BigInt(8 * (bytes - 1 - i))) & 0xffn));
}

function pair(source: number[] | null, destination: number[] | null, symmetric: boolean): number[] {
  if (!symmetric || source === null || destination === null) return [...(source ?? []), ...(destination ?? [])];
  const both = (how: (a: number, b: number) => number): number[] => source.map((a, i) => how(a, destination[i] ?? 0));
  return [...both((a, b) => a | b), ...both((a, b) => a ^ b)];
}
