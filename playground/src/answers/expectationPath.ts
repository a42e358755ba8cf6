/** Which expectation a failure is about. */

/** `expect.frames[2]` of `expect.frames[2].verdict`, `expect.counters.web` of `expect.counters.web.packets`. */
export function objectOf(path: string): string {
  return /^expect\.\w+(\[\d+\]|\.[^.[]+|\["(?:[^"\\]|\\.)*"\])?/.exec(path)?.[0] ?? path;
}

/** The number of expectations that failures are about. */
export function failedCount(failures: readonly { readonly path: string }[]): number {
  return new Set(failures.map(({ path }) => objectOf(path))).size;
}
