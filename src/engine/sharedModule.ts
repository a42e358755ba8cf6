/**
 * Rewrites the WebAssembly module of the core so that several threads can run it (WebAssembly core
 * specification, 5.5 Modules).
 *
 * The rewritten module imports shared memory and has two more functions: one saves all mutable
 * globals to memory, the other restores them. Between two runs all state of an instance is in its
 * memory, so a copy of the memory is another core.
 */
import { PAGE } from "./workerControl.js";

const CUSTOM = 0;
const TYPES = 1;
const IMPORTS = 2;
const FUNCTIONS = 3;
const MEMORY = 5;
const GLOBALS = 6;
const EXPORTS = 7;
const CODE = 10;
const DATA_COUNT = 12;
const HEADER = 8;

const KIND_FUNCTION = 0;
const KIND_MEMORY = 2;
const SHARED_WITH_MAXIMUM = 3;
const I32 = 0x7f;
const I64 = 0x7e;
/** (address: i32) => void */
const TYPE = [0x60, 1, I32, 0];
/** The size of a saved value in bytes. Saved are the number of pages, then each global. */
const SLOT = 8;
/** The largest size of memory, in pages. */
const MOST_PAGES = (2 ** 32 - PAGE) / PAGE;

/** The additional exports of a rewritten core. */
export interface SharingExports {
  /** Saves the number of memory pages, one word, and all globals. */
  keepGlobals(address: number): void;
  takeGlobals(address: number): void;
}

interface Section {
  readonly id: number;
  readonly body: Uint8Array;
}

interface Global {
  readonly index: number;
  /** I32 or I64. */
  readonly type: number;
}

export interface Rewritten {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The initial size of its memory, in pages. */
  readonly pages: number;
}

/** Rewrites the bytes of a module: it imports its memory as `env.memory` and has SharingExports. */
export function rewrite(module: Uint8Array): Rewritten {
  const sections = sectionsOf(module);
  const body = (id: number): Uint8Array => sections.find((section) => section.id === id)?.body ?? Uint8Array.of(0);
  const countIn = (id: number): number => new Reader(body(id)).number();
  const globals = changingGlobals(body(GLOBALS));
  const pages = leastPages(body(MEMORY));
  // All imports are functions; their numbers come before those of the module's functions.
  const first = countIn(IMPORTS) + countIn(FUNCTIONS);
  const type = leb(countIn(TYPES));
  const imported = [...named("env"), ...named("memory"), KIND_MEMORY];
  imported.push(SHARED_WITH_MAXIMUM, ...leb(pages), ...leb(MOST_PAGES));

  const more = new Map<number, { count: number; entries: readonly number[] }>([
    [TYPES, { count: 1, entries: TYPE }],
    [FUNCTIONS, { count: 2, entries: [...type, ...type] }],
    [EXPORTS, { count: 2, entries: [...exported("keepGlobals", first), ...exported("takeGlobals", first + 1)] }],
    [CODE, { count: 2, entries: [...keeping(globals), ...taking(globals)] }],
    [IMPORTS, { count: 1, entries: imported }],
  ]);
  const ids = [...new Set([...sections.map(({ id }) => id), ...more.keys()])].sort((a, b) => place(a) - place(b));
  const bytes: number[] = [...module.subarray(0, HEADER)];
  for (const id of ids) {
    if (id === MEMORY) continue;
    const { count, entries } = more.get(id) ?? { count: 0, entries: [] };
    const content = count === 0 ? body(id) : longer(body(id), count, entries);
    bytes.push(id, ...leb(content.length));
    for (const byte of content) bytes.push(byte);
  }
  return { bytes: Uint8Array.from(bytes), pages };
}

/** Creates the shared memory of a rewritten core, with its initial size. */
export function sharedMemory(pages: number): WebAssembly.Memory {
  return new WebAssembly.Memory({ initial: pages, maximum: MOST_PAGES, shared: true });
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

function exported(name: string, index: number): number[] {
  return [...named(name), KIND_FUNCTION, ...leb(index)];
}

/** local.get 0; memory.size; store; and of each global: local.get 0; global.get; store */
function keeping(globals: readonly Global[]): number[] {
  return code([
    ...[0x20, 0, 0x3f, 0, 0x36, ...offset(0)],
    ...globals.flatMap(({ index, type }, n) => [
      ...[0x20, 0, 0x23, ...leb(index)],
      type === I64 ? 0x37 : 0x36,
      ...offset(n + 1),
    ]),
  ]);
}

/** local.get 0; load; global.set */
function taking(globals: readonly Global[]): number[] {
  return code(
    globals.flatMap(({ index, type }, n) => [
      0x20,
      0,
      type === I64 ? 0x29 : 0x28,
      ...offset(n + 1),
      0x24,
      ...leb(index),
    ]),
  );
}

/** The operands of a load or store: no alignment, and the offset of a slot. */
function offset(slot: number): number[] {
  return [0, ...leb(slot * SLOT)];
}

/** The body of a function without locals. */
function code(instructions: readonly number[]): number[] {
  const body = [0, ...instructions, 0x0b];
  return [...leb(body.length), ...body];
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

/** The mutable globals. The core imports none. */
function changingGlobals(body: Uint8Array): Global[] {
  const reader = new Reader(body);
  const changing: Global[] = [];
  const count = reader.number();
  for (let index = 0; index < count; index++) {
    const type = reader.number();
    const changes = reader.number() === 1;
    reader.skipConstant();
    if (!changes) continue;
    if (type !== I32 && type !== I64) throw new TypeError(`flowsteer: global ${index} of the core is no integer`);
    changing.push({ index, type });
  }
  return changing;
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

  /** The expression that initializes a global: a constant, and `end`. */
  skipConstant(): void {
    const operation = this.#bytes[this.at++];
    // i32.const, i64.const or v128.const. No other expression occurs.
    if (operation === 0x41 || operation === 0x42) this.number();
    else if (operation === 0xfd) this.at += 1 + 16;
    else throw new TypeError("flowsteer: a global of the core is not initialized by a constant");
    this.at++;
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
