/** A server of files by HTTP ranges (RFC 9110, section 14), which counts the bytes that it gave. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export class FileServer {
  /** Bytes given. */
  given = 0;
  /** The ETag, and whether ranges are served. */
  etag = '"1"';
  ranges = true;
  readonly url: string;
  readonly #server: Server;

  static async start(bytes: Uint8Array): Promise<FileServer> {
    const files: { server: FileServer | null } = { server: null };
    const server = createServer(({ method, headers }, answer) => {
      const { server: own } = files;
      if (own === null) return;
      answer.setHeader("etag", own.etag);
      if (own.ranges) answer.setHeader("accept-ranges", "bytes");
      if (headers["if-match"] !== undefined && headers["if-match"] !== own.etag) {
        answer.writeHead(412).end();
        return;
      }
      const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? "") ?? [];
      if (method === "HEAD" || from === undefined) {
        answer.writeHead(200, { "content-length": bytes.length }).end();
        return;
      }
      const part = bytes.subarray(Number(from), Number(to) + 1);
      own.given += part.length;
      answer.writeHead(206, { "content-length": part.length }).end(part);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    return (files.server = new FileServer(server, `http://127.0.0.1:${port}/capture.pcapng`));
  }

  private constructor(server: Server, url: string) {
    this.#server = server;
    this.url = url;
  }

  end(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
