/**
 * Key -> the groups that can hold a rule for it at all.
 *
 * A slice is some bits of one column of the lanes, such as the first 24 bits of an address. Each has a table that gives,
 * for a hash of those bits, the set of groups with a rule whose mask asks for all of them and whose value has that hash;
 * groups with a rule that leaves some of them out are always in (`wild`). The AND over all slices is small.
 *
 *     0      4       8         16       32             160            288         1312             2352               3376
 *     | rows | shift | entries | slices | group at 128 | place of 128 | best 1024 | best from 1032 | wild slices 1024 | rows ... |
 *
 *     a row: | slice masks 16 | tables 4 x 4 | values 4 x 4 | wild 4 x 16 |     four slices of one lane, one a column
 *
 * Sets have a bit a place, and places are in the order of the groups' best ranks when this was made, so that the lowest
 * bit names the group that is likeliest to win. Sets may hold too much, after rules are gone; they never hold too little.
 */
import { OUTER, INNER, LAYER_TCP_PORTS, LAYER_UDP_PORTS } from "../../src/abi/key";
import { allocate, release } from "../arena";
import { DRAWN, LANES, SETS } from "../memory";
import { columnDword, definerColumns } from "./definer";
import { GROUP_BEST, GROUP_COUNT, GROUPS, groupAt } from "./group";
import { MASK_BYTES, MASK_LANES_COUNT, MASK_SLICES } from "./mask";
import { RULE_GROUP, RULE_MASK, RULE_RANK, RULE_VALUE } from "./rule";

const ROWS: usize = 0;
const SHIFT: usize = 4;
const ENTRIES: usize = 8;
/** Slices that there are, a bit each. */
const SLICES: usize = 16;
const PRUNE_AT: usize = 32;
const PLACE: usize = 160;
const BEST: usize = 288;
const BEST_FROM: usize = 1312;
/** For each place, the slices that it is always in. */
const WILD_SLICES: usize = 2352;
const FIRST_ROW: usize = 3376;
const ROW_TABLES: usize = 16;
/** How many entries of each table are not empty. */
const ROW_VALUES: usize = 32;
const ROW_WILD: usize = 48;
const ROW_SIZE: usize = 112;
const COLUMNS: u32 = 4;
const SET: u32 = 16;

/**
 * Rows a lane: the first 8, 16, 24 and 32 bits of an address, as groups have whole bytes of it; from JOINT on the first 8
 * and 16 of two addresses, of a column and the next one around the lane.
 */
const ROWS_A_LANE: u32 = 6;
const JOINT: u32 = 4;
/** A slice of which rules have fewer values than this says nothing about a key that meets them at all. */
const FEW_VALUES: u32 = 2;
/** Lanes that slices are taken of. */
const MAX_LANES: u32 = 2;
const MIN_ENTRIES: u32 = 128;
const MAX_ENTRIES: u32 = 2048;
const MULTIPLIER: u32 = 0x9e3779b1;

/** An empty set of tables, sized for so many rules; 0 when memory is full. */
export function createPrune(definer: usize, groups: usize, rules: u32): usize {
  const rows = ROWS_A_LANE * min((definerColumns(definer) + COLUMNS - 1) / COLUMNS, MAX_LANES);
  const prune = allocate(pruneBytes(rows));
  if (prune == 0) return 0;
  memory.fill(prune, 0, pruneBytes(rows));
  let entries = MIN_ENTRIES;
  while (entries < MAX_ENTRIES && entries < rules * 2) entries *= 2;
  store<u32>(prune, rows, ROWS);
  store<u32>(prune, clz(entries) + 1, SHIFT);
  store<u32>(prune, entries, ENTRIES);
  memory.fill(prune + BEST, 0xff, 2 * GROUPS * 8 + 8);
  let slices: u64 = 0;
  for (let row: u32 = 0; row < rows; row++) {
    drawSlices(definer, rowAt(prune, row), row);
    for (let column: u32 = 0; column < COLUMNS; column++) {
      const next = (column + 1) % COLUMNS;
      if (!drawn(rowAt(prune, row), column) || (isJoint(row) && !drawn(rowAt(prune, row), next))) continue;
      slices |= (<u64>1) << (row * COLUMNS + column);
    }
  }
  store<u64>(prune, slices, SLICES);
  orderGroups(prune, groups);
  return prune;
}

