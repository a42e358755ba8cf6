/** Random devices with state and frames: what an explanation says of writers, values and reasons is in the traced core's record. */
import { expect, test } from "vitest";
import { openExplainer, openTracer, type Explanation, type Target, type Trace } from "../../../src/explain/index.js";
import type { QueuePair } from "../../../src/model/queuePair/queuePair.js";
import { drawNear, withOthers } from "../../assembly/support/pipelineSteer.js";
import { addRules, emptyWorld, makePipelineWorld, type PipelineWorld } from "../../assembly/support/pipelineWorld.js";
import { seedFor } from "../../assembly/support/core.js";
import type { Base } from "../../oracle/generate/pipeline.js";
import { Random } from "../../oracle/generate/random.js";
import { checkReached, rounds } from "../../support/tier.js";
import { confirm } from "./support/confirmed.js";

const EXPLAINED = rounds(2_000, "FLOWSTEER_CONFIRMED");
/** Frames for a device, and targets for a frame besides its end. */
const [OF_DEVICE, OF_FRAME] = [20, 8];

interface Asked {
  readonly explain: (target: Target) => Explanation;
  readonly trace: Trace;
}

async function asker({ device, queues }: PipelineWorld): Promise<(base: Base) => Asked> {
  const [explainer, tracer] = [await openExplainer(device), await openTracer(device)];
  return ({ frame, sender, metadata }) => {
    const { bytes, linkType, wireLength, port } = frame;
    const time = device.now();
    if (sender === null) {
      const options = { linkType, wireLength, time };
      return {
        explain: (target) => explainer.why(port, bytes, target, { ...options, repairs: false }),
        trace: tracer.trace(port, bytes, options),
      };
    }
    const queue = queues.get(sender) as QueuePair;
    return {
      explain: (target) => explainer.whySend(queue, bytes, target, { metadata, time, repairs: false }),
      trace: tracer.traceSend(queue, bytes, { metadata, time }),
    };
  };
}

test(`${EXPLAINED} explanations are confirmed by traces`, { timeout: 7_200_000 }, async () => {
  const random = new Random(seedFor("confirmed"));
  const kinds = new Map<string, number>();
  for (let explained = 0; explained < EXPLAINED;) {
    const world = await makePipelineWorld(random, new Map());
    if (world.waiting !== null) continue;
    for (let n = 0; n < 3; n++) addRules(world);
    const ask = await asker(world);
    const rules = [...world.rulesMade.values()].map(({ rule }): Target => ({ kind: "rule", name: rule.name }));
    for (const base of random.shuffle(withOthers(world, drawNear(world))).slice(0, OF_DEVICE)) {
      const { explain, trace } = ask(base);
      for (const target of [{ kind: "end" } as const, ...random.shuffle(rules).slice(0, OF_FRAME)]) {
        for (const kind of confirm(explain(target), trace)) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
        explained++;
      }
    }
    emptyWorld(world);
  }
  console.log(
    [...kinds]
      .sort()
      .map(([kind, times]) => `${kind} ${times}`)
      .join(", "),
  );
  checkReached(() =>
    expect([...kinds.keys()]).toEqual(
      expect.arrayContaining(["changed on the way", "earlier rule", "lost", "no match", "not reached", "not written"]),
    ),
  );
});
