/** The dwords of a key that a field covers. */

/** The bits of a field in one dword of the key. */
export interface FieldPart {
  /** The key byte of the dword, which is big-endian. */
  readonly dword: number;
  /** The field's bits in the dword. */
  readonly mask: number;
  /** How far the lowest of them is above bit 0 of the dword. */
  readonly shift: number;
  /** How many bits of the field are in later dwords. */
  readonly below: number;
}

/** The parts of the field of `width` bits from key bit `bit` on. A field of up to 32 bits has one. */
export function partsOf(bit: number, width: number): FieldPart[] {
  const parts: FieldPart[] = [];
  for (let from = bit; from < bit + width;) {
    const end = Math.min(bit + width, (from | 31) + 1);
    const shift = -end & 31;
    parts.push({
      dword: (from >> 5) * 4,
      mask: (-1 >>> (32 - (end - from))) << shift,
      shift,
      below: bit + width - end,
    });
    from = end;
  }
  return parts;
}

/** The bits of a field's value that lie in this part, at their place in the dword. */
export function bitsIn({ mask, shift, below }: FieldPart, value: bigint): number {
  const rest = below === 0 ? value : value >> BigInt(below);
  return (Number(BigInt.asUintN(32, rest)) << shift) & mask;
}

/** The big-endian dword at a byte of a key, as a signed number. */
export function readDword(key: Uint8Array, at: number): number {
  return (
    ((key[at] as number) << 24) |
    ((key[at + 1] as number) << 16) |
    ((key[at + 2] as number) << 8) |
    (key[at + 3] as number)
  );
}

/** Writes the bits of `mask` in the big-endian dword at a byte of a key, and leaves the others. */
export function writeDword(key: Uint8Array, at: number, mask: number, bits: number): void {
  const dword = (readDword(key, at) & ~mask) | bits;
  key[at] = dword >>> 24;
  key[at + 1] = dword >>> 16;
  key[at + 2] = dword >>> 8;
  key[at + 3] = dword;
}
