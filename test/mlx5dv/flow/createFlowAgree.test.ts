/**
 * Random devices with flows of mlx5dv_create_flow in all types of tables, every type of action,
 * flow tables of device commands and anchors, under insertions and removals. For received frames,
 * alone and in batches, and for sent frames: verdicts, bytes, tags and registers on arrival, hits,
 * and every counter agree with the reference, and so does every refusal.
 */
import { expect, test } from "vitest";
import type { Destination, Outcome } from "../../../src/index.js";
import { PendingWork } from "../../../src/model/traffic/outcomeReader.js";
import type { QueuePair } from "../../../src/model/queuePair/queuePair.js";
import { frameText, seedFor } from "../../assembly/support/core.js";
import { FLOW_TABLES } from "../../oracle/flow/deviceFlows.js";
import { type Arrival, comesTo, type FlowOutcome, type Observer } from "../../oracle/flow/deviceFlowWalk.js";
import { Random } from "../../oracle/generate/frame.js";
import { type Base, walkBase } from "../../oracle/generate/deviceFlow.js";
import { type Fields, type Term } from "../../oracle/walk/match.js";
import { WIRE } from "../../oracle/walk/pipeline.js";
import { count, text } from "../../verbs/support/flowWorld.js";
import {
  addSome,
  compareCounters,
  type CreateFlowWorld,
  makeCreateFlowWorld,
  randomBases,
  removeAll,
  removeSome,
} from "../support/createFlowWorld.js";
import { checkReached, rounds } from "../../support/tier.js";

/** Number of frames. */
const FRAMES = rounds(10_000);
const ROUNDS = 6;

/**
 * Pairs of a flow and a frame that enters its table: those that match, and those that differ in one
 * bit.
 */
interface Counts {
  frames: number;
  hits: number;
  pairs: number;
  matching: number;
  byOneBit: number;
}

