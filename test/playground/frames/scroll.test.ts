/** Long lists: places of the scroll bar, and the rows around the view. */
import { describe, expect, it } from "vitest";
import type { FrameRow } from "../../../playground/src/engine/api.js";
import { PAGE, RowWindow } from "../../../playground/src/frames/list/rowWindow.js";
import { MAX_LENGTH, ScrollMap } from "../../../playground/src/frames/list/scrollMap.js";

const ROW = 22;
const VIEW = 440;

describe("ScrollMap", () => {
  it("is the scroll bar itself for a short list", () => {
    const map = new ScrollMap();
    map.resize(1000 * ROW, VIEW);
    expect(map.height).toBe(1000 * ROW);
    expect(map.scrolled(5000)).toBeNull();
    expect([map.top, map.shift]).toEqual([5000, 0]);
    expect(map.scrollTo(1e9)).toBe(1000 * ROW - VIEW);
  });

  it.each([1_000_000, 13_000_000, 100_000_000])("comes to both ends and every row of %d rows", (rows) => {
    const map = new ScrollMap();
    map.resize(rows * ROW, VIEW);
    expect(map.height).toBe(MAX_LENGTH);
    const end = MAX_LENGTH - VIEW;
    map.scrolled(end);
    expect(map.top).toBe(rows * ROW - VIEW);
    map.scrolled(0);
    expect(map.top).toBe(0);
    // A wheel moves the list by as many pixels as the bar.
    let bar = map.scrollTo((rows / 2) * ROW);
    const { top } = map;
    bar += 100;
    expect(map.scrolled(bar)).toBeNull();
    expect(map.top).toBe(top + 100);
    expect(map.shift).toBe(bar - map.top);
    map.scrollTo((rows - 1) * ROW);
    expect(map.top).toBe(rows * ROW - VIEW);
  });

  it("comes to the end by small steps, from anywhere near it or by a long way", () => {
    const map = new ScrollMap();
    map.resize(10_000_000 * ROW, VIEW);
    let bar = map.scrollTo(3 * VIEW);
    for (let i = 0; i < 14; i++) bar = map.scrolled(Math.max(0, bar - 100)) ?? Math.max(0, bar - 100);
    expect([map.top, bar]).toEqual([0, 0]);
    // Without a rest, the bar comes to its beginning before the list does, and is set right then.
    bar = map.scrollTo(6_000_000);
    for (let i = 0; i < 12_000 && map.top > 0; i++)
      bar = map.scrolled(Math.max(0, bar - 800)) ?? Math.max(0, bar - 800);
    expect([map.top, bar]).toEqual([0, 0]);
  });

  it("stays within a list that became shorter", () => {
    const map = new ScrollMap();
    map.resize(1_000_000 * ROW, VIEW);
    map.scrollTo(900_000 * ROW);
    map.resize(10 * ROW, VIEW);
    expect([map.top, map.settle()]).toEqual([0, 0]);
  });
});

describe("RowWindow", () => {
  const row = (number: number): FrameRow => ({ number }) as FrameRow;

  /** A list of rows that come when `answer` is called. */
  function listOf(): { rows: RowWindow; asked: number[]; answer: (plus?: number) => Promise<void> } {
    const asked: number[] = [];
    const waiting: { first: number; give: (rows: FrameRow[]) => void }[] = [];
    const rows = new RowWindow(
      (first, count) => {
        asked.push(first);
        return new Promise((resolve) => waiting.push({ first, give: (all) => resolve(all.slice(0, count)) }));
      },
      () => undefined,
    );
    const answer = async (plus = 0): Promise<void> => {
      const next = waiting.shift();
      next?.give(Array.from({ length: PAGE }, (_, i) => row(next.first + i + plus)));
      await new Promise((resolve) => setTimeout(resolve));
    };
    return { rows, asked, answer };
  }

  it("fetches what is in view, and leaves out what was scrolled past", async () => {
    const { rows, asked, answer } = listOf();
    rows.want(0, 10);
    rows.want(5000, 5010);
    rows.want(900_000, 900_010);
    await answer();
    await answer();
    expect(asked).toEqual([0, Math.floor(900_000 / PAGE) * PAGE]);
    expect([rows.row(3)?.number, rows.row(5003), rows.row(900_003)?.number]).toEqual([3, undefined, 900_003]);
  });

  it("keeps rows of the older list until the new ones have come", async () => {
    const { rows, answer } = listOf();
    rows.want(0, 10);
    await answer();
    rows.want(64, 70);
    rows.renew();
    rows.want(0, 10);
    await answer(1000);
    expect([rows.row(3)?.number, rows.row(67)]).toEqual([3, undefined]);
    await answer(1000);
    expect(rows.row(3)?.number).toBe(1003);
  });
});
