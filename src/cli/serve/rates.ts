/** What a served device does in a second: rates by rule, by reason and by wire. */
import type { Sum } from "../../scenario/index.js";
import type { Switchboard } from "./switchboard.js";

/** Frames and bytes since the beginning. */
export type Counts = ReadonlyMap<string, Sum>;

/** All counts at a time. */
export interface Reading {
  /** Nanoseconds since the beginning. */
  readonly age: bigint;
  /** By rule and flow. */
  readonly rules: Counts;
  /** Frames without a destination, by reason. */
  readonly dropped: Counts;
  /** By wire. */
  readonly in: Counts;
  readonly out: Counts;
  /** Frames that wires lost, by wire and reason. */
  readonly lost: Counts;
}

export interface Rate {
  readonly name: string;
  readonly framesPerSecond: number;
  readonly bitsPerSecond: number;
  /** Since the beginning. */
  readonly frames: number;
}

/** Rates between two readings, the highest first; what has counted no frame yet is left out. */
export interface Rates {
  readonly seconds: number;
  readonly in: readonly Rate[];
  readonly out: readonly Rate[];
  readonly rules: readonly Rate[];
  readonly dropped: readonly Rate[];
  readonly lost: readonly Rate[];
}

export function readingOf(board: Switchboard): Reading {
  const { loaded, places } = board;
  const rules = loaded.hitRules.map((rule) => {
    const { packets, bytes } = rule.hits();
    return [rule.name, { frames: Number(packets), bytes: Number(bytes) }] as const;
  });
  return {
    age: board.age,
    rules: new Map(rules),
    dropped: new Map([...board.dropped].map(([reason, sum]) => [reason, { ...sum }])),
    in: new Map(places.map(({ name, wire: { counts } }) => [name, { frames: counts.framesIn, bytes: counts.bytesIn }])),
    out: new Map(
      places.map(({ name, wire: { counts } }) => [name, { frames: counts.framesOut, bytes: counts.bytesOut }]),
    ),
    lost: new Map(
      places.flatMap(({ name, wire: { counts } }) =>
        [...counts.lost].map(([reason, frames]) => [`${name} ${reason}`, { frames, bytes: 0 }] as const),
      ),
    ),
  };
}

export function ratesOf(before: Reading, now: Reading): Rates {
  const seconds = Number(now.age - before.age) / 1e9;
  const between = (key: Exclude<keyof Reading, "age">): Rate[] => ratesBetween(before[key], now[key], seconds);
  return {
    seconds: Number(now.age / 1_000_000n) / 1000,
    in: between("in"),
    out: between("out"),
    rules: between("rules"),
    dropped: between("dropped"),
    lost: between("lost"),
  };
}

function ratesBetween(before: Counts, now: Counts, seconds: number): Rate[] {
  const rates = [...now].flatMap(([name, { frames, bytes }]): Rate[] => {
    if (frames === 0) return [];
    // A rule that was made again counts from 0.
    const old = before.get(name);
    const since = old === undefined || old.frames > frames ? { frames: 0, bytes: 0 } : old;
    const perSecond = (count: number): number => (seconds > 0 ? count / seconds : 0);
    return [
      {
        name,
        framesPerSecond: perSecond(frames - since.frames),
        bitsPerSecond: perSecond(8 * (bytes - since.bytes)),
        frames,
      },
    ];
  });
  return rates.sort((a, b) => b.framesPerSecond - a.framesPerSecond);
}
