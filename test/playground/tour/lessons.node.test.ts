/** The lessons of the tour: the engine says that the start does not fulfil the task, and that the solution does. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { check, keepsTask, LESSONS, solvedText, startText, type Lesson } from "../../../playground/src/tour/lesson.js";
import { documentOf, without } from "../../../playground/src/text/json.js";
import { good, newSession } from "../engine/support/session.js";

const FOLDER = new URL("../../../playground/lessons/", import.meta.url);

function read(name: string): { readonly lesson: Lesson; readonly start: string } {
  const file = readFileSync(new URL(`${name}.json`, FOLDER), "utf8");
  return { lesson: JSON.parse(file) as Lesson, start: startText(file) };
}

/** Frames of the lesson that come where they must. */
async function met(text: string, lesson: Lesson): Promise<boolean[]> {
  const session = newSession();
  good(await session.load(text));
  const rows = await session.rowsOf(lesson.expect.map((_, i) => i + 1));
  return check(lesson, rows).map(({ isMet }) => isMet);
}

test("every file is a lesson of the tour", () => {
  const files = readdirSync(FOLDER).map((name) => name.replace(".json", ""));
  expect(files.sort()).toEqual([...LESSONS].sort());
});

test.each(LESSONS)("%s: the start does not fulfil the task, the solution does", async (name) => {
  const { lesson, start } = read(name);
  expect(documentOf(start)).toEqual(lesson.start);
  expect(lesson.hints).toHaveLength(2);
  expect(await met(start, lesson)).toContain(false);
  const solved = solvedText(start, lesson);
  expect(await met(solved, lesson)).not.toContain(false);
  expect(keepsTask(start, lesson)).toBe(true);
  expect(keepsTask(solved, lesson)).toBe(true);
});

test.each(LESSONS)("%s: the task is about every frame of the lesson, and about no others", async (name) => {
  const { lesson, start } = read(name);
  expect(lesson.expect.map(({ frame }) => frame)).toEqual(lesson.start.frames?.map((frame) => frame.name));
  const solved = solvedText(start, lesson);
  for (const [i] of lesson.expect.entries()) expect(keepsTask(without(solved, `frames[${i}]`), lesson)).toBe(false);
  expect(keepsTask(without(solved, "queues[0]"), lesson)).toBe(false);
  expect(keepsTask("", lesson)).toBe(false);
  // Rules that take nothing, and a document whose rules are gone, fulfil no task.
  const emptied = Object.keys(lesson.start).filter((key) => key === "rules" || key === "flows");
  expect(
    await met(
      emptied.reduce((text, key) => without(text, key), start),
      lesson,
    ),
  ).toContain(false);
});
