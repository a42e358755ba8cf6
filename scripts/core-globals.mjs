/**
 * Gives a compiled core two more functions: one saves its mutable globals to memory, the other restores
 * them. Snapshots and the cores of a pool copy the state of a core so (src/engine/memoryImage.ts,
 * src/engine/workerPool.ts).
 */
import { createHash } from "node:crypto";
import {
  bodyOf,
  CODE,
  EXPORTS,
  exported,
  FUNCTIONS,
  GLOBALS,
  I32,
  I64,
  IMPORTS,
  KIND_FUNCTION,
  KIND_MEMORY,
  leb,
  longer,
  Reader,
  sectionsOf,
  skipConstant,
  TYPES,
  withSections,
} from "./core-sections.mjs";

/** (address: i32) => void */
const TYPE = [0x60, 1, I32, 0];
/** The size of a saved value in bytes. Saved are pages and globals, a word each, then each global. */
const SLOT = 8;

/**
 * The module with `keepGlobals` and `takeGlobals`. It exports its memory under one more name,
 * `core-` and a hash of the module: snapshots of different cores differ there.
 */
export function withGlobals(module) {
  const sections = sectionsOf(module);
  const countIn = (id) => new Reader(bodyOf(sections, id)).number();
  const globals = mutableGlobals(bodyOf(sections, GLOBALS));
  // All imports are functions; their numbers come before those of the module's functions.
  const first = countIn(IMPORTS) + countIn(FUNCTIONS);
  const type = leb(countIn(TYPES));
  const hash = createHash("sha256").update(module).digest("hex").slice(0, 12);
  const names = [
    ...exported("keepGlobals", KIND_FUNCTION, first),
    ...exported("takeGlobals", KIND_FUNCTION, first + 1),
    ...exported(`core-${hash}`, KIND_MEMORY, 0),
  ];
  return withSections(
    module,
    sections,
    new Map([
      [TYPES, longer(bodyOf(sections, TYPES), 1, TYPE)],
      [FUNCTIONS, longer(bodyOf(sections, FUNCTIONS), 2, [...type, ...type])],
      [EXPORTS, longer(bodyOf(sections, EXPORTS), 3, names)],
      [CODE, longer(bodyOf(sections, CODE), 2, [...keeping(globals), ...taking(globals)])],
    ]),
  );
}

/** The mutable globals, integers all. The core imports none. */
function mutableGlobals(body) {
  const reader = new Reader(body);
  const found = [];
  const count = reader.number();
  for (let index = 0; index < count; index++) {
    const type = reader.number();
    const changes = reader.number() === 1;
    skipConstant(reader);
    if (!changes) continue;
    if (type !== I32 && type !== I64) throw new Error(`global ${index} of the core is no integer`);
    found.push({ index, type });
  }
  return found;
}

/**
 * local.get 0; memory.size; store; local.get 0; i32.const count; store; and of each global: local.get 0;
 * global.get; store
 */
function keeping(globals) {
  return code([
    ...[0x20, 0, 0x3f, 0, 0x36, ...at(0)],
    ...[0x20, 0, 0x41, ...signed(globals.length), 0x36, 0, 4],
    ...globals.flatMap(({ index, type }, n) => [
      ...[0x20, 0, 0x23, ...leb(index)],
      type === I64 ? 0x37 : 0x36,
      ...at(n + 1),
    ]),
  ]);
}

/** local.get 0; load; global.set */
function taking(globals) {
  return code(
    globals.flatMap(({ index, type }, n) => [0x20, 0, type === I64 ? 0x29 : 0x28, ...at(n + 1), 0x24, ...leb(index)]),
  );
}

/** The operands of a load or store: no alignment, and the offset of a slot. */
function at(slot) {
  return [0, ...leb(slot * SLOT)];
}

/** A small positive number as signed LEB128. */
function signed(value) {
  return value < 64 ? [value] : [(value % 128) | 0x80, Math.floor(value / 128)];
}

/** The body of a function without locals. */
function code(instructions) {
  const body = [0, ...instructions, 0x0b];
  return [...leb(body.length), ...body];
}
