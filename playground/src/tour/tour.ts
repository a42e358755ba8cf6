/** The tour of the moment: which lesson is open, what was done, and the person's own rules, which are kept until it ends. */
import { batch, computed, effect, signal } from "@preact/signals";
import { engine } from "../engine/client.js";
import { answer, stale } from "../state/answer.js";
import { closeCapture, openCapture, openFile } from "../state/capture.js";
import { editRules, openedRules, openRules, rules, rulesName, source } from "../state/document.js";
import { editsBetween } from "../text/json.js";
import { recall, remember } from "../state/remembered.js";
import { keepOwn, openOwn, ownRules, releaseOwn, type OwnRules } from "../state/ownRules.js";
import { filter, selectedFrame, selectedPath } from "../state/selection.js";
import { tourAt } from "../state/tourAt.js";
import {
  check,
  keepsTask,
  LESSONS,
  solvedText,
  startText,
  type Checked,
  type Lesson,
  type LessonName,
} from "./lesson.js";

interface OpenLesson {
  readonly name: LessonName;
  readonly lesson: Lesson;
  readonly start: string;
}

export const lesson = signal<OpenLesson | null>(null);
/** Outcomes of the frames of the lesson beside what they must be; null while rules are refused, or frames were changed. */
export const checked = signal<readonly Checked[] | null>(null);
/** Whether the frames and queues are no longer those of the lesson. */
export const isAnother = computed(() => lesson.value !== null && !keepsTask(rules.value, lesson.value.lesson));
export const isFulfilled = computed(() => checked.value?.every(({ isMet }) => isMet) === true);

const DONE = "tour.done";
const AT = "tour.at";

export const done = signal<ReadonlySet<string>>(new Set(recall(DONE)?.split(",").filter(Boolean)));

/** The capture of before the tour; it is not kept over a reload. */
let ownFile: { readonly file: Blob; readonly name: string } | null = null;

/** Begins, or goes on where a reload interrupted it. */
export async function beginTour(): Promise<void> {
  const at = LESSONS.find((name) => name === recall(AT));
  if (ownRules("tab") === null) {
    own = { text: rules.peek(), source: source.peek(), opened: openedRules.peek(), name: rulesName.peek() };
    keepOwn(own);
    ownFile = openFile.peek();
    await openLesson(at ?? LESSONS.find((name) => !done.peek().has(name)) ?? LESSONS[0]);
  } else tourAt.value = (await loadLesson(at ?? LESSONS[0])).name;
  follow ??= effect(() => followHistory(tourAt.value));
  watchAnswers();
}

/** The rules of before the last tour, which redoing its beginning keeps again. */
let own: OwnRules | null = null;
let follow: (() => void) | undefined;

/** Undo and redo lead from lesson to lesson, out of the tour and into it. */
function followHistory(name: string | null): void {
  const shown = lesson.peek()?.name ?? null;
  if (name === shown) return;
  if (name === null) {
    leave();
    releaseOwn();
    return;
  }
  if (ownRules("tab") === null && own !== null) keepOwn(own);
  watchAnswers();
  void loadLesson(name as LessonName);
}

function watchAnswers(): void {
  watch ??= effect(() => {
    if (lesson.value !== null && answer.value !== null && !isAnother.value && !stale.value) void look();
    else checked.value = null;
  });
}

let watch: (() => void) | undefined;

function leave(): void {
  watch?.();
  watch = undefined;
  lesson.value = null;
  checked.value = null;
}

/** Ends the tour, and opens the rules of before it. */
export async function endTour(): Promise<void> {
  leave();
  const before = ownRules("tab");
  releaseOwn();
  batch(() => {
    tourAt.value = null;
    if (before === null) return;
    forget();
    openOwn(before);
  });
  if (ownFile !== null) await openCapture(ownFile.file, ownFile.name, true);
  ownFile = null;
}

/** Opens a lesson with its scenario. */
export async function openLesson(name: LessonName): Promise<void> {
  const loaded = await loadLesson(name);
  batch(() => {
    tourAt.value = name;
    forget();
    openRules(loaded.start, `tour: ${loaded.lesson.title}`);
  });
  if (openFile.peek() !== null) await closeCapture(true);
}

/** Puts the scenario of the lesson back. */
export function startAgain(): void {
  const open = lesson.peek();
  if (open !== null) edit(open.start);
}

export function showSolution(): void {
  const open = lesson.peek();
  if (open !== null) edit(solvedText(open.start, open.lesson));
}

async function loadLesson(name: LessonName): Promise<OpenLesson> {
  const file = await (await fetch(`./lessons/${name}.json`)).text();
  const loaded = { name, lesson: JSON.parse(file) as Lesson, start: startText(file) };
  checked.value = null;
  lesson.value = loaded;
  remember(AT, name);
  return loaded;
}

/** Selects nothing. */
function forget(): void {
  selectedFrame.value = null;
  selectedPath.value = null;
  filter.value = {};
}

function edit(text: string): void {
  editRules(editsBetween(rules.peek(), text));
}

/** Compares what the engine answered with the task. */
async function look(): Promise<void> {
  const open = lesson.peek();
  const of = answer.peek();
  if (open === null || of === null || of.capture !== null) return;
  const rows = await engine().rowsOf(open.lesson.expect.map((_, i) => i + 1));
  if (answer.peek() !== of || lesson.peek() !== open) return;
  checked.value = check(open.lesson, rows);
  if (!isFulfilled.peek() || done.peek().has(open.name)) return;
  done.value = new Set([...done.peek(), open.name]);
  remember(DONE, [...done.peek()].join(","));
}
