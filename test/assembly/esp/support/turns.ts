/** What an ESP action is asked in a random test, and how its answers are held to the reference (test/oracle/esp/esp.ts). */
import { expect } from "vitest";
import { type Association, type EspSettings, associate, openFully, sealFully } from "../../../oracle/esp/esp.js";
import { type EspChange, modifyReference, reusesIv } from "../../../oracle/esp/modify.js";
import {
  disturbed,
  randomClear,
  randomEncapsulation,
  randomFull,
  randomKeymat,
  sealedFrame,
} from "../../../oracle/generate/esp.js";
import type { Random } from "../../../oracle/generate/random.js";
import { type Frame } from "../../../oracle/act/rewrite.js";
import { refused } from "../../../mlx5dv/support/directRules.js";
import type { EspBench, EspWork, Result } from "./bench.js";
import { frameText, type TestFrame } from "../../support/core.js";
import { checkReached } from "../../../support/tier.js";
import { hexOf } from "../../../../src/base/hex.js";

type Expected = Frame | string;

function textOf(made: Expected): string {
  return typeof made === "string" ? made : hexOf(made.bytes);
}

const resultText = (result: Result): string => ("lost" in result ? result.lost : hexOf(result.frame));

/** How often each thing became of a frame. */
export class Tally {
  readonly #counts = new Map<string, number>();

