/** Frames through a random device and through its reference: what is steered, how near it is to rules, what is compared. */
import { expect } from "vitest";
import type { Destination, MissedTable, Outcome } from "../../../src/index.js";
import type { FrameOptions } from "../../../src/model/traffic/input.js";
import type { QueuePair } from "../../../src/model/queuePair/queuePair.js";
import { aside, type Base, drawBase, walkBase } from "../../oracle/generate/pipeline.js";
import { nextTime } from "../../oracle/generate/meter.js";
import { METERS, REGISTERS } from "../../oracle/generate/state.js";
import { type Fields, rangeMatches, type Term } from "../../oracle/walk/match.js";
import { type PipelineRule, tableNamed } from "../../oracle/walk/pipeline.js";
import type { Random } from "../../oracle/generate/random.js";
import type { Observer, PipelineOutcome } from "../../oracle/walk/pipelineWalk.js";
import { count } from "../../verbs/support/flowWorld.js";
import { receiveByBursts } from "./bursts.js";
import { compareState } from "./pipelineStateActions.js";
import { compareCounts, drawSegment, type PipelineWorld } from "./pipelineWorld.js";
import { frameText } from "./core.js";

/** Of each frame that rules are made for, so many with one bit flipped. */
const FLIPPED = 2;
const OTHERS = 4;
const SEGMENTS = 12;

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

/** Says how near rules were to frames, and what happened how often. */
export function report({ frames, lookups, hits, bits, split }: Counts, tally: ReadonlyMap<string, number>): void {
  const percent = (part: number, whole: number): number => Math.round((1000 * part) / whole) / 10;
  const lines = [...tally].sort().map(([what, times]) => `${what} ${times}`);
  console.log(
    `${frames} frames, ${percent(split, frames)} % split; ${lookups} tables come to: ${percent(hits, lookups)} % hit, ` +
      `${percent(bits, lookups)} % miss a rule by one bit\n${lines.join(", ")}`,
  );
}

/** Frames that rules are made for, and the same with one bit flipped. */
export function drawNear(world: PipelineWorld): Base[] {
  return world.bases.flatMap((base) => [base, ...Array.from({ length: FLIPPED }, () => flip(base, world))]);
}

/** Those, and others: of connections too, where there are any. */
export function withOthers(world: PipelineWorld, near: readonly Base[]): Base[] {
  const segments = world.memory ? Array.from({ length: SEGMENTS }, () => drawSegment(world)) : [];
  return world.random.shuffle([...near, ...segments, ...Array.from({ length: OTHERS }, () => drawBase(world))]);
}

/** One bit of the headers, as they usually are. */
export function flip(base: Base, { random }: PipelineWorld): Base {
  const bytes = base.frame.bytes.slice();
  const at = random.below(Math.min(bytes.length, 100));
  if (bytes.length > 0) bytes[at]! ^= 1 << random.below(8);
  return { ...base, frame: { ...base.frame, bytes } };
}

type Compared = Pick<
  PipelineOutcome,
  "verdict" | "reason" | "tag" | "registers" | "rules" | "to" | "copies" | "missed"
>;

const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

const sorted = (registers: Readonly<Record<string, number>>): Record<string, number> =>
  Object.fromEntries(Object.entries(registers).sort(([a], [b]) => (a < b ? -1 : 1)));

const arrival = ({ name, tag, frame: bytes }: Destination): PipelineOutcome["to"][number] => ({ name, bytes, tag });

/** The name of the reference for a table that was missed. */
function missedName(tables: PipelineWorld["tables"], { domain, vport, table }: MissedTable): string {
  if (table === "root") return `${domain}:${vport}`;
  for (const [name, one] of tables) if (one.name === table && one.type === domain) return name;
  return table;
}

/** Of several branches the table of the FDB is not compared: the engine keeps that of the last. */
function missedOf(missed: readonly string[], several: boolean): string[] {
  return several ? missed.slice(-1) : [...missed];
}

/**
 * An outcome in the terms of the reference.
 * @param several it came from several branches
 */
