/** What is done to the declaration files that the compiler wrote. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const IMPORTED = /(?:\bfrom |\bimport\(|\bimport )"(\.[^"]+)\.js"/g;
const CONST_ENUM = /^((?:export )?declare )const enum /gm;

/**
 * Removes the declarations that no entry point leads to, and lets programs that compile file by file use enums, which exist
 * at run time.
 * @param entries the declarations of the entry points
 */
export function finishDeclarations(folder, entries) {
  const reached = new Set(entries.map((entry) => resolve(entry)));
  // A set yields what is added to it on the way.
  for (const path of reached) {
    const text = readFileSync(path, "utf8");
    for (const [, name] of text.matchAll(IMPORTED)) reached.add(resolve(dirname(path), `${name}.d.ts`));
    const plain = text.replace(CONST_ENUM, "$1enum ");
    if (plain !== text) writeFileSync(path, plain);
  }
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const path = resolve(join(folder, name));
    if (name.endsWith(".d.ts") && !reached.has(path)) rmSync(path);
  }
}
