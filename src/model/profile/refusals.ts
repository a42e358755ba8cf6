/**
 * Refusal tables. A profile lists the checks of a call, their order, and the errno of each; the
 * folder of the call has one function per check.
 */
import type { ErrnoName, Refusal } from "../../errors.js";

/**
 * The errno of each check. A check that is missing is not made. When the caller runs the table
 * (`runnable`), the order of the names is the order of the checks.
 */
export type Refusals<Check extends string> = Readonly<Partial<Record<Check, ErrnoName>>>;

/** The layer of a software stack that makes the check. */
export type Stage = "page" | "provider" | "library" | "uverbs" | "driver" | "steering core" | "model";

/** Checks that are made once, in order. */
export interface Step<Check extends string> {
  readonly by: Stage;
  readonly each?: undefined;
  readonly refuses: Refusals<Check>;
}

/** Checks that are made in turn for each item of a list. */
export interface EachStep<Check extends string, Each extends string> {
  readonly by: Stage;
  /** The kind of item. */
  readonly each: Each;
  readonly refuses: Refusals<Check>;
}

/** The finding of a check: a refusal whose call and errno are not known yet. */
export type Finding = Omit<Refusal, "call" | "code">;

/** A finding with its errno. */
export type Found = Omit<Refusal, "call">;

/** The function of a check, and the errno of its refusal. */
export interface CodedCheck<F> {
  readonly check: F;
  readonly code: ErrnoName;
}

type Runnable<F> = readonly CodedCheck<F>[];

const RUNNABLE = new WeakMap<object, Runnable<unknown>>();

/**
 * The checks of a table, in its order, each with its errno. Each table has one set of
 * functions.
 */
export function runnable<Check extends string, F>(
  table: Refusals<Check>,
  functions: Readonly<Record<Check, F>>,
): Runnable<F> {
  const known = RUNNABLE.get(table);
  if (known !== undefined) return known as Runnable<F>;
  const made = (Object.entries(table) as [Check, ErrnoName][]).map(([name, code]) => ({
    check: functions[name],
    code,
  }));
  RUNNABLE.set(table, made);
  return made;
}
