/** The device bytes in `struct mlx5dv_flow_match_parameters`, which callers pass in three forms. */
import { GROUP_SIZE, OUTER } from "../../abi/key.js";
import { unsigned, wrongType } from "../../base/checks.js";
import { refuse } from "../../errors.js";
import { checkSize, type MaskPlace } from "./matcherChecks.js";
import type { MatchParameters } from "./match.js";

/**
 * Device bytes: the struct as an object, its device bytes alone, its C bytes (`match_sz` as 8 bytes
 * in the order of x86-64, then the device bytes), or nothing (all zero).
 */
export type DeviceBytes = MatchParameters | Uint8Array | null | undefined;

const NO_BYTES = new Uint8Array(0);
/** Bytes of `match_sz` in C. */
const SIZE_BYTES = 8;

/**
 * The device bytes of a mask, or of a rule's value under its `mask`.
 * @throws TypeError no bytes; SteeringError EINVAL a size that the table does not take, or bytes
 *   that can be the C struct and match data
 */
export function parameterBytes(
  path: string,
  place: MaskPlace,
  parameters: DeviceBytes,
  mask: Uint8Array | null = null,
): Uint8Array {
  const given = parameters ?? NO_BYTES;
  const bytes = given instanceof Uint8Array ? dataOf(path, given, mask) : (given.match_buf ?? NO_BYTES);
  if (!(bytes instanceof Uint8Array)) {
    wrongType(`${path}.match_buf`, "a Uint8Array", bytes);
  }
  const size = given instanceof Uint8Array ? bytes.length : (given.match_sz ?? bytes.length);
  const what = mask === null ? "mask" : "value";
  checkSize(path, what, place, unsigned(`${path}.match_sz`, size, 32), bytes.length);
  return size === bytes.length ? bytes : bytes.subarray(0, size);
}

/**
 * The device bytes in bytes that came without a size. SPEC: they are the C struct if they begin with
 * the number of bytes that follow. Read as device bytes, such a start is a source MAC of two bytes
 * and four zeros, and EtherType 0. Bytes that can be both are refused: a value whose matcher masks
 * these bits, and a struct with bytes after its data.
 */
function dataOf(path: string, bytes: Uint8Array, mask: Uint8Array | null): Uint8Array {
  const size = statedSize(bytes);
  if (size === 0) return bytes;
  const left = bytes.length - SIZE_BYTES;
  const isWhole = size === left;
  if (!isWhole && (size > left || size % GROUP_SIZE !== 0)) return bytes;
  const masked = mask !== null && [0, 1].every((at) => ((bytes[at] ?? 0) & ~(mask[OUTER + at] ?? 0)) === 0);
  if (isWhole && !masked) return bytes.subarray(SIZE_BYTES);
  const other = isWhole ? "" : `, or the first ${SIZE_BYTES + size} bytes`;
  return refuse({
    code: "EINVAL",
    reason: "ambiguous_bytes",
    path,
    value: bytes.subarray(0, SIZE_BYTES),
    hint: `a match_sz of ${size}, or a source MAC: pass { match_sz, match_buf }, or matchParametersFromBytes${other}`,
    cite: "docs/from-c.md",
  });
}

/** The first 8 bytes as a size that match parameters can have; 0 if they are none. */
function statedSize(bytes: Uint8Array): number {
  if (bytes.length <= SIZE_BYTES) return 0;
  for (let at = 2; at < SIZE_BYTES; at++) if (bytes[at] !== 0) return 0;
  return (bytes[0] ?? 0) | ((bytes[1] ?? 0) << 8);
}
