/**
 * The edges of the graph, judged by the engine: what traced frames do between two lookups is an edge, and the key of a lookup
 * has what all frames at its table are said to have.
 */
import { expect, test } from "vitest";
import { openTracer, type Trace } from "../../../src/explain/index.js";
import type { TracedWalk, Tracer } from "../../../src/explain/trace/tracer.js";
import type { QueuePair } from "../../../src/model/queuePair/queuePair.js";
import { graphOf } from "../../../src/proof/path/deviceGraph.js";
import type { Graph } from "../../../src/proof/path/graph.js";
import { isConstant } from "../../../src/proof/literal.js";
import { KEY_SIZE } from "../../../src/abi/key.js";
import { IS_PATH } from "../../../src/proof/path/levels.js";
import { World } from "../../../src/proof/path/world.js";
import { Solver } from "../../../src/proof/solver/solver.js";
import type { Base } from "../../oracle/generate/pipeline.js";
import { Random } from "../../oracle/generate/random.js";
import { drawNear, withOthers } from "../../assembly/support/pipelineSteer.js";
import {
  addRules,
  emptyWorld,
  makePipelineWorld,
  syncSome,
  type PipelineWorld,
} from "../../assembly/support/pipelineWorld.js";
import { seedFor } from "../../assembly/support/core.js";
import { checkReached, rounds } from "../../support/tier.js";
import { edgesBetween, pairsOf } from "./support/steps.js";

const FRAMES = rounds(1_500, "FLOWSTEER_EDGES");
const OF_DEVICE = 100;
const MOVES = ["jump", "miss", "vport", "egress", "default", "loop", "known bits"];
/** The link type of captures. */
const ETHERNET = 1;
/** Bits of keys that say where frames came in, and registers. */
const PATH = [...IS_PATH.keys()].filter((bit) => IS_PATH[bit] === 1);

test(`${FRAMES} frames`, async () => {
  const random = new Random(seedFor("edges"));
  const tally = new Map<string, number>();
  for (let made = 0; made < FRAMES;) {
    const world = await makePipelineWorld(random, new Map(), random.chance(0.3));
    for (let n = 0; n < 3; n++) addRules(world);
    syncSome(world, 0.8);
    const tracer = await openTracer(world.device);
    const graph = graphOf(tracer);
    const proofs = new World(tracer);
    for (const base of random.shuffle(withOthers(world, drawNear(world))).slice(0, OF_DEVICE)) {
      const walk = walkOf(world, tracer, base);
      check(graph, walk, tally);
      checkOrigins(proofs, walk, tally);
      made++;
    }
    emptyWorld(world);
  }
  console.log([...tally].map(([move, times]) => `${move} ${times}`).join(", "));
  checkReached(() => expect(MOVES.filter((move) => !tally.has(move))).toEqual([]));
});

function walkOf({ queues, device }: PipelineWorld, tracer: Tracer, base: Base): TracedWalk {
  const { frame, sender, metadata, time = device.now() } = base;
  const { bytes, linkType, wireLength, port } = frame;
  if (sender !== null) return tracer.walkSent(queues.get(sender) as QueuePair, bytes, { metadata, time });
  return tracer.walk(port, bytes, { linkType, wireLength, time });
}

function check(graph: Graph, { trace, lookups }: TracedWalk, tally: Map<string, number>): void {
  for (const { before, after, looped } of pairsOf(trace, lookups)) {
    if (looped) {
      // Which copy of the frame left through the port is not in the steps.
      const edges = lookups.flatMap((one) => edgesBetween(graph, one, after).filter(({ move }) => move === "loop"));
      expect(edges.length, text(trace)).toBeGreaterThan(0);
      count(tally, "loop");
    } else if (before === null) {
      const entries = graph.entries.filter(({ source, table }) => table === after.table && same(source, trace));
      expect(entries.length, text(trace)).toBe(1);
    } else {
      const edges = edgesBetween(graph, before, after).filter(({ move }) => move !== "loop");
      expect(edges.length, text(trace)).toBeGreaterThan(0);
      for (const move of new Set(edges.map((edge) => edge.move))) count(tally, move);
    }
  }
}

/** The key of an Ethernet frame has the bits that are known at its table. Many tables have some that are known. */
function checkOrigins({ origins }: World, { trace, lookups }: TracedWalk, tally: Map<string, number>): void {
  if (trace.frame.linkType !== ETHERNET) return;
  for (const { table, key } of lookups) {
    const solver = new Solver();
    const known = origins.keyAt(table, solver);
    const literals = [...known.asked, ...PATH]
      .filter((bit) => bit < 8 * KEY_SIZE)
      .map((bit) => (((key[bit >> 3] ?? 0) & (0x80 >> (bit & 7))) === 0 ? -known.bit(bit) : known.bit(bit)));
    expect(solver.solve(literals), text(trace)).toBe(true);
    if (literals.some(isConstant)) count(tally, "known bits");
  }
}

function same(source: Graph["entries"][number]["source"], { from }: Trace): boolean {
  return JSON.stringify(source) === JSON.stringify(from);
}

function count(tally: Map<string, number>, what: string): void {
  tally.set(what, (tally.get(what) ?? 0) + 1);
}

function text(trace: Trace): string {
  return JSON.stringify(trace.steps.map((step) => (step.kind === "parse" ? step.kind : step)));
}
