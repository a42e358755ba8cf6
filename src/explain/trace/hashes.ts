/** How RSS chose a queue, from the events of the core: what went into the hash, and what was left out. */
import { Header, LEVEL_INNER } from "../../abi/headers.js";
import {
  HASH_NONE,
  HASH_TOEPLITZ,
  RSS_DESTINATION,
  RSS_DESTINATION_PORT,
  RSS_FUNCTION,
  RSS_INNER,
  RSS_IPV6,
  RSS_MASK,
  RSS_OUTER,
  RSS_QUEUES,
  RSS_SOURCE,
  RSS_SOURCE_PORT,
  RSS_SPI,
  RSS_SYMMETRIC,
  RSS_UDP,
} from "../../abi/state.js";
import {
  HASH_BYTES,
  HASH_ENTRY,
  HASH_INPUT,
  HASH_RECORD,
  HASH_VALUE,
  HASHED_ABSENT,
  HASHED_BYTES,
  HASHED_FIELDS,
  HASHED_FRAGMENT,
  HASHED_HEADER,
  HASHED_LEVEL,
  HASHED_VALUE,
} from "../../abi/trace.js";
import { hexOf } from "../../base/hex.js";
import type { Core } from "../../engine/core.js";
import { EXTENSIONS, HEADERS } from "../../headers/headers.js";
import { headerName } from "../../headers/names.js";
import { fieldNamed } from "../../model/match/fields.js";
import { headersIn } from "../../model/match/parseResult.js";
import { valueText } from "../match/notation.js";
import type { EventReader, Snapshot } from "./events.js";
import type { HashChoice, HashedField, UnhashedFields } from "./trace.js";

type Level = "outer" | "inner";

/** A `hashed` event. */
interface Part {
  readonly level: Level;
  readonly fields: number;
  readonly header: number;
  readonly length: number;
  readonly value: Uint8Array;
}

/** Collects the parts of a hash until it is complete. */
export class HashReader {
  readonly #core: Core;
  #parts: Part[] = [];

  constructor(core: Core) {
    this.#core = core;
  }

  /** Reads a `hashed` event. */
  add(reader: EventReader): void {
    const header = reader.word(HASHED_HEADER / 4);
    const length = reader.word(HASHED_BYTES / 4);
    const isLeftOut = header === HASHED_ABSENT || header === HASHED_FRAGMENT;
    this.#parts.push({
      level: reader.word(HASHED_LEVEL / 4) === LEVEL_INNER ? "inner" : "outer",
      fields: reader.word(HASHED_FIELDS / 4),
      header,
      length,
      value: reader.bytes(HASHED_VALUE, isLeftOut ? 0 : length),
    });
  }

  /**
   * Reads a `hash` event, which ends the hash.
   * @param frame the branch when it was last parsed
   */
  close(reader: EventReader, frame: Snapshot | null): HashChoice {
    const parts = this.#parts;
    this.#parts = [];
    const { u8, u32 } = this.#core;
    const record = reader.word(HASH_RECORD / 4);
    const hash = u8[record + RSS_FUNCTION] as number;
    const selected = { outer: u8[record + RSS_OUTER] as number, inner: u8[record + RSS_INNER] as number };
    const entries = (u32[(record + RSS_MASK) >> 2] as number) + 1;
    const list = (u32[(record + RSS_QUEUES) >> 2] as number) >> 2;
    const entry = reader.word(HASH_ENTRY / 4);
    const left = parts.flatMap((part) => (isHashed(part) ? [] : [leftOut(part, selected[part.level], frame)]));
    const fields = parts.flatMap((part) => (isHashed(part) ? [hashedField(part)] : []));
    const named = [...fields.map(({ field }) => field), ...left.flatMap((one) => one.fields)];
    return {
      function: hash === HASH_NONE ? "none" : hash === HASH_TOEPLITZ ? "toeplitz" : "xor8",
      symmetric: u8[record + RSS_SYMMETRIC] !== 0,
      fields,
      leftOut: hash === HASH_NONE ? left : [...left, ...unselected(selected, named, frame)],
      input: hexOf(reader.bytes(HASH_INPUT, reader.word(HASH_BYTES / 4))),
      hash: reader.word(HASH_VALUE / 4),
      entry,
      entries,
      sharing: u32.subarray(list, list + entries).filter((queue) => queue === u32[list + entry]).length,
    };
  }
}

function isHashed({ header }: Part): boolean {
  return header !== HASHED_ABSENT && header !== HASHED_FRAGMENT;
}

