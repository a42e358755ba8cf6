/**
 * Sizes of the tests. `npm test` runs a small part of every test; `npm run test:deep` sets
 * FLOWSTEER_DEEP and runs all.
 */

/** Test settings from the environment; vitest.config.ts passes them to the browser. */
export function setting(name: string): string | undefined {
  return import.meta.env?.[name] ?? globalThis.process?.env[name];
}

/** Whether this is the deep tier, which only Node has. */
export const DEEP = setting("FLOWSTEER_DEEP") === "1";

const IN_BROWSER = "document" in globalThis;

/**
 * The size of a random test: `all` in the deep tier, a thirtieth of it in `npm test`, and half of
 * that in a browser, which runs the same code. `name` is a setting that overrides the size.
 */
export function rounds(all: number, name?: string): number {
  const given = name === undefined ? undefined : setting(name);
  if (given !== undefined) return Number(given);
  return Math.ceil((DEEP ? all : all / 30) / (IN_BROWSER ? 2 : 1));
}

/** A list in the deep tier, and a fourth of it in `npm test`. */
export function sampleOf<T>(all: readonly T[]): readonly T[] {
  return all.filter((_, i) => DEEP || i % 4 === 0);
}

/**
 * Checks that random input has reached every case. The check applies only in the deep tier, which
 * runs all of the input: a part of it may miss some.
 */
export function checkReached(check: () => void): void {
  if (DEEP) check();
}
