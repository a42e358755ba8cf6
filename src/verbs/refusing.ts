/** Functions that refuse every call: they stand where the model lacks what a function of C needs. */
import { refuse } from "../errors.js";

/** What is missing, and the functions that need it. */
export type Missing = Readonly<Record<string, readonly string[]>>;

/** A function that takes any arguments and refuses them. */
export type Refusing = (...args: readonly unknown[]) => never;

/** The functions of a table by name. */
export function refusing<const T extends Missing>(missing: T): Readonly<Record<T[keyof T][number], Refusing>> {
  const functions = Object.entries(missing).flatMap(([what, names]) =>
    names.map((call) => [call, () => refuse({ ...LACKING, call, hint: `missing: ${what}` })]),
  );
  return Object.fromEntries(functions) as Record<T[keyof T][number], Refusing>;
}

const LACKING = { code: "EOPNOTSUPP", reason: "unsupported", cite: "docs/from-c.md: What refuses" } as const;
