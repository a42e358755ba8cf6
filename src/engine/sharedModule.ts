/**
 * Rewrites the WebAssembly module of the core so that several threads can run it: it imports shared
 * memory. The core saves its mutable globals to memory and restores them (`keepGlobals`). Between two
 * runs all state of an instance is in its memory, so a copy of the memory is another core.
 */
import { PAGE } from "../abi/engine.js";
import {
  bodyOf,
  CUSTOM,
  IMPORTS,
  KIND_MEMORY,
  leb,
  longer,
  MEMORY,
  nameBytes,
  Reader,
  sectionsOf,
  withSections,
} from "./sections.js";

const SHARED_WITH_MAXIMUM = 3;
/** The largest size of memory, in pages. */
const MAX_PAGES = (2 ** 32 - PAGE) / PAGE;

export interface Rewritten {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The initial size of its memory, in pages. */
  readonly pages: number;
}

/** Rewrites the bytes of a module: it imports its memory as `env.memory`. */
export function rewrite(module: Uint8Array): Rewritten {
  const all = sectionsOf(module);
  const pages = leastPages(bodyOf(all, MEMORY));
  const imported = [...nameBytes("env"), ...nameBytes("memory"), KIND_MEMORY];
  imported.push(SHARED_WITH_MAXIMUM, ...leb(pages), ...leb(MAX_PAGES));
  const imports = longer(bodyOf(all, IMPORTS), 1, imported);
  // Name sections and source map URLs describe the original module; they are dropped.
  const kept = all.filter(({ id }) => id !== CUSTOM && id !== MEMORY);
  return { bytes: withSections(module, kept, new Map([[IMPORTS, imports]])), pages };
}

/** Creates the shared memory of a rewritten core, with its initial size. */
export function sharedMemory(pages: number): WebAssembly.Memory {
  return new WebAssembly.Memory({ initial: pages, maximum: MAX_PAGES, shared: true });
}

function leastPages(memories: Uint8Array): number {
  const reader = new Reader(memories);
  if (reader.number() !== 1) throw new TypeError("flowsteer: the core has not one memory");
  reader.number();
  return reader.number();
}
