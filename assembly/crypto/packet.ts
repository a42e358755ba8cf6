/**
 * The blocks of a packet as GHASH reads them: the AAD, then the data, each padded with zeros to
 * whole blocks. In: addresses and lengths. Out: a block as a register, or its address.
 */

/** The number of blocks, without the block of the lengths. */
// @ts-ignore: decorator
@inline
export function countBlocks(aadLength: u32, length: u32): u32 {
  return ((aadLength + 15) >> 4) + ((length + 15) >> 4);
}

/** The `length` (1 .. 15) bytes at `address`, padded with zeros; reads no other bytes. */
function loadPart(address: usize, length: u32): v128 {
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

// @ts-ignore: decorator
@inline
function loadBlock(bytes: usize, length: u32, n: u32): v128 {
  const at = n << 4;
  return length - at >= 16 ? v128.load(bytes + at) : loadPart(bytes + at, length - at);
}

/** Block `n` of a packet. */
export function blockOf(n: u32, aad: usize, aadLength: u32, data: usize, length: u32): v128 {
  const inAad = (aadLength + 15) >> 4;
  return n < inAad ? loadBlock(aad, aadLength, n) : loadBlock(data, length, n - inAad);
}

/**
 * The address of block `n` of a packet; a block that is not whole in the packet is built at
 * `spare`.
 */
// @ts-ignore: decorator
@inline
export function findBlock(n: u32, aad: usize, aadLength: u32, data: usize, length: u32, spare: usize): usize {
  const inAad = (aadLength + 15) >> 4;
  // In the AAD, n wraps.
  if (n - inAad < length >> 4) return data + ((n - inAad) << 4);
  v128.store(spare, blockOf(n, aad, aadLength, data, length));
  return spare;
}
