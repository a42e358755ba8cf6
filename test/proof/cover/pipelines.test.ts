/**
 * Random devices: every witness of a cover hits its rule in the engine and in the reference, which agree on all that becomes
 * of it. Rules that a random frame hits are not dead.
 */
import { expect, test } from "vitest";
import { cover, type RuleRef, type Witness } from "../../../src/explain/index.js";
import type { InstalledRule } from "../../../src/model/base/installed.js";
import { Random } from "../../oracle/generate/random.js";
import { aside, type Base, drawBase, walkBase } from "../../oracle/generate/pipeline.js";
import { drawNear, newCounts, steer } from "../../assembly/support/pipelineSteer.js";
import {
  addRules,
  emptyWorld,
  makePipelineWorld,
  syncSome,
  type PipelineWorld,
} from "../../assembly/support/pipelineWorld.js";
import { seedFor } from "../../assembly/support/core.js";
import { rounds } from "../../support/tier.js";

const DEVICES = rounds(10, "FLOWSTEER_COVERED");
/** Random frames of a device, besides those that its rules are made for. */
const OTHERS = 50;
/** The link type of captures. */
const ETHERNET = 1;

test(`${DEVICES} devices`, { timeout: 3_600_000 }, async () => {
  const random = new Random(seedFor("covered pipelines"));
  const sums = { witness: 0, none: 0, unknown: 0 };
  const tried = new Map<string, number>();
  for (let n = 0; n < DEVICES; n++) {
    const world = await makePipelineWorld(random, new Map());
    addRules(world);
    syncSome(world, 1);
    const { rules } = await cover(world.device);
    const hit = hitByFrames(world);
    for (const { rule, coverage } of rules) {
      sums[coverage.status]++;
      if (coverage.status === "witness") checkWitness(world, rule, coverage.witness);
      if (coverage.status === "none")
        expect(hit, `${rule.name}: ${coverage.proof.sentence}`).not.toContain(idOf(world, rule));
      if (coverage.status === "unknown") tried.set(coverage.tried, (tried.get(coverage.tried) ?? 0) + 1);
    }
    emptyWorld(world);
  }
  console.log(`${DEVICES} devices: ${JSON.stringify(sums)}`, tried);
  expect(sums.witness).toBeGreaterThan(sums.unknown);
});

/** The name of the reference for a rule. */
function idOf({ device, names }: PipelineWorld, { id }: RuleRef): string | undefined {
  const object = device.installed.at(id) as InstalledRule & { readonly flows?: readonly object[] };
  return names.get(object) ?? names.get(object.flows?.[0] ?? {});
}

/** Rules that Ethernet frames of the world hit in the reference: proofs are about these. */
function hitByFrames(world: PipelineWorld): ReadonlySet<string | undefined> {
  const bases = [...drawNear(world), ...Array.from({ length: OTHERS }, () => drawBase(world))];
  const ethernet = bases.filter(({ frame }) => frame.linkType === ETHERNET);
  return new Set(ethernet.flatMap((base) => walkBase(aside(world.world), base).rules));
}

function checkWitness(world: PipelineWorld, rule: RuleRef, witness: Witness): void {
  expect(witness.before).toEqual([]);
  const base = baseOf(witness);
  const id = idOf(world, rule);
  if (id === undefined) throw new Error(`${rule.kind} ${rule.name} is not in the reference`);
  expect(walkBase(aside(world.world), base).rules, rule.name).toContain(id);
  // Compares the engine with the reference.
  steer(world, [base], newCounts());
}

function baseOf({ bytes, from, metadata = 0 }: Witness): Base {
  const frame = Uint8Array.from(bytes.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  return {
    frame: { bytes: frame, linkType: 1, wireLength: frame.length, port: from.port },
    sender: from.kind === "queue" ? from.queue.replace(/^qp:/, "") : null,
    metadata,
  };
}
