/** flowsteer farm run: steers captures on many machines, and prints what `flowsteer run` prints. */
import { divisionOf, TextRows, CSV, NDJSON, type Division } from "../../../run/index.js";
import { loadScenario, type LoadedScenario } from "../../../scenario/index.js";
import { frameRange, numberOption, type CommandLine } from "../../commandLine.js";
import { expectationsApply, finish } from "../../commands/finish.js";
import { inputName, textOf } from "../../input/chunks.js";
import { Interruption } from "../../interruption.js";
import { CaptureFiles } from "../../output/captureFiles.js";
import { makeFolder } from "../../output/folder.js";
import { FileOutput, Output } from "../../output/output.js";
import { badUsage, withFile } from "../../refusal.js";
import { printable } from "../../text.js";
import { describeCapture } from "../cut/captures.js";
import { Farm } from "./farm.js";
import { FarmRun } from "./farmRun.js";
import type { CaptureRef } from "../jobs.js";
import { Merging, type RowsTo } from "../merge/merging.js";
import { checkOptions, partsTo, pieceBytes, redisUrl, type PartsTo } from "../options.js";
import { planPieces, planRest, planShares, planSpans } from "./plan.js";
import { connect, shown } from "../redis.js";
import { Watch } from "./watch.js";

const MAX_SHARES = 4096;
const SHARES = 8;

/** @returns the exit code */
export async function farmRun(line: CommandLine): Promise<number> {
  const [file, ...names] = line.operands;
  if (file === undefined || names.length === 0)
    throw badUsage("farm run", "name a scenario and captures: flowsteer farm run SCENARIO CAPTURE...");
  checkOptions(line);
  const { limit } = frameRange(line);
  const url = redisUrl(line);
  const shares = numberOption(line, "shares", 1, MAX_SHARES) ?? SHARES;
  const to = partsTo(line);
  const text = await textOf(file);
  const loaded = await withFile(inputName(file), () => loadScenario(text));
  const port = numberOption(line, "port", 1, loaded.device.ports, "the ports of the scenario's device") ?? 1;
  const division = chosenDivision(line, loaded, to);
  const captures = await Promise.all(names.map(describeCapture));
  const size = sizeOf(captures);
  const bytes = pieceBytes(line, size);
  const quiet = line.flags.has("quiet");

  const redis = await connect(url);
  const outputs = await openOutputs(to, [file, ...names]);
  const merging = new Merging(loaded, outputs);
  const interruption = new Interruption();
  let watch: Watch | null = null;
  const farm = await Farm.open(redis, (problem) => watch?.tell(problem));
  interruption.stop = () => farm.stop();
  watch = new Watch(farm, shown(url), size, () => loaded.tally.all.frames, quiet);
  const { rows, files } = outputs;
  const ends = {
    json: to.format === "json",
    quiet,
    rows: rows === null ? null : endOf(rows),
    files,
    annotated: null,
    imported: null,
  };
  const run = new FarmRun(loaded, ends, farm, merging, watch.done);
  try {
    const scenario = await farm.keepScenario(text);
    const common = {
      scenario,
      port,
      limit: limit === Infinity ? null : limit,
      rows: to.format,
      captures: to.out !== undefined,
      parts: to.parts,
    };
    if (division.by !== "anyhow") await run.mergeShares(await planShares(farm, captures, division, shares, common));
    else if (to.format !== null || limit < Infinity || expectsFrames(loaded))
      await run.mergePieces(await planPieces(farm, captures, bytes, common));
    else {
      const spans = await planSpans(farm, captures, bytes, common);
      await run.mergeSpans(spans, (capture, known) => planRest(farm, capture, known, bytes, common));
    }
    run.interrupted = interruption.signal;
  } finally {
    watch.end();
    interruption.end();
    try {
      await run.tidy(to.parts);
    } finally {
      await farm.close();
    }
  }
  const applies = expectationsApply(run, inputName(file), true, false);
  return finish(run, inputName(file), printable(`from ${names.join(", ")}`), applies);
}

/** How frames are divided. @throws CommandRefusal they cannot be, and one machine was not asked for */
function chosenDivision(line: CommandLine, loaded: LoadedScenario, { format }: PartsTo): Division {
  if (loaded.scenario.messages !== undefined || loaded.scenario.connect !== undefined)
    throw badUsage("farm run", "a scenario with messages or cables runs on one machine; use flowsteer run");
  if (line.flags.has("serial")) return { by: "never", why: "--serial" };
  const division = divisionOf(loaded);
  if (division.by === "never")
    throw badUsage("farm run", `${division.why}; with --serial one machine steers all frames in order`);
  if (division.by !== "anyhow" && format === "parquet")
    throw badUsage(
      "--format parquet",
      "Parquet files cannot interleave the frames of several shares; use csv, ndjson or --serial",
    );
  return division;
}

/** Whether expectations are about single frames of captures, which they name by their number. */
function expectsFrames({ scenario, expectations }: LoadedScenario): boolean {
  return expectations.ofFrames && scenario.frames === undefined;
}

async function openOutputs({ format, output, out, parts }: PartsTo, inputs: readonly string[]) {
  if (parts !== null) makeFolder(parts);
  const files = out === undefined ? null : new CaptureFiles(out, inputs);
  return { rows: format === null ? null : await rowsTo(format, output, inputs), files };
}

async function rowsTo(
  format: NonNullable<PartsTo["format"]>,
  output: string | undefined,
  inputs: readonly string[],
): Promise<RowsTo> {
  if (format === "parquet") return { folder: output as string };
  const to = output === undefined ? new Output() : await FileOutput.open(output, inputs);
  if (format !== "json") await new TextRows(format === "csv" ? CSV : NDJSON, to).flush();
  return { output: to };
}

/** Ends the output of rows. */
function endOf(rows: RowsTo): { end(): Promise<void> } {
  return { end: async () => ("output" in rows ? rows.output.end() : undefined) };
}

function sizeOf(captures: readonly CaptureRef[]): number {
  return captures.reduce((sum, { size }) => sum + size, 0);
}
