/** Findings name the rules and fields that are at fault. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { cover, lint, why, type Finding } from "../../../src/explain/index.js";
import { loadScenario, type LoadedScenario, type Scenario } from "../../../src/scenario/index.js";

const planted = (name: string): Promise<LoadedScenario> =>
  loadScenario(readFileSync(new URL(`planted/${name}.json`, import.meta.url), "utf8"));

async function found({ device }: LoadedScenario, id: string): Promise<Finding> {
  const [finding] = (await lint(device)).filter((one) => one.id === id);
  expect(finding).toBeDefined();
  return finding as Finding;
}

test("a loop names all its rules, and so does why", async () => {
  const loaded = await planted("loop-of-two-tables");
  const { objects, sentence, witness } = await found(loaded, "loop");
  expect(objects.map(({ name }) => name).sort()).toEqual(["back", "to late"]);
  expect(sentence).toMatch(/^Rule "back" and rule "to late" send frames in a loop/);
  const frame = Buffer.from(witness?.bytes ?? "", "hex");
  const explained = await why(loaded.device, 1, frame, "dropped");
  expect(JSON.stringify(explained)).toContain('rule \\"to late\\" and rule \\"back\\" send it in a circle');
});

test("a circle of more rules than a list usually shows", async () => {
  const names = ["a", "b", "c", "d", "e"];
  const scenario: Scenario = {
    flowsteer: 1,
    tables: [{ name: "root", level: 0 }, ...names.map((name, i) => ({ name, level: i + 1 }))],
    rules: [
      { name: "in", table: "root", actions: [{ table: "a" }] },
      ...names.map((name, i) => ({
        name: `from ${name}`,
        table: name,
        actions: [{ table: names[(i + 1) % names.length] as string }],
      })),
    ],
  };
  const loaded = await loadScenario(scenario);
  const { sentence } = await found(loaded, "loop");
  for (const name of names) expect(sentence).toContain(`ule "from ${name}"`);
  expect(sentence).not.toContain('rule "in"');
});

/** A table that "mark 7" and "mark 9" lead to, which write a register, and a table after it. */
const MARKED: Scenario = {
  flowsteer: 1,
  queues: [{ name: "web" }],
  tables: [
    { name: "root", level: 0 },
    { name: "marked", level: 1 },
    { name: "last", level: 2 },
  ],
  rules: [
    ...[7, 9].map((value) => ({
      name: `mark ${value}`,
      table: "root",
      match: { "outer.ip_protocol": value === 7 ? "tcp" : "udp" } as const,
      actions: [{ modify: [{ set: "METADATA_REG_C_1" as const, to: value }] }, { table: "marked" }],
    })),
    { name: "five", table: "marked", match: { "misc2.metadata_reg_c_1": 5 }, actions: [{ queue: "web" }] },
    { name: "on", table: "marked", priority: 1, actions: [{ table: "last" }] },
    { name: "eight", table: "last", match: { "misc2.metadata_reg_c_1": 8 }, actions: [{ queue: "web" }] },
    { name: "rest", table: "last", priority: 1, actions: [{ queue: "web" }] },
  ],
};

test.each(["five", "eight"])(
  "what a rule cannot match: the field, its values there, and who wrote them: %s",
  async (name) => {
    const { device } = await loadScenario(MARKED);
    const [rule] = (await cover(device)).rules.filter((one) => one.rule.name === name);
    const { coverage } = rule ?? {};
    const proof = coverage?.status === "none" ? coverage.proof : null;
    const value = name === "five" ? "5" : "8";
    expect(proof).toMatchObject({
      kind: "cannot match",
      terms: [{ field: "misc2.metadata_reg_c_1", wanted: value }],
    });
    if (proof?.kind !== "cannot match") throw new Error("no proof");
    const held = proof.held.map(({ field, value, by, written }) => [field, value, by.map((one) => one.name), written]);
    expect(held.sort()).toEqual([
      ["misc2.metadata_reg_c_1", "7", ["mark 7"], true],
      ["misc2.metadata_reg_c_1", "9", ["mark 9"], true],
    ]);
    expect(proof.sentence).toContain(`cannot match misc2.metadata_reg_c_1 ${value}: they have misc2.metadata_reg_c_1`);
    expect(proof.sentence).toContain('7, which rule "mark 7" writes');
    const finding = (await lint(device)).find(({ objects }) => objects[0]?.name === name);
    expect(finding).toMatchObject({ id: "unreached-rule", field: "misc2.metadata_reg_c_1" });
  },
);

test("a rule is covered for the frames that reach its table", async () => {
  const { device } = await loadScenario({
    flowsteer: 1,
    queues: [{ name: "web" }],
    tables: [
      { name: "root", level: 0 },
      { name: "next", level: 1 },
    ],
    rules: [
      { name: "to next", table: "root", match: { "outer.tcp_dport": 80 }, actions: [{ table: "next" }] },
      { name: "tcp", table: "next", match: { "outer.ip_protocol": "tcp" }, actions: [{ queue: "web" }] },
      { name: "rest", table: "next", priority: 1, actions: ["drop"] },
    ],
  });
  const [finding] = await lint(device);
  expect(finding).toMatchObject({
    id: "dead-rule",
    sentence: 'Rule "rest" is never hit: rule "tcp" takes all its frames that reach table "next".',
  });
});

test("what a rule on the path matches, and what no rule writes", async () => {
  const filtered = await found(await planted("unreached-rule-after-a-filter"), "unreached-rule");
  expect(filtered.sentence).toContain(
    'cannot match outer.udp_dport 53: they have outer.ip_protocol tcp, which rule "tcp" matches',
  );
  const unwritten = await found(await planted("unreached-rule-of-a-register"), "unreached-rule");
  expect(unwritten.sentence).toMatch(/they have misc2.metadata_reg_c_1 0\.$/);
});