export function releasePrune(prune: usize): void {
  const rows = load<u32>(prune, ROWS);
  const bytes = load<u32>(prune, ENTRIES) * SET;
  for (let row: u32 = 0; row < rows; row++) {
    for (let column: u32 = 0; column < COLUMNS; column++) {
      const table: usize = load<u32>(rowAt(prune, row) + ((<usize>column) << 2), ROW_TABLES);
      if (table != 0) release(table, bytes);
    }
  }
  release(prune, pruneBytes(rows));
}

// @ts-ignore: decorator
@inline
function pruneBytes(rows: u32): u32 {
  return <u32>FIRST_ROW + rows * <u32>ROW_SIZE;
}

// @ts-ignore: decorator
@inline
function rowAt(prune: usize, row: u32): usize {
  return prune + FIRST_ROW + <usize>row * ROW_SIZE;
}

/** The slices of a row: of an address its first bits, of two ports one and the other, of shared columns byte by byte. */
function drawSlices(definer: usize, row: usize, index: u32): void {
  const first = (index / ROWS_A_LANE) * COLUMNS;
  const part = index % ROWS_A_LANE;
  for (let column: u32 = 0; column < COLUMNS; column++) {
    if (first + column >= definerColumns(definer)) {
      store<u32>(row + ((<usize>column) << 2), 0);
      continue;
    }
    const dword = columnDword(definer, first + column);
    // Bytes lie in the order of the wire, the first one lowest.
    let bits: u32;
    if (dword < 0) bits = part < JOINT ? 0x000000ff << (part << 3) : 0;
    else if (isPorts(dword)) bits = part == 0 ? 0x0000ffff : part == 1 ? 0xffff0000 : 0;
    else bits = 0xffffffff >> (24 - ((part & 3) << 3));
    store<u32>(row + ((<usize>column) << 2), bits);
  }
}

function drawn(row: usize, column: u32): bool {
  return load<u32>(row + ((<usize>column) << 2)) != 0;
}

function isPorts(dword: i32): bool {
  const inLayer = dword & 63;
  const layer = dword - inLayer;
  return (layer == OUTER || layer == INNER) && (inLayer == LAYER_TCP_PORTS || inLayer == LAYER_UDP_PORTS);
}

/** Gives places by best rank. At most GROUPS of them. */
function orderGroups(prune: usize, groups: usize): void {
  const count = load<u32>(groups, GROUP_COUNT);
  for (let index: u32 = 0; index < GROUPS; index++) {
    let place = index;
    if (index < count) {
      const best = load<u64>(groupAt(groups, index), GROUP_BEST);
      while (
        place > 0 &&
        load<u64>(groupAt(groups, load<u8>(prune + <usize>(place - 1), PRUNE_AT)), GROUP_BEST) > best
      ) {
        store<u8>(prune + <usize>place, load<u8>(prune + <usize>(place - 1), PRUNE_AT), PRUNE_AT);
        place--;
      }
    }
    store<u8>(prune + <usize>place, <u8>index, PRUNE_AT);
  }
  for (let place: u32 = 0; place < GROUPS; place++) {
    store<u8>(prune + <usize>load<u8>(prune + <usize>place, PRUNE_AT), <u8>place, PLACE);
  }
}

