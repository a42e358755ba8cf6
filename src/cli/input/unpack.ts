/** Unpacks compressed captures while they are read. The first bytes tell, not the name of the file. */
import zlib from "node:zlib";
import type { Transform } from "node:stream";

/** Compressed bytes that are unpacked at a time: they bound the bytes held. */
const PIECE = 1 << 16;

const GZIP = "gzip";
const ZSTD = "Zstandard";

/** The end of compressed data that is cut off or damaged. */
export class PackedBreak extends Error {
  /** How many of the compressed bytes were read. */
  readonly offset: number;

  constructor(what: string, offset: number, cause: unknown) {
    super(`${what} data: ${(cause as Error).message}`, { cause });
    this.offset = offset;
  }
}

/** Compressed data that this release of Node.js cannot unpack. */
export class NoUnpacker extends Error {}

/**
 * The bytes of a file, unpacked if they are compressed. A piece is valid until the next is
 * requested.
 * @throws PackedBreak after all bytes that could be unpacked; NoUnpacker
 */
export async function* unpacked(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  let packing: string | null | undefined;
  let unpacker: Unpacker | null = null;
  let head = new Uint8Array();
  for await (let chunk of source) {
    if (packing === undefined) {
      if (head.length > 0) chunk = Buffer.concat([head, chunk]);
      if (chunk.length < 4) {
        head = chunk.slice();
        continue;
      }
      packing = packingOf(chunk);
      if (packing !== null) unpacker = new Unpacker(packing);
    }
    if (unpacker === null) yield chunk;
    else for (let at = 0; at < chunk.length; at += PIECE) yield* unpacker.push(chunk.subarray(at, at + PIECE));
  }
  if (packing === undefined && head.length > 0) yield head;
  if (unpacker !== null) yield* unpacker.end();
}

/** Whether a file that begins with these four bytes is compressed. */
export function isPacked(head: Uint8Array): boolean {
  return packingOf(head) !== null;
}

/** RFC 1952 section 2.3.1, RFC 8878 section 3.1.1; null for other files. */
function packingOf(head: Uint8Array): string | null {
  if (head[0] === 0x1f && head[1] === 0x8b) return GZIP;
  return head[0] === 0x28 && head[1] === 0xb5 && head[2] === 0x2f && head[3] === 0xfd ? ZSTD : null;
}

function openUnpacker(packing: string): Transform {
  if (packing === GZIP) return zlib.createGunzip();
  const { createZstdDecompress } = zlib as { createZstdDecompress?: () => Transform };
  if (createZstdDecompress !== undefined) return createZstdDecompress();
  throw new NoUnpacker(
    `Node.js ${process.versions.node} cannot decompress Zstandard; decompress the file first, or use Node.js 22.15`,
  );
}

/** Gives all that it could unpack before it throws. */
class Unpacker {
  readonly #packing: string;
  readonly #stream: Transform;
  #unpacked: Uint8Array[] = [];
  #read = 0;
  #error: Error | null = null;
  #ended = false;
  #wake: () => void = () => undefined;

  constructor(packing: string) {
    this.#packing = packing;
    this.#stream = openUnpacker(packing)
      .on("data", (bytes: Uint8Array) => this.#unpacked.push(bytes))
      .on("error", (error) => {
        this.#error = error;
        this.#wake();
      })
      .on("end", () => {
        this.#ended = true;
        this.#wake();
      });
  }

  async *push(bytes: Uint8Array): AsyncGenerator<Uint8Array, void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      this.#stream.write(bytes, () => resolve());
    });
    this.#read += bytes.length;
    yield* this.#take();
  }

  async *end(): AsyncGenerator<Uint8Array, void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (this.#ended || this.#error !== null) resolve();
      this.#stream.end();
    });
    yield* this.#take();
  }

  *#take(): Generator<Uint8Array, void> {
    const unpacked = this.#unpacked;
    this.#unpacked = [];
    yield* unpacked;
    if (this.#error !== null) throw new PackedBreak(this.#packing, this.#read, this.#error);
  }
}
