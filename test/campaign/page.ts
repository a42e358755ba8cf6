/** docs/campaign.md: what the log of a campaign comes to. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { format, resolveConfig } from "prettier";
import { ROOT } from "../support/root.js";
import { readLog } from "./runner/log.js";
import { checkedUnits, newSums, type Sums, sumsOf } from "./runner/sums.js";
import { reachedText, whole } from "./runner/text.js";
import type { Target } from "./target.js";
import { TARGETS } from "./targets/index.js";

const HEAD = `# The campaign

\`npm run campaign\` draws inputs for each target for hours, guided by coverage
([CONTRIBUTING](../CONTRIBUTING.md#tests)). \`npm run campaign -- --report\` writes this page: each
row has the sums of the last campaign that had the target. _Checked_ counts the core with
assertions, guided slices included. _Seconds_ are those of all slices, on a machine that did other
work too. Coverage is the most that one process reached.

| target | counted | checked core | release core | seconds | inputs kept | reached | finds |
| --- | --- | ---: | ---: | ---: | ---: | --- | ---: |
`;

/** Writes the page. Targets that are not in the log keep their rows. */
export async function writePage(): Promise<void> {
  const sums = sumsOf(readLog());
  const file = join(ROOT, "docs/campaign.md");
  const before = rowsIn(readFileSync(file, "utf8"));
  const rows = TARGETS.map((target) => {
    const own = sums.get(target.name);
    return (own === undefined ? before.get(target.name) : undefined) ?? rowOf(target, own ?? newSums());
  });
  const targets = TARGETS.map(({ name, about }) => `- **${name}**: ${about}.`);
  const text = `${HEAD}${rows.join("\n")}\n\n## Targets\n\n${targets.join("\n")}\n`;
  writeFileSync(file, await format(text, { ...(await resolveConfig(file)), parser: "markdown" }));
}

/** The rows of a page by their targets. */
function rowsIn(page: string): Map<string, string> {
  return new Map([...page.matchAll(/^\| (\w+) .*$/gm)].map(([row, name = ""]) => [name, row]));
}

function rowOf({ name, unit, guide }: Target, sums: Sums): string {
  const { units, seconds, corpus, finds } = sums;
  const all = seconds.guided + seconds.checked + seconds.release;
  const reached = guide === null || sums.reached === 0 ? "" : reachedText(guide, sums);
  return `| ${name} | ${unit} | ${whole(checkedUnits(sums))} | ${whole(units.release)} | ${whole(all)} | ${corpus} | ${reached} | ${finds} |`;
}