export function plainOutcome({ names, tables }: PipelineWorld, outcome: Outcome, several = false): Compared {
  const { verdict, reason, tag } = outcome;
  return {
    verdict,
    reason,
    tag,
    registers: sorted(outcome.registers),
    rules: outcome.rules.map((rule) => names.get(rule) ?? "?"),
    to: outcome.to.map(arrival),
    copies: outcome.copies.map(arrival),
    missed: missedOf(
      outcome.missed.map((missed) => missedName(tables, missed)),
      several,
    ),
  };
}

/** Steers frames on both sides, and compares what became of them. */
export function steer(world: PipelineWorld, drawn: readonly Base[], counts: Counts): void {
  const { random, device, queues, tally } = world;
  const before = device.reasons();
  world.world.reasons.clear();
  for (const call of callsOf(random, drawn)) {
    if (world.memory) tick(world, call);
    const wanted = call.map((base) => {
      const outcome = walkBase(world.world, base, note(world, counts));
      tallyOutcome(tally, base, outcome);
      counts.frames++;
      if (outcome.to.length > 1) counts.split++;
      return outcome;
    });
    const [{ sender, metadata, frame }] = call;
    const outcomes =
      sender !== null
        ? [device.send(queues.get(sender) as QueuePair, frame.bytes, { metadata })]
        : receive(world, call);
    for (const [i, base] of call.entries()) agree(world, base, outcomes[i] as Outcome, wanted[i] as PipelineOutcome);
  }
  compareReasons(world, before);
  compareCounts(world);
  if (world.memory) compareState(world.memory, world.world.state);
}

/** Frames of one call of the device. */
type Call = [Base, ...Base[]];

/** One by one, or with others for a port: as many as there are, or fewer. */
function callsOf(random: Random, drawn: readonly Base[]): Call[] {
  const calls: Call[] = [];
  const batches = new Map<number, Call>();
  for (const base of drawn) {
    const batch = batches.get(base.frame.port);
    if (batch && base.sender === null && random.chance(0.9)) {
      batch.push(base);
      continue;
    }
    const call: Call = [base];
    calls.push(call);
    if (base.sender === null && random.chance(0.7)) batches.set(base.frame.port, call);
  }
  return calls;
}

/** In one call, or by bursts. */
function receive({ random, device, bursts }: PipelineWorld, call: Call): Outcome[] {
  if (random.chance(0.5)) {
    const frames = call.map(({ frame, time }) => ({ ...frame, time }));
    return receiveByBursts(random, bursts, frames);
  }
  return device.receiveBatch(
    call[0].frame.port,
    call.map((base) => base.frame.bytes),
    call.map(optionsOf),
  );
}

function optionsOf({ frame: { linkType, wireLength }, time }: Base): FrameOptions {
  return { linkType, wireLength, ...(time === undefined ? {} : { time }) };
}

/** Steps of the clock beyond this are left to the times of frames, so that a long life does not end the clock. */
const MAX_STEP = 1n << 41n;

/** The clock stands still or goes on; frames have it, or times of their own, which go back too. */
function tick({ random, world: { state } }: PipelineWorld, call: Call): void {
  const rates = [...state.meters.values()].slice(0, METERS).flatMap(({ parameters: { cir, eir } }) => [cir, eir]);
  const next = nextTime(random, state.now, rates);
  if (next > state.now && next - state.now < MAX_STEP) state.now = next;
  for (const base of call) {
    if (base.sender === null && random.chance(0.5)) base.time = nextTime(random, state.now, rates);
    else delete base.time;
  }
}

function tallyOutcome(tally: Map<string, number>, { sender }: Base, outcome: PipelineOutcome): void {
  count(tally, `${sender === null ? "received" : "sent"}: ${outcome.verdict} ${outcome.reason ?? ""}`.trim());
  for (const register of Object.keys(outcome.registers)) count(tally, `register ${register}`);
  for (const { name } of outcome.copies) count(tally, `sampled to ${name.replace(/^.*\/|:.*/g, "")}`);
}

function compareReasons({ device, world, tally }: PipelineWorld, before: Record<string, bigint>): void {
  const grown = Object.entries(device.reasons()).filter(([name, times]) => times !== before[name]);
  const ours = grown.map(([name, times]): [string, bigint] => [name, times - (before[name] ?? 0n)]);
  expect(new Map(ours)).toEqual(world.reasons);
  for (const [name, times] of world.reasons) count(tally, `reason ${name}`, Number(times));
}

