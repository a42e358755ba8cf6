/**
 * Sections of a WebAssembly module (core specification, 5.5 Modules), for the build, which adds functions to a core, and for
 * pools, which share its memory.
 */
import { joined } from "../base/bytes.js";

export const TYPES = 1;
export const IMPORTS = 2;
export const FUNCTIONS = 3;
export const TABLES = 4;
export const MEMORY = 5;
export const GLOBALS = 6;
export const EXPORTS = 7;
export const ELEMENTS = 9;
export const CODE = 10;
export const CUSTOM = 0;
const DATA_COUNT = 12;
const HEADER = 8;

export const KIND_FUNCTION = 0;
export const KIND_TABLE = 1;
export const KIND_MEMORY = 2;
export const KIND_GLOBAL = 3;

export interface Section {
  readonly id: number;
  readonly body: Uint8Array;
}

/** The sections of a module in their order. */
export function sectionsOf(module: Uint8Array): Section[] {
  const reader = new Reader(module, HEADER);
  const sections: Section[] = [];
  while (reader.at < module.length) {
    const id = reader.number();
    sections.push({ id, body: reader.take(reader.number()) });
  }
  return sections;
}

/** The body of a section; that of an empty vector if the module has no such section. */
export function bodyOf(sections: readonly Section[], id: number): Uint8Array {
  return sections.find((section) => section.id === id)?.body ?? Uint8Array.of(0);
}

/**
 * The module with other sections: `bodies` has the new body of each changed section. New ones take
 * their place in the order of the specification, before custom sections.
 */
export function withSections(
  module: Uint8Array,
  sections: readonly Section[],
  bodies: ReadonlyMap<number, Uint8Array>,
): Uint8Array<ArrayBuffer> {
  const all = sections.map(({ id, body }) => ({ id, body: id === CUSTOM ? body : (bodies.get(id) ?? body) }));
  for (const [id, body] of bodies) {
    if (all.some((section) => section.id === id)) continue;
    const next = all.findIndex((section) => section.id === CUSTOM || place(section.id) > place(id));
    all.splice(next < 0 ? all.length : next, 0, { id, body });
  }
  const parts = all.flatMap(({ id, body }) => [Uint8Array.of(id, ...leb(body.length)), body]);
  return joined(module.subarray(0, HEADER), ...parts);
}

/** Sections are ordered by number, except the data count section. */
function place(id: number): number {
  return id === DATA_COUNT ? CODE - 0.5 : id;
}

/** A vector with `count` entries more at its end. */
export function longer(vector: Uint8Array, count: number, entries: readonly number[]): Uint8Array {
  const reader = new Reader(vector);
  const all = reader.number() + count;
  return joined(Uint8Array.from(leb(all)), vector.subarray(reader.at), Uint8Array.from(entries));
}

/** A name in ASCII. */
export function nameBytes(name: string): number[] {
  return [...leb(name.length), ...Array.from(name, (one) => one.charCodeAt(0))];
}

/** An unsigned number as LEB128. */
export function leb(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  return [...bytes, rest];
}

export class Reader {
  at: number;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array, at = 0) {
    this.#bytes = bytes;
    this.at = at;
  }

  /** An unsigned number, LEB128. */
  number(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.#bytes[this.at++] as number;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  }

  /** The next `length` bytes. */
  take(length: number): Uint8Array {
    return this.#bytes.subarray(this.at, (this.at += length));
  }
}
