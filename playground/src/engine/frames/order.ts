/** Sorts the list of frames. */
import type { FilterValue } from "flowsteer/packet";
import type { FrameOrder, Progress } from "../api.js";
import type { Run } from "../steer/run.js";
import type { Pace } from "../work/lane.js";
import { fieldsOf, type FrameFields, type Values } from "./fieldColumns.js";
import { FrameList } from "./list.js";

/** Frames between two rests. */
const SOME = 8192;

/** Frames without the field come last, whatever the direction. */
export async function ordered(
  list: FrameList,
  { by, descending }: FrameOrder,
  fields: FrameFields,
  run: Run,
  pace: Pace,
  progress: Progress,
): Promise<FrameList> {
  const valuesOf = await fields.values(fieldsOf(by), run, pace, progress);
  const { numbers } = list;
  const ranks = new Map<string, number>();
  const keys = new Array<string>(run.frames.count + 1);
  const lists = new Map<string, Values>();
  for (const [place, frame] of numbers.entries()) {
    if (place % SOME === 0) await pace.rest();
    const values = valuesOf(frame);
    const key = values.join("\n");
    keys[frame] = key;
    lists.set(key, values);
  }
  const sorted = [...lists].sort(([, a], [, b]) => compare(a, b, descending ? -1 : 1));
  for (const [rank, [key]] of sorted.entries()) ranks.set(key, rank);
  const rankOf = Uint32Array.from(keys, (key) => ranks.get(key) ?? 0);
  pace.check();
  return new FrameList(numbers.sort((a, b) => (rankOf[a] ?? 0) - (rankOf[b] ?? 0) || a - b));
}

function compare(a: Values, b: Values, sign: 1 | -1): number {
  if (a.length === 0 || b.length === 0) return b.length - a.length;
  for (const [i, value] of a.entries()) {
    const other = b[i];
    if (other === undefined) return sign;
    const order = compareValues(value, other);
    if (order !== 0) return sign * order;
  }
  return a.length < b.length ? -sign : 0;
}

/** Numbers by their size; digits of equal length, and words, by their characters. */
function compareValues(a: FilterValue, b: FilterValue): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
