/** Writes a file as a whole: an older one stays as it is until the new one is complete. */
import { closeSync, existsSync, openSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { writeRefusal } from "./output.js";

/** Whole, or in pieces. */
type Contents = string | Uint8Array | Iterable<string>;

/** Permissions of a new file, less those that the user takes away (umask). */
const NEW = 0o666;
const PERMISSIONS = 0o777;

/**
 * Writes beside the file and then renames. What is there and no file, such as a pipe or a device, is written to directly.
 * @param mode permissions; undefined for those of the older file
 * @throws Error a system call failed, and nothing is left of the new file
 */
export function replaceFile(path: string, contents: Contents, mode?: number): void {
  const there = statSync(path, { throwIfNoEntry: false });
  if (there?.isFile() === false) {
    writeAll(path, "w", contents);
    return;
  }
  // A link stays a link.
  const file = existsSync(path) ? realpathSync(path) : path;
  const part = `${file}.part`;
  rmSync(part, { force: true });
  try {
    writeAll(part, "wx", contents, mode ?? (there === undefined ? NEW : there.mode & PERMISSIONS));
    renameSync(part, file);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
}

function writeAll(path: string, flags: string, contents: Contents, mode?: number): void {
  const file = openSync(path, flags, mode);
  try {
    const pieces = typeof contents === "string" || contents instanceof Uint8Array ? [contents] : contents;
    for (const piece of pieces) writeFileSync(file, piece);
  } finally {
    closeSync(file);
  }
}

/** As `replaceFile`. @throws CommandRefusal the file cannot be written */
export function writeOutput(path: string, contents: Contents, mode?: number): void {
  try {
    replaceFile(path, contents, mode);
  } catch (error) {
    throw writeRefusal(path, error);
  }
}
