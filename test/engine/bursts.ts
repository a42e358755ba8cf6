/** Frames by bursts, for tests that ask the reference the same: what `receiveBatch` gives, another way. */
import { expect } from "vitest";
import { REASONS, VERDICTS, type Burst, type Outcome } from "../../src/index.js";
import type { Random } from "../oracle/random.js";
import type { TestFrame } from "./support.js";

export type TimedFrame = TestFrame & { time?: bigint | undefined };

/** Every frame by `put`, or with its bytes laid down before and `add`; a burst that is full is steered, and used again. */
export function receiveByBursts(random: Random, burst: Burst, frames: readonly TimedFrame[]): Outcome[] {
  const outcomes: Outcome[] = [];
  const steer = (): void => {
    for (let row = 0, rows = burst.steer(); row < rows; row++) outcomes.push(outcomeOf(burst, row));
    burst.clear();
  };
  const most = random.pick([burst.rows, 1, 3, 32]);
  const lay = random.chance(0.5);
  // At any address, with bytes of others around.
  const begin = random.below(5);
  let end = begin;
  burst.clear();
  for (const frame of frames) {
    if (burst.count === most) {
      steer();
      end = begin;
    }
    let row = enter(burst, frame, lay ? end : null);
    if (row < 0) {
      steer();
      end = begin;
      row = enter(burst, frame, lay ? end : null);
    }
    end += frame.bytes.length;
    if (frame.time !== undefined) burst.stamp(row, frame.time);
  }
  steer();
  return outcomes;
}

/** The outcome of a row, which its columns say too. */
function outcomeOf(burst: Burst, row: number): Outcome {
  const outcome = burst.outcome(row);
  const { verdict, reason, tag, rules, to, copies } = outcome;
  const columns = {
    verdict: VERDICTS[burst.verdicts[row]!],
    reason: REASONS[burst.reasons[row]!],
    tag: burst.tagged[row] === 1 ? burst.tags[row] : null,
    destinations: burst.destinations[row],
    hit: burst.hits[row]! > 0,
  };
  const arrived = to.length + copies.length;
  expect(columns).toEqual({ verdict, reason: reason ?? "none", tag, destinations: arrived, hit: rules.length > 0 });
  return outcome;
}

/** The row of the frame, which lies at `at`, or is copied where the burst has room; -1 without room. */
function enter(burst: Burst, { bytes, port, linkType, wireLength }: TestFrame, at: number | null): number {
  if (at === null) return burst.put(bytes, port, linkType, wireLength);
  if (at + bytes.length > burst.bytes.length) return -1;
  burst.bytes.set(bytes, at);
  return burst.add(at, bytes.length, port, linkType, wireLength);
}
