/** docs/campaign.md: what the campaigns come to. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { format, resolveConfig } from "prettier";
import { ROOT } from "../support/root.js";
import { checkedUnits, newSums, type Sums, takeInLog } from "./runner/sums.js";
import { reachedText, whole } from "./runner/text.js";
import type { Target } from "./target.js";
import { TARGETS } from "./targets/index.js";

const HEAD = `# The campaign

\`npm run campaign\` draws inputs for each target for hours, guided by coverage
([CONTRIBUTING](../CONTRIBUTING.md#tests)). \`npm run campaign -- --report\` adds the log to
\`test/campaign/sums.json\` and writes this page from it. _Checked_ counts the core with assertions,
guided slices included. _Seconds_ are those of all slices, on machines that did other work too.
Coverage is the most that one process reached.

| target | counted | checked core | release core | seconds | inputs kept | reached | finds |
| --- | --- | ---: | ---: | ---: | ---: | --- | ---: |
`;

/** Takes in the log and writes the page. */
export async function writePage(): Promise<void> {
  const sums = takeInLog();
  const file = join(ROOT, "docs/campaign.md");
  const rows = TARGETS.map((target) => rowOf(target, sums.get(target.name) ?? newSums()));
  const targets = TARGETS.map(({ name, about }) => `- **${name}**: ${about}.`);
  const text = `${HEAD}${rows.join("\n")}\n\n## Targets\n\n${targets.join("\n")}\n`;
  writeFileSync(file, await format(text, { ...(await resolveConfig(file)), parser: "markdown" }));
}

function rowOf({ name, unit, guide }: Target, sums: Sums): string {
  const { units, seconds, corpus, finds } = sums;
  const all = seconds.guided + seconds.checked + seconds.release;
  const reached = guide === null || sums.reached === 0 ? "" : reachedText(guide, sums);
  return `| ${name} | ${unit} | ${whole(checkedUnits(sums))} | ${whole(units.release)} | ${whole(all)} | ${corpus} | ${reached} | ${finds} |`;
}
