/** One change of each example's rules: a true difference is found, or it is proved that there is none. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { difference, type DifferenceResult, type Witness } from "../../../src/explain/index.js";
import { loadScenario, type LoadedScenario } from "../../../src/scenario/index.js";
import { seedFor } from "../../assembly/support/core.js";
import { Random } from "../../oracle/generate/random.js";

const FOLDER = new URL("../../../examples/", import.meta.url);

interface ScenarioRule {
  name?: string;
  table: string;
  priority?: number;
  match?: Record<string, unknown>;
  actions?: unknown[];
}

interface Document {
  rules?: ScenarioRule[];
}

/** Scenarios without frames, which name rules that a change removes. */
function documentOf(file: string): Document {
  const document = JSON.parse(readFileSync(new URL(file, FOLDER), "utf8")) as Record<string, unknown>;
  for (const key of ["$schema", "frames", "messages", "expect"]) Reflect.deleteProperty(document, key);
  return document;
}

/**
 * Examples of which some change is neither shown nor refuted: their frames depend on state or on copies of frames, or come
 * to the same end by other tables.
 */
const UNDECIDED = ["rules-mirror.json", "rules-router.json", "state-firewall.json"];

const CHANGES: Readonly<Record<string, (random: Random, rules: ScenarioRule[]) => void>> = {
  field: (random, rules) => {
    const rule = random.pick(rules.filter(({ match }) => Object.keys(match ?? {}).length > 0));
    const field = random.pick(Object.keys(rule?.match ?? {}));
    Reflect.deleteProperty(rule?.match ?? {}, field);
  },
  priority: (random, rules) => {
    const rule = random.pick(rules);
    rule.priority = (rule.priority ?? 0) + 1 + random.between(0, 5);
  },
  action: (random, rules) => {
    random.pick(rules).actions = ["drop"];
  },
};

/** All that a receiver can tell of the witness, run on a device that is loaded for it. */
async function behaviourOf(document: Document, witness: Witness): Promise<string> {
  const loaded = await loadScenario(document);
  const [outcome] = [...witness.before, witness].map((one) => run(loaded, one)).slice(-1);
  return JSON.stringify(outcome);
}

function run({ device, queues }: LoadedScenario, { bytes, from, metadata = 0 }: Witness["before"][number]): unknown {
  const frame = Uint8Array.from(bytes.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  if (from.kind === "wire") return plain(device.receive(from.port, frame));
  const queue = [...queues.values()].find((one) => one.queue.label === from.queue)?.queue;
  if (queue === undefined || !("qp_num" in queue)) throw new Error(`no queue ${from.queue}`);
  return plain(device.send(queue, frame, { metadata }));
}

function plain(outcome: ReturnType<LoadedScenario["run"]>[number]): unknown {
  const { verdict, reason, tag, to, copies } = outcome;
  const place = (one: (typeof to)[number]): unknown => [one.name, one.tag, [...one.frame]];
  return [verdict, reason, tag, to.map(place), copies.map(place)];
}

async function compared(old: Document, changed: Document): Promise<DifferenceResult> {
  return difference((await loadScenario(old)).device, (await loadScenario(changed)).device);
}

describe.each(readdirSync(FOLDER).filter((name) => name.endsWith(".json")))("%s", (file) => {
  const document = documentOf(file);

  it("is equal to itself", async () => {
    expect(await compared(document, structuredClone(document))).toMatchObject({ equal: true, groups: [], changes: [] });
  });

  it.runIf((document.rules ?? []).length > 0).each(Object.keys(CHANGES))("with another %s", async (kind) => {
    const random = new Random(seedFor(`difference of ${file}`));
    const changed = structuredClone(document);
    CHANGES[kind]?.(random, changed.rules ?? []);
    let result: DifferenceResult;
    try {
      result = await compared(document, changed);
    } catch (error) {
      // The change makes the scenario one that the model refuses.
      if (error instanceof Error && error.name === "SteeringError") return;
      throw error;
    }
    const { equal, groups, changes } = result;
    // Both at once would be a wrong answer; neither is "unknown", which each change of it says.
    expect(equal && groups.length > 0, JSON.stringify(changes)).toBe(false);
    if (!equal && groups.length === 0) {
      expect(changes.map(({ effect }) => effect)).toContain("unknown");
      expect(UNDECIDED, JSON.stringify(changes)).toContain(file);
    }
    for (const { effect, tried } of changes) expect(tried === null, tried ?? effect).toBe(effect !== "unknown");
    for (const { witness, kinds } of groups) {
      if (!kinds.some((one) => one === "verdict" || one === "destination" || one === "bytes" || one === "tag"))
        continue;
      expect(await behaviourOf(document, witness)).not.toBe(await behaviourOf(changed, witness));
    }
  });
});
