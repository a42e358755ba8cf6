/**
 * Tables of refusals. A profile says which checks a call makes, in which order, and the errno of each;
 * the room of the call has a function for every check.
 */
import type { ErrnoName, Refusal } from "../../errors.js";

/**
 * Errno by check. Checks that the table does not name are not made. Where the caller runs the table
 * (`runnable`), the order of its names is the order of the checks.
 */
export type Refusals<Check extends string> = Readonly<Partial<Record<Check, ErrnoName>>>;

/** The part of a stack that refuses. */
export type Stage = "page" | "provider" | "library" | "uverbs" | "driver" | "steering core" | "model";

/** Checks that are made once, in their order. */
export interface Step<Check extends string> {
  readonly by: Stage;
  readonly each?: undefined;
  readonly refuses: Refusals<Check>;
}

/** Checks that are made in turn for each item of a list. */
export interface EachStep<Check extends string, Each extends string> {
  readonly by: Stage;
  /** The items. */
  readonly each: Each;
  readonly refuses: Refusals<Check>;
}

/** What a check finds: a refusal whose call and errno are not known yet. */
export type Finding = Omit<Refusal, "call" | "code">;

/** The same with its errno. */
export type Found = Omit<Refusal, "call">;

type Runnable<F> = readonly (readonly [check: F, code: ErrnoName])[];

const RUNNABLE = new WeakMap<object, Runnable<unknown>>();

/** The checks of a table as functions with their errno, in its order. A table has one set of functions. */
export function runnable<Check extends string, F>(
  table: Refusals<Check>,
  functions: Readonly<Record<Check, F>>,
): Runnable<F> {
  const known = RUNNABLE.get(table);
  if (known !== undefined) return known as Runnable<F>;
  const made = (Object.entries(table) as [Check, ErrnoName][]).map(([name, code]) => [functions[name], code] as const);
  RUNNABLE.set(table, made);
  return made;
}
