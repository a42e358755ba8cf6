/**
 * No word of a text is skipped in silence: another word in its place gives another scenario or another finding. And
 * what is imported of a damaged text loads.
 */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { exportRules } from "../../src/export/index.js";
import { importRules, importScenario, type ImportFormat } from "../../src/import/index.js";
import { loadScenario, type Scenario } from "../../src/scenario/index.js";
import { seedFor } from "../assembly/support/core.js";
import { randomRules } from "../export/support/randomRules.js";
import { randomSwitch, withoutCircles } from "../export/tc/support.js";
import { Random } from "../oracle/generate/random.js";
import { rounds } from "../support/tier.js";

const RECORDINGS = new URL("recording/recordings/rdma-core/", import.meta.url);
const read = (text: string, format: ImportFormat): string =>
  JSON.stringify(importRules(text, { format, lenient: true }));

/** Texts of the formats whose readers are tested here. */
function textOf(format: ImportFormat, random: Random): string {
  if (format === "recording") {
    const files = readdirSync(RECORDINGS);
    return readFileSync(new URL(files[random.below(files.length)] ?? "", RECORDINGS), "utf8");
  }
  if (format === "tc" || format === "ovs")
    return exportRules(withoutCircles(randomSwitch(random)), { format, lenient: true }).text ?? "";
  const { flows: _flows, ...scenario } = randomRules(random);
  const written = exportRules(scenario, { format: format === "testpmd" ? "testpmd" : "dump", lenient: true });
  return written.text ?? "";
}

test.each(["testpmd", "tc", "ovs"] as const)("each word of %s", (format) => {
  const random = new Random(seedFor(`words of ${format}`));
  for (let round = 0; round < rounds(300); round++) {
    const text = textOf(format, random);
    const before = read(text, format);
    // Comments say nothing, and neither does the device of a qdisc that has no filters.
    const words = [...text.matchAll(/\S+/g)].filter(
      ({ index }) => !/#[^\n]*$|(?:^|\n)tc qdisc add dev $/.test(text.slice(0, index)) && text[index] !== "#",
    );
    const word = words[random.below(words.length)];
    if (word === undefined) continue;
    for (const other of ["qqq", `${word[0]}q`]) {
      const damaged = text.slice(0, word.index) + other + text.slice(word.index + word[0].length);
      expect(read(damaged, format) === before, `${word[0]} as ${other} in\n${text}`).toBe(false);
    }
  }
});

describe.each(["testpmd", "recording", "mlx5-dump"] as const)("%s", (format) => {
  test("each line is in a finding where it is none of the format", () => {
    const random = new Random(seedFor(`lines of ${format}`));
    for (let round = 0; round < rounds(300); round++) {
      const lines = textOf(format, random).split("\n");
      const at = random.below(lines.length);
      lines.splice(at, 0, "qqq qqq");
      const { findings } = importRules(lines.join("\n"), { format, lenient: true });
      expect(
        findings.some(({ line }) => line === at + 1),
        `line ${at + 1} of\n${lines.join("\n")}`,
      ).toBe(true);
    }
  });

  test("what is imported of damaged texts loads", { timeout: 600_000 }, async () => {
    const random = new Random(seedFor(`damaged ${format}`));
    for (let round = 0; round < rounds(600); round++) {
      const text = damaged(textOf(format, random), random);
      const { scenario } = await importScenario(text, { format, lenient: true });
      await expect(loadScenario(scenario as Scenario), text).resolves.toBeDefined();
    }
  });
});

/** A text with some of its characters, words and lines changed, doubled or left out. */
function damaged(text: string, random: Random): string {
  let made = text;
  for (let left = 1 + random.below(4); left > 0; left--) {
    const separator = ["\n", " ", ",", ""][random.below(4)] ?? "";
    const parts = made.split(separator);
    const [at, from] = [random.below(parts.length), random.below(parts.length)];
    const kind = random.below(3);
    parts.splice(at, kind === 0 ? 1 : kind === 1 ? 0 : 1, ...(kind === 0 ? [] : [parts[from] ?? ""]));
    made = parts.join(separator);
  }
  return made;
}
