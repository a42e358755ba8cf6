/**
 * The core as several threads run it: the same module, rewritten (WebAssembly core specification, 5.5 Modules).
 *
 * Every global that can change is exported, so that what one instance has in them can be given to another one; and, for all but the first
 * worker, memory is imported and shared, so that another thread can write what it is to be.
 */
import { PAGE } from "./control.js";

const CUSTOM = 0;
const TYPES = 1;
const IMPORTS = 2;
const MEMORY = 5;
const GLOBALS = 6;
const EXPORTS = 7;
const HEADER = 8;

const KIND_MEMORY = 2;
const KIND_GLOBAL = 3;
const SHARED_WITH_MAXIMUM = 3;
/** i32 and i64: what the host can read and write without loss. */
const NUMBERS: readonly number[] = [0x7f, 0x7e];
/** The most that memory can have, in pages. */
export const MOST_PAGES = (2 ** 32 - PAGE) / PAGE;

/** The name under which global `index` is exported. */
const nameOf = (index: number): string => `global${index}`;

interface Section {
  readonly id: number;
  readonly body: Uint8Array;
}

export interface Rewritten {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** What its globals are exported as, in an order that all rewritten forms of a module share. */
  readonly globals: readonly string[];
  /** The pages that its memory has at least. */
  readonly pages: number;
}

/** The module with its globals exported, and memory imported as `env.memory` where it is to be shared. */
export function rewrite(module: Uint8Array, sharesMemory: boolean): Rewritten {
  const sections = sectionsOf(module);
  const body = (id: number): Uint8Array => sections.find((section) => section.id === id)?.body ?? Uint8Array.of(0);
  const memory = new Reader(body(MEMORY));
  if (memory.number() !== 1) throw new TypeError("flowsteer: the core has not one memory");
  memory.number();
  const pages = memory.number();
  const changing = changingGlobals(body(GLOBALS));
  const exported = changing.flatMap((index) => [...named(nameOf(index)), KIND_GLOBAL, ...leb(index)]);
  const limits = [SHARED_WITH_MAXIMUM, ...leb(pages), ...leb(MOST_PAGES)];
  const imported = sharesMemory ? [...named("env"), ...named("memory"), KIND_MEMORY, ...limits] : [];

  const bytes: number[] = [...module.subarray(0, HEADER)];
  const put = (id: number, content: ArrayLike<number>): void => {
    bytes.push(id, ...leb(content.length));
    for (let i = 0; i < content.length; i++) bytes.push(content[i] as number);
  };
  for (const { id, body } of sections) {
    if (id === EXPORTS) put(id, longer(body, changing.length, exported));
    else if (id === IMPORTS) put(id, longer(body, imported.length > 0 ? 1 : 0, imported));
    else if (id !== MEMORY || !sharesMemory) put(id, body);
    if (id === TYPES && imported.length > 0 && !sections.some((section) => section.id === IMPORTS)) {
      put(IMPORTS, [1, ...imported]);
    }
  }
  return { bytes: Uint8Array.from(bytes), globals: changing.map(nameOf), pages };
}

function sectionsOf(module: Uint8Array): Section[] {
  const reader = new Reader(module);
  reader.at = HEADER;
  const sections: Section[] = [];
  while (reader.at < module.length) {
    const id = reader.number();
    const length = reader.number();
    // Names, and where the source of a debug build lies, are of the module as it was.
    if (id !== CUSTOM) sections.push({ id, body: module.subarray(reader.at, reader.at + length) });
    reader.at += length;
  }
  return sections;
}

/** A vector with more entries at its end. */
function longer(vector: Uint8Array, more: number, entries: readonly number[]): number[] {
  const reader = new Reader(vector);
  const count = reader.number() + more;
  return [...leb(count), ...vector.subarray(reader.at), ...entries];
}

/** Indices of the globals that are no constants. The core imports none. */
function changingGlobals(body: Uint8Array): number[] {
  const reader = new Reader(body);
  const changing: number[] = [];
  const count = reader.number();
  for (let index = 0; index < count; index++) {
    const type = reader.number();
    const changes = reader.number() === 1;
    reader.skipConstant();
    if (!changes) continue;
    if (!NUMBERS.includes(type)) throw new TypeError(`flowsteer: global ${index} of the core is no integer`);
    changing.push(index);
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

  /** The expression that a global begins with: a constant, and `end`. */
  skipConstant(): void {
    const operation = this.#bytes[this.at++];
    // i32.const, i64.const; v128.const, of constants alone.
    if (operation === 0x41 || operation === 0x42) this.number();
    else if (operation === 0xfd) this.at += 1 + 16;
    else throw new TypeError("flowsteer: a global of the core begins with no constant");
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
