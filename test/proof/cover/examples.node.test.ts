/**
 * Every example: each witness hits its rule on a new device, and in the slow reference where that has the actions of the
 * example. The frames of an example hit no rule that is called dead, and few rules are unknown.
 */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { cover, type Cover, type RuleRef, type Witness, type WitnessFrame } from "../../../src/explain/index.js";
import { QueuePair } from "../../../src/model/queuePair/queuePair.js";
import type { Outcome } from "../../../src/index.js";
import { farOutcomes, loadScenario, type FrameInput, type LoadedScenario } from "../../../src/scenario/index.js";
import { walkBase, type Base } from "../../oracle/generate/pipeline.js";
import type { Pipeline } from "../../oracle/walk/pipeline.js";
import { referenceOf } from "../support/scenarioReference.js";
import { sampleOf } from "../../support/tier.js";

const folder = new URL("../../../examples/", import.meta.url);
const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
const read = (name: string): object => JSON.parse(readFileSync(new URL(name, folder), "utf8")) as object;

/** Examples that the reference can run. */
const TRANSLATED: readonly string[] = [
  ...["cover-dead.json", "everyday.json", "ports.json", "rules-eswitch.json", "rules-router.json", "tunnel.json"],
  ...["why-hidden.json", "why-vxlan.json"],
];

/** Rules for which neither is found (docs/cover.md, "Limits"). */
const UNKNOWN: Readonly<Record<string, readonly string[]>> = { "state-firewall.json": ["invalid"] };

/** The scenario without its frames. */
function bare(name: string): Promise<LoadedScenario> {
  return loadScenario({ ...read(name), frames: [], messages: [], expect: {} });
}

describe.each(sampleOf(names))("%s", (name) => {
  let found: Cover | undefined;
  const covered = async (): Promise<Cover> => (found ??= await cover((await bare(name)).device));

  it("has a witness that hits its rule, or a proof, for each rule", async () => {
    const { rules } = await covered();
    let loaded = await bare(name);
    for (const { rule, coverage } of rules) {
      if (coverage.status !== "witness" || rule.kind === "connection") continue;
      if (loaded.device.stateful) loaded = await bare(name);
      const outcome = steer(loaded, coverage.witness);
      expect(hits(rule, outcome), `${rule.name}: ${coverage.witness.bytes}`).toBe(true);
    }
    expect(rules.filter(({ coverage }) => coverage.status === "unknown").map(({ rule }) => rule.name)).toEqual(
      UNKNOWN[name] ?? [],
    );
  });

  it("has no frame that hits a dead rule", async () => {
    const { rules } = await covered();
    const loaded = await loadScenario(read(name));
    const outcomes = loaded.run();
    for (const { rule, coverage } of rules) {
      if (coverage.status !== "none") continue;
      expect(
        outcomes.some((outcome) => hits(rule, outcome)),
        `${rule.name}: ${coverage.proof.sentence}`,
      ).toBe(false);
    }
  });

  it.runIf(TRANSLATED.includes(name))("has witnesses that hit their rules in the reference", async () => {
    const { rules } = await covered();
    const loaded = await bare(name);
    for (const { rule, coverage } of rules) {
      if (coverage.status !== "witness") continue;
      expect(coverage.witness.before).toEqual([]);
      expect(walkBase(reference(loaded), baseOf(coverage.witness)).rules, rule.name).toContain(rule.name);
    }
    // The translation is right: frames of the example hit the same rules on both sides.
    const own = await loadScenario(read(name));
    const outcomes = own.run();
    for (const [i, frame] of own.frames.entries()) {
      const expected = outcomes[i]?.rules.map((rule) => rule.name);
      expect(walkBase(reference(own), inputBase(frame)).rules).toEqual(expected);
    }
  });
});

function reference(loaded: LoadedScenario): Pipeline {
  const world = referenceOf(loaded);
  if (world === null) throw new Error("the example is not translated");
  return world;
}

/** Steers a witness through a device, and gives the outcome of its last frame. */
function steer({ device, queues }: LoadedScenario, witness: Witness): Outcome {
  const one = ({ bytes, from, time, metadata = 0 }: WitnessFrame): Outcome => {
    const frame = bytesOf(bytes);
    const late = time === undefined ? 0n : BigInt(time) - device.now();
    if (late > 0n) device.advance(late);
    if (from.kind === "wire") return device.receive(from.port, frame);
    const queue = queues.get(from.queue.replace(/^qp:/, ""))?.queue;
    if (!(queue instanceof QueuePair)) throw new Error(`no queue ${from.queue}`);
    return device.send(queue, frame, { metadata });
  };
  witness.before.forEach(one);
  return one(witness);
}

function hits(rule: RuleRef, outcome: Outcome): boolean {
  return (
    outcome.rules.some(({ name }) => ` = ${rule.name} = `.includes(` = ${name} = `)) ||
    farOutcomes(outcome).some(([, far]) => hits(rule, far))
  );
}

function bytesOf(digits: string): Uint8Array {
  return Uint8Array.from(Buffer.from(digits, "hex"));
}

function baseOf({ bytes, from, metadata = 0 }: WitnessFrame): Base {
  const frame = bytesOf(bytes);
  return {
    frame: { bytes: frame, linkType: 1, wireLength: frame.length, port: from.port },
    sender: from.kind === "queue" ? from.queue.replace(/^qp:/, "") : null,
    metadata,
  };
}

function inputBase({ bytes, linkType = 1, wireLength = bytes.length, port = 1, send, metadata = 0 }: FrameInput): Base {
  return { frame: { bytes, linkType, wireLength, port }, sender: send ?? null, metadata };
}
