/** Sections of a compiled module, for what the build adds to a core: src/engine/sections.ts, and what only the build reads. */
import { tsImport } from "tsx/esm/api";

export const {
  bodyOf,
  CODE,
  ELEMENTS,
  EXPORTS,
  FUNCTIONS,
  GLOBALS,
  IMPORTS,
  KIND_FUNCTION,
  KIND_MEMORY,
  KIND_TABLE,
  leb,
  longer,
  nameBytes,
  Reader,
  sectionsOf,
  TABLES,
  TYPES,
  withSections,
} = await tsImport("../src/engine/sections.ts", import.meta.url);

export const I32 = 0x7f;
export const I64 = 0x7e;

/** An entry of the export section. */
export function exported(name, kind, index) {
  return [...nameBytes(name), kind, ...leb(index)];
}

/** The next `length` bytes as Latin-1 text. */
export function textOf(reader, length) {
  return Buffer.from(reader.take(length)).toString("latin1");
}

/** Skips i32.const, i64.const or v128.const, and `end`. */
export function skipConstant(reader) {
  const [operation] = reader.take(1);
  if (operation === 0x41 || operation === 0x42) reader.number();
  else if (operation === 0xfd) reader.take(1 + 16);
  else throw new Error("a global of the core is not initialized by a constant");
  reader.take(1);
}
