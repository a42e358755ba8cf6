/**
 * Values of the walker: what is public is known, or at least the same whatever the secrets are; a secret is nothing but that.
 * What is computed of a secret is secret.
 */
export const SECRET = Symbol("secret");
export const UNKNOWN = Symbol("public, but not known");

export type Known = number | bigint | Uint8Array;
export type Value = Known | typeof SECRET | typeof UNKNOWN;

export function isKnown(value: Value): value is Known {
  return typeof value !== "symbol";
}

/** What comes of values of which not all are known. */
export function blend(values: readonly Value[]): typeof SECRET | typeof UNKNOWN {
  return values.includes(SECRET) ? SECRET : UNKNOWN;
}

type Binary<T> = (a: T, b: T) => T | number;

const I32: Record<number, Binary<number>> = {
  0x46: (a, b) => Number(a === b),
  0x47: (a, b) => Number(a !== b),
  0x48: (a, b) => Number(a < b),
  0x49: (a, b) => Number(a >>> 0 < b >>> 0),
  0x4a: (a, b) => Number(a > b),
  0x4b: (a, b) => Number(a >>> 0 > b >>> 0),
  0x4c: (a, b) => Number(a <= b),
  0x4d: (a, b) => Number(a >>> 0 <= b >>> 0),
  0x4e: (a, b) => Number(a >= b),
  0x4f: (a, b) => Number(a >>> 0 >= b >>> 0),
  0x6a: (a, b) => (a + b) | 0,
  0x6b: (a, b) => (a - b) | 0,
  0x6c: (a, b) => Math.imul(a, b),
  0x6d: (a, b) => (a / b) | 0,
  0x6e: (a, b) => ((a >>> 0) / (b >>> 0)) | 0,
  0x6f: (a, b) => (a % b) | 0,
  0x70: (a, b) => ((a >>> 0) % (b >>> 0)) | 0,
  0x71: (a, b) => a & b,
  0x72: (a, b) => a | b,
  0x73: (a, b) => a ^ b,
  0x74: (a, b) => a << b,
  0x75: (a, b) => a >> b,
  0x76: (a, b) => (a >>> b) | 0,
  0x77: (a, b) => ((b & 31) === 0 ? a : (a << b) | (a >>> (32 - (b & 31)))),
  0x78: (a, b) => ((b & 31) === 0 ? a : (a >>> b) | (a << (32 - (b & 31)))),
};

const unsigned = (a: bigint): bigint => BigInt.asUintN(64, a);
const signed = (a: bigint): bigint => BigInt.asIntN(64, a);

const I64: Record<number, Binary<bigint>> = {
  0x51: (a, b) => Number(a === b),
  0x52: (a, b) => Number(a !== b),
  0x53: (a, b) => Number(a < b),
  0x54: (a, b) => Number(unsigned(a) < unsigned(b)),
  0x55: (a, b) => Number(a > b),
  0x56: (a, b) => Number(unsigned(a) > unsigned(b)),
  0x57: (a, b) => Number(a <= b),
  0x58: (a, b) => Number(unsigned(a) <= unsigned(b)),
  0x59: (a, b) => Number(a >= b),
  0x5a: (a, b) => Number(unsigned(a) >= unsigned(b)),
  0x7c: (a, b) => signed(a + b),
  0x7d: (a, b) => signed(a - b),
  0x7e: (a, b) => signed(a * b),
  0x83: (a, b) => a & b,
  0x84: (a, b) => a | b,
  0x85: (a, b) => a ^ b,
  0x86: (a, b) => signed(a << (b & 63n)),
  0x87: (a, b) => a >> (b & 63n),
  0x88: (a, b) => signed(unsigned(a) >> (b & 63n)),
  0x89: (a, b) => signed((unsigned(a) << (b & 63n)) | (unsigned(a) >> (64n - (b & 63n)))),
  0x8a: (a, b) => signed((unsigned(a) >> (b & 63n)) | (unsigned(a) << (64n - (b & 63n)))),
};

