/** The stages of a frame, and the functions that belong to each. */
import type { FunctionShare } from "./cpu.js";

/** What the compiler has made one function is one stage: gathering and filtering; the opening of branches and what delivers. */
export const STAGES = [
  "put",
  "parse",
  "gather, filter",
  "probe",
  "verify",
  "walk, actions",
  "ESP",
  "open, deliver",
  "columns",
  "read",
  "other",
] as const;
export type Stage = (typeof STAGES)[number];

/** Functions of assembly/ by the beginning of their paths; the first that fits. */
const CORE: readonly [path: string, stage: Stage][] = [
  ["index/parse", "parse"],
  ["index/", "open, deliver"],
  ["wire/", "parse"],
  ["classify/lookup/probe/", "probe"],
  ["classify/lookup/verify/", "verify"],
  ["classify/", "gather, filter"],
  ["branch/", "walk, actions"],
  ["walk/", "walk, actions"],
  ["act/", "walk, actions"],
  ["esp/", "ESP"],
  ["crypto/", "ESP"],
  ["out/columns/", "columns"],
  ["out/", "open, deliver"],
];

/** Functions of the host that a burst is driven by (burst.ts), and the stage of what they call outside the core. */
export const HOST: Record<string, Stage> = { putRows: "put", steerRows: "columns", readRows: "read" };

const ASSEMBLY = "assembly/";

/** Of each stage the part of all samples. */
export function stagesOf(shares: readonly FunctionShare[]): Map<Stage, number> {
  const parts = new Map<Stage, number>(STAGES.map((stage) => [stage, 0]));
  for (const one of shares) parts.set(stageOf(one), parts.get(stageOf(one))! + one.share);
  return parts;
}

function stageOf({ name, under }: FunctionShare): Stage {
  if (name.startsWith(ASSEMBLY)) {
    const path = name.slice(ASSEMBLY.length);
    return CORE.find(([beginning]) => path.startsWith(beginning))?.[1] ?? "other";
  }
  return under === null ? "other" : HOST[under]!;
}

/** Of each file of assembly/ the part of all samples, the largest first. */
export function filesOf(shares: readonly FunctionShare[]): [file: string, share: number][] {
  const files = new Map<string, number>();
  for (const { name, share } of shares) {
    if (!name.startsWith(ASSEMBLY)) continue;
    const file = `${name.slice(0, name.lastIndexOf("/"))}.ts`;
    files.set(file, (files.get(file) ?? 0) + share);
  }
  return [...files].sort(([, one], [, other]) => other - one);
}
