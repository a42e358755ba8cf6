/**
 * flowsteer why --all: every frame that missed, was dropped, or was left to a driver, grouped by why.
 *
 * Frames are steered in bursts, as `run` does; one frame of each group is explained. Where outcomes
 * depend on state, a frame has to be explained before it is steered: then the captures are read
 * twice. The first reading finds the frames to explain.
 */
import {
  ExplanationGroups,
  Spreads,
  type EndedFrame,
  type Explanation,
  type ExplanationGroup,
} from "../../explain/index.js";
import type { LoadedScenario } from "../../scenario/index.js";
import type { Outcome } from "../../index.js";
import { frameRange, numberOption, type CommandLine } from "../commandLine.js";
import { CaptureLog, framesOf, readColumns, type CaptureRows, type NumberedFrame } from "../input/captures.js";
import { ownFrame } from "../input/chosenFrame.js";
import { inputName, openFiles, type OpenFile } from "../input/chunks.js";
import { isLost, isNotTaken, LostFrames } from "../input/lostFrames.js";
import { loadRules, readRulesAndCaptures, type Rules } from "../input/rules/rules.js";
import { exitCodeOf, Interruption } from "../interruption.js";
import { Output } from "../output/output.js";
import { badUsage, EXIT } from "../refusal.js";
import { elementsOfRules, elementsText } from "../report/elements.js";
import type { ExplainLine } from "../report/explainLines.js";
import { groupsText, lostCopiesText, spreadsText } from "../report/groupsText.js";
import { lostCopies } from "../report/reasons.js";
import { notesText } from "../report/report.js";
import { painter, printable } from "../text.js";
import { openEndExplainer, traceOf } from "./explainCalls.js";

/** What a reading of the captures needs. */
interface Reading {
  readonly files: readonly OpenFile[];
  readonly port: number;
  readonly limit: number;
  readonly quiet: boolean;
  readonly log: CaptureLog;
  readonly interruption: Interruption;
}

interface Result {
  readonly loaded: LoadedScenario;
  readonly groups: ExplanationGroups;
  readonly spreads: Spreads;
  readonly skipped: ReadonlyMap<string, number>;
}

/** @returns the exit code */
export async function whyAll(line: CommandLine): Promise<number> {
  const { limit } = frameRange(line);
  const [rules, captures] = await readRulesAndCaptures(line);
  const load = (): Promise<LoadedScenario> => loadRules(rules);
  const loaded = await load();
  const port = numberOption(line, "port", 1, loaded.device.ports, "the ports of the scenario's device");
  const interruption = new Interruption();
  const log = new CaptureLog();
  const quiet = line.flags.has("quiet");
  try {
    const files = await openFiles(captures);
    const reading = { files, port: port ?? 1, limit, quiet, log, interruption };
    const result =
      captures.length === 0 ? await ownFrames(loaded, port, limit) : await readCaptures(loaded, load, reading);
    return await report(line, rules, captures, result, log, interruption);
  } finally {
    interruption.end();
  }
}

/** The frames of the document, one by one: each is explained before it is steered. */
async function ownFrames(loaded: LoadedScenario, port: number | undefined, limit: number): Promise<Result> {
  const groups = await ExplanationGroups.open(loaded.device);
  const explain = await openEndExplainer(loaded.device);
  const spreads = new Spreads();
  for (const [i, input] of loaded.frames.slice(0, limit).entries()) {
    const frame = ownFrame(loaded, input, i + 1, port, null);
    loaded.prepare(input);
    const { outcome } = await traceOf(loaded, frame);
    const explanation = isNotTaken(outcome.verdict, outcome.rules) ? explain(frame) : null;
    // It has been prepared already.
    const steered = loaded.run([{ ...input, port: frame.port, sync: false, before: [] }]);
    const ended = { ...frame, number: i + 1, outcome: steered[0] as Outcome };
    if (explanation !== null) await groups.add([ended], () => explanation);
    // Frames that queues send are not traced again.
    const part = explanation === null && frame.queue === null ? spreads.partOf(ended.outcome) : null;
    if (part?.count() === true) part.keep(ended);
  }
  return { loaded, groups, spreads, skipped: new Map() };
}

async function readCaptures(
  loaded: LoadedScenario,
  load: () => Promise<LoadedScenario>,
  reading: Reading,
): Promise<Result> {
  if (!loaded.device.stateful && loaded.sumsAlone) return readOnce(loaded, reading);
  const stream = reading.files.find(({ size }) => size === undefined);
  if (stream !== undefined)
    throw badUsage(stream.name, "rules with state need a second pass over the capture; name a file");
  return explainChosen(await load(), await chooseFrames(loaded, reading), reading);
}

async function readOnce(loaded: LoadedScenario, reading: Reading): Promise<Result> {
  const groups = await ExplanationGroups.open(loaded.device);
  const explainEnd = await openEndExplainer(loaded.device);
  const explain = (frame: EndedFrame): Explanation => explainEnd({ ...frame, ...arriving(reading), time: null });
  const steered = new LostFrames(loaded, reading.port);
  for await (const rows of rowsOf(reading, reading.log)) await groups.add(steered.run(rows), explain);
  steered.end();
  return { loaded, groups, spreads: steered.spreads, skipped: steered.skipped };
}

