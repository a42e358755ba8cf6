/** Messages for a refused input: file, place, problem, remedy. */
import { REFUSALS, SteeringError, type Refusal } from "../index.js";
import { type Paint, printable } from "./text.js";

/** A refused input. */
export class CommandRefusal extends Error {
  readonly refusal: Refusal;
  /** The file at fault; null for none. */
  readonly file: string | null;

  constructor(file: string | null, refusal: Refusal) {
    super(REFUSALS[refusal.reason]);
    this.file = file;
    this.refusal = refusal;
  }
}

/** Runs a function on a file, so that its refusals name the file. */
export async function withFile<T>(file: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw refusalOf(file, error);
  }
}

/** Turns an error into a refusal about this file. Other errors pass unchanged. */
export function refusalOf(file: string, error: unknown): unknown {
  if (error instanceof SteeringError) return new CommandRefusal(file, error);
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (typeof code !== "string" || typeof syscall !== "string") return error;
  const writes = syscall === "write" || syscall === "mkdir";
  const hint = HINTS[code] ?? (error as Error).message;
  return new CommandRefusal(file, {
    code: "EIO",
    call: "flowsteer",
    reason: writes ? "cannot_write" : "cannot_read",
    hint,
  });
}

const HINTS: Readonly<Record<string, string>> = {
  ENOENT: "no such file; check the path",
  EISDIR: "it is a folder; name a file",
  ENOTDIR: "a part of the path is a file, not a folder",
  EACCES: "permission denied",
  EEXIST: "a file of this name already exists",
  ENOSPC: "no space is left on the device",
  EDQUOT: "the quota of this user is used up",
  EFBIG: "the file is too large",
  EROFS: "the file system is read-only",
};

/** A wrong command line: the argument at fault, and what is wrong with it. Null: the text names the argument. */
export function badUsage(place: string | null, hint: string): CommandRefusal {
  const path = place === null ? {} : { path: place };
  return new CommandRefusal(null, { code: "EINVAL", call: "flowsteer", reason: "bad_usage", ...path, hint });
}

/** Exit codes besides 0; docs/command-line.md lists them. */
export const EXIT = { failed: 1, refused: 2, undecided: 3, cannotWrite: 3, cut: 4, incomplete: 5, defect: 70 } as const;

/** The exit code of a refusal. */
export function exitCodeOfRefusal({ refusal }: CommandRefusal): number {
  return refusal.reason === "cannot_write" ? EXIT.cannotWrite : EXIT.refused;
}

/** The refusal as text. */
export function refusalLines(paint: Paint, { file, refusal }: CommandRefusal): string {
  const { path, value, reason, hint, cite } = refusal;
  const shown = value === undefined ? "" : ` = ${show(value)}`;
  const place = path === undefined ? "" : `${path}${shown}: `;
  if (reason === "bad_usage") {
    const at = file === null ? "" : `${file}: `;
    return `${paint(["red", "bold"], "flowsteer:")} ${printable(`${at}${place}${hint ?? REFUSALS[reason]}`)}\n`;
  }
  // A failed write is one line.
  if (reason === "cannot_write") {
    const why = hint === undefined ? "" : `: ${hint}`;
    return `${paint(["red", "bold"], "flowsteer:")} ${printable(`${file ?? ""}: ${REFUSALS[reason]}${why}`)}\n`;
  }
  const lines = [`${file === null ? "" : `${file}: `}${place}${REFUSALS[reason]}`];
  if (hint !== undefined) lines.push(`  ${hint}`);
  if (cite !== undefined) lines.push(`  see ${cite}`);
  return `${paint(["red", "bold"], "flowsteer:")} ${lines.map((line) => `${printable(line)}\n`).join("")}`;
}

function show(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "object" && value !== null && "name" in value) return String(value.name);
  return String(value);
}
