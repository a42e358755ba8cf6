/** flowsteer diff: which frames two scenarios treat differently. */
import { CapturedDifferences, difference, type Behaviour } from "../../explain/index.js";
import { cannotRun, type LoadedScenario } from "../../scenario/index.js";
import type { Outcome } from "../../index.js";
import { numberOption, readCommandLine, type CommandLine } from "../commandLine.js";
import { CaptureLog, checkInputOnce, framesOf, readColumns, type CaptureRows } from "../input/captures.js";
import { inputName, openFiles } from "../input/chunks.js";
import { WorkProgress } from "../input/progress.js";
import { RULE_OPTIONS } from "../input/rules/options.js";
import { loadRules, readRules, type Rules } from "../input/rules/rules.js";
import { exitCodeOf, Interruption } from "../interruption.js";
import { Output } from "../output/output.js";
import { badUsage, EXIT } from "../refusal.js";
import type { DiffLine } from "../report/diffLines.js";
import { capturedText, provedText, summaryText } from "../report/diffText.js";
import { linesOfHitRules, notImportedLines } from "../report/notImported.js";
import { elementsOfRules, elementsText } from "../report/elements.js";
import { notesText } from "../report/report.js";
import { painter, printable } from "../text.js";

const OPTIONS = {
  ...RULE_OPTIONS,
  ignore: "joined",
  rules: "flag",
  port: "value",
  limit: "value",
  summary: "flag",
  json: "flag",
} as const;
const IGNORED = ["counters", "tags", "reason"] as const;

/** @returns the exit code: 0 where both treat all frames the same, 1 where they do not, 3 where neither was found */
export async function diff(args: readonly string[]): Promise<number> {
  const line = readCommandLine(args, "diff", OPTIONS);
  const [old, changed, ...captures] = line.operands;
  if (old === undefined || changed === undefined)
    throw badUsage("diff", "name two scenarios or rules: flowsteer diff OLD NEW [CAPTURE...]");
  checkInputOnce(line.operands);
  const behaviour = behaviourOf(line);
  const read = [await readRules(old, line), await readRules(changed, line)] as const;
  const pair = [await loadRules(read[0]), await loadRules(read[1])] as const;
  if (captures.length > 0) return compareCaptures(line, read, pair, captures, behaviour);
  const other = ["port", "limit"].find((name) => line.values.has(name));
  if (other !== undefined) throw badUsage(null, `--${other} applies to captures only; name a capture`);
  if (line.flags.has("summary") && line.flags.has("json"))
    throw badUsage(null, "--summary and --json cannot be used together");
  return compareRules(line, read, pair, behaviour);
}

/** Proves that all frames are treated alike, or finds those that are not. */
async function compareRules(
  line: CommandLine,
  read: readonly Rules[],
  pair: Pair,
  behaviour: Behaviour,
): Promise<number> {
  // What waits for a sync takes effect.
  for (const loaded of pair) loaded.prepare({ bytes: new Uint8Array(), sync: true });
  const [old, changed] = pair;
  const progress = new WorkProgress(process.stderr, line.flags.has("quiet"));
  const onProgress = (done: number, total: number): void => progress.show(done, total, "change");
  const result = await difference(old.device, changed.device, { ...behaviour, onProgress });
  progress.clear();
  const { equal, groups, changes } = result;
  const output = new Output();
  if (line.flags.has("json")) {
    const unknown = changes.filter(({ effect }) => effect === "unknown").length;
    const lines: DiffLine[] = [
      ...changes.map((change) => ({ kind: "change" as const, ...change })),
      ...groups.map((group) => ({ kind: "difference" as const, ...group })),
      { kind: "equal", equal, groups: groups.length, unknown },
    ];
    for (const one of lines) await output.write(`${JSON.stringify({ ...one, ...elementsOfRules(one, ...read) })}\n`);
  } else {
    const [before = "", after = ""] = line.operands.map(inputName).map(printable);
    const paint = painter(process.stdout);
    const isShort = line.flags.has("summary");
    await output.write(isShort ? summaryText(result, before, after) : provedText(paint, result, before, after));
    if (!isShort) await output.write(elementsText(paint, elementsOfRules(result, ...read)));
  }
  await output.flush();
  // The answer is about all frames, so about those of all rules.
  if (!line.flags.has("quiet")) writeNotes(pair.flatMap(({ scenario }) => notImportedLines(scenario, () => true)));
  return equal ? 0 : groups.length > 0 ? EXIT.failed : EXIT.undecided;
}

