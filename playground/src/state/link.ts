/**
 * What a shared link holds, as text of its fragment and back.
 *
 *     #share=BASE64URL    version (1 byte), checksum of the rest (4 bytes), DEFLATE of:
 *                         length of the JSON (4 bytes), JSON, bytes of the capture
 *
 * A link is input of strangers: each value is checked, and work and memory are bounded.
 */
import { Deflate, Inflate } from "fflate";
import type { Scenario } from "flowsteer/scenario";
import type { FrameFilter } from "../engine/api.js";
import { VERDICTS } from "../engine/verdicts.js";
import type { DriverName, ImportFormat, Source } from "../importing/api.js";

export interface Shared {
  readonly rules: string;
  /** The text of another program that they come from. */
  readonly source: Source | null;
  readonly name: string;
  readonly frame: number | null;
  readonly step: number;
  /** The selected object of the rules, such as `rules[2]`. */
  readonly path: string | null;
  readonly field: string | null;
  readonly filter: FrameFilter;
  /** The capture, where it goes along. */
  readonly capture: { readonly name: string; readonly bytes: Uint8Array } | null;
  /** The capture that was left out. */
  readonly left: { readonly name: string; readonly size: number } | null;
}

/** A link that cannot be opened. The message is a sentence for people. */
export class LinkError extends Error {}

/** The longest capture that goes along. */
export const CAPTURE_LIMIT = 30 * 1024;
/** Characters of a fragment, which browsers cut at two millions and less. */
export const LINK_LIMIT = 1_000_000;
/** Characters of rules: more of them would make the page slow, which a stranger could want. */
export const RULES_LIMIT = 1 << 20;
/** Bytes that a link may unpack to. */
const UNPACKED_LIMIT = 8 << 20;

const PREFIX = "#share=";
const VERSION = 1;
const HEAD = 5;
/** Bytes that are packed or unpacked without a pause: a piece of 1 KB unpacks to 1 MB at most. */
const PACKED_PIECE = 16 << 10;
const UNPACKED_PIECE = 1 << 10;
/** Milliseconds of work between pauses. */
const TURN = 8;

/** The fragment of a link, with `#`. It can be longer than `LINK_LIMIT`, which no browser is sure to open. */
export async function encodeLink(shared: Shared): Promise<string> {
  const { capture, left, filter, path, field } = shared;
  const document = {
    ...shared,
    name: shared.name.slice(0, NAME_LENGTH),
    path: path?.slice(0, TEXT_LENGTH) ?? null,
    field: field?.slice(0, TEXT_LENGTH) ?? null,
    filter: {
      ...filter,
      text: filter.text?.slice(0, TEXT_LENGTH) ?? null,
      // A part of an expression is another one.
      fields: (filter.fields?.length ?? 0) > TEXT_LENGTH ? null : (filter.fields ?? null),
    },
    capture: capture?.name.slice(0, NAME_LENGTH) ?? null,
    left: left === null ? null : { ...left, name: left.name.slice(0, NAME_LENGTH) },
  };
  const json = new TextEncoder().encode(JSON.stringify(document));
  const payload = new Uint8Array(4 + json.length + (capture?.bytes.length ?? 0));
  new DataView(payload.buffer).setUint32(0, json.length);
  payload.set(json, 4);
  if (capture !== null) payload.set(capture.bytes, 4 + json.length);
  const pieces: Uint8Array[] = [new Uint8Array(HEAD)];
  const deflate = new Deflate({ level: 9 }, (piece) => pieces.push(piece));
  await inTurns(payload, PACKED_PIECE, (piece, last) => deflate.push(piece, last));
  const packed = joined(pieces);
  packed[0] = VERSION;
  new DataView(packed.buffer).setUint32(1, checksum(packed.subarray(HEAD)));
  return PREFIX + base64url(packed);
}

/**
 * @param fragment the part of an address from `#` on
 * @returns null where it is no shared link
 * @throws LinkError it is one, and cannot be opened
 */
export async function decodeLink(fragment: string): Promise<Shared | null> {
  if (!fragment.startsWith(PREFIX)) return null;
  if (fragment.length > LINK_LIMIT) throw new LinkError("The link is too long to come from this page.");
  const packed = bytesOf(fragment.slice(PREFIX.length));
  if (packed.length <= HEAD) throw new LinkError("The link was truncated: ask for it again.");
  if (packed[0] !== VERSION) {
    throw new LinkError(`The link is of format ${packed[0]}, and this page reads format ${VERSION}: reload the page.`);
  }
  const body = packed.subarray(HEAD);
  if (new DataView(packed.buffer).getUint32(1) !== checksum(body)) {
    throw new LinkError("The link was truncated or altered: ask for it again.");
  }
  return sharedOf(await unpacked(body));
}

async function unpacked(body: Uint8Array): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  let ended = false;
  const inflate = new Inflate((piece, last) => {
    size += piece.length;
    ended ||= last;
    if (size > UNPACKED_LIMIT) throw new LinkError(`The link unpacks to more than ${UNPACKED_LIMIT >> 20} MB.`);
    pieces.push(piece.slice());
  });
  try {
    await inTurns(body, UNPACKED_PIECE, (piece, last) => inflate.push(piece, last));
  } catch (error) {
    throw error instanceof LinkError ? error : damaged("it cannot be unpacked");
  }
  if (!ended) throw damaged("it cannot be unpacked");
  return joined(pieces);
}

