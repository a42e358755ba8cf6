/** Frames by bursts, for tests that ask the reference the same: what `receiveBatch` gives, another way. */
import { expect } from "vitest";
import { REASONS, VERDICTS, type Burst, type Device, type Outcome } from "../../../src/index.js";
import type { Summing } from "../../../src/model/traffic/receive.js";
import type { Random } from "../../oracle/generate/random.js";
import type { TestFrame } from "./core.js";

export type TimedFrame = TestFrame & { time?: bigint | undefined };

/** A burst, and another that is filled while the first is under way. */
export type BurstPair = readonly [Burst, Burst];

export function openPair(device: Device): BurstPair {
  return [device.openBurst(), device.openBurst()];
}

/**
 * Every frame by `put`, or with its bytes laid down before and `add`; a burst that is full is steered, and used again: at once, begun and
 * waited for, or in turn with another.
 */
export function receiveByBursts(random: Random, pair: BurstPair, frames: readonly TimedFrame[]): Outcome[] {
  const outcomes: Outcome[] = [];
  let [burst, next] = random.chance(0.5) ? pair : [pair[0], pair[0]];
  const starts = next !== burst || random.chance(0.5);
  let entered: TimedFrame[] = [];
  let underWay: { started: Burst; of: readonly TimedFrame[]; told: readonly Outcome[] | null } | null = null;
  const wait = (): void => {
    if (underWay === null) return;
    const { started, of, told } = underWay;
    expect(started.steer()).toBe(of.length);
    for (const row of of.keys()) outcomes.push(agreeing(started, row, told?.[row] ?? started.outcome(row)));
    underWay = null;
  };
  const steer = (): void => {
    wait();
    // In turn there are outcomes only while rows are summed.
    const told: Outcome[] | null = next === burst ? null : [];
    const of = entered;
    const summed: Summing["summed"] = (_core, first, count, read) => {
      expect(first).toBe(told?.length);
      for (let i = 0; i < count; i++) told?.push(read(i, (of[first + i] as TimedFrame).bytes));
    };
    if (starts) burst.start(told === null ? undefined : { summed });
    underWay = { started: burst, of, told };
    entered = [];
    if (next === burst) wait();
    [burst, next] = [next, burst];
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
    entered.push(frame);
    if (frame.time !== undefined) burst.stamp(row, frame.time);
  }
  steer();
  wait();
  return outcomes;
}

/** The outcome of a row, which its columns say too. */
function agreeing(burst: Burst, row: number, outcome: Outcome): Outcome {
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
