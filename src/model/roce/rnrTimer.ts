/** The times of RNR NAKs. */
import { SYNDROME_KIND } from "./opcodes.js";

/** How long a peer without a receive request asks to wait, in units of 10 us (ibv_modify_qp(3), min_rnr_timer). */
const RNR_TIMES = [
  ...[65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192],
  ...[256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152],
];

/** The time that an RNR NAK asks for, in nanoseconds. */
export function rnrTime(syndrome: number): bigint {
  return 10_000n * BigInt(RNR_TIMES[syndrome & ~SYNDROME_KIND] as number);
}
