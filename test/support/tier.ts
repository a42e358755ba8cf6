/**
 * How much the tests do. `npm test` runs a little of everything; `npm run test:deep` sets FLOWSTEER_DEEP and runs all.
 */

/** What the environment says of the tests; vitest.config.ts hands it on to the browser. */
export function setting(name: string): string | undefined {
  return import.meta.env?.[name] ?? globalThis.process?.env[name];
}

/** Whether this is the deep tier. */
export const DEEP = setting("FLOWSTEER_DEEP") === "1";

const IN_BROWSER = "document" in globalThis;

/**
 * The size of a random test: `all` in the deep tier, a tenth of it in `npm test`, and half of either in a browser, which
 * runs the same code. `name` is a setting that says the size instead.
 */
export function rounds(all: number, name?: string): number {
  const given = name === undefined ? undefined : setting(name);
  if (given !== undefined) return Number(given);
  return Math.ceil((DEEP ? all : all / 10) / (IN_BROWSER ? 2 : 1));
}

/** Checks that random input has reached every case. A tenth of it may not: only the deep tier is held to that. */
export function checkReached(check: () => void): void {
  if (DEEP) check();
}
