/**
 * No word of a text is skipped in silence: where it is left out or is another one, the result is another one, or there
 * is a finding. In a damaged text, elements that are refused or ignored as a whole have one finding for all their words. And what is imported of a damaged text loads.
 */
import { describe, expect, test } from "vitest";
import { importRules, importScenario, type ImportFormat } from "../../src/import/index.js";
import { loadScenario, type Scenario } from "../../src/scenario/index.js";
import { seedFor } from "../assembly/support/core.js";
import { Random } from "../oracle/generate/random.js";
import { rounds, setting } from "../support/tier.js";
import { TEXTS, type Reader } from "./support/texts.js";

/** A word, by what stands before it in its line. */
interface Remarks {
  readonly format?: ImportFormat;
  /** Words that say nothing of the rules: comments, names of objects, and what the recorder knows of its process. */
  readonly says?: (line: string, word: string) => boolean;
  /** Words that may be left out: the tool takes the same without them. */
  readonly optional?: (line: string, word: string) => boolean;
}

/** What tc prints of an action besides what it does. */
const STATISTIC = /\t +(?:index|random type) /;

const READERS: Readonly<Record<Reader, Remarks>> = {
  testpmd: {},
  tc: {
    // A device without filters.
    says: (line) => line === "tc qdisc add dev ",
    optional: (line, word) =>
      ["tc", "action", "ex"].includes(word) || (word === "pass" && line.endsWith("action ")) || / csum /.test(line),
  },
  "tc filter show": {
    format: "tc",
    optional: (line, word) =>
      STATISTIC.test(`${line}${word} `) ||
      /^(?:in_hw|to|stolen|pipe)$/.test(word) ||
      /^\taction order (?:\d+: (?:gact )?)?$/.test(line),
  },
  "tc -j filter show": { format: "tc" },
  ovs: { optional: (line) => line.endsWith("actions=") },
  "ovs-ofctl dump-flows": { format: "ovs", optional: (line) => /actions=$|,resubmit\(,$/.test(line) },
  "ovs-dpctl": { optional: (_, word) => /^(?:packets|bytes|used):/.test(word) },
  ethtool: {},
  "ethtool -n": { format: "ethtool" },
  nft: {
    says: (line) => /^(?:table netdev | chain )$/.test(line),
    // Without "policy", its verdict is a rule that does the same.
    optional: (_, word) => word === "counter" || word === "policy",
  },
  "nft commands": {
    format: "nft",
    // Names, a table without chains, and objects that no rule names.
    says: (line) =>
      /^\W*nft add (?:table (?:netdev )?|chain netdev \S+ |(?:counter|quota|limit|set|map) .*)$/.test(line),
    optional: (line, word) => word === "nft" || word === "counter" || /^\W*nft (?:add (?:table|chain) )?$/.test(line),
  },
  "nft -j": { format: "nft" },
  xfrm: {},
  classbench: { optional: (_, word) => /^0x[\da-f]+\/0x0+$/i.test(word) },
  "mlx5-dump": {
    // Names of devices and versions; the id of an object that no record names.
    says: (line) => /^\s*300[02],(?:[^,]*,)*$/.test(line),
    optional: () => true,
  },
  recording: {
    says: (line) => /^\{"flowsteerRecord|"returns":"?$/.test(line),
    // Bytes that no object of the scenario needs.
    optional: (_, word) => /^[\da-f]{16,}$/.test(word),
  },
};

const NAMES = Object.keys(READERS) as Reader[];

const read = (text: string, format: ImportFormat): string =>
  JSON.stringify(importRules(text, { format, lenient: true }));

describe.each([
  { kind: "texts", isDamaged: false, most: 700, readers: NAMES },
  // A recorder writes recordings: keys that a call does not have are not read.
  { kind: "damaged texts", isDamaged: true, most: 140, readers: NAMES.filter((name) => name !== "recording") },
])("each word of $kind", ({ kind, isDamaged, most, readers }) => {
  test.each(readers)("%s", { timeout: 3_600_000 }, (name) => {
    const { format = name as ImportFormat, says, optional } = READERS[name];
    const seed = seedFor(`words of ${kind}, ${name}`);
    const random = new Random(seed);
    for (let round = rounds(most, "FLOWSTEER_WORDS"); round > 0; round--) {
      const whole = TEXTS[name](random);
      const text = isDamaged ? damaged(whole, random) : whole;
      const words = [...text.matchAll(/[^\s,(){}[\]"';=]+/g)].filter(({ index, 0: word }) => {
        const line = lineBefore(text, index);
        return !/^\s*#|\s#/.test(line + word) && says?.(line, word) !== true;
      });
      if (words.length === 0) continue;
      const { index, 0: word } = random.pick(words);
      const isOptional = optional?.(lineBefore(text, index), word) === true;
      const before = read(text, format);
      // The family of a table without rules, and a chain that is there already.
      if (isDamaged && (isEmpty(text, format) || repeatsChain(text, index))) continue;
      if (isDamaged && (isInFinding(text, index, name, format) || repeatsKey(text))) continue;
      for (const other of ["qqq", `${word}q`, ...(isOptional ? [] : [""])]) {
        const changed = text.slice(0, index) + other + text.slice(index + word.length);
        if (read(changed, format) === before)
          expect.fail(`seed ${seed}: ${word} as "${other}" at ${index} changes nothing in\n${text}`);
      }
    }
  });
});

function isEmpty(text: string, format: ImportFormat): boolean {
  const { scenario, findings } = importRules(text, { format, lenient: true });
  return findings.every(({ severity }) => severity !== "refused") && !scenario?.rules?.length;
}

/** Whether a command adds a chain once more. */
function repeatsChain(text: string, index: number): boolean {
  const command = /^nft add chain \S+ \S+ \S+/.exec(text.slice(text.lastIndexOf("\n", index) + 1))?.[0];
  return command !== undefined && text.indexOf(command) < text.lastIndexOf(command);
}

/** Whether an object of JSON has a key twice: the first one counts for nothing. */
function repeatsKey(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false;
  try {
    return JSON.stringify(JSON.parse(text)).replace(/\s/g, "").length !== text.replace(/\s/g, "").length;
  } catch {
    return false;
  }
}

/** Formats whose elements have several lines. */
const IN_BLOCKS: readonly Reader[] = [
  ...(["tc filter show", "tc -j filter show", "ethtool -n", "nft", "nft commands", "nft -j"] as const),
];

/** Whether a word is in a finding about its whole element: one of its line, or in a format of blocks one of the text. */
function isInFinding(text: string, index: number, name: Reader, format: ImportFormat): boolean {
  const line = text.slice(0, index).split("\n").length;
  return importRules(text, { format, lenient: true }).findings.some(
    (one) =>
      (one.line === line || IN_BLOCKS.includes(name) || (name === "testpmd" && one.line === lineOfFlow(text, line))) &&
      (one.severity === "refused" || /ignored|left out|not on the NIC|replaces it/.test(one.reason)),
  );
}

/** The line where the flow of a line begins: without its last "end" it goes on in the next line. */
function lineOfFlow(text: string, line: number): number {
  const lines = text.split("\n").slice(0, line);
  return lines.findLastIndex((one) => one.startsWith("flow create")) + 1;
}

function lineBefore(text: string, at: number): string {
  return text.slice(text.lastIndexOf("\n", at - 1) + 1, at);
}

test.each(["testpmd", "recording", "mlx5-dump"] as const)(
  "each line of %s is in a finding where it is none of the format",
  (format) => {
    const random = new Random(seedFor(`lines of ${format}`));
    for (let round = 0; round < rounds(300); round++) {
      const lines = TEXTS[format](random).split("\n");
      const at = random.below(lines.length);
      lines.splice(at, 0, "qqq qqq");
      const { findings } = importRules(lines.join("\n"), { format, lenient: true });
      expect(
        findings.some(({ line }) => line === at + 1),
        `line ${at + 1} of\n${lines.join("\n")}`,
      ).toBe(true);
    }
  },
);

describe.each(NAMES)("%s", (name) => {
  const { format = name as ImportFormat } = READERS[name];

  /** @returns how long the import took, in milliseconds */
  async function loads(text: string, seed: number): Promise<number> {
    const start = performance.now();
    const { scenario } = await importScenario(text, { format, lenient: true });
    const took = performance.now() - start;
    try {
      await loadScenario(scenario as Scenario);
    } catch (error) {
      throw new Error(`seed ${seed}: what was imported does not load:\n${text}`, { cause: error });
    }
    return took;
  }

  test("what is imported of a text, whole or damaged, loads", { timeout: 3_600_000 }, async () => {
    const seed = seedFor(`damaged ${name}`);
    const random = new Random(seed);
    let longest = 0;
    for (let round = rounds(60, "FLOWSTEER_IMPORTS"); round > 0; round--) {
      const text = TEXTS[name](random);
      longest = Math.max(longest, await loads(text, seed));
      for (let left = 4; left > 0; left--) longest = Math.max(longest, await loads(damaged(text, random), seed));
    }
    expect(longest).toBeLessThan(10_000);
    if (setting("FLOWSTEER_IMPORTS") === undefined) return;
    // On its own: other tests of a process take memory, too.
    expect(process.resourceUsage().maxRSS).toBeLessThan(1_000_000);
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
