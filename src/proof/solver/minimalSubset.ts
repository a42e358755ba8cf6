/**
 * A subset for which `suffices` is true, such that it is false without any one of its elements. `suffices` must be true of
 * all candidates, and of every larger set than one for which it is true. QuickXplain (U. Junker, 2004): for a subset of k
 * of n candidates some k * log2(n / k) calls.
 *
 * @example
 * minimalSubset([5, 1, 7, 2], (numbers) => numbers.includes(7) && numbers.includes(1)); // [1, 7]
 */
export function minimalSubset<T>(candidates: readonly T[], suffices: (subset: readonly T[]) => boolean): T[] {
  /** What of `open` is needed beside `given`; `grew` says that `given` has elements that were not tested yet. */
  const needed = (given: readonly T[], open: readonly T[], grew: boolean): readonly T[] => {
    if (grew && suffices(given)) return [];
    if (open.length === 1) return open;
    const half = open.length >> 1;
    const [front, back] = [open.slice(0, half), open.slice(half)];
    const ofBack = needed([...given, ...front], back, true);
    const ofFront = needed([...given, ...ofBack], front, ofBack.length > 0);
    return [...ofFront, ...ofBack];
  };
  return candidates.length === 0 ? [] : [...needed([], candidates, true)];
}
