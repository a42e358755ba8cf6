/** `expect.frames[2]` of `expect.frames[2].verdict`, `expect.counters.web` of `expect.counters.web.packets`. */
export function objectOf(path: string): string {
  return /^expect\.\w+(\[\d+\]|\.[^.[]+|\["(?:[^"\\]|\\.)*"\])?/.exec(path)?.[0] ?? path;
}
