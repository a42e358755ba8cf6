/** Serves a folder of static files on the loopback interface, and files of the caller beside them. */
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize, sep } from "node:path";
import { CompressedFiles, type ServedFile } from "./compressed.js";

/** What a browser must know of each kind of file. */
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".txt": "text/plain; charset=utf-8",
  ".wasm": "application/wasm",
  ".webmanifest": "application/manifest+json",
};

const HEADERS = {
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Cache-Control": "no-cache",
};

export type { ServedFile };

export interface PageServer {
  /** `http://127.0.0.1:PORT/`. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * @param folder the static files
 * @param extra files elsewhere, by their path in URLs: `opened/rules.json`
 * @param port 0 for any that is free
 */
export async function servePage(
  folder: string,
  extra: ReadonlyMap<string, ServedFile>,
  port: number,
): Promise<PageServer> {
  const compressed = new CompressedFiles();
  const server = createServer((request, response) => {
    answer({ folder, extra, compressed }, server, request, response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : undefined);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${portOf(server)}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Site {
  readonly folder: string;
  readonly extra: ReadonlyMap<string, ServedFile>;
  readonly compressed: CompressedFiles;
}

async function answer(
  { folder, extra, compressed }: Site,
  server: Server,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  // Another name for this address would let a foreign page read the files.
  if (![`127.0.0.1:${portOf(server)}`, `localhost:${portOf(server)}`].includes(request.headers.host ?? "")) {
    end(response, 403, "this server answers to 127.0.0.1 only\n");
    return;
  }
  if (request.method !== "GET" && request.method !== "HEAD") {
    end(response, 405, "GET or HEAD\n");
    return;
  }
  const path = pathOf(request.url ?? "/");
  const file = path === null ? null : (extra.get(path) ?? join(folder, path));
  const found = file === null ? null : await sizeOf(file);
  if (path === null || file === null || found === null) {
    end(response, 404, "no such file\n");
    return;
  }
  const { size, version } = found;
  const type = { "Content-Type": TYPES[extname(path)] ?? "application/octet-stream" };
  // Files elsewhere are the user's, which change at any time.
  const isStatic = typeof file !== "string" || !extra.has(path);
  const takesGzip = isStatic && /\bgzip\b/.test(request.headers["accept-encoding"] ?? "");
  const sent = takesGzip ? await compressed.get(file, extname(path), size, version) : undefined;
  if (sent !== undefined) {
    const isKnown = request.headers["if-none-match"] === sent.headers.ETag;
    const length = isKnown ? {} : { "Content-Length": sent.bytes.length };
    response.writeHead(isKnown ? 304 : 200, { ...HEADERS, ...type, ...sent.headers, ...length });
    response.end(isKnown || request.method === "HEAD" ? undefined : sent.bytes);
    return;
  }
  response.writeHead(200, { ...HEADERS, ...type, "Content-Length": size });
  if (request.method === "HEAD" || size === 0) response.end();
  else if (typeof file !== "string") response.end(file);
  // A file that grows meanwhile is sent up to the size that was told.
  else createReadStream(file, { end: size - 1 }).pipe(response);
}

/** Bytes, and what changes with the file; null for what is no file. */
async function sizeOf(file: ServedFile): Promise<{ readonly size: number; readonly version: string } | null> {
  if (typeof file !== "string") return { size: file.length, version: "" };
  const found = await stat(file).catch(() => null);
  return found?.isFile() === true ? { size: found.size, version: `${found.size} ${found.mtimeMs}` } : null;
}

/** The path below the folder, without a slash in front, to the page of a folder; null if it leads out of the folder. */
function pathOf(url: string): string | null {
  try {
    const path = normalize(decodeURIComponent(url.split(/[?#]/, 1)[0] ?? ""));
    const below = path
      .split(sep)
      .join("/")
      .replace(/^\/+/, "")
      .replace(/(^|\/)$/, "$1index.html");
    return below.startsWith("..") || below.includes("\0") ? null : below;
  } catch {
    return null;
  }
}

function end(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { ...HEADERS, "Content-Type": TYPES[".txt"] });
  response.end(text);
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
