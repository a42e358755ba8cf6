/** Sections of a compiled module, for what the build adds to a core (WebAssembly core specification, 5.5 Modules). */

export const TYPES = 1;
export const IMPORTS = 2;
export const FUNCTIONS = 3;
export const TABLES = 4;
export const GLOBALS = 6;
export const EXPORTS = 7;
export const ELEMENTS = 9;
export const CODE = 10;
const CUSTOM = 0;
const DATA_COUNT = 12;
const HEADER = 8;

export const KIND_FUNCTION = 0;
export const KIND_TABLE = 1;
export const KIND_MEMORY = 2;
export const I32 = 0x7f;
export const I64 = 0x7e;

/** The sections of a module in their order. */
export function sectionsOf(module) {
  const reader = new Reader(module, HEADER);
  const sections = [];
  while (reader.at < module.length) {
    const id = reader.number();
    const length = reader.number();
    sections.push({ id, body: module.subarray(reader.at, reader.at + length) });
    reader.at += length;
  }
  return sections;
}

/** The body of a section; that of an empty vector if the module has no such section. */
export function bodyOf(sections, id) {
  return sections.find((section) => section.id === id)?.body ?? Buffer.from([0]);
}

/**
 * The module with other sections: `bodies` has the new body of each changed section. New ones take
 * their place in the order of the specification, before custom sections.
 */
export function withSections(module, sections, bodies) {
  const all = sections.map(({ id, body }) => ({ id, body: id === CUSTOM ? body : (bodies.get(id) ?? body) }));
  for (const [id, body] of bodies) {
    if (all.some((section) => section.id === id)) continue;
    const next = all.findIndex((section) => section.id === CUSTOM || place(section.id) > place(id));
    all.splice(next < 0 ? all.length : next, 0, { id, body });
  }
  const parts = all.flatMap(({ id, body }) => [Buffer.from([id, ...leb(body.length)]), body]);
  return Buffer.concat([module.subarray(0, HEADER), ...parts]);
}

/** Sections are ordered by number, except the data count section. */
function place(id) {
  return id === DATA_COUNT ? CODE - 0.5 : id;
}

/** A vector with more entries at its end. */
export function longer(vector, count, entries) {
  const reader = new Reader(vector, 0);
  const all = reader.number() + count;
  return Buffer.concat([Buffer.from(leb(all)), vector.subarray(reader.at), Buffer.from(entries)]);
}

/** An entry of the export section. */
export function exported(name, kind, index) {
  const text = Buffer.from(name);
  return [...leb(text.length), ...text, kind, ...leb(index)];
}

export function leb(value) {
  const bytes = [];
  for (; value >= 128; value = Math.floor(value / 128)) bytes.push((value % 128) | 0x80);
  return [...bytes, value];
}

export class Reader {
  #bytes;

  constructor(bytes, at) {
    this.#bytes = bytes;
    this.at = at;
  }

  number() {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.#bytes[this.at++];
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  }

  /** The next `length` bytes as Latin-1 text. */
  text(length) {
    return Buffer.from(this.#bytes.subarray(this.at, (this.at += length))).toString("latin1");
  }

  /** i32.const, i64.const or v128.const, and `end`. */
  skipConstant() {
    const operation = this.#bytes[this.at++];
    if (operation === 0x41 || operation === 0x42) this.number();
    else if (operation === 0xfd) this.at += 1 + 16;
    else throw new Error("a global of the core is not initialized by a constant");
    this.at++;
  }
}
