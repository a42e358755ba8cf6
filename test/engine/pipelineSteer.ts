/** Frames through a random device and through its reference: what is steered, how near it is to rules, what is compared. */
import { expect } from "vitest";
import type { Outcome } from "../../src/index.js";
import type { QueuePair } from "../../src/model/queues.js";
import { type Base, drawBase, walkBase } from "../oracle/generatePipeline.js";
import type { Fields } from "../oracle/match.js";
import { type PipelineRule, tableNamed } from "../oracle/pipeline.js";
import type { Observer, PipelineOutcome } from "../oracle/pipelineWalk.js";
import { count } from "../verbs/flowWorld.js";
import { compareCounts, type PipelineWorld } from "./pipelineWorld.js";
import { frameText } from "./support.js";

/** Of each frame that rules are made for, so many with one bit flipped. */
const FLIPPED = 2;
const OTHERS = 4;

export interface Counts {
  frames: number;
  /** Tables that frames came to. */
  lookups: number;
  hits: number;
  /** Tables where a rule would hit but for one bit. */
  bits: number;
  /** Frames that were split. */
  split: number;
}

export function newCounts(): Counts {
  return { frames: 0, lookups: 0, hits: 0, bits: 0, split: 0 };
}

/** Frames that rules are made for, and the same with one bit flipped. */
export function drawNear(world: PipelineWorld): Base[] {
  return world.bases.flatMap((base) => [base, ...Array.from({ length: FLIPPED }, () => flip(base, world))]);
}

/** Those, and others. */
export function withOthers(world: PipelineWorld, near: readonly Base[]): Base[] {
  return world.random.shuffle([...near, ...Array.from({ length: OTHERS }, () => drawBase(world))]);
}

/** One bit of the headers, as they usually are. */
export function flip(base: Base, { random }: PipelineWorld): Base {
  const bytes = base.frame.bytes.slice();
  const at = random.below(Math.min(bytes.length, 100));
  if (bytes.length > 0) bytes[at]! ^= 1 << random.below(8);
  return { ...base, frame: { ...base.frame, bytes } };
}

type Compared = Pick<PipelineOutcome, "verdict" | "reason" | "tag" | "registers" | "rules"> & {
  to: { name: string; tag: number; bytes: Uint8Array }[];
};

const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

const sorted = (registers: Readonly<Record<string, number>>): Record<string, number> =>
  Object.fromEntries(Object.entries(registers).sort(([a], [b]) => (a < b ? -1 : 1)));

function compared({ names }: PipelineWorld, outcome: Outcome): Compared {
  const { verdict, reason, tag } = outcome;
  return {
    ...{ verdict, reason, tag, registers: sorted(outcome.registers) },
    rules: outcome.rules.map((rule) => names.get(rule) ?? "?"),
    to: outcome.to.map(({ name, tag: own, frame }) => ({ name, tag: own, bytes: frame })),
  };
}

/** Steers frames on both sides, and compares what became of them. */
export function steer(world: PipelineWorld, drawn: readonly Base[], counts: Counts): void {
  const { random, device, queues, tally } = world;
  const before = device.reasons();
  world.world.reasons.clear();
  const batches = new Map<number, { base: Base; wanted: PipelineOutcome }[]>();
  for (const base of drawn) {
    const { frame, sender, metadata } = base;
    const wanted = walkBase(world.world, base, note(world, counts));
    counts.frames++;
    if (wanted.to.length > 1) counts.split++;
    count(tally, `${sender === null ? "received" : "sent"}: ${wanted.verdict} ${wanted.reason ?? ""}`.trim());
    for (const register of Object.keys(wanted.registers)) count(tally, `register ${register}`);
    if (sender !== null) {
      agree(world, base, device.send(queues.get(sender) as QueuePair, frame.bytes, { metadata }), wanted);
    } else if (random.chance(0.3)) {
      agree(world, base, device.receive(frame.port, frame.bytes, frame), wanted);
    } else batches.set(frame.port, [...(batches.get(frame.port) ?? []), { base, wanted }]);
  }
  for (const [port, list] of batches) {
    const frames = list.map(({ base }) => base.frame);
    const bytes = frames.map((frame) => frame.bytes);
    const outcomes = device.receiveBatch(port, bytes, frames);
    for (const [i, { base, wanted }] of list.entries()) agree(world, base, outcomes[i] as Outcome, wanted);
  }
  compareReasons(world, before);
  compareCounts(world);
}

