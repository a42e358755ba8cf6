/** The life of an association without ciphers: numbers that come, and what a set of numbers (test/oracle/esp/replayWindow.ts) says of them. */
import { expect } from "vitest";
import { Reason } from "../../../../src/abi/outcome.js";
import {
  type Numbers,
  noteNumber,
  numbersFrom,
  refusedNumber,
  resize,
  wholeNumber,
} from "../../../oracle/esp/replayWindow.js";
import type { Random } from "../../../oracle/generate/random.js";
import type { Arrival, NumbersCore, Verdict } from "./replayWindowCore.js";

/** Numbers of a life. */
export const STREAM = 5000;
const BATCH = 1000;

const LOW = 2n ** 32n;
const HALF = 2n ** 31n;
const END = 2n ** 64n;

/** What has become of numbers; each must have come up. */
export const KINDS = [
  ...["ahead", "inside", "duplicate", "old", "before the first", "below 0", "not authentic", "without a window"],
  ...["jump of 2^31 - 1", "jump of 2^31", "jump too far", "next ESN", "ESN before", "around the end"],
] as const;
export type Kind = (typeof KINDS)[number];
/** How often each came up. */
export type Tally = Map<Kind, number>;

const count = (tally: Tally, kind: Kind): void => void tally.set(kind, (tally.get(kind) ?? 0) + 1);

/** Powers of two, what lies beside them, and anything. */
const randomSize = (random: Random): number =>
  random.chance(0.3)
    ? random.between(1, 65_536)
    : Math.min(65_536, Math.max(1, 2 ** random.below(17) + random.pick([-1, 0, 0, 1, 2])));

/** Near where wholes and halves of the numbers end, or where the window's left edge comes to 0. */
function randomFirst(random: Random, extended: boolean, size: number | null): bigint {
  const near = BigInt(random.pick([0, 0, 1, random.below(200), random.below(70_000)]));
  const upper = extended ? random.pick([0n, 0n, 1n, random.bits(32), LOW - 2n]) : 0n;
  const edge = BigInt((size ?? 1) + random.between(-1, 1));
  const first = random.pick([near, edge, edge, HALF - near, HALF, LOW - 1n - near, LOW - 1n - near, random.bits(32)]);
  const at = upper * LOW + first;
  return extended && random.chance(0.1) ? END - 1n - near - BigInt(random.below(3)) * HALF : at;
}

/** Around the highest number: ahead, at the edges of window and ring, far off, anywhere; or one that came before. */
function randomLow(random: Random, { highest, size }: Numbers, came: readonly number[]): number {
  const lot = random.below(1000);
  if (lot < 150 && came.length > 0) return random.pick(came.slice(-random.pick([1, 8, 400])));
  const window = Number(size ?? 64n);
  const ring = 2 ** Math.ceil(Math.log2(Math.ceil(window / 64) + 1) + 6);
  const by =
    lot < 450
      ? random.pick([1, 1, 1, 2, 1 + random.below(70)])
      : lot < 750
        ? -random.below(window + 2)
        : lot < 900
          ? random.pick([-window - 1, -window, 1 - window, 2 - window, -64, -63, -ring, 1 - ring])
          : lot < 994
            ? random.pick([63, 64, 65, -random.below(3 * ring), -random.below(300)])
            : lot < 998
              ? random.pick([window - 1, window, window + 1, ring - 1, ring, ring + 1, random.below(3 * ring)])
              : random.pick([2 ** 31 - 1, 2 ** 31, 2 ** 31 + 1, 2 ** 31 + 1, random.word()]);
  return Number(BigInt.asUintN(32, highest + BigInt(by)));
}

/** RFC 4303, A.2.1 in one sentence: the number with these lower bits from the left edge of the window on. */
function isWhole({ highest, size }: Numbers, low: number, number: bigint): boolean {
  const left = highest - (size ?? HALF) + 1n;
  return BigInt.asUintN(32, number) === BigInt(low) && number >= left && number < left + LOW;
}

/** What the model says, and does. */
function expected(tally: Tally, numbers: Numbers, extended: boolean, { low, authentic }: Arrival): Verdict {
  const number = wholeNumber(numbers, low, extended);
  const { highest } = numbers;
  const wrapped = highest > END - LOW && number < LOW;
  if (extended && !isWhole(numbers, low, wrapped ? number + END : number)) expect.fail(`no whole number: ${number}`);
  const refused = refusedNumber(numbers, number);
  note(tally, numbers, number, refused, extended, wrapped);
  if (refused === null && authentic) noteNumber(numbers, number);
  else if (refused === null) count(tally, "not authentic");
  return { reason: refused === null ? Reason.none : Reason[refused], number: number < 0n ? null : number };
}

function note(
  tally: Tally,
  numbers: Numbers,
  number: bigint,
  refused: string | null,
  extended: boolean,
  wrapped: boolean,
): void {
  const { highest, floor, seen, size } = numbers;
  const ahead = number - highest;
  if (wrapped) count(tally, "around the end");
  else if (extended && number >= 0n && number / LOW > highest / LOW) count(tally, "next ESN");
  else if (extended && number >= 0n && number / LOW < highest / LOW) count(tally, "ESN before");
  if (number < 0n) count(tally, "below 0");
  else if (size === null) count(tally, "without a window");
  else if (refused === "esp_jump") count(tally, "jump too far");
  else if (refused === null) count(tally, ahead > 0n ? "ahead" : "inside");
  else count(tally, seen.has(number) ? "duplicate" : number < floor ? "before the first" : "old");
  if (ahead === HALF - 1n) count(tally, "jump of 2^31 - 1");
  if (ahead === HALF) count(tally, "jump of 2^31");
}

/** An association's life: first number, window, what comes; now and then another window. */
export function live(random: Random, core: NumbersCore, tally: Tally): void {
  const extended = random.chance(0.6);
  const size = random.chance(0.07) ? null : randomSize(random);
  const first = randomFirst(random, extended, size);
  const numbers = numbersFrom(first, size);
  core.begin(first, size);
  const about = `first ${first}, size ${size}, ${extended ? "with" : "without"} ESN`;
  const came: number[] = [];
  for (let n = 0; n < STREAM; n += BATCH) {
    const [arrivals, verdicts]: [Arrival[], Verdict[]] = [[], []];
    for (let i = 0; i < BATCH; i++) {
      const arrival = { low: randomLow(random, numbers, came), authentic: random.chance(0.9) };
      arrivals.push(arrival);
      came.push(arrival.low);
      verdicts.push(expected(tally, numbers, extended, arrival));
    }
    compare(arrivals, core.arrive(arrivals, extended), verdicts, about);
    expect(core.highest, about).toBe(numbers.highest);
    expect(core.guarded, about).toBe(true);
    if (size === null || !random.chance(0.15)) continue;
    const other = randomSize(random);
    resize(numbers, other, 0n);
    core.resize(other);
  }
}

function compare(
  arrivals: readonly Arrival[],
  got: readonly Verdict[],
  wanted: readonly Verdict[],
  about: string,
): void {
  const wrong = wanted.findIndex(({ reason, number }, i) => got[i]?.reason !== reason || got[i].number !== number);
  if (wrong < 0) return;
  const text = (of: Verdict | undefined): string => `${Reason[of?.reason ?? 0]} ${of?.number}`;
  expect.fail(`${arrivals[wrong]?.low}: core ${text(got[wrong])}, model ${text(wanted[wrong])}; ${about}`);
}
