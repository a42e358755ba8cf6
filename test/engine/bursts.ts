/** Frames by bursts, for tests that ask the reference the same: what `receiveBatch` gives, another way. */
import type { Burst, Outcome } from "../../src/index.js";
import type { Random } from "../oracle/random.js";
import type { TestFrame } from "./support.js";

export type TimedFrame = TestFrame & { time?: bigint | undefined };

/** Every frame by `put`, or with its bytes laid down before and `add`; a burst that is full is steered, and used again. */
export function receiveByBursts(random: Random, burst: Burst, frames: readonly TimedFrame[]): Outcome[] {
  const outcomes: Outcome[] = [];
  const steer = (): void => {
    for (let row = 0, rows = burst.steer(); row < rows; row++) outcomes.push(burst.outcome(row));
    burst.clear();
  };
  const most = random.pick([burst.rows, 1, 3, 32]);
  const lay = random.chance(0.5);
  let end = 0;
  burst.clear();
  for (const frame of frames) {
    if (burst.count === most) {
      steer();
      end = 0;
    }
    let row = enter(burst, frame, lay ? end : null);
    if (row < 0) {
      steer();
      end = 0;
      row = enter(burst, frame, lay ? end : null);
    }
    end += frame.bytes.length;
    if (frame.time !== undefined) burst.stamp(row, frame.time);
  }
  steer();
  return outcomes;
}

/** The row of the frame, which lies at `at`, or is copied where the burst has room; -1 without room. */
function enter(burst: Burst, { bytes, port, linkType, wireLength }: TestFrame, at: number | null): number {
  if (at === null) return burst.put(bytes, port, linkType, wireLength);
  if (at + bytes.length > burst.bytes.length) return -1;
  burst.bytes.set(bytes, at);
  return burst.add(at, bytes.length, port, linkType, wireLength);
}