function compareReasons({ device, world, tally }: PipelineWorld, before: Record<string, bigint>): void {
  const grown = Object.entries(device.reasons()).filter(([name, times]) => times !== before[name]);
  const ours = grown.map(([name, times]): [string, bigint] => [name, times - (before[name] ?? 0n)]);
  expect(new Map(ours)).toEqual(world.reasons);
  for (const [name, times] of world.reasons) count(tally, `reason ${name}`, Number(times));
}

/** How near rules are to frames. */
function note({ world }: PipelineWorld, counts: Counts): Observer {
  return (table, fields, hit) => {
    counts.lookups++;
    if (hit) counts.hits++;
    if (table.startsWith("host:")) return;
    if (tableNamed(world, table).rules.some((rule) => missesByOneBit(fields, rule))) counts.bits++;
  };
}

function missesByOneBit(fields: Fields, { terms }: PipelineRule): boolean {
  let wrong = 0n;
  for (const { field, mask, value } of terms) {
    const own = fields.get(field);
    if (own === undefined) return false;
    const bits = (own ^ value) & mask;
    if (bits === 0n) continue;
    if (wrong !== 0n || (bits & (bits - 1n)) !== 0n) return false;
    wrong = bits;
  }
  return wrong !== 0n;
}

function same(ours: Compared, theirs: Compared): boolean {
  const rest = ({ verdict, reason, tag, registers, rules, to }: Compared): string =>
    JSON.stringify([verdict, reason, tag, registers, rules, to.map(({ name, tag: own }) => [name, own])]);
  if (rest(ours) !== rest(theirs)) return false;
  return ours.to.every(({ bytes }, i) => equalBytes(bytes, theirs.to[i]?.bytes ?? new Uint8Array()));
}

function equalBytes(ours: Uint8Array, theirs: Uint8Array): boolean {
  return ours.length === theirs.length && ours.every((byte, i) => byte === theirs[i]);
}

function agree(world: PipelineWorld, base: Base, outcome: Outcome, wanted: PipelineOutcome): void {
  const ours = compared(world, outcome);
  const theirs: Compared = { ...wanted, registers: sorted(wanted.registers) };
  if (same(ours, theirs)) return;
  expect.fail(`${differences(ours, theirs)}\n${sentText(base)}\n${tablesOf(world, base)}`);
}

const text = (value: unknown): string =>
  JSON.stringify(value, (_key, one: unknown) =>
    typeof one === "bigint" ? `0x${one.toString(16)}` : one instanceof Uint8Array ? hex(one) : one,
  );

function differences(ours: Compared, theirs: Compared): string {
  const names = Object.keys(theirs) as (keyof Compared)[];
  const lines = names.map((name) => {
    const [one, other] = [text(ours[name]), text(theirs[name])];
    if (one === other) return name === "to" ? "to: the same" : `${name} ${one}`;
    if (name !== "to") return `${name}: engine ${one}\n    reference ${other}`;
    const differ = Array.from({ length: Math.max(ours.to.length, theirs.to.length) }, (_, i) => i).filter(
      (i) => text(ours.to[i]) !== text(theirs.to[i]),
    );
    return differ.map((i) => `to[${i}]: engine ${text(ours.to[i])}\n    reference ${text(theirs.to[i])}`).join("\n");
  });
  return lines.join("\n");
}

function sentText({ frame, sender, metadata }: Base): string {
  return `${sender === null ? "received" : `sent by ${sender}, metadata ${metadata}`}: ${frameText(frame)}`;
}

/** The rules that the frame hit, in the reference's words. */
function tablesOf({ world }: PipelineWorld, base: Base): string {
  const lines = new Set<string>();
  const aside = { ...world, counters: new Map<string, never>(), reasons: new Map<string, bigint>() };
  walkBase(aside, base, (table, _fields, hit, frame) => {
    lines.add(`${table} (${hex(frame.bytes)}): ${hit ? text({ ...hit, rank: undefined }) : "nobody"}`);
  });
  return [...lines].join("\n");
}
