/** A lesson of the tour: a scenario, a task, and what frames must reach. */
import type { ReasonName, VerdictName } from "flowsteer";
import type { Scenario } from "flowsteer/scenario";
import type { FrameRow } from "../engine/api.js";
import { documentOf, withItem, withValue } from "../text/json.js";
import { rangeOf } from "../text/places.js";

export interface Lesson {
  readonly title: string;
  /** Paragraphs. Names of the scenario stand between back quotes. */
  readonly text: readonly string[];
  readonly task: string;
  readonly hints: readonly string[];
  /** One for each frame of the scenario, in its order. */
  readonly expect: readonly Expected[];
  readonly solution: readonly Step[];
  readonly start: Scenario;
}

export interface Expected {
  readonly frame: string;
  readonly verdict: VerdictName;
  readonly reason?: ReasonName;
  readonly to?: readonly string[];
}

/** A property of the object at a path set, or an item added to a list. */
export type Step =
  | { readonly in: string; readonly set: string; readonly value: unknown }
  | { readonly add: string; readonly value: unknown };

export interface Checked {
  readonly expected: Expected;
  readonly isMet: boolean;
}

/** The lessons in their order: the names of their files. */
export const LESSONS = [
  "match",
  "priorities",
  "tables",
  "tunnels",
  "eswitch",
  "meters",
  "connection-tracking",
  "esp",
] as const;
export type LessonName = (typeof LESSONS)[number];

/** The sections that a task takes as they are: what comes in, and where it can go. */
const FIXED = ["device", "connect", "queues", "frames"] as const;

/** The text of the scenario that a lesson begins with, as the file has it. */
export function startText(file: string): string {
  const range = rangeOf(file, "start");
  if (range === null) throw new Error("the lesson has no start");
  return `${file.slice(range.from, range.to).replace(/\n {2}/g, "\n")}\n`;
}

/** The text with the solution made. */
export function solvedText(start: string, { solution }: Lesson): string {
  return solution.reduce(
    (text, step) =>
      "set" in step ? withValue(text, step.in, step.set, step.value) : withItem(text, step.add, step.value),
    start,
  );
}

/** Whether the document has the frames and queues of the lesson: outcomes of other frames say nothing about the task. */
export function keepsTask(text: string, lesson: Lesson): boolean {
  const document = (documentOf(text) ?? {}) as Partial<Record<string, unknown>>;
  return FIXED.every((section) => isSame(document[section], lesson.start[section]));
}

/** Compares outcomes of frames with the task. @param rows of all frames of the document, in their order */
export function check(lesson: Lesson, rows: readonly FrameRow[]): Checked[] {
  return lesson.expect.map((expected, i) => ({ expected, isMet: meets(expected, rows[i]) }));
}

function meets({ frame, verdict, reason, to }: Expected, row: FrameRow | undefined): boolean {
  if (row === undefined || row.name !== frame || row.verdict !== verdict) return false;
  return (reason === undefined || row.reason === reason) && (to === undefined || isSame(row.to, to));
}

function isSame(a: unknown, b: unknown): boolean {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  const [one, other] = [a as Record<string, unknown>, b as Record<string, unknown>];
  return (
    keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && isSame(one[key], other[key]))
  );
}