/** How near rules are to frames. */
function note({ world, tally }: PipelineWorld, counts: Counts): Observer {
  return (table, fields, hit) => {
    counts.lookups++;
    if (hit) counts.hits++;
    if (table.startsWith("host:")) return;
    if (hit?.id.startsWith("f")) count(tally, "flow hit");
    if (hit?.actions.some(({ kind }) => kind === "drop") && hit.terms.some(asksState)) count(tally, "dropped by state");
    if (tableNamed(world, table).rules.some((rule) => missesByOneBit(fields, rule))) counts.bits++;
  };
}

/** What actions that remember tell. */
function asksState({ field, mask }: Term): boolean {
  return REGISTERS.some((register) => field === `misc2.metadata_reg_c_${register}`) && (mask & 0xffn) !== 0n;
}

function missesByOneBit(fields: Fields, { terms, ranges }: PipelineRule): boolean {
  if (!ranges.every((range) => rangeMatches(fields, range))) return false;
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
  const names = (list: Compared["to"]): unknown[] => list.map(({ name, tag }) => [name, tag]);
  const rest = ({ verdict, reason, tag, registers, rules, to, copies, missed }: Compared): string =>
    JSON.stringify([verdict, reason, tag, registers, rules, names(to), names(copies), missed]);
  if (rest(ours) !== rest(theirs)) return false;
  const all = [...theirs.to, ...theirs.copies];
  return [...ours.to, ...ours.copies].every(({ bytes }, i) => equalBytes(bytes, all[i]!.bytes));
}

function equalBytes(ours: Uint8Array, theirs: Uint8Array): boolean {
  return ours.length === theirs.length && ours.every((byte, i) => byte === theirs[i]);
}

function agree(world: PipelineWorld, base: Base, outcome: Outcome, wanted: PipelineOutcome): void {
  const { several, ...rest } = wanted;
  const ours = plainOutcome(world, outcome, several);
  const theirs: Compared = {
    ...rest,
    registers: sorted(rest.registers),
    missed: missedOf(rest.missed, several),
  };
  if (same(ours, theirs)) return;
  expect.fail(`${differences(ours, theirs)}\n${sentText(base)}\n${tablesOf(world, base)}`);
}

const text = (value: unknown): string =>
  JSON.stringify(value, (_key, one: unknown) =>
    typeof one === "bigint" ? `0x${one.toString(16)}` : one instanceof Uint8Array ? hex(one) : one,
  );

function differences(ours: Compared, theirs: Compared): string {
  const names = Object.keys(theirs) as (keyof Compared)[];
  return names
    .map((name) => {
      if (name === "to" || name === "copies") return arrivalsDiffer(name, ours[name], theirs[name]);
      const [one, other] = [text(ours[name]), text(theirs[name])];
      return one === other ? `${name} ${one}` : `${name}: engine ${one}\n    reference ${other}`;
    })
    .join("\n");
}

/** The first that differs. */
function arrivalsDiffer(name: string, ours: Compared["to"], theirs: Compared["to"]): string {
  const sizes = `${name}: ${ours.length} of the engine, ${theirs.length} of the reference`;
  const longest = Math.max(ours.length, theirs.length);
  for (let i = 0; i < longest; i++) {
    const [one, other] = [text(ours[i]), text(theirs[i])];
    if (one !== other) return `${sizes}\n${name}[${i}]: engine ${one}\n    reference ${other}`;
  }
  return `${sizes}, the same`;
}

function sentText({ frame, sender, metadata }: Base): string {
  return `${sender === null ? "received" : `sent by ${sender}, metadata ${metadata}`}: ${frameText(frame)}`;
}

/** The rules that the frame hit, in the reference's words. */
function tablesOf({ world }: PipelineWorld, base: Base): string {
  const lines = new Set<string>();
  walkBase(aside(world), base, (table, _fields, hit, frame) => {
    lines.add(`${table} (${hex(frame.bytes)}): ${hit ? text({ ...hit, rank: undefined }) : "nobody"}`);
  });
  return [...lines].join("\n");
}
