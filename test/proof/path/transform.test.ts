/** The keys that actions make of keys, judged by the engine: those of traced frames, table by table, bit by bit. */
import { expect, test } from "vitest";
import { Op } from "../../../src/abi/engine.js";
import { INNER, LAYER_OK, OK_L3 } from "../../../src/abi/key.js";
import { L2_TUNNEL_TO_L2, L3_TUNNEL_TO_L2, REFORMAT_TYPE } from "../../../src/abi/reformat.js";
import { openTracer, type Trace } from "../../../src/explain/index.js";
import type { TracedWalk, Tracer } from "../../../src/explain/trace/tracer.js";
import type { LookupRecord } from "../../../src/explain/trace/steps.js";
import type { QueuePair } from "../../../src/model/queuePair/queuePair.js";
import { graphOf } from "../../../src/proof/path/deviceGraph.js";
import type { Edge, Graph } from "../../../src/proof/path/graph.js";
import { randomModify, randomReshape } from "../../oracle/generate/actions.js";
import { DECLARED, KINDS, randomFrameOf, type GeneratedFrame } from "../../oracle/generate/frame.js";
import { type Base } from "../../oracle/generate/pipeline.js";
import { Random } from "../../oracle/generate/random.js";
import type { PipelineAction } from "../../oracle/walk/pipeline.js";
import { drawNear, flip, withOthers } from "../../assembly/support/pipelineSteer.js";
import {
  addRules,
  emptyWorld,
  makePipelineWorld,
  makeRule,
  removeRules,
  syncSome,
  type PipelineWorld,
} from "../../assembly/support/pipelineWorld.js";
import { seedFor } from "../../assembly/support/core.js";
import { checkReached, rounds } from "../../support/tier.js";
import { agreement, kindsOf, type Agreement } from "./support/agree.js";
import { edgesBetween, pairsOf } from "./support/steps.js";

const FRAMES = rounds(500, "FLOWSTEER_TRANSFORMS");
const OF_DEVICE = 100;
/** Of frames that go in circles only the first pairs are compared. */
const OF_FRAME = 10;
const REWRITTEN = rounds(1_500, "FLOWSTEER_TRANSFORMS");
const KINDS_COMPARED = ["modify", "push_vlan", "pop_vlan", "reformat"];

test(`${FRAMES} frames of random pipelines`, async () => {
  const random = new Random(seedFor("transforms"));
  const tally = new Map<string, number>();
  for (let made = 0; made < FRAMES;) {
    const world = await makePipelineWorld(random, new Map(), random.chance(0.5));
    for (let n = 0; n < 3; n++) addRules(world);
    syncSome(world, 0.8);
    const tracer = await openTracer(world.device);
    const graph = graphOf(tracer);
    for (const base of random.shuffle(withOthers(world, drawNear(world))).slice(0, OF_DEVICE)) {
      check(tracer, graph, walkOf(world, tracer, base), tally);
      made++;
    }
    emptyWorld(world);
  }
  console.log([...tally].map(([kind, times]) => `${kind} ${times}`).join(", "));
  checkReached(() => expect(["meter", "first_hit", "track"].filter((kind) => !tally.has(kind))).toEqual([]));
});

test(`${REWRITTEN} frames through one rule`, async () => {
  const random = new Random(seedFor("changes"));
  const tally = new Map<string, number>();
  const world = await makePipelineWorld(random, new Map());
  const tracer = await openTracer(world.device);
  const matcher = { name: "all", table: "nic_rx:0", priority: 0, masks: [] };
  const next = [...world.world.tables.keys()].find((name) => name.startsWith("nic_rx:0/")) as string;
  for (let made = 0; made < REWRITTEN;) {
    const frame = randomFrameOf(random, random.pick([...KINDS, "gre", "gre"] as const));
    const base = { frame, sender: null, metadata: 0 };
    const actions = [...randomChanges(random, frame), { kind: "table", table: next } as const];
    makeRule(world, { id: `r${made}`, matcher, terms: [], ranges: [], actions });
    const graph = graphOf(tracer);
    for (const one of [base, flip(base, world), flip(base, world)]) {
      check(tracer, graph, walkOf(world, tracer, one), tally);
      made++;
    }
    removeRules(world, 1);
  }
  emptyWorld(world);
  console.log([...tally].map(([kind, times]) => `${kind} ${times}`).join(", "));
  checkReached(() => expect(KINDS_COMPARED.filter((kind) => !tally.has(kind))).toEqual([]));
});