/** The slices that a mask asks about whole, a bit each. What the definer gets later it does not ask about. */
export function slicesOf(definer: usize, mask: usize): u64 {
  const lanes = load<u32>(mask, MASK_LANES_COUNT);
  const rows = ROWS_A_LANE * min(lanes, MAX_LANES);
  let slices: u64 = 0;
  for (let row: u32 = 0; row < rows; row++) {
    drawSlices(definer, DRAWN, row);
    const lane = mask + laneOf(row) + MASK_BYTES;
    for (let column: u32 = 0; column < COLUMNS; column++) {
      const next = (column + 1) % COLUMNS;
      if (!asks(lane, column) || (isJoint(row) && !asks(lane, next))) continue;
      slices |= (<u64>1) << (row * COLUMNS + column);
    }
  }
  return slices;
}

/** Whether the lane of a mask asks for all bits drawn for a column, and there are any. */
function asks(lane: usize, column: u32): bool {
  const at = (<usize>column) << 2;
  const bits = load<u32>(DRAWN + at);
  return bits != 0 && (load<u32>(lane + at) & bits) == bits;
}

/** Byte of the lane that a row is of. */
// @ts-ignore: decorator
@inline
function laneOf(row: u32): usize {
  return row < ROWS_A_LANE ? 0 : 16;
}

// @ts-ignore: decorator
@inline
function isJoint(row: u32): bool {
  return row % ROWS_A_LANE >= JOINT;
}

/** Takes in a rule. Where memory is full a slice says nothing any more. */
export function addToPrune(prune: usize, rule: usize): void {
  const group: usize = load<u8>(rule, RULE_GROUP);
  const place = <usize>load<u8>(prune + group, PLACE);
  const best = prune + BEST + (group << 3);
  const rank = load<u64>(rule, RULE_RANK);
  if (rank < load<u64>(best)) store<u64>(best, rank);
  for (let from = prune + (place << 3); from >= prune && load<u64>(from, BEST_FROM) > rank; from -= 8) {
    store<u64>(from, rank, BEST_FROM);
  }
  let asked = load<u64>(load<u32>(rule, RULE_MASK), MASK_SLICES) & load<u64>(prune, SLICES);
  addWild(prune, place, ~asked);
  const byte = place >> 3;
  const bit = (<u32>1) << ((<u32>place) & 7);
  for (; asked != 0; asked &= asked - 1) {
    const slice = <u32>ctz(asked);
    const row = slice / COLUMNS;
    const column = (<usize>(slice % COLUMNS)) << 2;
    const table = tableOf(prune, row, column);
    if (table == 0) {
      addWild(prune, place, (<u64>1) << slice);
      continue;
    }
    const bits = rowAt(prune, row);
    const value = rule + laneOf(row) + RULE_VALUE;
    let hash = (load<u32>(value + column) & load<u32>(bits + column)) * MULTIPLIER;
    if (isJoint(row)) {
      const next = (column + 4) & 12;
      hash = (hash + rotl<u32>((load<u32>(value + next) & load<u32>(bits + next)) * MULTIPLIER, 13)) * MULTIPLIER;
    }
    const set = table + ((<usize>(hash >> load<u32>(prune, SHIFT))) << 4);
    if (!v128.any_true(v128.load(set))) addValue(prune, row, column);
    store<u8>(set + byte, <u8>((<u32>load<u8>(set + byte)) | bit));
  }
}

/** Counts a value that a slice had not seen. */
function addValue(prune: usize, row: u32, column: usize): void {
  const values = rowAt(prune, row) + ROW_VALUES + column;
  store<u32>(values, load<u32>(values) + 1);
}

/** The table of a slice that tells keys apart, else 0. */
function telling(row: usize, column: usize): usize {
  return load<u32>(row + column, ROW_VALUES) < FEW_VALUES ? 0 : <usize>load<u32>(row + column, ROW_TABLES);
}

