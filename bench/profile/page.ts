/** Writes the page of the profile: where the time of a frame goes. */
import type { Profile } from "./measure.js";
import { filesOf, STAGES, stagesOf } from "./stages.js";

const FILES = 10;
const BAR = 40;

export function page(profiles: readonly Profile[], on: string): string {
  return `# Where the time goes

This page divides the time of a frame by stage and by file. \`npm run profile\` makes it; ${on}. All times are nanoseconds
of CPU time a frame on one core: lower is better. Another machine has other figures, and so has the next run; the
proportions stay.

Frames come in bursts of 256 ([Bursts](frames.md#bursts)): \`put\` copies each into the engine, \`steer\` takes all of them
from bytes to outcome, and the program reads verdict, tag and queue of each row. The flow cache is off, except in the
second column of the first table, where it has seen all frames before.

${table(
  ["", "a frame", "with the cache"],
  profiles.map(({ kind, whole, cached }) => [kind.name, shortly(whole), shortly(cached)]),
)}

${profiles.map(({ kind }) => `- **${kind.name}**: ${kind.about}.`).join("\n")}

## By stage

A profiler samples the processor ten thousand times a second; the table gives each stage its share of the time. Parts that
the compiler has merged into one function are one stage:

- \`gather, filter\` makes the lanes of keys and finds the tuples that can match;
- \`probe\` looks up their hash tables, \`verify\` compares rules;
- \`walk, actions\` goes from rule to rule and runs their actions;
- \`open, deliver\` prepares branches and outcomes and gives frames to queues;
- \`columns\` writes outcomes where the host reads them, with the work of the host around that;
- \`other\` is garbage collection and code without a name.

${table(["", ...profiles.map(({ kind }) => kind.name)], stageRows(profiles))}

## Alone

The exports of the core, each over one batch of 256 in memory. Their data are in the CPU cache, so the sum is less than the
whole. \`steer\` is parsing, the walk with its lookups, and delivery; \`classify\` looks up the first table with rules. ESP is
missing because it changes its bytes, so that the same batch cannot run again.

${table(
  ["", "parse", "classify", "steer", "the rest of steer", "writeColumns"],
  profiles.flatMap(({ kind, alone }) => {
    if (alone === null) return [];
    const { parse, classify, steer, writeColumns } = alone;
    return [[kind.name, ...[parse, classify, steer, steer - parse - classify, writeColumns].map(shortly)]];
  }),
)}

## By file

Shares of all samples, those of the host included. A function that the compiler inlined counts for the file of its caller.

${profiles.map(files).join("\n\n")}
`;
}

/** Stages that some kind has. */
function stageRows(profiles: readonly Profile[]): string[][] {
  const stages = profiles.map(({ shares }) => stagesOf(shares));
  return STAGES.map((stage) => [
    stage,
    ...profiles.map(({ whole }, n) => {
      const share = stages[n]!.get(stage)!;
      return share < 0.0005 ? "" : `${shortly(share * whole)} (${Math.round(100 * share)} %)`;
    }),
  ]).filter(([, ...cells]) => cells.some((cell) => cell !== ""));
}

function files({ kind, shares }: Profile): string {
  const rows = filesOf(shares)
    .slice(0, FILES)
    .map(([file, share]) => [`\`${file}\``, `${(100 * share).toFixed(1)} %`, "█".repeat(Math.round(share * BAR))]);
  return `### ${kind.name}\n\n${table(["file", "share", ""], rows)}`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map((_, i) => (i === 0 ? "---" : "---:"))), ...rows.map(line)].join("\n");
}

function shortly(nanoseconds: number): string {
  return nanoseconds < 10 ? nanoseconds.toFixed(1) : Math.round(nanoseconds).toLocaleString("en");
}
