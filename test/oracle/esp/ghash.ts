/** GHASH as in NIST SP 800-38D, bit by bit: the reference for the core's GHASH. */

/**
 * R of section 6.3, 11100001 and 120 zeros: bit 0 of a block is the most significant bit of the
 * number.
 */
const R = 0xe1n << 120n;

/** The product of two blocks (algorithm 1). */
export function multiplyBlocks(x: bigint, y: bigint): bigint {
  let z = 0n;
  let v = y;
  for (let i = 127n; i >= 0n; i--) {
    if ((x >> i) & 1n) z ^= v;
    v = v & 1n ? (v >> 1n) ^ R : v >> 1n;
  }
  return z;
}

export function blockOf(bytes: Uint8Array): bigint {
  let block = 0n;
  for (let i = 0; i < 16; i++) block = (block << 8n) | BigInt(bytes[i] ?? 0);
  return block;
}

export function bytesOf(block: bigint): Uint8Array {
  return Uint8Array.from({ length: 16 }, (_, i) => Number((block >> BigInt(120 - 8 * i)) & 0xffn));
}

function* blocksOf(bytes: Uint8Array): Generator<bigint> {
  for (let at = 0; at < bytes.length; at += 16) yield blockOf(bytes.subarray(at, at + 16));
}

/** GHASH (algorithm 2) of the blocks of section 7.1, step 5. */
export function ghash(h: Uint8Array, aad: Uint8Array, data: Uint8Array): Uint8Array {
  const key = blockOf(h);
  const lengths = (BigInt(aad.length * 8) << 64n) | BigInt(data.length * 8);
  let y = 0n;
  for (const block of [...blocksOf(aad), ...blocksOf(data), lengths]) y = multiplyBlocks(y ^ block, key);
  return bytesOf(y);
}
