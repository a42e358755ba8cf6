/** Puts what shares of the same frames have written into the order of the frames. */
import { createReadStream } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { CaptureDecoder, type CapturedFrame } from "../../../index.js";
import type { CaptureFiles } from "../../output/captureFiles.js";
import type { Output } from "../../output/output.js";
import type { Steered } from "../jobs.js";
import { numbersFile } from "./numberedCaptures.js";
import { ROWS } from "./partFiles.js";

/** The folder of a share, and the captures in it. */
export interface ShareFolder extends Pick<Steered, "files"> {
  readonly path: string;
}

/** Something of a frame. */
interface Numbered<T> {
  readonly number: number;
  readonly of: T;
}

/** Writes the rows of all shares. */
export async function addRowsOfShares(to: Output, shares: readonly ShareFolder[]): Promise<void> {
  const all = shares.map(({ path }) => rowsOf(join(path, ROWS)));
  for await (const rows of inOrder(all)) await to.writeBytes(rows.map((row) => row.of).join(""));
}

/** Writes the captures of all shares. Their files come into being in the order of their first frame. */
export async function addCapturesOfShares(to: CaptureFiles, shares: readonly ShareFolder[]): Promise<void> {
  const parts = await Promise.all(
    shares.flatMap(({ path, files }) =>
      files.map(async ({ target, file }, place) => {
        const numbers = numbersFile(path, place);
        return { target, place, file: join(path, file), numbers, first: await firstOf(numbers) };
      }),
    ),
  );
  // A frame that came to several destinations is in one share, which has them in their order.
  parts.sort((a, b) => a.first - b.first || a.place - b.place);
  for (const target of new Set(parts.map((part) => part.target))) {
    const all = parts.filter((part) => part.target === target);
    for await (const frames of inOrder(all.map(({ file, numbers }) => framesOf(file, numbers)))) {
      for (const { of } of frames) to.addTo(target, of);
      to.flush();
    }
  }
}

/**
 * The items of all sources by their numbers; each source is in order. Items are valid until the next are requested, if those of
 * a source are.
 */
async function* inOrder<T>(
  sources: readonly AsyncGenerator<Numbered<T>[], void>[],
): AsyncGenerator<Numbered<T>[], void> {
  const heads: { source: AsyncGenerator<Numbered<T>[], void>; items: Numbered<T>[]; at: number }[] = [];
  for (const source of sources) {
    const items = await nextOf(source);
    if (items !== null) heads.push({ source, items, at: 0 });
  }
  while (heads.length > 0) {
    const items: Numbered<T>[] = [];
    let least = heads[0];
    while (least !== undefined && least.at < least.items.length) {
      for (const head of heads) if (numberAt(head) < numberAt(least)) least = head;
      items.push(least.items[least.at++] as Numbered<T>);
    }
    yield items;
    if (least === undefined) return;
    const more = await nextOf(least.source);
    if (more === null) heads.splice(heads.indexOf(least), 1);
    else Object.assign(least, { items: more, at: 0 });
  }
}

function numberAt<T>({ items, at }: { items: readonly Numbered<T>[]; at: number }): number {
  return items[at]?.number ?? Infinity;
}

/** The next items, which are some; null at the end. */
async function nextOf<T>(source: AsyncGenerator<T[], void>): Promise<T[] | null> {
  for (;;) {
    const next = await source.next();
    if (next.done === true) return null;
    if (next.value.length > 0) return next.value;
  }
}

/** CSV and NDJSON begin a row with the number of its frame. */
const NUMBER = /^(?:\{"frame":)?(\d+)/;

/** Rows of text. A row of CSV may have line breaks within quotes; in NDJSON they are escaped. */
async function* rowsOf(path: string): AsyncGenerator<Numbered<string>[], void> {
  let held = "";
  for await (const chunk of createReadStream(path, { encoding: "utf8" })) {
    held += chunk as string;
    const rows: Numbered<string>[] = [];
    let begin = 0;
    for (let from = 0; ;) {
      const end = held.indexOf("\n", from) + 1;
      if (end === 0) break;
      from = end;
      const row = held.slice(begin, end);
      if (!row.startsWith("{") && isWithinQuotes(row)) continue;
      rows.push({ number: Number(NUMBER.exec(row)?.[1]), of: row });
      begin = end;
    }
    held = held.slice(begin);
    yield rows;
  }
}

function isWithinQuotes(text: string): boolean {
  let isWithin = false;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) isWithin = !isWithin;
  return isWithin;
}

/** The frames of a capture with their numbers. Frames are valid until the next are requested. */
async function* framesOf(path: string, numbers: string): AsyncGenerator<Numbered<CapturedFrame>[], void> {
  const decoder = new CaptureDecoder();
  const file = await open(numbers);
  try {
    for await (const chunk of createReadStream(path)) {
      const frames = decoder.push(chunk as Uint8Array);
      const all = await readNumbers(file, frames.length);
      yield frames.map((frame, n) => ({ number: all[n] ?? NaN, of: frame }));
    }
  } finally {
    await file.close();
  }
}

async function firstOf(numbers: string): Promise<number> {
  const file = await open(numbers);
  try {
    return (await readNumbers(file, 1))[0] ?? NaN;
  } finally {
    await file.close();
  }
}

/** The next numbers of a file. */
async function readNumbers(file: FileHandle, count: number): Promise<Float64Array> {
  const numbers = new Float64Array(count);
  if (count > 0) await file.read(new Uint8Array(numbers.buffer));
  return numbers;
}
