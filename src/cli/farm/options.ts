/** The options of flowsteer farm. */
import { resolve } from "node:path";
import { type CommandLine } from "../commandLine.js";
import { formatOf } from "../output/rowFiles.js";
import { badUsage } from "../refusal.js";
import type { RowsOf } from "./jobs.js";

const COMMON = { redis: "value" } as const;

export const FARM_OPTIONS = {
  ...COMMON,
  format: "value",
  output: "value",
  out: "value",
  parts: "value",
  port: "value",
  piece: "value",
  shares: "value",
  serial: "flag",
  limit: "value",
  json: "flag",
  annotate: "value",
  frame: "value",
  workers: "value",
} as const;

/** Options of flowsteer run that a farm refuses. */
const REFUSED = {
  annotate: "its capture has all frames of one file, with comments that many frames share: flowsteer run --annotate",
  frame: "one frame needs one machine: flowsteer run --frame",
  workers: "set the processes of each machine with flowsteer farm worker --workers",
} as const;

/** @throws CommandRefusal an option of flowsteer run cannot be divided */
export function checkOptions({ values }: CommandLine): void {
  for (const [name, why] of Object.entries(REFUSED)) {
    const value = values.get(name);
    if (value !== undefined) throw badUsage(`--${name} ${value}`, why);
  }
}

export const WORKER_OPTIONS = { ...COMMON, workers: "value", lock: "value" } as const;

/** The environment variable that says where Redis is: unlike a command line, other users do not see it. */
export const REDIS_VARIABLE = "FLOWSTEER_REDIS";

/** The URL of Redis. @throws CommandRefusal none is given */
export function redisUrl({ values }: CommandLine): string {
  const url = values.get("redis") ?? process.env[REDIS_VARIABLE];
  if (url === undefined)
    throw badUsage(null, `no Redis server given; use --redis redis://HOST:PORT or set ${REDIS_VARIABLE}`);
  return url;
}

const UNITS: Readonly<Record<string, number>> = { "": 1, k: 2 ** 10, M: 2 ** 20, G: 2 ** 30 };
const MIN_PIECE = 2 ** 10;
/** Without the option: so many pieces, but none with fewer or more bytes than these. */
const PIECES = 32;
const SMALL_PIECE = 64 * 2 ** 20;
const LARGE_PIECE = 256 * 2 ** 20;

/**
 * The least bytes of a piece.
 * @param size the bytes of all captures
 */
export function pieceBytes({ values }: CommandLine, size: number): number {
  const text = values.get("piece");
  if (text === undefined) return Math.min(Math.max(SMALL_PIECE, Math.ceil(size / PIECES)), LARGE_PIECE);
  const [, digits = "", unit = ""] = /^(\d{1,12})([kMG]?)$/.exec(text) ?? [];
  const bytes = Number(digits) * (UNITS[unit] ?? 1);
  if (digits === "" || bytes < MIN_PIECE)
    throw badUsage(`--piece ${text}`, "expected a number of bytes, 1k or more, such as 512k, 64M or 1G");
  return bytes;
}

/** Where what jobs write goes. */
export interface PartsTo {
  readonly format: RowsOf | null;
  /** The file of rows, or the folder of Parquet files; undefined for standard output. */
  readonly output: string | undefined;
  /** The folder of captures by destination. */
  readonly out: string | undefined;
  /** The folder that all machines share; null where nothing is written. */
  readonly parts: string | null;
}

/** @throws CommandRefusal it is not clear where parts go */
export function partsTo(line: CommandLine): PartsTo {
  const { flags, values } = line;
  const format = formatOf(line) ?? (flags.has("json") ? "json" : null);
  const output = values.get("output");
  const out = values.get("out");
  if (format === "parquet" && output === undefined)
    throw badUsage("--format parquet", "needs a folder for its files; use --output FOLDER");
  const beside = output ?? out;
  const given = values.get("parts");
  if (format === null && out === undefined) {
    if (given !== undefined) throw badUsage(`--parts ${given}`, "needs --format, --json or --out");
    return { format, output, out, parts: null };
  }
  const parts = given ?? (beside === undefined ? undefined : `${beside}.parts`);
  if (parts === undefined)
    throw badUsage(
      format === "json" ? "--json" : `--format ${format}`,
      "workers need a folder that all machines share; use --parts FOLDER",
    );
  return { format, output, out, parts: resolve(parts) };
}
