/** Writes a file as a whole: an older one stays as it is until the new one is complete. */
import { existsSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { writeRefusal } from "./output.js";

/** Permissions of a new file, less those that the user takes away (umask). */
const NEW = 0o666;
const PERMISSIONS = 0o777;

/**
 * Writes beside the file and then renames. What is there and no file, such as a pipe or a device, is written to directly.
 * @param mode permissions; undefined for those of the older file
 * @throws Error a system call failed, and nothing is left of the new file
 */
export function replaceFile(path: string, contents: string | Uint8Array, mode?: number): void {
  const there = statSync(path, { throwIfNoEntry: false });
  if (there?.isFile() === false) {
    writeFileSync(path, contents);
    return;
  }
  // A link stays a link.
  const file = existsSync(path) ? realpathSync(path) : path;
  const part = `${file}.part`;
  rmSync(part, { force: true });
  try {
    writeFileSync(part, contents, { mode: mode ?? (there === undefined ? NEW : there.mode & PERMISSIONS), flag: "wx" });
    renameSync(part, file);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
}

/** As `replaceFile`. @throws CommandRefusal the file cannot be written */
export function writeOutput(path: string, contents: string | Uint8Array, mode?: number): void {
  try {
    replaceFile(path, contents, mode);
  } catch (error) {
    throw writeRefusal(path, error);
  }
}
