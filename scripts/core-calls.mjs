/**
 * Moves the exported functions of a core into a table. An instance makes an object for each exported
 * function, some 300 bytes, whether or not it is ever called; it makes that of a table's element when
 * the element is first read (src/engine/calls.ts).
 */
import {
  bodyOf,
  ELEMENTS,
  EXPORTS,
  exported,
  KIND_FUNCTION,
  KIND_TABLE,
  leb,
  Reader,
  sectionsOf,
  TABLES,
  textOf,
  withSections,
} from "./core-sections.mjs";

const FUNCREF = 0x70;

/** The export name of the table: it holds the names of its functions, as a short hash. */
export function tableName(names) {
  let hash = 0x811c9dc5;
  for (const char of names.join()) hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193) >>> 0;
  return `calls-${hash.toString(16).padStart(8, "0")}`;
}

/** The module with its exported functions in a table, in the order of their names. */
export function withCalls(module) {
  const sections = sectionsOf(module);
  if (sections.some(({ id }) => id === TABLES)) throw new Error("the core has a table");
  const all = exportsIn(bodyOf(sections, EXPORTS));
  const calls = all.filter(({ kind }) => kind === KIND_FUNCTION).sort((a, b) => (a.name < b.name ? -1 : 1));
  const others = all.filter(({ kind }) => kind !== KIND_FUNCTION);
  const kept = others.flatMap(({ name, kind, index }) => exported(name, kind, index));
  const name = tableName(calls.map((call) => call.name));
  const size = leb(calls.length);
  return withSections(
    module,
    sections,
    new Map([
      [TABLES, Buffer.from([1, FUNCREF, 1, ...size, ...size])],
      [EXPORTS, Buffer.from([...leb(others.length + 1), ...kept, ...exported(name, KIND_TABLE, 0)])],
      // From element 0 on: i32.const 0, end.
      [ELEMENTS, Buffer.from([1, 0, 0x41, 0, 0x0b, ...size, ...calls.flatMap(({ index }) => leb(index))])],
    ]),
  );
}

function exportsIn(body) {
  const reader = new Reader(body);
  return Array.from({ length: reader.number() }, () => {
    const name = textOf(reader, reader.number());
    return { name, kind: reader.number(), index: reader.number() };
  });
}
