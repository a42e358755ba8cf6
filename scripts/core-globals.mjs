/**
 * Exports the mutable globals of a compiled core, so that a snapshot reads and writes them (WebAssembly core specification,
 * 5.5 Modules). Their names begin with a hash of the module: snapshots of different cores differ there.
 */
import { createHash } from "node:crypto";

const GLOBALS = 6;
const EXPORTS = 7;
const HEADER = 8;
const KIND_GLOBAL = 3;

/** The module with its mutable globals exported as `HASH.0`, `HASH.1` and so on. */
export function withGlobals(module) {
  const hash = createHash("sha256").update(module).digest("hex").slice(0, 12);
  const parts = [module.subarray(0, HEADER)];
  let globals = [];
  for (const { id, body, bytes } of sectionsOf(module)) {
    if (id === GLOBALS) globals = mutableGlobals(body);
    parts.push(id === EXPORTS ? section(id, longer(body, globals, hash)) : bytes);
  }
  return Buffer.concat(parts);
}

function* sectionsOf(module) {
  const reader = new Reader(module, HEADER);
  while (reader.at < module.length) {
    const start = reader.at;
    const id = reader.number();
    const length = reader.number();
    const body = module.subarray(reader.at, (reader.at += length));
    yield { id, body, bytes: module.subarray(start, reader.at) };
  }
}

function mutableGlobals(body) {
  const reader = new Reader(body, 0);
  const found = [];
  const count = reader.number();
  for (let index = 0; index < count; index++) {
    reader.at++;
    if (reader.number() === 1) found.push(index);
    reader.skipConstant();
  }
  return found;
}

/** An export section with these globals at its end. */
function longer(body, globals, hash) {
  const reader = new Reader(body, 0);
  const count = reader.number() + globals.length;
  const more = globals.flatMap((index, n) => {
    const name = Buffer.from(`${hash}.${n}`);
    return [...leb(name.length), ...name, KIND_GLOBAL, ...leb(index)];
  });
  return Buffer.concat([Buffer.from(leb(count)), body.subarray(reader.at), Buffer.from(more)]);
}

function section(id, body) {
  return Buffer.concat([Buffer.from([id, ...leb(body.length)]), body]);
}

function leb(value) {
  const bytes = [];
  for (; value >= 128; value = Math.floor(value / 128)) bytes.push((value % 128) | 0x80);
  return [...bytes, value];
}

class Reader {
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

  /** i32.const, i64.const or v128.const, and `end`. */
  skipConstant() {
    const operation = this.#bytes[this.at++];
    if (operation === 0x41 || operation === 0x42) this.number();
    else if (operation === 0xfd) this.at += 1 + 16;
    else throw new Error("a global of the core is not initialized by a constant");
    this.at++;
  }
}
