/**
 * Rewrites the WebAssembly module of the core so that several threads can run it (WebAssembly core
 * specification, 5.5 Modules): it imports shared memory. The core saves its mutable globals to memory
 * and restores them (`keepGlobals`). Between two runs all state of an instance is in its memory, so a
 * copy of the memory is another core.
 */
import { PAGE } from "../abi/engine.js";

const CUSTOM = 0;
const IMPORTS = 2;
const MEMORY = 5;
const CODE = 10;
const DATA_COUNT = 12;
const HEADER = 8;

const KIND_MEMORY = 2;
const SHARED_WITH_MAXIMUM = 3;
/** The largest size of memory, in pages. */
const MAX_PAGES = (2 ** 32 - PAGE) / PAGE;

interface Section {
  readonly id: number;
  readonly body: Uint8Array;
}

export interface Rewritten {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The initial size of its memory, in pages. */
  readonly pages: number;
}

/** Rewrites the bytes of a module: it imports its memory as `env.memory`. */
export function rewrite(module: Uint8Array): Rewritten {
  const sections = sectionsOf(module);
  const body = (id: number): Uint8Array => sections.find((section) => section.id === id)?.body ?? Uint8Array.of(0);
  const pages = leastPages(body(MEMORY));
  const imported = [...named("env"), ...named("memory"), KIND_MEMORY];
  imported.push(SHARED_WITH_MAXIMUM, ...leb(pages), ...leb(MAX_PAGES));
  const ids = [...new Set([...sections.map(({ id }) => id), IMPORTS])].sort((a, b) => place(a) - place(b));
  const bytes: number[] = [...module.subarray(0, HEADER)];
  for (const id of ids) {
    if (id === MEMORY) continue;
    const content = id === IMPORTS ? longer(body(id), 1, imported) : body(id);
    bytes.push(id, ...leb(content.length));
    for (const byte of content) bytes.push(byte);
  }
  return { bytes: Uint8Array.from(bytes), pages };
}

/** Creates the shared memory of a rewritten core, with its initial size. */
export function sharedMemory(pages: number): WebAssembly.Memory {
  return new WebAssembly.Memory({ initial: pages, maximum: MAX_PAGES, shared: true });
}

/** Sections are ordered by number, except the data count section. */
function place(section: number): number {
  return section === DATA_COUNT ? CODE - 0.5 : section;
}

function leastPages(memories: Uint8Array): number {
  const reader = new Reader(memories);
  if (reader.number() !== 1) throw new TypeError("flowsteer: the core has not one memory");
  reader.number();
  return reader.number();
}

function sectionsOf(module: Uint8Array): Section[] {
  const reader = new Reader(module);
  reader.at = HEADER;
  const sections: Section[] = [];
  while (reader.at < module.length) {
    const id = reader.number();
    const length = reader.number();
    // Name sections and source map URLs describe the original module; they are dropped.
    if (id !== CUSTOM) sections.push({ id, body: module.subarray(reader.at, reader.at + length) });
    reader.at += length;
  }
  return sections;
}

/** Appends entries to a vector. */
function longer(vector: Uint8Array, more: number, entries: readonly number[]): number[] {
  const reader = new Reader(vector);
  const count = reader.number() + more;
  return [...leb(count), ...vector.subarray(reader.at), ...entries];
}

class Reader {
  at = 0;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
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
}

function leb(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  return [...bytes, rest];
}

function named(name: string): number[] {
  return [name.length, ...Array.from(name, (one) => one.charCodeAt(0))];
}
