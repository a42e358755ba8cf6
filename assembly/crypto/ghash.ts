/** GHASH of one packet (NIST SP 800-38D, 6.4 and 7.1): AAD and data, each padded to whole blocks, and both lengths. */
import { timesH } from "./hashKey";

/** The `length` (1 .. 15) bytes at `address` and zeros behind; reads no others. */
export function loadPart(address: usize, length: u32): v128 {
  const shift = <u64>(length << 3);
  if (length >= 8) {
    const low = load<u64>(address);
    const high = length == 8 ? 0 : load<u64>(address + length - 8) >> (128 - shift);
    return i64x2.replace_lane(i64x2.splat(low), 1, high);
  }
  let bytes: u64;
  if (length >= 4) {
    bytes = (<u64>load<u32>(address)) | ((<u64>load<u32>(address + length - 4)) << (shift - 32));
  } else {
    bytes = (<u64>load<u8>(address)) | ((<u64>load<u8>(address + length - 1)) << (shift - 8));
    if (length == 3) bytes |= (<u64>load<u8>(address, 1)) << 8;
  }
  return i64x2.replace_lane(i64x2(0, 0), 0, bytes);
}

function hashBytes(hash: usize, sum: v128, bytes: usize, length: u32): v128 {
  for (; length >= 16; length -= 16) {
    sum = timesH(hash, v128.xor(sum, v128.load(bytes)));
    bytes += 16;
  }
  return length == 0 ? sum : timesH(hash, v128.xor(sum, loadPart(bytes, length)));
}

export function ghash(hash: usize, aad: usize, aadLength: u32, data: usize, length: u32, out: usize): void {
  let sum = i64x2(0, 0);
  sum = hashBytes(hash, sum, aad, aadLength);
  sum = hashBytes(hash, sum, data, length);
  const lengths = i64x2.replace_lane(i64x2.splat(bswap((<u64>aadLength) << 3)), 1, bswap((<u64>length) << 3));
  v128.store(out, timesH(hash, v128.xor(sum, lengths)));
}
