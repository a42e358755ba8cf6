/** `npm run campaign -- [TARGET...] [--hours H] [--seed S] [--jobs N]` */
import { parseArgs } from "node:util";
import type { Target } from "../target.js";
import { targetNamed, TARGETS } from "../targets/index.js";

export interface Options {
  readonly targets: readonly Target[];
  readonly hours: number;
  readonly seed: number;
  readonly jobs: number;
}

/** @throws Error names the option and what it may be */
export function readOptions(args: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      hours: { type: "string", default: "1" },
      seed: { type: "string", default: String(Date.now() % 2 ** 31) },
      jobs: { type: "string", default: "1" },
    },
  });
  return {
    targets: positionals.length === 0 ? TARGETS : positionals.map(targetNamed),
    hours: number("hours", values.hours, 0, 1e6),
    seed: whole("seed", values.seed, 0, 2 ** 32 - 1),
    jobs: whole("jobs", values.jobs, 1, 1024),
  };
}

function number(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (text !== "" && value >= least && value <= most) return value;
  throw new Error(`--${name} ${text}: a number, ${least} to ${most}`);
}

function whole(name: string, text: string, least: number, most: number): number {
  const value = number(name, text, least, most);
  if (Number.isInteger(value)) return value;
  throw new Error(`--${name} ${text}: a whole number`);
}
