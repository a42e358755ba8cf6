/**
 * Reads files in large pieces, one ahead: the next piece is read while the caller works on the
 * current one.
 */
import { open } from "node:fs/promises";
import type { Interruption } from "../interruption.js";

const CHUNK = 1 << 20;

/**
 * The pieces of a file. A piece is valid until the next is requested. An interruption ends the
 * sequence early.
 */
export async function* chunksOf(path: string, interruption: Interruption | null): AsyncGenerator<Uint8Array, void> {
  const file = await open(path);
  const buffers = [Buffer.allocUnsafeSlow(CHUNK), Buffer.allocUnsafeSlow(CHUNK)] as const;
  const read = async (buffer: Buffer): Promise<Uint8Array> => {
    const { bytesRead } = await file.read(buffer, 0, CHUNK, null);
    return buffer.subarray(0, bytesRead);
  };
  let under = read(buffers[0]);
  try {
    for (let n = 1; ; n++) {
      const chunk = await under;
      if (chunk.length === 0 || isOver(interruption)) return;
      under = read(n % 2 === 0 ? buffers[0] : buffers[1]);
      // An error of the read surfaces when it is awaited.
      under.catch(() => undefined);
      yield chunk;
    }
  } finally {
    await under.catch(() => undefined);
    await file.close();
  }
}

/** The pieces of standard input, which may block its reader. */
export async function* chunksOfInput(interruption: Interruption | null): AsyncGenerator<Uint8Array, void> {
  const { stdin } = process;
  if (interruption !== null) interruption.stop = () => stdin.destroy();
  try {
    for await (const chunk of stdin) {
      if (isOver(interruption)) return;
      yield chunk as Uint8Array;
    }
  } catch (error) {
    if (!isOver(interruption)) throw error;
  } finally {
    if (interruption !== null) interruption.stop = null;
  }
}

function isOver(interruption: Interruption | null): boolean {
  return interruption !== null && interruption.signal !== null;
}
