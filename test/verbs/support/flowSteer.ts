/**
 * Steers frames through a random device and its reference: the frames, their distance to flows, the
 * comparison.
 */
import { expect } from "vitest";
import { LINK_TYPES, type Outcome } from "../../../src/index.js";
import type { QueuePair } from "../../../src/model/queuePair/queuePair.js";
import { receiveByBursts } from "../../assembly/support/bursts.js";
import { frameText, type TestFrame } from "../../assembly/support/core.js";
import { receiveReference, sendReference, type FlowOutcome } from "../../oracle/flow/walk.js";
import { type Entry, TYPE } from "../../oracle/flow/flows.js";
import { specsMatch } from "../../oracle/flow/spec.js";
import { type Random, randomFrame } from "../../oracle/generate/frame.js";
import { type Fields, termMatches } from "../../oracle/walk/match.js";
import { compareCounters, count, type Parsed, parsed, portOf, QUEUES, text, type World } from "./flowWorld.js";

/** Number of variants with one flipped bit, for each frame that flows are made for. */
const FLIPPED = 2;
const OTHERS = 4;

/** Number of frames, and of pairs of a frame and an existing flow. */
export interface Counts {
  frames: number;
  hits: number;
  pairs: number;
  /** Pairs that match. */
  matching: number;
  /** Pairs of a flow and a frame that differ in one bit of the flow's value. */
  flowBits: number;
  /** Pairs of an entry and a frame that would match without one flipped bit of the frame. */
  frameBits: number;
}

export function newCounts(): Counts {
  return { frames: 0, hits: 0, pairs: 0, matching: 0, flowBits: 0, frameBits: 0 };
}

export interface Drawn extends Parsed {
  /** The frame before a bit was flipped. */
  base: Parsed | null;
}

export function drawFrames({ random, bases }: World): Drawn[] {
  const flipped = bases.flatMap((base) =>
    Array.from({ length: FLIPPED }, () => ({ ...parsed(flip(base.frame, random)), base })),
  );
  const others = Array.from({ length: OTHERS }, () => ({ ...parsed(randomFrame(random)), base: null }));
  return random.shuffle([...bases.map((one) => ({ ...one, base: null })), ...flipped, ...others]);
}

/** One bit of the headers, as they usually are. */
function flip(frame: TestFrame, random: Random): TestFrame {
  const bytes = frame.bytes.slice();
  const at = random.below(Math.min(bytes.length, 100));
  if (bytes.length > 0) bytes[at]! ^= 1 << random.below(8);
  return { ...frame, bytes };
}

type Compared = Pick<FlowOutcome, "verdict" | "reason" | "tag" | "arrivals" | "rules">;

const arrivalsOf = ({ to, copies }: Outcome): Compared["arrivals"] =>
  [...copies, ...to]
    .filter(({ kind }) => kind !== "port")
    .map(({ kind, name, tag }) => ({ qp: kind === "qp" ? name.slice("qp:".length) : name, tag }));

function compared({ names }: World, outcome: Outcome): Compared {
  const { verdict, reason, tag } = outcome;
  const rules = outcome.rules.map((rule) => names.get(rule) ?? "?");
  return { verdict: verdict as Compared["verdict"], reason, tag, arrivals: arrivalsOf(outcome), rules };
}

/** Queue pairs send complete Ethernet frames of their port. */
function senderOf({ bytes, port, linkType, wireLength }: TestFrame, random: Random): string | null {
  if (linkType !== LINK_TYPES.ETHERNET || bytes.length < 14 || bytes.length !== wireLength) return null;
  return random.chance(0.4) ? random.pick(QUEUES.filter((name) => portOf(name) === port)) : null;
}

/** Steers frames through both, and compares the results. */
export function steer(world: World, drawn: readonly Drawn[], counts: Counts): void {
  const { random, device, state, queues, tally } = world;
  const batches = new Map<number, { one: Drawn; wanted: FlowOutcome }[]>();
  const refusedBefore = device.reasons().copy_limit;
  let refused = 0;
  for (const one of drawn) {
    const { frame, fields } = one;
    const port = frame.port ?? 1;
    const given = { fields, port, wireLength: frame.wireLength };
    const from = senderOf(frame, random);
    const wanted = from === null ? receiveReference(state, given) : sendReference(state, given, from);
    refused += wanted.refused;
    note(world, counts, one, wanted);
    count(tally, `${from === null ? "received" : "sent"}: ${wanted.verdict} ${wanted.reason ?? ""}`.trim());
    if (from !== null) {
      const outcome = device.send(queues.get(from) as QueuePair, frame.bytes);
      const left = outcome.to.some(({ kind }) => kind === "port");
      expect([left, from]).toEqual([wanted.verdict === "transmit", from]);
      agree(world, one, from, compared(world, outcome), wanted);
    } else if (random.chance(0.3))
      agree(world, one, null, compared(world, device.receive(port, frame.bytes, frame)), wanted);
    else batches.set(port, [...(batches.get(port) ?? []), { one, wanted }]);
  }
  for (const [port, list] of batches) {
    const frames = list.map(({ one }) => one.frame);
    const outcomes = random.chance(0.5)
      ? receiveByBursts(random, world.bursts, frames)
      : device.receiveBatch(
          port,
          frames.map(({ bytes }) => bytes),
          frames,
        );
    for (const [i, { one, wanted }] of list.entries())
      agree(world, one, null, compared(world, outcomes[i] as Outcome), wanted);
  }
  if (refused > 0) count(tally, "copies refused", refused);
  expect(device.reasons().copy_limit - refusedBefore).toBe(BigInt(refused));
  compareCounters(world);
}

function agree({ state }: World, { frame }: Drawn, from: string | null, ours: Compared, wanted: FlowOutcome): void {
  const { verdict, reason, tag, rules } = wanted;
  const theirs: Compared = { verdict, reason, tag, arrivals: [...wanted.arrivals], rules };
  // The queues of one entry have no order, which a frame that returns to some of them shows.
  if (from !== null) for (const { arrivals } of [ours, theirs]) arrivals.sort((a, b) => (text(a) < text(b) ? -1 : 1));
  if (text(ours) === text(theirs)) return;
  const flows = [...state.flows.values(), ...state.rootRules, ...state.hostRules].map(text).join("\n");
  expect.fail(`${from ?? "received"}: engine ${text(ours)}\nreference ${text(theirs)}\n${flows}\n${frameText(frame)}`);
}

const asks = ({ port, terms }: Entry, fields: Fields): boolean =>
  fields.get("ext.port") === BigInt(port) && terms.every((term) => termMatches(fields, term));

/** The distance of the flows to a frame. */
function note({ state, near }: World, counts: Counts, { frame, fields, base }: Drawn, { rules }: FlowOutcome): void {
  counts.frames++;
  const trapping = rules.filter((id) => id.startsWith("f") && state.flows.get(id)?.type !== TYPE.SNIFFER);
  if (trapping.length > 0) counts.hits++;
  counts.pairs += state.flows.size;
  for (const entry of state.entries) {
    if (asks(entry, fields)) counts.matching += entry.flows.length;
    else if (base !== null && asks(entry, base.fields)) counts.frameBits++;
  }
  for (const [id, one] of near) {
    const flow = state.flows.get(id);
    if (one.frame !== frame || flow?.type !== TYPE.NORMAL || flow.port !== frame.port) continue;
    if (!specsMatch(fields, flow.specs)) counts.flowBits++;
  }
}
