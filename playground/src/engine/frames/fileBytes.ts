/** Reads a file in pieces, and unpacks it if it is gzip. */
import type { Progress } from "../api.js";
import type { Pace } from "../work/lane.js";

/** Bytes that are read at a time. */
const PIECE = 1 << 20;
/** Unpacked bytes that are gathered in memory before they become part of a file. */
const GATHERED = 16 << 20;
/** The longest file, whose offsets have 32 bits. */
const MAX_LENGTH = 2 ** 32 - 1;

/** The bytes of a capture: the file itself, or what was packed in it. */
export interface CaptureFile {
  readonly bytes: Blob;
  /** Why it was not unpacked to its end; null if it was. */
  readonly broken: string | null;
}

/** Pieces of a file in order, with their offsets. */
export async function* piecesOf(file: Blob, pace: Pace): AsyncGenerator<readonly [Uint8Array, number], void> {
  const read = (at: number): Promise<ArrayBuffer> => file.slice(at, at + PIECE).arrayBuffer();
  let next = read(0);
  for (let at = 0; at < file.size; at += PIECE) {
    const bytes = new Uint8Array(await next);
    pace.check();
    next = at + PIECE < file.size ? read(at + PIECE) : Promise.resolve(new ArrayBuffer());
    next.catch(() => undefined);
    yield [bytes, at];
  }
}

/** The bytes of a capture file. A browser keeps large ones on disk. */
export async function openFile(file: Blob, pace: Pace, progress: Progress): Promise<CaptureFile> {
  const head = new Uint8Array(await file.slice(0, 4).arrayBuffer());
  if (head[0] === 0x28 && head[1] === 0xb5 && head[2] === 0x2f && head[3] === 0xfd)
    throw new Error("a Zstandard file, which the page cannot decompress: decompress it first");
  if (head[0] === 0x1f && head[1] === 0x8b) return unpacked(file, pace, progress);
  if (file.size <= MAX_LENGTH) return { bytes: file, broken: null };
  return { bytes: file.slice(0, MAX_LENGTH), broken: "the page reads the first 4 GiB of a file" };
}

/** RFC 1952 */
async function unpacked(file: Blob, pace: Pace, progress: Progress): Promise<CaptureFile> {
  const parts: Blob[] = [];
  let gathered: Uint8Array<ArrayBuffer>[] = [];
  let [waiting, size, packed] = [0, 0, 0];
  let broken: string | null = null;
  const gather = (): void => {
    // Parts of a file are copied out of the memory of the page.
    parts.push(new Blob(gathered));
    [gathered, waiting] = [[], 0];
  };
  const counting = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      packed += chunk.length;
      controller.enqueue(chunk);
    },
  });
  const reader = file.stream().pipeThrough(counting).pipeThrough(new DecompressionStream("gzip")).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      gathered.push(value);
      [waiting, size] = [waiting + value.length, size + value.length];
      if (waiting >= GATHERED) gather();
      if (size > MAX_LENGTH) {
        broken = "the page reads the first 4 GiB of a decompressed file";
        break;
      }
      progress(packed, file.size, "Unpacking");
      await pace.rest();
    }
  } catch (error) {
    pace.check();
    broken = `the gzip data is cut off or damaged after about ${packed} bytes`;
    if (!(error instanceof TypeError) && !(error instanceof DOMException) && !isOfZlib(error)) throw error;
  } finally {
    reader.cancel().catch(() => undefined);
  }
  gather();
  return { bytes: new Blob(parts).slice(0, MAX_LENGTH), broken };
}

/** Node's streams throw errors of their own. */
function isOfZlib(error: unknown): boolean {
  return error instanceof Error && "code" in error;
}
