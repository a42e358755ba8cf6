// Reference of AES-GCM (FIPS 197; NIST SP 800-38D), written as in the standards: the S-box from
// inverses in GF(2^8), GHASH by bitwise multiplication of big integers. Slow, and not
// constant-time.

/** Multiplication in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1 (FIPS 197, 4.2). */
function times(a: number, b: number): number {
  let product = 0;
  for (let x = a, y = b; y !== 0; y >>= 1, x = (x << 1) ^ (x & 0x80 ? 0x11b : 0)) if (y & 1) product ^= x;
  return product;
}

/** The inverse, then the affine transformation (5.1.1). */
const SBOX = Array.from({ length: 256 }, (_, value) => {
  let inverse = 0;
  while (value !== 0 && times(value, inverse) !== 1) inverse++;
  const turned = [0, 1, 2, 3, 4].map((by) => (inverse << by) | (inverse >> (8 - by)));
  return (turned.reduce((sum, one) => sum ^ one) & 0xff) ^ 0x63;
});
const sub = (byte: number): number => SBOX[byte] ?? 0;
const DOUBLED = Array.from({ length: 256 }, (_, value) => times(value, 2));
const double = (byte: number): number => DOUBLED[byte] ?? 0;

/** Round keys of 16 bytes (5.2). */
function expand(key: Uint8Array): number[][] {
  const words = key.length / 4;
  const rounds = words + 6;
  const list: number[][] = [];
  for (let i = 0; i < 4 * (rounds + 1); i++) {
    if (i < words) {
      list.push([...key.subarray(4 * i, 4 * i + 4)]);
      continue;
    }
    let [a, b, c, d] = list[i - 1] as [number, number, number, number];
    if (i % words === 0) {
      let rcon = 1;
      for (let turn = 1; turn < i / words; turn++) rcon = double(rcon);
      [a, b, c, d] = [sub(b) ^ rcon, sub(c), sub(d), sub(a)];
    } else if (words > 6 && i % words === 4) [a, b, c, d] = [sub(a), sub(b), sub(c), sub(d)];
    list.push([a, b, c, d].map((byte, j) => byte ^ (list[i - words]?.[j] ?? 0)));
  }
  return Array.from({ length: rounds + 1 }, (_, round) => list.slice(4 * round, 4 * round + 4).flat());
}

/** One block (5.1). */
function encrypt(roundKeys: readonly number[][], block: readonly number[]): number[] {
  const last = roundKeys.length - 1;
  let state = block.map((byte, i) => byte ^ (roundKeys[0]?.[i] ?? 0));
  for (let round = 1; round <= last; round++) {
    // SubBytes and ShiftRows: row r of a column comes from the column r places to the right.
    const shifted = state.map((_, i) => sub(state[(i + 4 * (i % 4)) % 16] ?? 0));
    const mixed = round === last ? shifted : shifted.map((_, i) => mix(shifted, i));
    state = mixed.map((byte, i) => byte ^ (roundKeys[round]?.[i] ?? 0));
  }
  return state;
}

/** MixColumns: one byte of a column times 2, 3, 1, 1. */
function mix(state: readonly number[], i: number): number {
  const of = (further: number): number => state[(i & 12) + ((i + further) & 3)] ?? 0;
  return double(of(0)) ^ double(of(1)) ^ of(1) ^ of(2) ^ of(3);
}

const toNumber = (bytes: ArrayLike<number>): bigint => {
  let text = "0x";
  for (let i = 0; i < 16; i++) text += (bytes[i] ?? 0).toString(16).padStart(2, "0");
  return BigInt(text);
};

/** The reduction polynomial, most significant bit first (SP 800-38D, 6.3). */
const R = 0xe1n << 120n;

/** x times H for each bit of x. */
function multiples(h: bigint): bigint[] {
  const list: bigint[] = [];
  for (let v = h, i = 0; i < 128; i++, v = v & 1n ? (v >> 1n) ^ R : v >> 1n) list.push(v);
  return list;
}

/** GHASH over full blocks; the last block of each part is padded with zeros (6.4). */
function ghash(table: readonly bigint[], parts: readonly Uint8Array[]): bigint {
  let y = 0n;
  const take = (block: bigint): void => {
    const bits = (y ^ block).toString(2).padStart(128, "0");
    y = 0n;
    for (let i = 0; i < 128; i++) if (bits[i] === "1") y ^= table[i] ?? 0n;
  };
  for (const part of parts) for (let at = 0; at < part.length; at += 16) take(toNumber(part.subarray(at, at + 16)));
  take(parts.reduce((lengths, part) => (lengths << 64n) | (BigInt(part.length) * 8n), 0n));
  return y;
}

/** An expanded key. */
export interface PlainKey {
  roundKeys: number[][];
  table: bigint[];
}

/** 16, 24 or 32 bytes. */
export function plainKey(key: Uint8Array): PlainKey {
  const roundKeys = expand(key);
  return { roundKeys, table: multiples(toNumber(encrypt(roundKeys, new Array<number>(16).fill(0)))) };
}

/** Counter mode from the block after J0; encrypts and decrypts. */
function counted({ roundKeys }: PlainKey, nonce: Uint8Array, data: Uint8Array): Uint8Array {
  const out = new Uint8Array(data.length);
  for (let at = 0, counter = 2; at < data.length; at += 16, counter++) {
    const stream = encrypt(roundKeys, counterBlock(nonce, counter));
    for (let i = at; i < Math.min(at + 16, data.length); i++) out[i] = (data[i] ?? 0) ^ (stream[i - at] ?? 0);
  }
  return out;
}

/** A nonce of 96 bits and a counter of 32. */
function counterBlock(nonce: Uint8Array, counter: number): number[] {
  return [...nonce, (counter >>> 24) & 0xff, (counter >>> 16) & 0xff, (counter >>> 8) & 0xff, counter & 0xff];
}

function tagOf(key: PlainKey, nonce: Uint8Array, aad: Uint8Array, sealed: Uint8Array, length: number): Uint8Array {
  const tag = ghash(key.table, [aad, sealed]) ^ toNumber(encrypt(key.roundKeys, counterBlock(nonce, 1)));
  return Uint8Array.from({ length }, (_, i) => Number((tag >> BigInt(8 * (15 - i))) & 0xffn));
}

export interface Sealed {
  data: Uint8Array;
  icv: Uint8Array;
}

export function gcmSeal(
  key: PlainKey,
  nonce: Uint8Array,
  aad: Uint8Array,
  data: Uint8Array,
  icvLength: number,
): Sealed {
  const sealed = counted(key, nonce, data);
  return { data: sealed, icv: tagOf(key, nonce, aad, sealed, icvLength) };
}

/** The plaintext, or null if the ICV is wrong. */
export function gcmOpen(key: PlainKey, nonce: Uint8Array, aad: Uint8Array, { data, icv }: Sealed): Uint8Array | null {
  const right = tagOf(key, nonce, aad, data, icv.length);
  return right.every((byte, i) => byte === icv[i]) ? counted(key, nonce, data) : null;
}
