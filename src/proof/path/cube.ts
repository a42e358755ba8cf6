/** Numbers of 32 bits with given bits: (number & mask) == value. */

/** The least such number from `low` on; Infinity for none. */
export function leastIn(mask: number, value: number, low: number): number {
  if (((low ^ value) & mask) === 0) return low;
  // The result has the bits of `low` above some bit that is 0 in `low` and 1 in the result; the lowest such bit gives the least.
  for (let bit = 0; bit < 32; bit++) {
    const one = (1 << bit) >>> 0;
    const below = one - 1;
    const above = ~(below | one);
    const canBeOne = (mask & one) === 0 || (value & one) !== 0;
    if ((low & one) !== 0 || !canBeOne || ((low ^ value) & mask & above) !== 0) continue;
    return ((low & above) | one | (value & below)) >>> 0;
  }
  return Infinity;
}

/** The greatest such number up to `high`; -1 for none. */
export function greatestIn(mask: number, value: number, high: number): number {
  const least = leastIn(mask, (~value & mask) >>> 0, ~high >>> 0);
  return least === Infinity ? -1 : ~least >>> 0;
}
