/**
 * The container of a snapshot: parts with a checksum each. Any change of one byte changes a checksum.
 *
 *     0          8           12        16
 *     | "flowstee" | version | parts   | length and checksum of each part, u32 | checksum of all before | parts |
 *
 * Numbers are little-endian. Parts begin at multiples of 4.
 */
import { refuse } from "../errors.js";

const MAGIC = new TextEncoder().encode("fs-snap\n");
/** Raised when the classes of the model or the container change. */
const VERSION = 2;
/** The parts in their order. */
export const PARTS = ["device", "objects", "values", "tables", "buffers", "memory"] as const;

export type Parts = Readonly<Record<(typeof PARTS)[number], Uint8Array>>;

const HEAD = 16 + 8 * PARTS.length + 4;

/** Parts to write, in pieces: the large ones are copied once. */
export type Pieces = Readonly<Record<(typeof PARTS)[number], readonly Uint8Array[]>>;

/** Writes a container. */
export function pack(parts: Pieces): Uint8Array {
  const lengths = PARTS.map((name) => parts[name].reduce((sum, { length }) => sum + length, 0));
  const size = lengths.reduce((sum, length) => sum + aligned(length), HEAD);
  const bytes = new Uint8Array(size);
  const head = new DataView(bytes.buffer);
  bytes.set(MAGIC);
  head.setUint32(8, VERSION, true);
  head.setUint32(12, PARTS.length, true);
  let to = HEAD;
  for (const [i, name] of PARTS.entries()) {
    const length = lengths[i] as number;
    const whole = bytes.subarray(to, to + aligned(length));
    let at = 0;
    for (const piece of parts[name]) {
      whole.set(piece, at);
      at += piece.length;
    }
    head.setUint32(16 + 8 * i, length, true);
    head.setUint32(20 + 8 * i, checksum(whole), true);
    to += whole.length;
  }
  head.setUint32(HEAD - 4, checksum(bytes.subarray(0, HEAD - 4)), true);
  return bytes;
}

/** Reads a container. @throws EINVAL it is damaged, or of another version */
export function unpack(given: Uint8Array): Parts {
  // Words are read at multiples of 4. A Buffer of Node.js would give views where an array gives copies.
  const plain = new Uint8Array(given.buffer, given.byteOffset, given.length);
  const bytes = plain.byteOffset % 4 === 0 ? plain : plain.slice();
  if (bytes.length < HEAD || MAGIC.some((byte, i) => bytes[i] !== byte)) bad("head", "it is no snapshot");
  const head = new DataView(bytes.buffer, bytes.byteOffset, HEAD);
  const version = head.getUint32(8, true);
  if (version !== VERSION) bad("version", `it has version ${version}, this release reads version ${VERSION}`);
  if (head.getUint32(HEAD - 4, true) !== checksum(bytes.subarray(0, HEAD - 4))) bad("head", "it is damaged");
  const parts: Partial<Record<(typeof PARTS)[number], Uint8Array>> = {};
  let from = HEAD;
  for (const [i, name] of PARTS.entries()) {
    const length = head.getUint32(16 + 8 * i, true);
    const whole = bytes.subarray(from, from + aligned(length));
    if (whole.length !== aligned(length)) bad(name, "it is cut");
    if (checksum(whole) !== head.getUint32(20 + 8 * i, true)) bad(name, "it is damaged");
    parts[name] = whole.subarray(0, length);
    from += whole.length;
  }
  if (from !== bytes.length) bad("end", `${bytes.length - from} bytes follow it`);
  return parts as Parts;
}

/** Refuses the bytes of a snapshot. */
export function bad(part: string, hint: string): never {
  refuse({ code: "EINVAL", reason: "bad_snapshot", path: `bytes.${part}`, hint });
}

function aligned(length: number): number {
  return (length + 3) & ~3;
}

/**
 * A checksum of whole words, in four lanes. Each step is one-to-one in the sum and in the word, so a
 * change of one word always changes it.
 */
function checksum(bytes: Uint8Array): number {
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2);
  let [a, b, c, d] = [1, 2, 3, 4];
  const even = words.length & ~3;
  for (let i = 0; i < even; i += 4) {
    a = step(a, words[i] as number);
    b = step(b, words[i + 1] as number);
    c = step(c, words[i + 2] as number);
    d = step(d, words[i + 3] as number);
  }
  for (let i = even; i < words.length; i++) a = step(a, words[i] as number);
  return step(step(step(step(words.length, a), b), c), d) >>> 0;
}

function step(sum: number, word: number): number {
  const mixed = Math.imul(sum ^ word, 0x9e3779b1);
  return (mixed << 13) | (mixed >>> 19);
}