/** The match field of one selected field in a header. */
function fieldOf(level: Level, header: number, field: number): string {
  return nameIn(header, field).replace("*", level);
}

function nameIn(header: number, field: number): string {
  const isSource = field === RSS_SOURCE || field === RSS_SOURCE_PORT;
  switch (header) {
    case Header.ipv6:
      return HEADERS.ipv6.match[isSource ? "source" : "destination"];
    case Header.ipv4:
      return HEADERS.ipv4.match[isSource ? "source" : "destination"];
    case Header.udp:
      return HEADERS.udp.match[isSource ? "source_port" : "destination_port"];
    case Header.tcp:
      return HEADERS.tcp.match[isSource ? "source_port" : "destination_port"];
    default:
      return HEADERS.esp.match.spi;
  }
}

function hashedField({ level, fields, header, value }: Part): HashedField {
  const name = fieldOf(level, header, fields);
  const field = fieldNamed(name);
  const number = BigInt(`0x${hexOf(value)}`);
  return { field: name, value: field === undefined ? number.toString() : valueText(field, number) };
}

/** The addresses and ports that the frame has, and the hash does not select. */
function unselected(
  selected: Readonly<Record<Level, number>>,
  named: readonly string[],
  frame: Snapshot | null,
): UnhashedFields[] {
  const inUse = (["outer", "inner"] as const).filter((level) =>
    FIELD_BITS.some((bit) => (selected[level] & bit) !== 0),
  );
  const levels: readonly Level[] = inUse.length === 0 ? ["outer"] : inUse;
  const headers = frame === null ? [] : headersIn(frame.map).headers.filter(({ level }) => levels.includes(level));
  const bitsOf = (header: string): readonly number[] =>
    header === "ipv4" || header === "ipv6"
      ? [RSS_SOURCE, RSS_DESTINATION]
      : header === "tcp" || header === "udp"
        ? [RSS_SOURCE_PORT, RSS_DESTINATION_PORT]
        : [];
  const fields = headers.flatMap(({ header, level }) =>
    bitsOf(header).map((bit) => fieldOf(level, Header[header], bit)),
  );
  const others = fields.filter((name) => !named.includes(name));
  return others.length === 0
    ? []
    : [{ fields: others, cause: "unselected", sentence: "the hash does not select them" }];
}

const FIELD_BITS = [RSS_SOURCE, RSS_DESTINATION, RSS_SOURCE_PORT, RSS_DESTINATION_PORT, RSS_SPI];

function leftOut({ level, fields, header, length }: Part, selected: number, frame: Snapshot | null): UnhashedFields {
  const ip = (selected & RSS_IPV6) !== 0 ? Header.ipv6 : Header.ipv4;
  const upper = (selected & RSS_UDP) !== 0 ? Header.udp : Header.tcp;
  const headerOf = (bit: number): number =>
    bit === RSS_SPI ? Header.esp : bit === RSS_SOURCE || bit === RSS_DESTINATION ? ip : upper;
  const bits = FIELD_BITS.filter((bit) => (fields & bit) !== 0);
  const names = bits.map((bit) => fieldOf(level, headerOf(bit), bit));
  if (header === HASHED_FRAGMENT) {
    return {
      fields: names,
      cause: "fragment",
      sentence: `the frame is a ${length === 0 ? "first" : "later"} fragment`,
    };
  }
  return { fields: names, cause: "absent", sentence: absence(level, bits.map(headerOf), frame) };
}

/** Why headers are absent: what the packet has in their place. */
function absence(level: Level, wanted: readonly number[], frame: Snapshot | null): string {
  const { headers, stopped } = frame === null ? { headers: [], stopped: null } : headersIn(frame.map);
  const here = headers.filter((one) => one.level === level);
  const cut = stopped !== null && wanted.some((kind) => Header[kind] === stopped.header) ? stopped.header : null;
  if (cut !== null) return `the ${headerName(cut)} header is cut or malformed`;
  const ip = here.findLast(({ header }) => header === "ipv4" || header === "ipv6");
  if (level === "inner" && here.length === 0) return "the frame has no inner packet";
  if (ip === undefined) return `the ${level} packet is not IP`;
  const wantsIp = wanted.some((kind) => kind === Header.ipv4 || kind === Header.ipv6);
  const has = here.filter(({ header }) => !(EXTENSIONS as readonly string[]).includes(header)).at(-1);
  const named = wantsIp || has === undefined ? ip : has;
  return named === ip && !wantsIp
    ? `the ${level} packet has no header after ${headerName(ip.header)}`
    : `the ${level} packet is ${headerName(named.header)}`;
}
