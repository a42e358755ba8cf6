/** The options --format and --output: a row for each frame, in a file or on standard output. */
import { CSV, NDJSON, TextRows, type RowFile } from "../../run/index.js";
import type { CommandLine } from "../commandLine.js";
import { loadOptional } from "../optional.js";
import { badUsage } from "../refusal.js";
import { FileOutput, Output } from "./output.js";

const FORMATS = ["csv", "ndjson", "parquet"] as const;

export type Format = (typeof FORMATS)[number];

/** The value of --format; null without it. */
export function formatOf({ flags, values }: CommandLine): Format | null {
  const text = values.get("format");
  const output = values.get("output");
  if (text === undefined) {
    if (output === undefined) return null;
    throw badUsage(`--output ${output}`, `needs --format ${FORMATS.join("|")}; use --out to write captures`);
  }
  if (flags.has("json")) throw badUsage(null, "--json and --format cannot be used together");
  const format = FORMATS.find((one) => one === text);
  if (format === undefined) throw badUsage(`--format ${text}`, `expected one of ${FORMATS.join(", ")}`);
  if (format === "parquet" && output === undefined && process.stdout.isTTY)
    throw badUsage("--format parquet", "will not write binary data to a terminal; use --output FILE or a pipe");
  return format;
}

/**
 * Opens the file of rows.
 * @param path undefined for standard output
 * @param hasHead whether the rows of CSV come after their head
 */
export async function openRows(
  format: Format,
  path: string | undefined,
  inputs: readonly string[],
  hasHead = true,
): Promise<RowFile> {
  const parquet = format === "parquet" ? await loadParquet() : null;
  const output = path === undefined ? new Output() : await FileOutput.open(path, inputs);
  if (parquet !== null) return new parquet.ParquetRows(output);
  return new TextRows(format === "csv" ? CSV : NDJSON, output, hasHead);
}

function loadParquet() {
  return loadOptional("--format parquet", ["hyparquet-writer@0.17"], () => import("./parquet.js"));
}