test(`${FRAMES} frames`, async () => {
  const random = new Random(seedFor("mlx5dv_create_flow"));
  const tally = new Map<string, number>();
  const counts: Counts = { frames: 0, hits: 0, pairs: 0, matching: 0, byOneBit: 0 };
  while (counts.frames < FRAMES) {
    const world = await makeCreateFlowWorld(random, tally);
    for (let round = 0; round < ROUNDS; round++) {
      addSome(world);
      steer(world, drawFrames(world), counts);
      removeSome(world);
    }
    removeAll(world);
    expect(world.device.memoryUsed).toBe(world.empty);
  }
  const { frames, hits, pairs, matching, byOneBit } = counts;
  const percent = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(1)} %`;
  console.log(
    `${frames} frames, of which flows are hit by ${percent(hits, frames)}; ${pairs} pairs of frame and flow: ` +
      `${percent(matching, pairs)} match, ${byOneBit} miss by one bit`,
  );
  const list = [...tally].sort().map(([what, times]) => `${what} ${times}`);
  console.log(list.join(", "));
  checkReached(() => {
    expect(hits / frames).toBeGreaterThan(0.3);
    expect(matching).toBeGreaterThan(FRAMES / 4);
    expect(byOneBit).toBeGreaterThan(FRAMES / 40);
    for (const what of REACHED) expect([...tally.keys()]).toContain(what);
  });
});

const REACHED = [
  ...Object.keys(FLOW_TABLES).map((type) => `${type} made`),
  ...["NIC_RX EEXIST", "NIC_TX EEXIST", "FDB EEXIST", "RDMA_RX EEXIST"],
  ...Array.from({ length: 9 }, (_, type) => `action ${type}`),
  ...["allow", "drop", "queue", "table", "anchor", "vport"].map((kind) => `entry ${kind}`),
  ...Object.keys(FLOW_TABLES).flatMap((type) => ["allow", "drop", "table"].map((kind) => `entry of ${type} ${kind}`)),
  ...["deliver", "drop drop_action", "drop no_destination", "drop table_miss", "miss no_rule", "miss default_miss"].map(
    (what) => `received: ${what}`,
  ),
  ...["transmit", "deliver", "drop drop_action"].map((what) => `sent: ${what}`),
];

/** The frames that flows are made for, the same with one bit flipped, and others. */
function drawFrames(world: CreateFlowWorld): Base[] {
  const { random, bases } = world;
  const flipped = bases.flatMap((base) => [base, base].map((one) => flip(one, random)));
  return random.shuffle([...bases, ...flipped, ...randomBases(world, 4)]);
}

function flip(base: Base, random: Random): Base {
  const bytes = base.frame.bytes.slice();
  const at = random.below(Math.min(bytes.length, 100));
  if (bytes.length > 0) bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
  return { ...base, frame: { ...base.frame, bytes } };
}

function steer(world: CreateFlowWorld, frames: readonly Base[], counts: Counts): void {
  const { device, random, tally } = world;
  const batch: { base: Base; wanted: FlowOutcome }[] = [];
  for (const base of frames) {
    const wanted = walkBase(world.world, base, near(world, base, counts));
    counts.frames++;
    if (wanted.rules.some((id) => id.startsWith("f"))) counts.hits++;
    const { verdict, reason } = wanted;
    count(tally, `${base.sender === null ? "received" : "sent"}: ${verdict} ${reason ?? ""}`.trim());
    if (base.sender !== null) agree(world, base, send(world, base), wanted);
    else if (random.chance(0.3))
      agree(world, base, device.receive(base.frame.port, base.frame.bytes, base.frame), wanted);
    else batch.push({ base, wanted });
  }
  for (const port of [1, 2]) {
    const list = batch.filter(({ base }) => base.frame.port === port);
    const given = list.map(({ base }) => base.frame);
    const outcomes = device.receiveBatch(
      port,
      given.map(({ bytes }) => bytes),
      given,
    );
    for (const [i, { base, wanted }] of list.entries()) agree(world, base, outcomes[i] as Outcome, wanted);
  }
  compareCounters(world);
}

function send({ device, queues }: CreateFlowWorld, { frame, sender }: Base): Outcome {
  const queue = queues.get(sender?.queue ?? "") as QueuePair;
  const { vport = 0, metadata = 0, transport = false } = sender ?? {};
  if (!transport) return device.send(queue, frame.bytes, { metadata });
  // Sends as a queue pair with a transport does; gives the result of the frame before the port.
  const from = device.function(vport);
  const after = new PendingWork();
  const [outcome] = device.traffic.send(from, frame.port, [frame.bytes], after, {
    qp_num: queue.qp_num,
    transport: true,
  });
  return outcome as Outcome;
}

/** The distance of flows to the frames that enter their table. */
function near({ world }: CreateFlowWorld, { sender, frame }: Base, counts: Counts): Observer {
  const origin = { vport: sender?.vport ?? WIRE, port: frame.port, sqn: 0, metadata: 0 };
  return (at, fields) => {
    if (!("stage" in at)) return;
    for (const flow of world.flows.values()) {
      if (flow.type !== at.stage || flow.vport !== at.vport || !comesTo(flow, fields, origin)) continue;
      const bits = flow.terms.reduce((sum, term) => sum + bitsOff(fields, term), 0);
      counts.pairs++;
      if (bits === 0) counts.matching++;
      if (bits === 1) counts.byOneBit++;
    }
  };
}

/**
 * The number of bits in which a field differs from a term; a large number if the field is absent.
 */
function bitsOff(fields: Fields, { field, mask, value }: Term): number {
  const found = fields.get(field);
  if (mask === 0n) return 0;
  if (found === undefined) return 1000;
  return ((found ^ value) & mask).toString(2).replaceAll("0", "").length;
}

const arrivals = (list: readonly (Destination | Arrival)[]): string[] =>
  list.map((one) => {
    const bytes = "bytes" in one ? one.bytes : one.frame;
    return `${one.name} ${one.tag} ${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
  });

function compared(outcome: Outcome | FlowOutcome, rules: readonly string[]): object {
  const { verdict, reason, registers } = outcome;
  // The tag belongs to the receiver of the frame.
  const tag = verdict === "deliver" || verdict === "transmit" ? outcome.tag : null;
  // The queues of one entry have no order.
  const [to, copies] = [outcome.to, outcome.copies].map((list) => arrivals(list).sort());
  return { verdict, reason, tag, registers: Object.entries(registers).sort(), to, copies, rules };
}

function agree({ names, world }: CreateFlowWorld, { frame, sender }: Base, ours: Outcome, theirs: FlowOutcome): void {
  const own = text(
    compared(
      ours,
      ours.rules.map((rule) => names.get(rule) ?? "?"),
    ),
  );
  const wanted = text(compared(theirs, theirs.rules));
  if (own === wanted) return;
  const flows = [...world.flows.values()].map(text).join("\n");
  const tables = [...world.tables].map(([name, one]) => `${name} ${text(one)}`).join("\n");
  expect.fail(`${text(sender)}\nengine    ${own}\nreference ${wanted}\n${flows}\n${tables}\n${frameText(frame)}`);
}