/** Each note once: mostly both scenarios have the same rules. */
function writeNotes(notes: readonly string[]): void {
  process.stderr.write(notesText(painter(process.stderr), [...new Set(notes)]));
}

function behaviourOf({ values, flags }: CommandLine): Behaviour {
  const ignore = (values.get("ignore") ?? "").split(",").filter((name) => name !== "");
  const known = ignore.map((name) => {
    const found = IGNORED.find((one) => one === name);
    if (found === undefined) throw badUsage(`--ignore ${name}`, `expected one or more of ${IGNORED.join(",")}`);
    return found;
  });
  return { ignore: known, rules: flags.has("rules") };
}

type Pair = readonly [old: LoadedScenario, changed: LoadedScenario];

/** Steers the frames of captures through both scenarios. */
async function compareCaptures(
  line: CommandLine,
  read: readonly Rules[],
  pair: Pair,
  captures: readonly string[],
  behaviour: Behaviour,
): Promise<number> {
  const ports = Math.min(...pair.map(({ device }) => device.ports));
  const port = numberOption(line, "port", 1, ports, "the ports of both devices") ?? 1;
  const limit = numberOption(line, "limit", 0, Number.MAX_SAFE_INTEGER) ?? Infinity;
  const quiet = line.flags.has("quiet");
  const [old, changed] = pair;
  const differences = await CapturedDifferences.open(old.device, changed.device, behaviour);
  const files = await openFiles(captures);
  const log = new CaptureLog();
  const interruption = new Interruption();
  const both = new BothRuns(pair, port, differences);
  try {
    for await (const rows of readColumns({ files, limit, quiet, interruption }, log)) both.run(rows);
  } finally {
    interruption.end();
  }
  for (const [why, count] of both.skipped) log.notes.push(`not parsed: ${why}: ${count} skipped`);
  const { signal } = interruption;
  const broken = log.broken.length > 0 ? `${log.broken.map(({ file }) => printable(file)).join(", ")} cut off` : null;
  const partial = signal === null ? broken : `interrupted by ${signal}`;
  await report(line, read, captures, both.frames, differences, partial);
  if (!quiet) writeNotes([...log.notes, ...pair.flatMap(linesOfHitRules)]);
  if (signal !== null) return exitCodeOf(signal);
  if (broken !== null) return EXIT.cut;
  return differences.groups.length > 0 ? EXIT.failed : 0;
}

/** Two runs of the same frames. */
class BothRuns {
  /** Frames that were steered. */
  frames = 0;
  /** Frames that were not steered, by cause. */
  readonly skipped = new Map<string, number>();
  readonly #pair: Pair;
  readonly #port: number;
  readonly #differences: CapturedDifferences;

  constructor(pair: Pair, port: number, differences: CapturedDifferences) {
    this.#pair = pair;
    this.#port = port;
    this.#differences = differences;
  }

  run(rows: CaptureRows): void {
    const frames = framesOf(rows).filter(({ linkType, bytes }) => {
      const why = cannotRun(linkType, bytes.length);
      if (why !== null) this.skipped.set(why, (this.skipped.get(why) ?? 0) + 1);
      return why === null;
    });
    this.frames += frames.length;
    const inputs = frames.map((frame) => ({ ...frame, port: this.#port }));
    const [before = [], after = []] = this.#pair.map((loaded) => loaded.run(inputs));
    for (const [i, frame] of frames.entries()) {
      this.#differences.add({ ...frame, before: before[i] as Outcome, after: after[i] as Outcome });
    }
  }
}

async function report(
  line: CommandLine,
  read: readonly Rules[],
  captures: readonly string[],
  frames: number,
  { groups }: CapturedDifferences,
  partial: string | null,
): Promise<void> {
  const output = new Output();
  if (line.flags.has("json")) {
    const different = groups.reduce((sum, group) => sum + group.frames, 0);
    const lines: DiffLine[] = [
      ...groups.map((group) => ({ kind: "frames" as const, ...group })),
      { kind: "sum", frames, different, groups: groups.length, partial },
    ];
    for (const one of lines) await output.write(`${JSON.stringify({ ...one, ...elementsOfRules(one, ...read) })}\n`);
  } else {
    const origin = `from ${captures.map(inputName).map(printable).join(", ")}`;
    const sources = partial === null ? origin : `${origin}, partial: ${partial}`;
    const paint = painter(process.stdout);
    await output.write(capturedText(paint, groups, { frames, sources }));
    await output.write(
      elementsText(
        paint,
        elementsOfRules(
          groups.map(({ sentence }) => sentence),
          ...read,
        ),
      ),
    );
  }
  await output.flush();
}
