/** Whether the sentence of a difference is about all frames of a rule, or about some of them. */
import { expect, test } from "vitest";
import { difference } from "../../../src/explain/index.js";
import { loadScenario, type Scenario } from "../../../src/scenario/index.js";

type Rules = NonNullable<Scenario["rules"]>;

const scenario = (rules: Rules): Scenario => ({
  flowsteer: 1,
  queues: [{ name: "a" }, { name: "b" }],
  rqts: [{ name: "both", queues: ["a", "b"] }],
  tirs: [
    {
      name: "spread",
      rqt: "both",
      rx_hash_fn: "inverted_xor8",
      rx_hash_field_selector_outer: { selected_fields: ["src_ip", "dst_ip"] },
    },
  ],
  tables: [{ name: "root", level: 0 }],
  rules,
});
const rule = (prefix: string, actions: NonNullable<Rules[number]["actions"]>, name = "ten"): Rules[number] => {
  return { name, table: "root", match: { "outer.ipv4_dst": prefix }, actions };
};
const TO_A = [{ queue: "a" }];
const TO_B = [{ queue: "b" }];

test.each<[string, Rules, Rules, RegExp]>([
  [
    "another queue",
    [rule("10.0.0.0/8", TO_A)],
    [rule("10.0.0.0/8", TO_B)],
    /^frames to 10\.0\.0\.0\/8 that rule "ten"/,
  ],
  [
    "another prefix",
    [rule("10.0.0.0/8", TO_A)],
    [rule("11.0.0.0/8", TO_A)],
    /^frames to 10\.0\.0\.0\/8 that rule "ten"/,
  ],
  ["a narrower prefix", [rule("10.0.0.0/8", TO_A)], [rule("10.0.0.0/16", TO_A)], /^some frames to 10\.0\.0\.0\/8 that/],
  [
    "a rule before it",
    [rule("10.0.0.0/8", TO_A)],
    [{ ...rule("10.0.0.0/8", TO_A), priority: 1 }, rule("10.1.0.0/16", ["drop"], "first")],
    /^frames to 10\.1\.0\.0\/16 that rule "ten" sent to queue "a" are now dropped by rule "first"/,
  ],
  [
    "a hash",
    [rule("10.0.0.0/8", [{ tir: "spread" }])],
    [rule("10.0.0.0/8", TO_A)],
    /^some frames to 10\.0\.0\.0\/8 that/,
  ],
])("%s", async (_, old, changed, sentence) => {
  const [a, b] = await Promise.all([old, changed].map((rules) => loadScenario(scenario(rules))));
  const { groups } = await difference(a!.device, b!.device);
  expect(groups[0]?.sentence).toMatch(sentence);
});
