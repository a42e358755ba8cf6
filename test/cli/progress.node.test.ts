/** The progress line: only on a terminal, only for what takes long, and gone at the end. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { duration, Progress } from "../../src/cli/input/progress.js";

function stream(isTTY: boolean): { written: string[]; stream: NodeJS.WriteStream } {
  const written: string[] = [];
  const write = (text: string): boolean => written.push(text) > 0;
  return { written, stream: { isTTY, write } as unknown as NodeJS.WriteStream };
}

describe("Progress", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("shows nothing where the work is short, and nothing to take away", () => {
    const { written, stream: terminal } = stream(true);
    const progress = new Progress(terminal, 100);
    progress.show(5);
    progress.clear();
    expect(written).toEqual([]);
  });

  it("shows frames, rate, the part of the bytes and the time left, now and then, and goes away", () => {
    const { written, stream: terminal } = stream(true);
    const progress = new Progress(terminal, 400);
    progress.read(60);
    progress.read(40);
    vi.advanceTimersByTime(2000);
    progress.show(1234);
    progress.show(1235);
    progress.clear();
    expect(written).toEqual(["\r\u001b[K1,234 frames, 617 a second, 25.0 %, 6 s left", "\r\u001b[K"]);
  });

  it("does not divide by what was not read, nor promise what is behind the end", () => {
    const { written, stream: terminal } = stream(true);
    const progress = new Progress(terminal, 10);
    vi.advanceTimersByTime(1000);
    progress.show(2);
    progress.read(11);
    vi.advanceTimersByTime(1000);
    progress.show(4);
    expect(written).toEqual(["\r\u001b[K2 frames, 2 a second", "\r\u001b[K4 frames, 2 a second, 100.0 %, 0 s left"]);
  });

  it.each([
    [0.2, "1 s"],
    [59, "59 s"],
    [60, "1 min 0 s"],
    [3599.5, "1 h 0 min"],
    [7890, "2 h 11 min"],
  ])("%d seconds are %s", (seconds, text) => expect(duration(seconds)).toBe(text));

  it("shows frames and rate where the size is not known", () => {
    const { written, stream: terminal } = stream(true);
    const progress = new Progress(terminal, undefined);
    vi.advanceTimersByTime(1000);
    progress.show(1);
    expect(written).toEqual(["\r\u001b[K1 frame, 1 a second"]);
  });

  it("shows nothing in a pipe", () => {
    const { written, stream: pipe } = stream(false);
    const progress = new Progress(pipe, 100);
    vi.advanceTimersByTime(10_000);
    progress.show(5);
    progress.clear();
    expect(written).toEqual([]);
  });
});
