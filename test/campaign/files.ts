/** Files of the repository. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../support/root.js";

/** Files of a folder and of those below, in the order of their names. */
export function filesIn(folder: string, ending: RegExp): { name: string; bytes: Uint8Array }[] {
  const names = readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).sort();
  return names
    .filter((name) => ending.test(name))
    .map((name) => ({ name, bytes: new Uint8Array(readFileSync(join(ROOT, folder, name))) }));
}

export function textsIn(folder: string, ending: RegExp): { name: string; text: string }[] {
  return filesIn(folder, ending).map(({ name, bytes }) => ({ name, text: new TextDecoder().decode(bytes) }));
}
