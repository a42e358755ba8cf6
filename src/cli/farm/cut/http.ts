/** Captures by HTTP (RFC 9110): a worker asks for the bytes of its piece only. */
import { CommandRefusal } from "../../refusal.js";
import type { CaptureRef } from "../jobs.js";

const PARTIAL_CONTENT = 206;
const PRECONDITION_FAILED = 412;

/** Whether a name is a URL. */
export function isRemote(name: string): boolean {
  return /^https?:\/\//i.test(name);
}

/** Asks a server about a capture. @throws CommandRefusal it does not answer, or does not serve ranges of bytes */
export async function describeRemote(url: string): Promise<CaptureRef> {
  const { headers } = await ask(url, { method: "HEAD" }).catch((error: unknown) => {
    throw unreadable(url, (error as Error).message);
  });
  const size = Number(headers.get("content-length") ?? Number.NaN);
  const state = headers.get("etag") ?? headers.get("last-modified");
  if (headers.get("accept-ranges") !== "bytes") throw unreadable(url, "the server does not serve ranges of bytes");
  if (!Number.isSafeInteger(size)) throw unreadable(url, "the server does not report the length");
  if (state === null)
    throw unreadable(url, "the server gives neither ETag nor Last-Modified: changes would go unnoticed");
  return { name: url, place: url, size, state };
}

/** Bytes `from` to `to` - 1. @throws Error they cannot be read, or have changed */
export async function* readRemote(
  { place, state }: CaptureRef,
  from: number,
  to: number,
): AsyncGenerator<Uint8Array, void> {
  // RFC 9110, 13.1.1: If-Match takes strong entity tags only.
  const condition = state.startsWith('"') ? { "if-match": state } : {};
  const { status, headers, body } = await ask(place, { headers: { range: `bytes=${from}-${to - 1}`, ...condition } });
  if (status !== PARTIAL_CONTENT || body === null)
    throw new Error(`${place}: the server gave no range of bytes (${status})`);
  const now = headers.get("etag") ?? headers.get("last-modified");
  if (now !== state) throw changed(place);
  let read = 0;
  for await (const chunk of body) {
    read += chunk.length;
    yield chunk;
  }
  if (read !== to - from) throw new Error(`${place}: wanted ${to - from} bytes from ${from} on, had ${read}`);
}

async function ask(url: string, options: RequestInit): Promise<Response> {
  const answer = await fetch(url, options).catch((error: unknown) => {
    const { cause, message } = error as Error;
    throw new Error(`${url}: ${cause instanceof Error ? cause.message : message}`, { cause: error });
  });
  if (answer.status === PRECONDITION_FAILED) throw changed(url);
  if (!answer.ok) throw new Error(`${url}: the server answers ${answer.status} ${answer.statusText}`);
  return answer;
}

function changed(url: string): Error {
  return new Error(`${url} is not the file that the run has seen: its ETag or Last-Modified has changed`);
}

function unreadable(url: string, hint: string): CommandRefusal {
  return new CommandRefusal(url, { code: "EIO", call: "flowsteer", reason: "cannot_read", hint });
}
