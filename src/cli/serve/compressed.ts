/** Static files as they are sent: compressed where the browser takes that, and not again where it has them. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

const TEXTS: ReadonlySet<string> = new Set([".html", ".js", ".css", ".json", ".svg", ".txt", ".wasm", ".webmanifest"]);
/** Larger files are sent as they are: nothing waits for them to be compressed. */
const MAX_BYTES = 8_000_000;
const compress = promisify(gzip);

/** A file, by its path, which is read at each request; or its bytes. */
export type ServedFile = string | Uint8Array;

export interface SentFile {
  readonly bytes: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

/** Keeps what it has compressed while the file is the same. */
export class CompressedFiles {
  readonly #known = new Map<ServedFile, { readonly version: string; readonly sent: Promise<SentFile> }>();

  /**
   * @param extension with its dot
   * @param version changes with the file
   * @returns undefined for a file that is sent as it is
   */
  get(file: ServedFile, extension: string, size: number, version: string): Promise<SentFile> | undefined {
    if (!TEXTS.has(extension) || size > MAX_BYTES) return undefined;
    const known = this.#known.get(file);
    if (known?.version === version) return known.sent;
    const sent = compressed(file);
    this.#known.set(file, { version, sent });
    return sent;
  }
}

async function compressed(file: ServedFile): Promise<SentFile> {
  const plain = typeof file === "string" ? await readFile(file) : file;
  const etag = `"${createHash("sha256").update(plain).digest("base64url").slice(0, 22)}"`;
  const headers = { ETag: etag, "Content-Encoding": "gzip", Vary: "Accept-Encoding" };
  return { bytes: await compress(plain, { level: 9 }), headers };
}
