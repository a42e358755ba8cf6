/** The watchdog says when the worker does not answer, and when it does again. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Watchdog } from "../../../playground/src/engine/watchdog.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function watched(): { dog: Watchdog; said: boolean[]; pings: (() => void)[] } {
  const said: boolean[] = [];
  const pings: (() => void)[] = [];
  const ping = (): Promise<void> => new Promise((resolve) => void pings.push(resolve));
  return { dog: new Watchdog({ ping, onStuck: (stuck) => said.push(stuck), every: 1000, late: 4000 }), said, pings };
}

test("a worker without calls is not asked", async () => {
  const { dog, pings } = watched();
  dog.begin();
  dog.end();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(pings).toEqual([]);
});

test("a worker that answers late is stuck until it answers", async () => {
  const { dog, said, pings } = watched();
  dog.begin();
  await vi.advanceTimersByTimeAsync(4999);
  expect(said).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(said).toEqual([true]);
  pings[0]?.();
  await vi.advanceTimersByTimeAsync(0);
  expect(said).toEqual([true, false]);
  await vi.advanceTimersByTimeAsync(1000);
  expect(pings.length).toBe(2);
});

test("a new worker is not stuck, whatever the old one does", async () => {
  const { dog, said, pings } = watched();
  dog.begin();
  await vi.advanceTimersByTimeAsync(5000);
  dog.restart();
  expect(said).toEqual([true, false]);
  pings[0]?.();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(said).toEqual([true, false]);
  expect(pings.length).toBe(1);
});
