/**
 * Matchers of dumps, imported and made from the masks and values that were asked: both devices give each frame to the same
 * rule. Frames are witnesses of the imported rules, and the same with bytes changed.
 */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createDevice, createSink } from "../../../src/index.js";
import { cover } from "../../../src/explain/index.js";
import { importRules } from "../../../src/import/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import { loadScenario, type Scenario, type ScenarioMatcher } from "../../../src/scenario/index.js";
import { ibv_open_device } from "../../../src/verbs/index.js";
import { seedFor } from "../../assembly/support/core.js";
import { Random } from "../../oracle/generate/random.js";
import { rounds, sampleOf } from "../../support/tier.js";

interface Truth {
  readonly matchers: Readonly<Record<string, string>>;
  readonly rules: Readonly<Record<string, readonly [value: string, actions: readonly string[]]>>;
}

const read = (name: string): string => readFileSync(new URL(`dumps/${name}`, import.meta.url), "utf8");
const TRUTH = JSON.parse(read("truth.json")) as Readonly<Record<string, Truth>>;
const OTHERS = rounds(200);
const WORDS = 4;

test.each(sampleOf(Object.entries(TRUTH)))("%s", async (name, truth) => {
  const random = new Random(seedFor(`imported ${name}`));
  const { scenario } = importRules(read(`${name}.csv`), { lenient: true });
  let frames = 0;
  for (const matcher of scenario?.matchers ?? []) frames += await compare(scenario as Scenario, matcher, truth, random);
  expect(frames).toBeGreaterThan(0);
});

/** The number of frames that hit a rule. */
async function compare(
  { rules = [] }: Scenario,
  { name, mask = {} }: ScenarioMatcher,
  truth: Truth,
  random: Random,
): Promise<number> {
  const own = rules.filter(({ matcher }) => matcher === name);
  const asked = truth.matchers[name];
  if (asked === undefined || own.length === 0) return 0;
  const imported = await loadScenario({
    flowsteer: 1,
    queues: [{ name: "q" }],
    tables: [
      { name: "root", level: 0 },
      { name: "table", level: 1 },
    ],
    matchers: [{ name, table: "table", mask }],
    rules: [
      { name: "all", table: "root", actions: [{ table: "table" }] },
      ...own.map((rule, n) => ({ ...rule, notImported: [], actions: [{ tag: n + 1 }, { queue: "q" }] })),
    ],
  });
  const original = await originalOf(
    asked,
    own.map((rule) => (truth.rules[rule.name] as readonly [string, unknown])[0]),
  );
  const { rules: covered } = await cover(imported.device);
  const witnesses = covered.flatMap(({ coverage }) =>
    coverage.status === "witness" && coverage.witness.from.kind === "wire" ? [coverage.witness.bytes] : [],
  );
  let hits = 0;
  for (const bytes of witnesses) {
    for (let n = 0; n <= OTHERS / own.length; n++) {
      const frame = bytesOf(bytes);
      for (let change = 0; change < n % 3; change++) frame[random.below(frame.length)] = random.below(256);
      const [first, second] = [imported.device, original].map((device) => device.receive(1, frame).tag);
      expect(first, `${name}: ${bytes}`).toBe(second);
      if (first !== 0) hits++;
    }
  }
  return hits;
}

async function originalOf(mask: string, values: readonly string[]): Promise<Awaited<ReturnType<typeof createDevice>>> {
  const device = await createDevice({});
  const context = ibv_open_device(device);
  const domain = dv.mlx5dv_dr_domain_create(context, 0);
  const queue = createSink(context, "q");
  const table = dv.mlx5dv_dr_table_create(domain, 1);
  const everything = dv.mlx5dv_dr_matcher_create(dv.mlx5dv_dr_table_create(domain, 0), 0, 0, null);
  dv.mlx5dv_dr_rule_create(everything, null, 1, [dv.mlx5dv_dr_action_create_dest_table(table)]);
  const bytes = wordsOf(mask);
  let criteria = 0;
  bytes.forEach((byte, n) => (criteria |= byte === 0 ? 0 : 1 << Math.floor(n / 64)));
  const matcher = dv.mlx5dv_dr_matcher_create(table, 0, criteria, bytes);
  values.forEach((value, n) => {
    const actions = [dv.mlx5dv_dr_action_create_tag(n + 1), dv.mlx5dv_dr_action_create_dest_ibv_qp(queue)];
    const bits = wordsOf(value, bytes.length).map((byte, at) => byte & (bytes[at] as number));
    dv.mlx5dv_dr_rule_create(matcher, bits, actions.length, actions);
  });
  return device;
}

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

/** In whole words. */
function wordsOf(hex: string, size = Math.ceil(hex.length / 2 / WORDS) * WORDS): Uint8Array {
  const bytes = new Uint8Array(size);
  bytes.set(bytesOf(hex).subarray(0, size));
  return bytes;
}
