/**
 * The functions of a core. The build keeps them in a table (scripts/core-calls.mjs): an instance that
 * exports them has an object for each, called or not, which is most of what a small device takes on the
 * JavaScript heap. So a function is read from the table when it is first asked for.
 */
import { CALLS_TABLE, CORE_CALLS, type CoreExports } from "./coreExports.js";

type Named = Record<string, unknown>;

/** Has a getter for each function. The function becomes an own property of what inherits from this. */
const CALLS = Object.create(
  null,
  Object.fromEntries(CORE_CALLS.map((name, index) => [name, call(name, index)])),
) as object;

function call(name: string, index: number): PropertyDescriptor {
  return {
    get(this: Record<typeof CALLS_TABLE, WebAssembly.Table>): unknown {
      const value: unknown = this[CALLS_TABLE].get(index);
      Object.defineProperty(this, name, { value, enumerable: true });
      return value;
    },
  };
}

/** The exports of an instance; builds for tests export their functions by name. */
export function callsOf(exports: WebAssembly.Exports): CoreExports {
  if (exports[CALLS_TABLE] !== undefined) return Object.assign(Object.create(CALLS) as CoreExports, exports);
  if (exports["openMemory"] === undefined) throw new Error("flowsteer: the core is of another version of the package");
  return exports as unknown as CoreExports;
}

/** All exports as own properties of a new object, for those that wrap them. */
export function allExports(exports: CoreExports): Named {
  const all: Named = { ...exports };
  const named = exports as unknown as Named;
  for (const name of CORE_CALLS) all[name] = named[name];
  return all;
}
