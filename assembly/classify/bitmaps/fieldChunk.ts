/**
 * Field chunks: up to four whole bytes of a lane, such as the first three bytes of an address, or
 * two bytes each of two addresses. In: a definer and a number. Out: the bytes of the chunk. The
 * number of a chunk is the same for masks, rules and bitmaps:
 *
 *     lane * 32 + part * 4 + column   part 0 to 3: the first 1, 2, 3, 4 bytes of an address; source
 *                                     and destination port; the single bytes of small fields
 *     lane * 32 + 16 + pair           two columns: bytes 0 and 1 of addresses
 *     lane * 32 + 22 + pair           two columns: bytes 1 and 2, where networks differ
 *     lane * 32 + 28 + column         a column and the next one of the lane: byte 0 of addresses
 *
 * Chunks of two columns take the destination of ports, and the first byte of small fields.
 */
import { OUTER, INNER, LAYER_TCP_PORTS, LAYER_UDP_PORTS } from "../../../src/abi/key";
import { columnDword, definerColumns } from "../definer";

/** The number of lanes with chunks. */
export const CHUNK_LANES: u32 = 2;
const CHUNKS_PER_LANE: u32 = 32;
export const CHUNKS: u32 = CHUNK_LANES * CHUNKS_PER_LANE;
const COLUMNS: u32 = 4;
const PAIRS: u32 = 16;
const INNER_PAIRS: u32 = 22;
const NEIGHBOURS: u32 = 28;

/** No byte: swizzle yields 0 for it. */
const NONE: u32 = 0xff;
const NO_CHUNK: u32 = 0xffffffff;
const TOO_MANY: u32 = 0xffffffff;

// @ts-ignore: decorator
@inline
export function laneOfChunk(number: u32): usize {
  return <usize>((number / CHUNKS_PER_LANE) << 4);
}

/**
 * The bytes of a chunk in its lane, as four indexes of a swizzle; NO_CHUNK if there is no such
 * chunk.
 */
export function chunkBytes(definer: usize, number: u32): u32 {
  const first = (number / CHUNKS_PER_LANE) * COLUMNS;
  const n = number % CHUNKS_PER_LANE;
  if (n < PAIRS) return single(definer, first, n % COLUMNS, n / COLUMNS);
  if (n >= NEIGHBOURS) return joined(definer, first, n - NEIGHBOURS, (n - NEIGHBOURS + 1) % COLUMNS, 0, 1);
  const inner = n >= INNER_PAIRS;
  const pair = inner ? n - INNER_PAIRS : n - PAIRS;
  // The pairs 0 1, 0 2, 0 3, 1 2, 1 3, 2 3.
  const one = pair < 3 ? 0 : pair < 5 ? 1 : 2;
  const two = pair < 3 ? pair + 1 : pair < 5 ? pair - 1 : 3;
  return joined(definer, first, one, two, inner ? 1 : 0, 2);
}

// @ts-ignore: decorator
@inline
export function isChunk(bytes: u32): bool {
  return bytes != NO_CHUNK;
}

function single(definer: usize, first: u32, column: u32, part: u32): u32 {
  if (first + column >= definerColumns(definer)) return NO_CHUNK;
  const dword = columnDword(definer, first + column);
  if (dword < 0) return run(column, part, 1);
  if (isPortPair(dword)) return part < 2 ? run(column, part * 2, 2) : NO_CHUNK;
  return run(column, 0, part + 1);
}

/** Bytes of two columns: of addresses `count` bytes from byte `from` on. */
function joined(definer: usize, first: u32, one: u32, two: u32, from: u32, count: u32): u32 {
  if (first + max(one, two) >= definerColumns(definer)) return NO_CHUNK;
  const its = piece(definer, first, one, from, count);
  const others = piece(definer, first, two, from, count);
  const bits = ((its >> 8) & NONE) == NONE ? 8 : 16;
  return (its & (((<u32>1) << bits) - 1)) | (others << bits);
}

function piece(definer: usize, first: u32, column: u32, from: u32, count: u32): u32 {
  const dword = columnDword(definer, first + column);
  if (dword < 0) return run(column, 0, 1);
  if (isPortPair(dword)) return run(column, 2, 2);
  return run(column, from, count);
}

/**
 * `count` bytes of a column from byte `from` on, the last one first, then no byte. The last byte of an
 * address differs most, and of a product (candidates.ts) the lowest byte reaches most bits.
 */
function run(column: u32, from: u32, count: u32): u32 {
  const last = column * 4 + from + count - 1;
  let bytes: u32 = 0;
  for (let n: u32 = 0; n < 4; n++) bytes |= (n < count ? last - n : NONE) << (n << 3);
  return bytes;
}

function isPortPair(dword: i32): bool {
  const inLayer = dword & 63;
  const layer = dword - inLayer;
  return (layer == OUTER || layer == INNER) && (inLayer == LAYER_TCP_PORTS || inLayer == LAYER_UDP_PORTS);
}

/**
 * The chunks that the `lanes` lanes at `bytes` of a mask cover whole, a bit each. Bytes that the
 * definer gets later are not in the mask.
 */
export function chunksOf(definer: usize, bytes: usize, lanes: u32): u64 {
  return chunksWith(definer, bytes, lanes, 0, 0);
}

/** The chunks that the mask covers but for at most `bits` bits of one byte. */
export function nearlyCovered(definer: usize, bytes: usize, lanes: u32, bits: u32): u64 {
  return chunksWith(definer, bytes, lanes, 1, bits);
}

/** The chunks of which `uncovered` bytes are covered in part, but for at most `bits` bits each, and the others whole. */
function chunksWith(definer: usize, bytes: usize, lanes: u32, uncovered: u32, bits: u32): u64 {
  const count = min(lanes, CHUNK_LANES) * CHUNKS_PER_LANE;
  let chunks: u64 = 0;
  for (let number: u32 = 0; number < count; number++) {
    const places = chunkBytes(definer, number);
    if (isChunk(places) && uncoveredBytes(bytes + laneOfChunk(number), places, bits) == uncovered)
      chunks |= (<u64>1) << number;
  }
  return chunks;
}

/** The number of bytes of a chunk that are not covered whole; TOO_MANY if one has more than `bits` uncovered bits. */
function uncoveredBytes(lane: usize, bytes: u32, bits: u32): u32 {
  let uncovered: u32 = 0;
  for (let n: u32 = 0; n < 4; n++, bytes >>= 8) {
    const byte = bytes & 0xff;
    const covered = byte == NONE ? 0xff : <u32>load<u8>(lane + <usize>byte);
    if (covered == 0xff) continue;
    if (<u32>popcnt(covered ^ 0xff) > bits) return TOO_MANY;
    uncovered++;
  }
  return uncovered;
}
