/**
 * The corpus: texts as people have them. Each is imported, or each element that is not has a reason and a place. What
 * becomes of a text is recorded beside it, in the index of its format, and reviewed by hand.
 *
 *     FLOWSTEER_WRITE=1 npx vitest run --project node test/import/corpus.node.test.ts      records anew
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { format } from "prettier";
import { describe, expect, test } from "vitest";
import { importRules, printFinding } from "../../src/import/index.js";
import { loadScenario } from "../../src/scenario/index.js";

interface Entry {
  /** Where the text that this one has the form of stands. */
  readonly origin: string;
  /** How many rules and flows the scenario has, without those of drivers. */
  readonly rules: number;
  readonly refused: readonly string[];
  readonly assumed: readonly string[];
}

const CORPUS = new URL("corpus/", import.meta.url);
const FORMATS = readdirSync(CORPUS, { withFileTypes: true }).flatMap((one) => (one.isDirectory() ? [one.name] : []));

describe.each(FORMATS)("%s", (folder) => {
  const place = new URL(`${folder}/`, CORPUS);
  const index = JSON.parse(readFileSync(new URL("index.json", place), "utf8")) as Record<string, Entry>;
  const names = readdirSync(place).filter((name) => name !== "index.json");
  const found: Record<string, Entry> = {};

  test("has the origin of each text", () => {
    expect(names.toSorted()).toEqual(Object.keys(index).toSorted());
    for (const { origin } of Object.values(index)) expect(origin).toMatch(/\w{3}/);
  });

  test.each(names)("%s", async (name) => {
    const text = readFileSync(new URL(name, place), "utf8");
    const { scenario, findings } = importRules([{ file: name, text }], { lenient: true });
    if (scenario === null) throw new Error("a lenient import has a scenario");
    // The device takes what was imported.
    await loadScenario(scenario);
    // Without rules of drivers, which are there even where no rule of the text is left.
    const own = importRules([{ file: name, text }], { lenient: true, driver: "none" }).scenario ?? scenario;
    const lines = text.split("\n");
    for (const { line, column, reason } of findings) {
      expect(reason).not.toBe("");
      expect(column - 1).toBeLessThanOrEqual(lines[line - 1]?.length ?? -1);
    }
    const said = (wanted: string): string[] =>
      findings.filter(({ severity }) => severity === wanted).map((one) => printFinding(one).slice(name.length + 1));
    found[name] = {
      origin: index[name]?.origin ?? "",
      rules: (own.rules?.length ?? 0) + (own.hostRules?.length ?? 0) + (own.flows?.length ?? 0),
      refused: said("refused"),
      assumed: said("assumed"),
    };
    if (process.env["FLOWSTEER_WRITE"] !== "1") expect(found[name]).toEqual(index[name]);
  });

  test.runIf(process.env["FLOWSTEER_WRITE"] === "1")("is recorded", async () => {
    const sorted = Object.fromEntries(Object.entries(found).toSorted());
    const text = await format(JSON.stringify(sorted), { parser: "json", printWidth: 120 });
    writeFileSync(new URL("index.json", place), text);
  });
});
