/**
 * Reads files in large pieces, one ahead: the next piece is read while the caller works on the
 * current one.
 */
import { open, type FileHandle } from "node:fs/promises";
import { refusalOf, withFile } from "../refusal.js";
import type { Interruption } from "../interruption.js";

const CHUNK = 1 << 20;

/** A file that can be read, or standard input. */
export interface OpenFile {
  /** Its name in messages. */
  readonly name: string;
  /** Bytes; undefined where it is unknown. */
  readonly size: number | undefined;
  /**
   * Its pieces. A piece is valid until the next is requested. An interruption ends the sequence
   * early.
   */
  read(interruption: Interruption | null): AsyncGenerator<Uint8Array, void>;
}

/** The name of an input in messages. */
export function inputName(path: string): string {
  return path === "-" ? "standard input" : path;
}

/**
 * Opens files, `-` as standard input, before the first is read.
 * @throws CommandRefusal one cannot be read
 */
export async function openFiles(paths: readonly string[]): Promise<OpenFile[]> {
  const files: OpenFile[] = [];
  for (const path of paths) {
    try {
      files.push(path === "-" ? INPUT : await openFile(path));
    } catch (error) {
      throw refusalOf(inputName(path), error);
    }
  }
  return files;
}

const INPUT: OpenFile = { name: inputName("-"), size: undefined, read: chunksOfInput };

/** A regular file is closed again until it is read, so that many fit; a pipe can be opened once. */
async function openFile(path: string): Promise<OpenFile> {
  const file = await open(path);
  const stat = await file.stat();
  if (!stat.isFile() && !stat.isDirectory()) {
    return { name: path, size: undefined, read: (interruption) => chunksOf(file, interruption) };
  }
  try {
    // Reading, not opening, is what a folder refuses.
    if (stat.isDirectory()) await file.read(new Uint8Array(1), 0, 1, 0);
  } finally {
    await file.close();
  }
  return {
    name: path,
    size: stat.size,
    read: async function* (interruption) {
      yield* chunksOf(await open(path), interruption);
    },
  };
}

/**
 * The text of a file.
 * @throws CommandRefusal it cannot be read
 */
export async function textOf(path: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  for (const file of await openFiles([path])) {
    await withFile(file.name, async () => {
      for await (const chunk of file.read(null)) chunks.push(Uint8Array.from(chunk));
    });
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

/**
 * The pieces of an open file, which it closes. A piece is valid until the next is requested.
 * @param part the bytes `from` to `to` - 1; null for all from the place of the file on
 */
export async function* chunksOf(
  file: FileHandle,
  interruption: Interruption | null,
  part: { readonly from: number; readonly to: number } | null = null,
): AsyncGenerator<Uint8Array, void> {
  const size = part === null ? CHUNK : Math.min(CHUNK, part.to - part.from);
  const buffers = [Buffer.allocUnsafeSlow(size), Buffer.allocUnsafeSlow(size)] as const;
  let at = part?.from ?? null;
  const read = async (buffer: Buffer): Promise<Uint8Array> => {
    const length = part === null ? size : Math.min(size, part.to - (at ?? 0));
    const { bytesRead } = await file.read(buffer, 0, length, at);
    if (at !== null) at += bytesRead;
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
async function* chunksOfInput(interruption: Interruption | null): AsyncGenerator<Uint8Array, void> {
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
