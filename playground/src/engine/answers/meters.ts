/** Answers of meters, connections and flags over time, and verdicts. */
import type { MeterSeries } from "../api.js";
import { secondsOf, type Frames } from "../frames/frames.js";
import type { Outcomes } from "../steer/outcomes.js";
import type { Pace } from "../work/lane.js";
import { answerText } from "./states.js";

/** Intervals of a series: a plot has no room for more. */
const INTERVALS = 100;
/** Frames between two rests. */
const SOME = 4096;

/** What frames of a class add to: a series by its name, there what is written of them. */
type Said = readonly { readonly name: string; readonly text: string }[];

export async function metersOf(frames: Frames, outcomes: Outcomes, pace: Pace): Promise<MeterSeries[]> {
  const said = outcomes.classes.map(({ answers }) =>
    answers.map((answer) => ({ name: answer.use.name, text: answerText(answer) })),
  );
  return seriesOf(said, frames, outcomes, pace);
}

/** Null without times. */
export async function verdictsOf(frames: Frames, outcomes: Outcomes, pace: Pace): Promise<MeterSeries | null> {
  const said = outcomes.classes.map(({ outcome: { verdict } }) =>
    verdict === null ? [] : [{ name: "verdicts", text: verdict }],
  );
  return (await seriesOf(said, frames, outcomes, pace))[0] ?? null;
}

async function seriesOf(said: readonly Said[], frames: Frames, outcomes: Outcomes, pace: Pace): Promise<MeterSeries[]> {
  if (said.every((answers) => answers.length === 0)) return [];
  const length = await lengthOf(frames, pace);
  const intervals = length === 0 ? 1 : Math.min(INTERVALS, frames.count);
  const times = Array.from({ length: intervals }, (_, i) => ((i + 1) * length) / intervals);
  const series = new Map<string, Record<string, number[]>>();
  for (let frame = 1; frame <= frames.count; frame++) {
    if (frame % SOME === 0) await pace.rest();
    const answers = said[outcomes.numberOf(frame) - 1] ?? [];
    if (answers.length === 0) continue;
    const time = secondsOf(frames, frames.head(frame).time);
    if (time === null) continue;
    const at = length === 0 ? 0 : Math.min(intervals - 1, Math.max(0, Math.ceil((time * intervals) / length) - 1));
    for (const { name, text } of answers) {
      let byAnswer = series.get(name);
      if (byAnswer === undefined) series.set(name, (byAnswer = {}));
      const counts = (byAnswer[text] ??= Array.from({ length: intervals }, () => 0));
      counts[at] = (counts[at] ?? 0) + 1;
    }
  }
  return [...series].map(([name, answers]) => ({ name, times, answers }));
}

/** Seconds from the first frame to the latest. */
async function lengthOf(frames: Frames, pace: Pace): Promise<number> {
  let latest = 0;
  for (let frame = 1; frame <= frames.count; frame++) {
    if (frame % SOME === 0) await pace.rest();
    latest = Math.max(latest, secondsOf(frames, frames.head(frame).time) ?? 0);
  }
  return latest;
}
