/** Sizes of match parameters. */
import type * as dv from "../../../src/mlx5dv/index.js";
import type { Random } from "../../oracle/generate/random.js";

/**
 * The same match parameters in another number of bytes: from all that are not zero up to more than
 * the device format has. Bytes after the format are random, because they have no effect.
 */
export function resized(random: Random, { match_buf }: dv.DeviceMatch["mask"]): dv.DeviceMatch["mask"] {
  const needed = match_buf.findLastIndex((byte) => byte !== 0) + 1;
  const match_sz = random.pick([
    needed,
    random.between(needed, match_buf.length),
    match_buf.length,
    random.between(449, 600),
  ]);
  const bytes = Uint8Array.from(random.bytes(match_sz));
  bytes.fill(0, 0, match_buf.length);
  bytes.set(match_buf.subarray(0, match_sz));
  return { match_sz, match_buf: bytes };
}
