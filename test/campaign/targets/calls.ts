/** Calls of the facades, with arguments that are right, wrong, or of other calls. */
import { SteeringError } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import * as v from "../../../src/verbs/index.js";
import { everyCall as everyDirectCall } from "../../mlx5dv/support/everyCall.js";
import type { Random } from "../../oracle/generate/random.js";
import { isPlain, WRONG } from "../../support/wrongTypes.js";
import { everyCall as everyVerb } from "../../verbs/support/everyCall.js";
import type { Target } from "../target.js";

/** Calls of a run. */
const CALLS = 60;
/** How far below an argument a value is replaced: `attr.specs[0].val.dst_ip` is four below `attr`. */
const DEPTH = 5;
const WRONG_VALUES = Object.values(WRONG);

/** Calls that write to a stream of the program throw what it throws. */
const WRITING = /^mlx5dv_dump_/;

type Run = (...args: unknown[]) => unknown;

export const calls: Target = {
  name: "calls",
  about:
    "calls of flowsteer/verbs and flowsteer/mlx5dv in any order, with right arguments, one value replaced, or arguments of " +
    "other calls: done, or refused by name",
  unit: "calls",
  guide: "host",
  open: () =>
    Promise.resolve(async (random) => {
      const [facade, made] = random.chance(0.5) ? [v, await everyVerb()] : [dv, await everyDirectCall()];
      const list = Object.entries(made);
      for (let n = 0; n < CALLS; n++) {
        const [name, args] = drawnCall(random, list);
        call(name, (facade as unknown as Record<string, Run>)[name]!, args);
      }
      return CALLS;
    }),
};

/** A function by name, and its arguments. */
export function drawnCall(
  random: Random,
  all: readonly [string, readonly unknown[]][],
): readonly [string, readonly unknown[]] {
  const [name, args] = random.pick(all.filter(([one]) => !WRITING.test(one)));
  return [name, drawnArguments(random, args, all)];
}

function drawnArguments(
  random: Random,
  args: readonly unknown[],
  all: readonly [string, readonly unknown[]][],
): unknown[] {
  const roll = random.below(4);
  if (roll === 0) return [...args];
  if (roll === 1) return args.map((one) => (random.chance(0.5) ? argumentOf(random, random.pick(all)[1]) : one));
  if (args.length === 0) return [];
  const at = random.below(args.length);
  return args.with(at, withWrong(random, args[at], DEPTH));
}

/** A value with one part replaced by one of a wrong type, or replaced itself. */
function withWrong(random: Random, value: unknown, depth: number): unknown {
  const inner = Array.isArray(value) ? [...value.keys()] : isPlain(value) ? Object.keys(value) : [];
  if (inner.length === 0 || depth === 0 || random.chance(0.25)) return random.pick(WRONG_VALUES)();
  const key = random.pick<string | number>(inner);
  const part = withWrong(random, (value as Record<string | number, unknown>)[key], depth - 1);
  return Array.isArray(value) ? (value as unknown[]).with(key as number, part) : { ...(value as object), [key]: part };
}

function argumentOf(random: Random, args: readonly unknown[]): unknown {
  return args[random.below(args.length + 1)];
}

/** @throws Error it throws what is no refusal of its own */
function call(name: string, run: Run, args: readonly unknown[]): void {
  try {
    run(...args);
  } catch (error) {
    if (!isRefusalOf(name, error)) throw error;
  }
}

/** Whether a function says by this error what is wrong with its arguments, or that it cannot be done. */
export function isRefusalOf(name: string, error: unknown): error is SteeringError | TypeError {
  return (
    (error instanceof SteeringError && error.call === name) ||
    (error instanceof TypeError && error.message.startsWith(`${name}: `))
  );
}
