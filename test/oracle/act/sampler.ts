// Reference of samplers: which frames a sampler takes (docs/state.md, "Time and chance").

const wrap = (value: bigint): bigint => BigInt.asUintN(64, value);

/** Whether sampler `sampler` takes frame `frame`; both count from 0. */
export function isSampled(seed: bigint, frame: bigint, sampler: bigint, ratio: number): boolean {
  let x = wrap(seed + (frame + 1n) * 0x9e3779b97f4a7c15n + sampler * 0xbf58476d1ce4e5b9n);
  x = wrap((x ^ (x >> 30n)) * 0xbf58476d1ce4e5b9n);
  x = wrap((x ^ (x >> 27n)) * 0x94d049bb133111ebn);
  x ^= x >> 31n;
  return (x >> 32n) * BigInt(ratio) < 2n ** 32n;
}