/** Puts a place into whatever these slices say, once. */
function addWild(prune: usize, place: usize, slices: u64): void {
  const known = prune + WILD_SLICES + (place << 3);
  let fresh = slices & load<u64>(prune, SLICES) & ~load<u64>(known);
  if (fresh == 0) return;
  store<u64>(known, load<u64>(known) | fresh);
  for (; fresh != 0; fresh &= fresh - 1) {
    const slice = <u32>ctz(fresh);
    const set = rowAt(prune, slice / COLUMNS) + ROW_WILD + ((<usize>(slice % COLUMNS)) << 4) + (place >> 3);
    store<u8>(set, <u8>((<u32>load<u8>(set)) | ((<u32>1) << ((<u32>place) & 7))));
  }
}

/** The table of a slice, made when it is first needed; 0 when memory is full. */
function tableOf(prune: usize, row: u32, column: usize): usize {
  const slot = rowAt(prune, row) + ROW_TABLES + column;
  let table: usize = load<u32>(slot);
  if (table != 0) return table;
  const bytes = load<u32>(prune, ENTRIES) * SET;
  table = allocate(bytes);
  if (table == 0) return 0;
  memory.fill(table, 0, bytes);
  store<u32>(slot, <u32>table);
  return table;
}

/** A rank that no rule of the groups from this place on is below. */
// @ts-ignore: decorator
@inline
export function bestFrom(prune: usize, place: usize): u64 {
  return load<u64>(prune + (place << 3), BEST_FROM);
}

// @ts-ignore: decorator
@inline
export function groupOfPlace(prune: usize, place: usize): u32 {
  return load<u8>(prune + place, PRUNE_AT);
}

/** The exact best rank of a group, as far as `addToPrune` has seen its rules. */
export function bestSeen(prune: usize, group: u32): u64 {
  return load<u64>(prune + BEST + ((<usize>group) << 3));
}

/** Fills SETS for the first `count` keys in LANES, each `stride` bytes. */
export function pruneAll(prune: usize, count: u32, stride: usize): void {
  const rows = load<u32>(prune, ROWS);
  const shift = load<u32>(prune, SHIFT);
  for (let row: u32 = 0; row < rows; row++) {
    const at = rowAt(prune, row);
    const lane = LANES + laneOf(row);
    const table0 = telling(at, 0);
    const table1 = telling(at, 4);
    const table2 = telling(at, 8);
    const table3 = telling(at, 12);
    if ((table0 | table1 | table2 | table3) == 0) continue;
    const bits = v128.load(at);
    const joint = isJoint(row);
    const wild0 = v128.load(at, ROW_WILD);
    const wild1 = v128.load(at, ROW_WILD + 16);
    const wild2 = v128.load(at, ROW_WILD + 32);
    const wild3 = v128.load(at, ROW_WILD + 48);
    for (let i: usize = 0; i < count; i++) {
      const slices = v128.and(v128.load(lane + i * stride), bits);
      let hashes = i32x4.mul(slices, i32x4.splat(MULTIPLIER));
      if (joint) {
        const next = v128.shuffle<i32>(hashes, hashes, 1, 2, 3, 0);
        hashes = i32x4.add(hashes, v128.or(i32x4.shl(next, 13), i32x4.shr_u(next, 19)));
        hashes = i32x4.mul(hashes, i32x4.splat(MULTIPLIER));
      }
      const entries = i32x4.shl(i32x4.shr_u(hashes, shift), 4);
      let set = v128.load(SETS + (i << 4));
      if (table0 != 0) set = narrowed(set, table0, i32x4.extract_lane(entries, 0), wild0);
      if (table1 != 0) set = narrowed(set, table1, i32x4.extract_lane(entries, 1), wild1);
      if (table2 != 0) set = narrowed(set, table2, i32x4.extract_lane(entries, 2), wild2);
      if (table3 != 0) set = narrowed(set, table3, i32x4.extract_lane(entries, 3), wild3);
      v128.store(SETS + (i << 4), set);
    }
  }
}

// @ts-ignore: decorator
@inline
function narrowed(set: v128, table: usize, entry: u32, wild: v128): v128 {
  return v128.and(set, v128.or(v128.load(table + <usize>entry), wild));
}
