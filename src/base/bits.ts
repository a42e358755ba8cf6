/** Masks of bits. */

const ONES: bigint[] = [];

/** A number whose lowest bits are set: `0xff` for 8. One object for each number of bits. */
export function ones(bits: number): bigint {
  return (ONES[bits] ??= (1n << BigInt(bits)) - 1n);
}

/** Values of masked bits. */
export interface MaskedBytes {
  readonly mask: Uint8Array;
  readonly value: Uint8Array;
}

/** Whether some bytes match both: bits that both masks have are the same in both values. */
export function overlap(a: MaskedBytes, b: MaskedBytes): boolean {
  for (let at = 0; at < a.mask.length; at++) {
    const both = (a.mask[at] as number) & (b.mask[at] as number);
    if ((((a.value[at] as number) ^ (b.value[at] as number)) & both) !== 0) return false;
  }
  return true;
}