  note(made: Expected): void {
    const name = typeof made === "string" ? made : "good";
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  /** Noted so far. */
  get frames(): number {
    return [...this.#counts.values()].reduce((sum, one) => sum + one, 0);
  }

  report(name: string, wanted: readonly string[]): void {
    console.log(`${name}: ${[...this.#counts].map(([what, count]) => `${what} ${count}`).join(", ")}`);
    checkReached(() => expect(wanted.filter((what) => !this.#counts.has(what))).toEqual([]));
  }
}

/** Asks both the same, and compares what they say, and what they have counted. */
function compare(work: EspWork, sa: Association, frames: readonly Frame[], tally: Tally): void {
  const results = work.take(frames);
  for (const [i, frame] of frames.entries()) {
    const expected = sa.encrypt ? sealFully(sa, frame) : openFully(sa, frame);
    tally.note(expected);
    const got = resultText(results[i] as Result);
    if (got === textOf(expected)) continue;
    expect.fail(`engine ${got}\nreference ${textOf(expected)}\nframe ${frameText(frame)}\n${about(sa)}`);
  }
  const { number, iv, packets } = work.action.state;
  expect(packets).toBe(sa.packets);
  if (!sa.encrypt) expect(number).toBe(sa.numbers.highest);
  else if (sa.next < 2n ** (sa.esn === null ? 32n : 64n)) expect(number).toBe(sa.next);
  if (sa.encrypt && sa.iv < 2n ** 64n) expect(iv).toBe(sa.iv);
}

function about({ ready: _ready, ...sa }: Association): string {
  const plainly = (_key: string, value: unknown): unknown => {
    if (value instanceof Uint8Array) return hexOf(value);
    if (value instanceof Set) return [...(value as Set<unknown>)].map(String);
    return typeof value === "bigint" ? String(value) : value;
  };
  return JSON.stringify(sa, plainly);
}

/** A change of some parts, right for the mode. */
function randomChange(random: Random, sa: Association): EspChange {
  const change: EspChange = {};
  if (random.chance(0.4)) {
    const seq = random.chance(0.6) ? sa.seq : random.word();
    const hardLimit = random.chance(0.5) ? 0n : sa.packets + BigInt(random.below(6));
    change.attr = { spi: sa.spi, seq, tfcPad: random.pick([0, 5]), hardLimit, newWindow: false };
  }
  if (random.chance(0.3))
    change.keymat = random.chance(0.5)
      ? randomKeymat(random)
      : { ...sa.keymat, iv: sa.iv + BigInt(random.between(-2, 9)) };
  if (!sa.encrypt && random.chance(0.4)) change.replay = random.pick([null, 1, 32, 64, 77, 640]);
  if (random.chance(0.3)) change.encap = randomEncapsulation(random, sa.transport);
  if (sa.esn !== null && random.chance(0.2)) change.esn = random.pick([sa.esn, random.word()]);
  return change;
}

function modifyBoth(random: Random, work: EspWork, sa: Association): void {
  const change = randomChange(random, sa);
  if (change.keymat && change.keymat.iv !== BigInt.asUintN(64, change.keymat.iv)) return;
  const code = refused(() => work.modify(change))?.code;
  expect(code).toBe(reusesIv(sa, change) ? "EINVAL" : undefined);
  if (code === undefined) modifyReference(sa, change);
}

const plain = ({ bytes, linkType, wireLength }: TestFrame): Frame => ({
  bytes,
  linkType,
  wireLength,
  port: 1,
  parser: {},
});

/** An action that seals for some turns, changed in between. */
export function sealSome(random: Random, bench: EspBench, tally: Tally): void {
  const settings = randomFull(random, true);
  const [work, sa] = [bench.work(settings), associate(settings)];
  for (let turn = 0; turn < 3; turn++) {
    const frames = Array.from({ length: random.between(1, 8) }, () => plain(randomClear(random)));
    compare(work, sa, frames, tally);
    if (random.chance(0.5)) modifyBoth(random, work, sa);
  }
  work.end();
}

/** An action that opens whatever comes for some turns, changed in between. */
export function openSome(random: Random, bench: EspBench, tally: Tally): void {
  const settings = randomFull(random, false);
  const [work, sa] = [bench.work(settings), associate(settings)];
  const seen: Frame[] = [];
  for (let turn = 0; turn < 3; turn++) {
    compare(work, sa, arrivals(random, sa, seen), tally);
    if (random.chance(0.4)) modifyBoth(random, work, sa);
  }
  work.end();
}

/** Numbers around the highest one so far: ahead, inside the window and at its edges, at the limit of jumps. */
function randomNear(random: Random, { numbers, esn }: Association): bigint {
  const size = numbers.size ?? 64n;
  const far = 2n ** 31n;
  const by = random.pick([
    1n,
    1n,
    1n,
    2n,
    BigInt(random.below(200)),
    -BigInt(random.below(80)),
    0n,
    -size,
    1n - size,
    far,
    far + 1n,
  ]);
  const number = numbers.highest + by;
  return BigInt.asUintN(esn === null ? 32 : 64, number < 0n ? 0n : number);
}

/** Frames of a partner who has the same association, and others; some of them broken, or for the second time. */
function arrivals(random: Random, sa: Association, seen: Frame[]): Frame[] {
  const frames: Frame[] = [];
  const count = random.pick([1, 3, 12, 40]);
  let ahead = { ...sa, numbers: { ...sa.numbers } };
  while (frames.length < count) {
    if (seen.length > 0 && random.chance(0.12)) frames.push(random.pick(seen));
    const partner: Association = { ...sa, ...other(random, sa) };
    partner.next = randomNear(random, ahead);
    partner.iv = random.bits(64);
    const clear = plain(randomClear(random));
    const made = random.chance(0.95) ? sealedFrame(random, partner, clear) : clear;
    if (!made) continue;
    // As if it were authenticated, so that the frames of a batch go on from each other.
    if (partner.next > ahead.numbers.highest && partner.next - ahead.numbers.highest < 1000n)
      ahead = { ...ahead, numbers: { ...ahead.numbers, highest: partner.next } };
    const frame = plain(disturbed(random, { ...made, wireLength: made.bytes.length }));
    frames.push(frame);
    seen.push(frame);
  }
  return frames;
}

/** Once in a while the partner has something else than the association. */
function other(random: Random, { transport }: Association): Partial<EspSettings> {
  if (!random.chance(0.08)) return {};
  return random.pick<Partial<EspSettings>>([
    { spi: random.word() },
    { encap: randomEncapsulation(random, transport) },
    { esn: random.pick([null, random.word()]) },
  ]);
}
