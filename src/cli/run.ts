/** flowsteer run: frames through the rules of a scenario. */
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { loadScenario } from "../formats/index.js";
import { CaptureFiles } from "./captureFiles.js";
import { captureName } from "./captures.js";
import { numberOption, readCommandLine, type CommandLine } from "./commandLine.js";
import { finish } from "./finish.js";
import { FileOutput, Output } from "./output.js";
import { badUsage, CommandRefusal, withFile } from "./refusal.js";
import { CSV, NDJSON, TextRows, type RowFile } from "./rows.js";
import { Session } from "./session.js";
import { printable } from "./text.js";

const OPTIONS = {
  json: "flag",
  format: "value",
  output: "value",
  out: "value",
  port: "value",
  limit: "value",
} as const;

const FORMATS = ["csv", "ndjson"] as const;

/** @returns the exit code: 0, or 1 where an expectation failed */
export async function run(args: readonly string[]): Promise<number> {
  const line = readCommandLine(args, "run", OPTIONS);
  const [file, ...captures] = line.operands;
  if (file === undefined) throw badUsage("run", "name a scenario: flowsteer run SCENARIO CAPTURE...");
  const limit = numberOption(line, "limit", 0, Number.MAX_SAFE_INTEGER) ?? Infinity;
  const format = formatOf(line);
  const loaded = await withFile(file, async () => loadScenario(await readFile(file, "utf8")));
  const port = numberOption(line, "port", 1, loaded.device.ports, "the ports of the scenario's device");
  const { frames, messages, expect } = loaded.scenario;
  if (captures.length === 0 && frames === undefined && messages === undefined) {
    const hint = "name a capture behind the scenario: flowsteer run SCENARIO CAPTURE...";
    throw new CommandRefusal(file, { code: "EINVAL", call: "run", reason: "bad_usage", path: "no frames", hint });
  }
  const folder = line.values.get("out");
  const session = new Session(loaded, {
    json: line.flags.has("json"),
    rows: format === null ? null : await openRows(format, line.values.get("output"), [file, ...captures]),
    files: folder === undefined ? null : new CaptureFiles(folder, captures),
  });

  if (captures.length > 0) await session.runCaptures(captures, port ?? 1, limit);
  else await session.runOwn(port, limit);
  const sources = captures.length === 0 ? "of its own" : `from ${captures.map((one) => captureName(one)).join(", ")}`;
  // Expectations are about the own frames of a document that has such.
  const expects = expect !== undefined;
  const applies = captures.length === 0 || frames === undefined;
  if (expects && !applies)
    session.notes.push(`expectations of ${basename(file)} are about its own frames: not checked`);
  return finish(session, file, printable(sources), applies);
}

type Format = (typeof FORMATS)[number];

/** What --format says, null without it. */
function formatOf({ flags, values }: CommandLine): Format | null {
  const text = values.get("format");
  const output = values.get("output");
  if (text === undefined) {
    if (output === undefined) return null;
    throw badUsage(
      `--output ${output}`,
      `it is where --format ${FORMATS.join("|")} writes; for captures there is --out`,
    );
  }
  if (flags.has("json")) throw badUsage("--json", "--format writes rows in place of what --json writes: leave one out");
  const format = FORMATS.find((one) => one === text);
  if (format === undefined) throw badUsage(`--format ${text}`, `one of ${FORMATS.join(", ")}`);
  return format;
}

async function openRows(format: Format, path: string | undefined, inputs: readonly string[]): Promise<RowFile> {
  const output = path === undefined ? new Output() : await FileOutput.open(path, inputs);
  return new TextRows(format === "csv" ? CSV : NDJSON, output);
}
