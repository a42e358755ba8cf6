/** Cores that do not trace have no code of events: `if (TRACED)` is removed from them (scripts/untraced.mjs). */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { CALLS_TABLE, CORE_CALLS } from "../../../src/engine/coreExports.js";

const read = (file: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(readFileSync(new URL(`../../../build/${file}`, import.meta.url)));

it("has none in the debug core, whose functions have names", () => {
  const text = new TextDecoder().decode(read("debug/core.wat"));
  const functions = [...text.matchAll(/\(func \$(assembly\/[\w/]+)\//g)].map(([, file]) => file);
  expect(functions).toContain("assembly/walk/walk");
  expect(functions).toContain("assembly/branch/branch");
  expect(functions.filter((file) => file === "assembly/branch/events")).toEqual([]);
});

it("exports nothing of it but from the traced core", async () => {
  const functionsOf = async (flavour: string): Promise<string[]> =>
    WebAssembly.Module.exports(await WebAssembly.compile(read(`${flavour}/core.wasm`))).flatMap(({ kind, name }) =>
      kind === "function" ? [name] : [],
    );
  const instance = await WebAssembly.instantiate(await WebAssembly.compile(read("release/core.wasm")), {});
  const release: string[] = [...CORE_CALLS];
  const traced = await functionsOf("traced");
  expect((instance.exports[CALLS_TABLE] as WebAssembly.Table).length).toBe(release.length);
  expect((await functionsOf("debug")).sort()).toEqual(release);
  expect(traced).toEqual(expect.arrayContaining(release));
  expect(traced.filter((name) => !release.includes(name))).toEqual(expect.arrayContaining(["openTrace", "eventsEnd"]));
});
