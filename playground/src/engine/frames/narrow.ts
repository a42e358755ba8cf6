/** Narrows the list of frames by a filter. */
import type { FrameFilter, FrameOutcome, Progress } from "../api.js";
import type { Comparison } from "../answers/changes.js";
import type { Run } from "../steer/run.js";
import type { Pace } from "../work/lane.js";
import { FrameList } from "./list.js";
import type { Search } from "./search.js";

/** Frames between two rests. */
const SOME = 8192;

export async function narrow(
  filter: FrameFilter,
  run: Run,
  comparison: Comparison | null,
  search: Search,
  pace: Pace,
  progress: Progress,
): Promise<FrameList> {
  const { outcomes, loaded } = run;
  const { count } = run.frames;
  const asked = (filter.text ?? "")
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  const byClass = outcomes.classes.map((one) => takes(filter, one.outcome, one.hits, one.reached));
  const comparing = filter.changed === true || filter.change !== undefined;
  const fields = filter.fields ?? "";
  if (byClass.every(Boolean) && asked.length === 0 && fields === "" && !comparing) return new FrameList(count);
  const found = asked.length === 0 ? null : await search.words.find(asked, loaded.device, pace, progress);
  const passes = fields === "" ? null : await search.fields(fields, run, pace, progress);
  // Words that are in what the row says of the outcome need not be in the rest of it.
  const columns = outcomes.classes.map(({ outcome }) => {
    const text = outcomeText(outcome);
    return asked.filter((word) => !text.includes(word)).map((word) => found?.get(word));
  });
  const frames = new Uint32Array(count);
  let taken = 0;
  for (let frame = 1; frame <= count; frame++) {
    if (frame % SOME === 0) await pace.rest();
    const at = outcomes.numberOf(frame) - 1;
    if (byClass[at] !== true) continue;
    if (columns[at]?.every((column) => column?.[frame - 1] === 1) === false) continue;
    if (passes?.(frame) === false) continue;
    if (comparing && !isChange(filter, comparison, frame)) continue;
    frames[taken++] = frame;
  }
  return new FrameList(frames.slice(0, taken));
}

function takes(
  { verdicts, rule, to, reason }: FrameFilter,
  outcome: FrameOutcome,
  hits: ReadonlySet<string>,
  reached: ReadonlySet<string>,
): boolean {
  if (verdicts !== undefined && (outcome.verdict === null || !verdicts.includes(outcome.verdict))) return false;
  if (reason !== undefined && outcome.reason !== reason) return false;
  if (rule !== undefined && !hits.has(rule)) return false;
  return to === undefined || reached.has(to);
}

function isChange({ change }: FrameFilter, comparison: Comparison | null, frame: number): boolean {
  const group = comparison?.changeOf(frame) ?? null;
  return group !== null && (change === undefined || group === change);
}

/** What a row says of the outcome. */
function outcomeText({ verdict, reason, to, copies, rules, skipped }: FrameOutcome): string {
  return [verdict, reason, ...to, ...copies, ...rules, skipped].join(" ").toLowerCase();
}
