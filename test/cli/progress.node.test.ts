/** The progress line: only on a terminal, only for what takes long, and gone at the end. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Progress } from "../../src/cli/progress.js";

function stream(isTTY: boolean): { written: string[]; stream: NodeJS.WriteStream } {
  const written: string[] = [];
  const write = (text: string): boolean => written.push(text) > 0;
  return { written, stream: { isTTY, write } as unknown as NodeJS.WriteStream };
}

async function read(progress: Progress, bytes: number): Promise<void> {
  const chunks = (async function* () {
    yield new Uint8Array(bytes);
  })();
  for await (const _ of progress.count(chunks));
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

  it("shows frames and the part of the bytes, now and then, and goes away", async () => {
    const { written, stream: terminal } = stream(true);
    const progress = new Progress(terminal, 400);
    await read(progress, 100);
    vi.advanceTimersByTime(1000);
    progress.show(1234);
    progress.show(1235);
    progress.clear();
    expect(written).toEqual(["\r\u001b[K1,234 frames, 25.0 %", "\r\u001b[K"]);
  });

  it("shows frames alone where the size is not known", () => {
    const { written, stream: terminal } = stream(true);
    const progress = new Progress(terminal, undefined);
    vi.advanceTimersByTime(1000);
    progress.show(1);
    expect(written).toEqual(["\r\u001b[K1 frame"]);
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
