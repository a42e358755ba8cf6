/** `npm run campaign -- [TARGET...] [--hours H] [--seed S] [--jobs N] [--stage T] [--until N]` */
import { parseArgs } from "node:util";
import type { Target } from "../target.js";
import { targetNamed, TARGETS } from "../targets/index.js";
import { type Stage, STAGES, stagesOf } from "./stages.js";

export interface Options {
  readonly targets: readonly Target[];
  readonly hours: number;
  readonly seed: number;
  readonly jobs: number;
  /** The stages that targets have; a target without one of them has no turn. */
  readonly stages: readonly Stage[];
  /** A target of which so many were counted on the checked core has no more turns. */
  readonly until: number;
}

/** A wrong command line; its message is one line. */
export class BadUsage extends Error {}

const NAME = 12;
const LINE = 88;

/** What `--help` prints. */
export function usage(): string {
  const targets = TARGETS.map(({ name, about }) => `  ${name.padEnd(NAME)}  ${folded(about)}`);
  return `npm run campaign -- [TARGET...] [--hours H] [--seed S] [--jobs N] [--stage T] [--until N]
npm run campaign -- --report

Draws inputs for the targets, and goes on where the last run ended. Without a target it takes all.

  --hours H   how long; 1 if not given, parts such as 0.1 too
  --seed S    repeats a draw
  --jobs N    processes at a time; 1 if not given
  --stage T   guided (by coverage), checked (the core with assertions) or release alone;
              may be given again; all three if not given
  --until N   a target has no more turns once N were counted on the checked core
  --report    takes the log into test/campaign/sums.json, writes docs/campaign.md, draws nothing
  --help      prints this

Targets, and what must hold:

${targets.join("\n")}
`;
}

/** Broken into lines that begin below each other. */
function folded(text: string): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > LINE - NAME) {
      lines.push(line);
      line = "";
    }
    line += line === "" ? word : ` ${word}`;
  }
  return [...lines, line].join(`\n${" ".repeat(NAME + 4)}`);
}

/** @throws BadUsage names the option and what it may be */
export function readOptions(args: readonly string[]): Options {
  const { values, positionals } = understood(() =>
    parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        hours: { type: "string", default: "1" },
        seed: { type: "string", default: String(Date.now() % 2 ** 31) },
        jobs: { type: "string", default: "1" },
        until: { type: "string", default: "Infinity" },
        stage: { type: "string", multiple: true, default: [...STAGES] },
      },
    }),
  );
  const targets = positionals.length === 0 ? TARGETS : positionals.map((name) => understood(() => targetNamed(name)));
  const stages = values.stage.map(stageNamed);
  for (const target of targets) {
    const own = stagesOf(target);
    // Of all targets, those without the stage are left out.
    if (positionals.length > 0 && !own.some((stage) => stages.includes(stage)))
      throw new BadUsage(`--stage ${stages.join(" --stage ")}: ${target.name} has ${own.join(", ")}`);
  }
  return {
    targets,
    hours: number("hours", values.hours, 0, 1e6),
    seed: whole("seed", values.seed, 0, 2 ** 32 - 1),
    jobs: whole("jobs", values.jobs, 1, 1024),
    stages,
    until: number("until", values.until, 1, Infinity),
  };
}

function stageNamed(name: string): Stage {
  const stage = STAGES.find((one) => one === name);
  if (stage === undefined) throw new BadUsage(`--stage ${name}: ${STAGES.join(", ")}`);
  return stage;
}

/** Runs a function whose errors are of the command line. */
function understood<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new BadUsage((error as Error).message.split("\n", 1)[0]);
  }
}

function number(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (text !== "" && value >= least && value <= most) return value;
  throw new BadUsage(`--${name} ${text}: a number, ${least} to ${most}`);
}

function whole(name: string, text: string, least: number, most: number): number {
  const value = number(name, text, least, most);
  if (Number.isInteger(value)) return value;
  throw new BadUsage(`--${name} ${text}: a whole number`);
}