function sharedOf(payload: Uint8Array): Shared {
  const length = payload.length < 4 ? payload.length : new DataView(payload.buffer).getUint32(0);
  if (length > payload.length - 4) throw damaged("it ends too early");
  const document = jsonOf(payload.subarray(4, 4 + length));
  const bytes = payload.slice(4 + length);
  const capture = document.textOrNull("capture", NAME_LENGTH);
  if (bytes.length > CAPTURE_LIMIT) throw damaged("its capture is too long");
  return {
    rules: document.text("rules", RULES_LIMIT),
    source: document.isNull("source") ? null : sourceOf(document.object("source")),
    name: plainName(document.text("name", NAME_LENGTH)),
    frame: document.numberOrNull("frame", 1),
    step: document.numberOrNull("step", 0) ?? 0,
    path: document.textOrNull("path", TEXT_LENGTH),
    field: document.textOrNull("field", TEXT_LENGTH),
    filter: filterOf(document.object("filter")),
    capture: capture === null ? null : { name: plainName(capture), bytes },
    left: document.isNull("left") ? null : leftOf(document.object("left")),
  };
}

const NAME_LENGTH = 200;
const TEXT_LENGTH = 1000;

function filterOf(given: Fields): FrameFilter {
  const filter: { -readonly [key in keyof FrameFilter]: FrameFilter[key] } = {};
  if (!given.isNull("verdicts")) {
    filter.verdicts = given.list("verdicts").map((one) => {
      const verdict = VERDICTS.find((known) => known === one);
      if (verdict === undefined) throw damaged("it filters by an unknown verdict");
      return verdict;
    });
  }
  for (const key of ["rule", "to", "text", "fields"] as const) {
    const text = given.textOrNull(key, TEXT_LENGTH);
    if (text !== null) filter[key] = text;
  }
  const reason = given.textOrNull("reason", TEXT_LENGTH);
  if (reason !== null) filter.reason = reason as NonNullable<FrameFilter["reason"]>;
  return filter;
}

/** Names of formats, drivers and profiles are checked where the text is read. */
function sourceOf(given: Fields): Source {
  const options = given.object("options");
  return {
    text: given.text("text", RULES_LIMIT),
    options: {
      file: plainName(options.text("file", NAME_LENGTH)),
      format: options.textOrNull("format", NAME_LENGTH) as ImportFormat | null,
      map: options.object("map").texts(NAME_LENGTH),
      driver: options.textOrNull("driver", NAME_LENGTH) as DriverName | null,
      profile: options.textOrNull("profile", NAME_LENGTH),
      into: options.isNull("into") ? null : (options.object("into").all as unknown as Scenario),
    },
  };
}

function leftOf(given: Fields): Shared["left"] {
  return { name: plainName(given.text("name", NAME_LENGTH)), size: given.numberOrNull("size", 0) ?? 0 };
}

function jsonOf(bytes: Uint8Array): Fields {
  try {
    return new Fields("it", JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)));
  } catch (error) {
    throw error instanceof LinkError ? error : damaged("it is not JSON");
  }
}

/** An object of JSON whose values are read by their types. Only own keys count. */
class Fields {
  readonly #object: object;

  constructor(what: string, value: unknown) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) throw damaged(`${what} is not an object`);
    this.#object = value;
  }

  get all(): object {
    return this.#object;
  }

  /** All values, which are texts. */
  texts(longest: number): Record<string, string> {
    return Object.fromEntries(Object.keys(this.#object).map((key) => [key, this.text(key, longest)]));
  }

  isNull(key: string): boolean {
    return this.#value(key) === null;
  }

  text(key: string, longest: number): string {
    const value = this.#value(key);
    if (typeof value !== "string") throw damaged(`"${key}" is not a text`);
    if (value.length > longest) throw damaged(`"${key}" is too long`);
    return value;
  }

  textOrNull(key: string, longest: number): string | null {
    return this.isNull(key) ? null : this.text(key, longest);
  }

  numberOrNull(key: string, least: number): number | null {
    const value = this.#value(key);
    if (value === null) return null;
    if (!Number.isSafeInteger(value) || (value as number) < least) throw damaged(`"${key}" is out of range`);
    return value as number;
  }

  list(key: string): readonly unknown[] {
    const value = this.#value(key);
    if (!Array.isArray(value)) throw damaged(`"${key}" is not a list`);
    return value;
  }

  object(key: string): Fields {
    return new Fields(`"${key}"`, this.#value(key));
  }

  #value(key: string): unknown {
    return Object.hasOwn(this.#object, key) ? (this.#object as Record<string, unknown>)[key] : null;
  }
}

function damaged(why: string): LinkError {
  return new LinkError(`The link is damaged: ${why}.`);
}

/** A name without control characters, and without those that change the direction of text. */
export function plainName(name: string): string {
  return name.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, "").trim() || "untitled";
}

/** FNV-1a: a link that was cut or mistyped is told from a damaged one. It protects from accidents only. */
function checksum(bytes: Uint8Array): number {
  let sum = 0x811c9dc5;
  for (const byte of bytes) sum = Math.imul(sum ^ byte, 0x01000193);
  return sum >>> 0;
}

/** Calls `work` on pieces of the bytes, and lets the page breathe in between. */
async function inTurns(
  bytes: Uint8Array,
  length: number,
  work: (piece: Uint8Array, last: boolean) => void,
): Promise<void> {
  let began = performance.now();
  for (let at = 0; at < bytes.length; at += length) {
    work(bytes.subarray(at, at + length), at + length >= bytes.length);
    if (performance.now() - began > TURN) {
      await new Promise((resolve) => setTimeout(resolve));
      began = performance.now();
    }
  }
}

function joined(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** Arguments of one call. */
const CHARACTERS = 1 << 13;

function base64url(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += CHARACTERS) {
    text += String.fromCharCode(...bytes.subarray(at, at + CHARACTERS));
  }
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  if (!/^[\w-]*$/.test(text)) throw new LinkError("The link has characters that links of this page never contain.");
  try {
    return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
  } catch {
    throw new LinkError("The link was truncated: ask for it again.");
  }
}
