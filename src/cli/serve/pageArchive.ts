/**
 * The files of the playground in one compressed file, as the package has them: a line of JSON with names and
 * sizes, then the bytes one after the other. A quarter of the size of the files.
 */
import { readFileSync } from "node:fs";
import { brotliDecompressSync } from "node:zlib";
import { parseJson } from "../../base/json.js";

const NEW_LINE = 10;

/** The files of an archive, by their paths below the page. @throws Error it cannot be read */
export function archivedPage(path: string): Map<string, Uint8Array> {
  const bytes = brotliDecompressSync(readFileSync(path));
  let at = bytes.indexOf(NEW_LINE) + 1;
  const index = parseJson(bytes.toString("utf8", 0, at)) as readonly (readonly [name: string, size: number])[];
  return new Map(index.map(([name, size]) => [name, bytes.subarray(at, (at += size))]));
}