const UNARY: Record<number, (a: never) => Known> = {
  0x45: (a: number) => Number(a === 0),
  0x50: (a: bigint) => Number(a === 0n),
  0x67: (a: number) => Math.clz32(a),
  0x68: (a: number) => (a === 0 ? 32 : 31 - Math.clz32(a & -a)),
  0x69: (a: number) => (a >>> 0).toString(2).replaceAll("0", "").length,
  0xa7: (a: bigint) => Number(BigInt.asIntN(32, a)),
  0xac: (a: number) => BigInt(a),
  0xad: (a: number) => BigInt(a >>> 0),
  0xc0: (a: number) => (a << 24) >> 24,
  0xc1: (a: number) => (a << 16) >> 16,
};

/** Operations whose time depends on their operands on some machine: divisions, and counts of bits where no instruction counts. */
export function isSlow(op: number): boolean {
  return isDivision(op) || (op >= 0x67 && op <= 0x69) || (op >= 0x79 && op <= 0x7b);
}

function isDivision(op: number): boolean {
  return (op >= 0x6d && op <= 0x70) || (op >= 0x7f && op <= 0x82);
}

/** How many operands an operation on numbers has; 0 where it is none. */
export function arity(op: number): number {
  if (op in UNARY) return 1;
  return op in I32 || op in I64 || isDivision(op) ? 2 : 0;
}

/** An operation on numbers. */
export function compute(op: number, operands: readonly Value[]): Value {
  if (!operands.every(isKnown)) return blend(operands);
  const [a, b] = operands;
  const unary = UNARY[op];
  if (unary !== undefined) return unary(a as never);
  if (typeof a === "number") return I32[op]!(a, b as number);
  const wide = I64[op];
  return wide === undefined ? UNKNOWN : wide(a as bigint, b as bigint);
}

/** Operands of an operation on lanes that touches no memory. */
export function lanesArity(code: number): number {
  if (code === 12) return 0;
  if ((code >= 15 && code <= 20) || code === 77 || code === 83) return 1;
  if (code === 82) return 3;
  if (code >= 21 && code <= 34) return [23, 26, 28, 30, 32, 34].includes(code) ? 2 : ONE_LANE.has(code) ? 1 : 2;
  return ONE.has(code) ? 1 : 2;
}

/** Lanes taken out. */
const ONE_LANE = new Set([21, 22, 24, 25, 27, 29, 31, 33]);
/** Operations on one vector: tests, masks, absolute values, negations, counts, widenings. */
const ONE = new Set([
  0x60, 0x61, 0x62, 0x63, 0x64, 0x7c, 0x7d, 0x7e, 0x7f, 0x80, 0x81, 0x83, 0x84, 0x87, 0x88, 0x89, 0x8a, 0xa0, 0xa1,
  0xa3, 0xa4, 0xa7, 0xa8, 0xa9, 0xaa, 0xc0, 0xc1, 0xc3, 0xc4, 0xc7, 0xc8, 0xc9, 0xca,
]);

/** An operation on lanes. Those that no address is computed with are not known. */
export function computeLanes(code: number, operands: readonly Value[], a: unknown, b: unknown): Value {
  if (code === 12) return a as Uint8Array;
  if (!operands.every(isKnown)) return blend(operands);
  const [x, y] = operands;
  if (code === 17) return words(() => x as number);
  if (code === 27) return new DataView((x as Uint8Array).buffer).getInt32((b as number) * 4, true);
  if (code === 174) return words((i) => word(x, i) + word(y, i));
  if (code === 81) return (x as Uint8Array).map((byte, i) => byte ^ (y as Uint8Array)[i]!);
  return UNKNOWN;
}

function words(of: (i: number) => number): Uint8Array {
  return new Uint8Array(Int32Array.from({ length: 4 }, (_, i) => of(i)).buffer);
}

function word(lanes: Value | undefined, i: number): number {
  return new DataView((lanes as Uint8Array).buffer).getInt32(i * 4, true);
}
