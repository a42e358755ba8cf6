/** Dumps as people paste them, those of old drivers, and what is refused. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { importRules, printFinding } from "../../../src/import/index.js";

const read = (name: string): string => readFileSync(new URL(`dumps/${name}`, import.meta.url), "utf8");
const SMALL = read("v1-rx-small.csv");

describe("a pasted dump", () => {
  const { scenario } = importRules(SMALL, { lenient: true });
  const withoutPlaces = (text: string): unknown => {
    const { scenario: other, findings } = importRules(text, { lenient: true });
    return [
      JSON.stringify({ ...other, notImported: [] }),
      findings.filter(({ reason }) => reason.startsWith("not a dump record")).length,
    ];
  };
  const plain = JSON.stringify({ ...scenario, notImported: [] });

  test.each([
    ["with carriage returns", SMALL.replaceAll("\n", "\r\n"), 0],
    ["with log prefixes", SMALL.replaceAll(/^(?=3)/gm, "[  12.345678] mlx5: "), 0],
    ["as lines of a diff", SMALL.replaceAll(/^(?=3)/gm, "+"), 0],
    ["as a quotation", SMALL.replaceAll(/^(?=3)/gm, "> "), 0],
    ["behind a prompt and before one", `$ cat dump.csv\n\n# a note\n${SMALL}$ `, 2],
  ])("%s", (_, text, others) => {
    expect(withoutPlaces(text)).toEqual([plain, others]);
  });

  test("that begins in the middle names each record without its place", () => {
    const middle = SMALL.slice(SMALL.indexOf("\n3300,") + 1);
    const { findings, scenario: rest } = importRules([{ file: "end.csv", text: middle }], { lenient: true });
    expect(rest?.rules).toBeUndefined();
    const [id, matcher] = middle.split(/[,\n]/).slice(1, 3);
    expect(printFinding(findings[0] as never)).toBe(
      `end.csv:1:1: not imported: 3300,${id},${matcher}: its matcher ${matcher} is not in the dump`,
    );
  });
});

test("the dump of a real ConnectX-5 with driver 28.0 is imported but for what it does not hold", () => {
  const { scenario, findings } = importRules(read("example-sws.csv"), { lenient: true });
  const count = (text: string, type: number): number =>
    text.split("\n").filter((line) => line.startsWith(`${type},`)).length;
  const text = read("example-sws.csv");
  expect(scenario?.matchers?.length).toBe(count(text, 3200));
  const ours = (scenario?.rules ?? []).filter(({ name }) => name.startsWith("0x"));
  expect(ours.length).toBe(count(text, 3300));
  const refused = findings.filter(({ severity }) => severity === "refused");
  expect(refused.map(({ text: element }) => Number(element.slice(0, 4))).sort()).toEqual([
    3402, 3402, 3402, 3402, 3402, 3416,
  ]);
  // Its jumps name no tables: the entries do.
  expect(
    ours.filter(({ actions = [] }) => actions.some((one) => typeof one === "object" && one.table !== undefined)).length,
  ).toBe(count(text, 3405));
});

test("the dump of a real device with hardware steering is imported but for where its rules lead", () => {
  const { scenario, findings } = importRules(read("example-hws.csv"), { lenient: true });
  const rules = (scenario?.rules ?? []).filter(({ name }) => name.startsWith("0x"));
  const sources = [2, 6, 7, 3, 4, 1, 5].map((n) => `${n}.${n}.${n}.${n}`);
  expect(rules.map(({ match }) => match)).toEqual(
    sources.map((source) => ({ "outer.ip_version": 4, "outer.ipv4_src": source })),
  );
  const refused = findings.filter(({ severity }) => severity === "refused");
  expect(refused.map(({ line, reason }) => [line, reason])).toEqual(
    sources.map((_, n) => [25 + n, "the dump does not say where this address leads"]),
  );
});

test("a text that is no dump is refused", () => {
  const { scenario, findings } = importRules("hello\n", { lenient: true });
  expect(scenario?.rules).toBeUndefined();
  expect(findings.map(({ severity }) => severity)).toEqual(["refused"]);
  const asDump = importRules("hello\n", { lenient: true, format: "mlx5-dump" });
  expect(asDump.findings.map(({ severity }) => severity).sort()).toEqual(["assumed", "refused"]);
});

test("wrong arguments name what is wrong", () => {
  expect(() => importRules(1 as never)).toThrow(TypeError);
  expect(() => importRules([{ file: "a" } as never])).toThrow("sources[0].text");
  expect(() => importRules("", { format: "csv" as never })).toThrow(/format/);
  expect(() => importRules("", { lenien: true } as never)).toThrow(/lenient/);
});
