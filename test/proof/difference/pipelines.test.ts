/** Random devices and the same with changes: no frame is treated differently where a change is proved to make no difference. */
import { expect, test } from "vitest";
import * as dv from "../../../src/mlx5dv/index.js";
import { seedFor } from "../../assembly/support/core.js";
import { drawNear } from "../../assembly/support/pipelineSteer.js";
import { addFlow, removeFlows } from "../../assembly/support/pipelineFlows.js";
import {
  addRules,
  makePipelineWorld,
  makeRule,
  modifyMeters,
  syncSome,
  type PipelineWorld,
} from "../../assembly/support/pipelineWorld.js";
import { drawBase, drawRule, PRIORITIES, type DrawnRule } from "../../oracle/generate/pipeline.js";
import { Random } from "../../oracle/generate/random.js";
import { rounds } from "../../support/tier.js";
import { judge, type Bytes } from "./support/judge.js";

const PAIRS = rounds(40, "FLOWSTEER_PAIRS");
const OTHERS = 30;
/** The link type of captures. */
const ETHERNET = 1;

/** Makes a rule in place of one that is there. */
function replace(world: PipelineWorld, changed: (drawn: DrawnRule) => DrawnRule): void {
  const { random, rulesMade } = world;
  const made = [...rulesMade.values()];
  if (made.length === 0) return;
  const { drawn, rule } = random.pick(made);
  if (drawn.actions.some(({ kind }) => kind === "track")) return;
  if (!random.chance(0.3)) {
    dv.mlx5dv_dr_rule_destroy(rule);
    rulesMade.delete(drawn.id);
  }
  syncSome(world, 1);
  makeRule(world, { ...changed(drawn), id: `again${world.made++}` });
}

const CHANGES: readonly ((world: PipelineWorld) => void)[] = [
  // The same rule, or a second one, after others.
  (world) => replace(world, (drawn) => drawn),
  (world) =>
    replace(world, (drawn) => ({
      ...drawn,
      matcher: { ...drawn.matcher, priority: world.random.pick(PRIORITIES), name: `matcher${world.made}` },
    })),
  (world) =>
    replace(world, ({ terms, ...rest }) => {
      const at = world.random.below(terms.length);
      const flipped = terms.map((term, i) => {
        const bit = 1n << BigInt(world.random.below(16));
        return i === at ? { ...term, value: term.value ^ (bit & term.mask) } : term;
      });
      return { ...rest, terms: flipped };
    }),
  (world) => {
    const { random, rulesMade } = world;
    const made = [...rulesMade.values()].map(({ drawn }) => drawn);
    replace(world, (drawn) => {
      const alike = made.filter(
        ({ matcher: { table }, actions }) =>
          table === drawn.matcher.table && actions.every(({ kind }) => kind !== "track"),
      );
      return alike.length === 0 ? drawn : { ...drawn, actions: random.pick(alike).actions };
    });
  },
  ({ random, rulesMade }) => {
    const made = [...rulesMade.values()];
    if (made.length === 0) return;
    const { drawn, rule } = random.pick(made);
    dv.mlx5dv_dr_rule_destroy(rule);
    rulesMade.delete(drawn.id);
  },
  (world) => {
    const drawn = drawRule(world);
    if (drawn) makeRule(world, drawn);
  },
  addFlow,
  (world) => removeFlows(world, 0.2),
  ({ random, hostRules }) => {
    for (const [id, rule] of hostRules) {
      if (!random.chance(0.3)) continue;
      rule.remove();
      hostRules.delete(id);
    }
  },
  modifyMeters,
];

async function makeWorld(seed: number, remembers: boolean): Promise<PipelineWorld> {
  const world = await makePipelineWorld(new Random(seed), new Map(), remembers);
  addRules(world);
  syncSome(world, 1);
  return world;
}

test(`${PAIRS} pairs of devices`, { timeout: 3_600_000 }, async () => {
  const random = new Random(seedFor("differences of pipelines"));
  const counts = { same: 0, different: 0, unknown: 0, frames: 0, seen: 0, equal: 0, refused: 0 };
  for (let n = 0; n < PAIRS; n++) {
    const seed = random.word();
    const remembers = random.chance(0.3);
    const [old, changed] = [await makeWorld(seed, remembers), await makeWorld(seed, remembers)];
    const done: number[] = [];
    try {
      for (let left = random.between(1, 4); left > 0; left--) {
        done.push(random.below(CHANGES.length));
        CHANGES[done.at(-1)]!(changed);
      }
    } catch (error) {
      // A change that the model refuses, such as the same action in another place.
      if (!(error instanceof Error)) throw error;
      counts.refused++;
      continue;
    }
    syncSome(changed, 1);
    const frames = framesOf(old, changed);
    const verdicts = await judge(old.device, changed.device, frames);
    for (const { effect } of verdicts.changes) counts[effect]++;
    counts.frames += verdicts.frames;
    counts.seen += verdicts.different;
    if (verdicts.changes.every(({ effect }) => effect === "same")) counts.equal++;
    expect(verdicts.wrong.slice(0, 2), `pair ${n} of seed ${seed} with changes ${done.join()}`).toEqual([]);
  }
  console.log(`${PAIRS} pairs: ${JSON.stringify(counts)}`);
});

function framesOf(...worlds: readonly PipelineWorld[]): Bytes[] {
  const bases = worlds.flatMap((world) => [
    ...drawNear(world),
    ...Array.from({ length: OTHERS }, () => drawBase(world)),
  ]);
  return bases
    .filter(({ frame: { linkType } }) => linkType === ETHERNET)
    .map(({ frame: { bytes }, metadata }) => ({ frame: bytes, metadata }));
}