/** The numbers of the frames to explain, ascending. */
async function chooseFrames(loaded: LoadedScenario, reading: Reading): Promise<number[]> {
  const groups = await ExplanationGroups.open(loaded.device);
  const steered = new LostFrames(loaded, reading.port);
  const chosen: number[] = [];
  const choose = ({ number }: EndedFrame): null => {
    chosen.push(number);
    return null;
  };
  // The second reading says what is wrong with the captures.
  for await (const rows of rowsOf(reading, new CaptureLog())) await groups.add(steered.run(rows), choose);
  return chosen;
}

async function explainChosen(loaded: LoadedScenario, chosen: readonly number[], reading: Reading): Promise<Result> {
  const groups = await ExplanationGroups.open(loaded.device);
  const explain = await openEndExplainer(loaded.device);
  const steered = new LostFrames(loaded, reading.port);
  let next = 0;
  for await (const rows of rowsOf(reading, reading.log)) {
    const { count, number } = rows;
    const explained = new Map<number, Explanation>();
    const lost: EndedFrame[] = [];
    for (let row = 0; row < count;) {
      const end = Math.min(count, (chosen[next] ?? Infinity) - number);
      lost.push(...steered.run(rows, row, end));
      row = end;
      if (row === count) break;
      const [frame] = framesOf(rows, row, row + 1) as [NumberedFrame];
      loaded.prepare(frame);
      explained.set(frame.number, explain({ ...frame, ...arriving(reading) }));
      next++;
      lost.push(...steered.run(rows, row, row + 1));
      row++;
    }
    await groups.add(lost, (frame) => explained.get(frame.number) ?? null);
  }
  steered.end();
  return { loaded, groups, spreads: steered.spreads, skipped: steered.skipped };
}

/** Frames of captures arrive at a port. */
function arriving({ port }: Pick<Reading, "port">) {
  return { queue: null, metadata: 0, port };
}

function rowsOf({ files, limit, quiet, interruption }: Reading, log: CaptureLog): AsyncGenerator<CaptureRows, void> {
  return readColumns({ files, limit, quiet, interruption }, log);
}

async function report(
  line: CommandLine,
  rules: Rules,
  captures: readonly string[],
  { loaded, groups: { groups }, spreads, skipped }: Result,
  log: CaptureLog,
  { signal }: Interruption,
): Promise<number> {
  const broken = log.broken.length > 0 ? `${log.broken.map(({ file }) => printable(file)).join(", ")} cut off` : null;
  const partial = signal === null ? broken : `interrupted by ${signal}`;
  const { frames } = loaded.tally.all;
  const framesOfGroups = (some: readonly ExplanationGroup[]): number => some.reduce((sum, one) => sum + one.frames, 0);
  const lost = framesOfGroups(groups.filter(({ outcome }) => isLost(outcome)));
  const unclaimed = framesOfGroups(groups) - lost;
  const copies = lostCopies(loaded);
  const output = new Output();
  const found = await spreads.uneven((frame) => traceOf(loaded, { ...frame, ...arriving(frame), time: null }));
  const uneven = found.map((spread) => rules.imported?.inOwnNames(spread) ?? spread);
  const own = groups.map((group) => {
    const { explanation } = group;
    return {
      ...group,
      explanation: explanation === null ? null : (rules.imported?.inOwnWords(explanation) ?? explanation),
    };
  });
  if (line.flags.has("json")) {
    for (const { frames, bytes, examples, outcome, explanation } of own) {
      const { verdict, reason } = outcome;
      const group: ExplainLine = { kind: "group", frames, bytes, examples, verdict, reason, explanation };
      await output.write(`${JSON.stringify({ ...group, ...elementsOfRules(explanation, rules) })}\n`);
    }
    for (const spread of uneven)
      await output.write(`${JSON.stringify({ kind: "spread", ...spread } satisfies ExplainLine)}\n`);
    const sum: ExplainLine = {
      kind: "sum",
      frames,
      lost,
      unclaimed,
      lostCopies: Object.fromEntries(copies),
      groups: groups.length,
      partial,
    };
    await output.write(`${JSON.stringify(sum)}\n`);
  } else {
    const origin =
      captures.length === 0
        ? `of ${printable(rules.name)}`
        : `from ${captures.map(inputName).map(printable).join(", ")}`;
    const sources = partial === null ? origin : `${origin}, partial: ${partial}`;
    const again = `flowsteer why ${line.operands.map(printable).join(" ")}`;
    const paint = painter(process.stdout);
    const explanations = own.map(({ explanation }) => explanation);
    await output.write(groupsText(paint, own, { frames, lost, unclaimed, sources }, again));
    await output.write(lostCopiesText(copies));
    await output.write(spreadsText(paint, uneven));
    await output.write(elementsText(paint, elementsOfRules(explanations, rules)));
  }
  await output.flush();
  for (const [why, count] of skipped) log.notes.push(`not parsed: ${why}: ${count} skipped`);
  if (!line.flags.has("quiet")) process.stderr.write(notesText(painter(process.stderr), log.notes));
  if (signal !== null) return exitCodeOf(signal);
  return log.broken.length > 0 ? EXIT.cut : 0;
}
