/** docs/profile.md: where the time of a frame goes. */
import type { Profile } from "./measure.js";
import { filesOf, STAGES, stagesOf } from "./stages.js";

const FILES = 10;
const BAR = 40;

export function page(profiles: readonly Profile[], on: string): string {
  return `# Where the time goes

Made by \`npm run profile\`; ${on}. One core, CPU time, nanoseconds a frame. A machine of another kind has other figures, and so has the next run on this one: what
is slow here is slow there, and that is what the page is for.

Frames come by bursts of 256: \`put\` copies each into the engine, \`steer\` takes all of them from bytes to outcome, and of each row verdict, tag and queue are
read ([Bursts](frames.md)). The flow cache is off, except in the second column of the first table, where it has entries for all frames.

${table(
  ["", "a frame", "with the cache"],
  profiles.map(({ kind, whole, cached }) => [kind.name, shortly(whole), shortly(cached)]),
)}

${profiles.map(({ kind }) => `- **${kind.name}**: ${kind.about}.`).join("\n")}

## By stage

A profiler looks where the processor is, ten thousand times a second; each stage has its share of the time of a frame. What the compiler has made one function
is one stage here: \`gather, prune\` makes the lanes of keys and finds the groups that can match, \`probe\` asks their tables, \`verify\` compares rules; \`walk, actions\` goes
from rule to rule and carries them out; \`open, deliver\` makes branches and outcomes ready and gives frames to queues; \`columns\` writes what
became of them where the host reads it, and what the host does around that; \`other\` is collecting garbage, and what has no name.

${table(["", ...profiles.map(({ kind }) => kind.name)], stageRows(profiles))}

## Alone

The exports of the core, each over one batch of 256 that lies in memory: they know their data better than frames that come from elsewhere, so the sum is less than the
whole. \`steer\` is parsing, the walk with its lookups, and delivery; \`classify\` looks up the first table with rules. ESP changes its bytes and cannot be run again as they lie.

${table(
  ["", "parse", "classify", "steer", "the rest of steer", "writeColumns"],
  profiles.flatMap(({ kind, alone }) => {
    if (alone === null) return [];
    const { parse, classify, steer, writeColumns } = alone;
    return [[kind.name, ...[parse, classify, steer, steer - parse - classify, writeColumns].map(shortly)]];
  }),
)}

## By file

Shares of all samples, the host's included; functions that were put into others count where those stand.

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
