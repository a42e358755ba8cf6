/** flowsteer run: steers frames through the rules of a scenario. */
import type { LoadedScenario } from "../../scenario/index.js";
import { AnnotatedCapture } from "../output/annotated.js";
import { CaptureFiles } from "../output/captureFiles.js";
import { checkInputOnce, skippedNotes } from "../input/captures.js";
import { inputName, openFiles } from "../input/chunks.js";
import { RULE_OPTIONS } from "../input/rules/options.js";
import { loadRules, readRulesAndCaptures } from "../input/rules/rules.js";
import { frameRange, numberOption, readCommandLine, type CommandLine } from "../commandLine.js";
import { createDevice, createDevicePool, type Device, type DeviceOptions, type DevicePool } from "../../index.js";
import { expectationsApply, finish } from "./finish.js";
import { LossReasons } from "../output/lossReasons.js";
import { FileOutput, Output, sameFile } from "../output/output.js";
import { formatOf, openRows, type Format } from "../output/rowFiles.js";
import { badUsage, CommandRefusal } from "../refusal.js";
import { Session } from "./session.js";
import { printable } from "../text.js";

const OPTIONS = {
  json: "flag",
  format: "value",
  output: "value",
  out: "value",
  annotate: "value",
  port: "value",
  limit: "value",
  frame: "value",
  workers: "value",
  ...RULE_OPTIONS,
} as const;

/** The most workers of a pool. */
const MAX_WORKERS = 64;

/** @returns the exit code: 0, or 1 when an expectation failed */
export async function run(args: readonly string[]): Promise<number> {
  const line = readCommandLine(args, "run", OPTIONS);
  if (line.operands.length === 0) throw badUsage("run", "name a scenario or rules: flowsteer run RULES CAPTURE...");
  checkInputOnce(line.operands);
  const range = frameRange(line);
  const format = formatOf(line);
  const workers = numberOption(line, "workers", 1, MAX_WORKERS) ?? 1;
  const [rules, captures] = await readRulesAndCaptures(line);
  const inputs = await openFiles(captures);
  const loaded = await loadRules(rules, opener(workers));
  const port = numberOption(line, "port", 1, loaded.device.ports, "the ports of the scenario's device");
  const { frames, messages } = loaded.scenario;
  if (captures.length === 0 && frames === undefined && messages === undefined) {
    const hint = "add a capture after the rules: flowsteer run RULES CAPTURE...";
    throw new CommandRefusal(rules.name, {
      code: "EINVAL",
      call: "run",
      reason: "bad_usage",
      path: "no frames",
      hint,
    });
  }
  const folder = line.values.get("out");
  const alone = whyAlone(loaded.device);
  const annotated = await openAnnotated(line, format, loaded, line.operands);
  const session = new Session(loaded, {
    json: line.flags.has("json"),
    files: folder === undefined ? null : new CaptureFiles(folder, captures),
    rows: format === null ? null : await openRows(format, line.values.get("output"), line.operands),
    annotated,
    quiet: line.flags.has("quiet"),
    imported: rules.imported,
  });

  if (alone !== null) session.log.notes.push(`--workers ${workers}: one steers all frames: ${alone}`);
  if (captures.length > 0) await session.runCaptures({ files: inputs, ...range }, port ?? 1);
  else await session.runOwn(port, range);
  session.log.notes.push(...skippedNotes(session.skipped));
  const sources = captures.length === 0 ? "of its own" : `from ${captures.map((one) => inputName(one)).join(", ")}`;
  const applies = expectationsApply(session, rules.name, captures.length > 0, range.only !== undefined);
  return finish(session, rules.name, printable(sources), applies);
}

/** Why one worker of the pool steers all frames; null where all workers do, or without a pool. */
function whyAlone(device: Device): string | null {
  return (device as Partial<DevicePool>).distribution?.why ?? null;
}

/** Creates the device or the pool. */
function opener(workers: number): (options: DeviceOptions) => Promise<Device> {
  return workers === 1 ? createDevice : (options) => createDevicePool({ ...options, workers });
}

/** The capture that --annotate writes; null without it. */
async function openAnnotated(
  { flags, values }: CommandLine,
  format: Format | null,
  loaded: LoadedScenario,
  inputs: readonly string[],
): Promise<AnnotatedCapture | null> {
  const path = values.get("annotate");
  if (path === undefined) return null;
  const output = values.get("output");
  const reasons = LossReasons.of(loaded);
  if (path !== "-") {
    if (output !== undefined && sameFile(path, output))
      throw badUsage(`--annotate ${path}`, "--output writes to the same file");
    return new AnnotatedCapture(path, await FileOutput.open(path, inputs, "--annotate"), loaded, reasons);
  }
  if (flags.has("json") || (format !== null && output === undefined))
    throw badUsage("--annotate -", "--json or --format already writes to standard output; name a file for one of them");
  if (process.stdout.isTTY)
    throw badUsage("--annotate -", "will not write binary data to a terminal; use --annotate FILE or a pipe");
  return new AnnotatedCapture(path, new Output(), loaded, reasons);
}