function randomChanges(random: Random, given: GeneratedFrame): PipelineAction[] {
  const frame = { ...given, parser: DECLARED };
  if (random.chance(0.5)) return [randomReshape(random, frame)];
  return [{ kind: "modify", list: randomModify(random, frame, { domain: "nic_rx" }) }];
}

function walkOf({ queues, device }: PipelineWorld, tracer: Tracer, base: Base): TracedWalk {
  const { frame, sender, metadata, time = device.now() } = base;
  const { bytes, linkType, wireLength, port } = frame;
  if (sender !== null) return tracer.walkSent(queues.get(sender) as QueuePair, bytes, { metadata, time });
  return tracer.walk(port, bytes, { linkType, wireLength, time });
}

/** Some edge between each pair of lookups makes the key at the second of that at the first. */
function check(tracer: Tracer, graph: Graph, { trace, lookups }: TracedWalk, tally: Map<string, number>): void {
  const copies = lookups.map((one): LookupRecord => ({ ...one, key: one.key.slice() }));
  for (const { before, after, looped } of pairsOf(trace, copies).slice(0, OF_FRAME)) {
    if ((before === null && !looped) || trace.frame.linkType !== 1) continue;
    // Which copy of a looped frame left by the port is not in the steps.
    const starts = looped ? copies : [before as LookupRecord];
    const ways = starts.flatMap((one) => edgesBetween(graph, one, after).map((edge) => ({ one, edge })));
    const fitting = ways.filter(({ edge }) => (edge.move === "loop") === looped);
    const differences: (string | null)[] = [];
    for (const { one, edge } of fitting) {
      const { difference, exact } = compare(tracer, edge, one.key, after.key);
      differences.push(difference);
      if (difference !== null) continue;
      for (const kind of kindsOf(edge)) add(tally, kind, 1);
      for (const kind of kindsOf(edge)) add(tally, `${kind} exact`, exact / 4096);
      break;
    }
    if (!differences.includes(null)) {
      const kinds = fitting.map(({ edge }) => kindsOf(edge));
      expect.fail(text(trace, before ?? after, differences, kinds));
    }
  }
}

/** Removed headers are looked for in the key of a whole frame too. */
function compare(tracer: Tracer, edge: Edge, before: Uint8Array, after: Uint8Array): Agreement {
  const found = agreement(tracer, edge, before, after, true);
  if (!edge.changes.includes(Op.reformat)) return found;
  // MODEL of src/proof/path/decapsulated.ts: no frame whose inner packet is longer than the one that carries it.
  const isCut = ((before[INNER + LAYER_OK] as number) & OK_L3) === 0;
  if (isCut && removesHeaders(tracer, edge)) return { ...found, difference: null };
  if (found.difference !== null) return found;
  return { ...found, difference: agreement(tracer, edge, before, after, false).difference };
}

function removesHeaders({ traced: { core } }: Tracer, { changes }: Edge): boolean {
  const types = changes.flatMap((word, i) =>
    i % 2 === 1 && changes[i - 1] === (Op.reformat as number) ? core.u8[word + REFORMAT_TYPE] : [],
  );
  return types.some((type) => type === L2_TUNNEL_TO_L2 || type === L3_TUNNEL_TO_L2);
}

function text({ frame, steps }: Trace, before: LookupRecord, ...found: readonly unknown[]): string {
  const actions = steps.flatMap((step) => (step.kind === "action" ? `${step.action} ${step.text}` : []));
  const from = `${before.step.table.domain} ${before.step.rule?.name ?? "miss"}`;
  return [from, ...found.map((one) => JSON.stringify(one)), frame.bytes, ...actions].join("\n");
}

function add(tally: Map<string, number>, kind: string, times: number): void {
  tally.set(kind, (tally.get(kind) ?? 0) + times);
}
