/** Makes folders for output. */
import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { CommandRefusal } from "../refusal.js";
import { writeRefusal } from "./output.js";

/**
 * Makes the folder, and those above it that are missing. `mkdirSync` with `recursive` never ends where a file system such
 * as /proc answers ENOENT although the folder above exists.
 * @throws CommandRefusal it cannot be made
 */
export function makeFolder(folder: string): void {
  try {
    make(folder);
  } catch (error) {
    const refused = writeRefusal(folder, error);
    const { code, path } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT" || !(refused instanceof CommandRefusal)) throw refused;
    const hint = `mkdir ${path}: ENOENT; its file system does not accept new folders`;
    throw new CommandRefusal(folder, { ...refused.refusal, hint });
  }
}

function make(folder: string): void {
  if (isFolder(folder)) return;
  const above = dirname(folder);
  if (!existsSync(above)) make(above);
  try {
    mkdirSync(folder);
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!isFolder(folder)) throw error;
  }
}

function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory();
}
