/**
 * Modify header: a program of SET, ADD and COPY over header fields and metadata registers (layouts in src/abi/program.ts).
 *
 * Places are those of the frame as the program finds it; each instruction sees what the one before has left.
 */
import { FRAME_ADDRESS, REGISTER_A, REGISTER_B } from "../../../src/abi/engine";
import {
  INSTRUCTION_BITS,
  INSTRUCTION_DATA,
  INSTRUCTION_FROM,
  INSTRUCTION_FROM_BIT,
  INSTRUCTION_FROM_BIT6,
  INSTRUCTION_SIZE,
  INSTRUCTION_TO,
  INSTRUCTION_TO_BIT,
  INSTRUCTION_TO_BIT6,
  INSTRUCTION_TYPE,
  MODIFY_ADD,
  MODIFY_COPY,
  Place,
  PLACE_INNER,
  PROGRAM_COUNT,
  PROGRAM_FIRST,
} from "../../../src/abi/program";
import {
  EXT_REGISTER_B,
  GROUP_MISC2,
  GROUP_MISC4,
  MISC2_REGISTER_A,
  MISC2_REGISTER_C_0,
  NEEDS_CHANGES,
  NEEDS_INNER,
  NEEDS_INNER_IPV4_CHECKSUM,
  NEEDS_INNER_L4_CHECKSUM,
  NEEDS_OUTER_IPV4_CHECKSUM,
  NEEDS_OUTER_L4_CHECKSUM,
} from "../../../src/abi/key";
import { BRANCH_FLAGS, BRANCH_FRAME, BRANCH_KEY, BRANCH_WRITTEN, STALE_KEY, STALE_MAP } from "../../branch/branch";
import { be16 } from "../../wire/cursor";
import { copyOnWrite } from "../../branch/bytes";
import { cover, fold } from "./checksumUpdate";
import { find, offsetOf } from "./places";
import { freshMap } from "../../branch/refresh";

/** Rules that ask for these see more of a change than the field. */
const SEES_CHECKSUMS: u32 =
  (1 << GROUP_MISC4) |
  NEEDS_OUTER_IPV4_CHECKSUM |
  NEEDS_OUTER_L4_CHECKSUM |
  NEEDS_INNER_IPV4_CHECKSUM |
  NEEDS_INNER_L4_CHECKSUM;

/** Runs a program; false when the frame has ended, for want of memory. */
export function modify(branch: usize, program: usize): bool {
  find(freshMap(branch), load<u32>(load<u32>(branch, BRANCH_FRAME), FRAME_ADDRESS));
  let instruction = program + PROGRAM_FIRST;
  const end = instruction + <usize>load<u32>(program, PROGRAM_COUNT) * INSTRUCTION_SIZE;
  for (; instruction < end; instruction += INSTRUCTION_SIZE) {
    if (!carryOut(branch, instruction)) return false;
  }
  return true;
}

/** What a program asks of the parser. */
export function needsOfProgram(program: usize): u32 {
  let needs: u32 = 0;
  const count = load<u32>(program, PROGRAM_COUNT);
  for (let n: u32 = 0; n < count; n++) {
    const instruction = program + PROGRAM_FIRST + <usize>n * INSTRUCTION_SIZE;
    needs |= placeWants(load<u8>(instruction, INSTRUCTION_TO));
    if (load<u8>(instruction, INSTRUCTION_TYPE) == MODIFY_COPY)
      needs |= placeWants(load<u8>(instruction, INSTRUCTION_FROM));
  }
  return needs;
}

function placeWants(place: u32): u32 {
  if (place >= <u32>Place.register) return 1 << GROUP_MISC2;
  return place & PLACE_INNER ? NEEDS_CHANGES | NEEDS_INNER : NEEDS_CHANGES;
}

/**
 * Whether the key behind the program is a function of the key before it, as far as rules ask about either: SET always is, ADD where
 * one byte or one dword of the key holds the field, which rules ask about as a whole. Which headers are there is part of the key
 * (NEEDS_CHANGES). COPY brings bits of which nobody may ask; behind an EtherType or a UDP port other headers may follow; and rules
 * that ask about checksums, or samples, see what covers a field.
 */
export function isFunctionOfKey(program: usize, wanted: u32): bool {
  const count = load<u32>(program, PROGRAM_COUNT);
  for (let n: u32 = 0; n < count; n++) {
    const instruction = program + PROGRAM_FIRST + <usize>n * INSTRUCTION_SIZE;
    const type: u32 = load<u8>(instruction, INSTRUCTION_TYPE);
    const to: u32 = load<u8>(instruction, INSTRUCTION_TO);
    if (type == MODIFY_COPY) return false;
    if (to >= <u32>Place.register) continue;
    if (leadsOn(to) || wanted & SEES_CHECKSUMS) return false;
    if (type == MODIFY_ADD && (<u32>load<u8>(instruction, INSTRUCTION_BITS)) & 7) return false;
  }
  return true;
}

function carryOut(branch: usize, instruction: usize): bool {
  const to: u32 = load<u8>(instruction, INSTRUCTION_TO);
  const bits: u32 = load<u8>(instruction, INSTRUCTION_BITS);
  if (!isThere(to)) return true;
  let value = load<u32>(instruction, INSTRUCTION_DATA);
  const type: u32 = load<u8>(instruction, INSTRUCTION_TYPE);
  if (type == MODIFY_COPY) {
    const from: u32 = load<u8>(instruction, INSTRUCTION_FROM);
    if (!isThere(from)) return true;
    const source = headerOf(branch, from);
    value = readBits(
      source,
      bitOf(source, from, instruction + INSTRUCTION_FROM_BIT, instruction + INSTRUCTION_FROM_BIT6),
      bits,
    );
  }
  if (to < <u32>Place.register && !copyOnWrite(branch, 0)) return false;
  const header = headerOf(branch, to);
  const bit = bitOf(header, to, instruction + INSTRUCTION_TO_BIT, instruction + INSTRUCTION_TO_BIT6);
  if (type == MODIFY_ADD) value += readBits(header, bit, bits);
  const difference = writeBits(header, bit, bits, value);
  if (to >= <u32>Place.register) {
    store<u32>(branch, load<u32>(branch, BRANCH_WRITTEN) | (1 << (to - Place.register)), BRANCH_WRITTEN);
    return true;
  }
  if (difference != 0) cover(load<u32>(load<u32>(branch, BRANCH_FRAME), FRAME_ADDRESS), to, bit, difference);
  const stale = leadsOn(to) ? STALE_KEY | STALE_MAP : STALE_KEY;
  store<u32>(branch, load<u32>(branch, BRANCH_FLAGS) | stale, BRANCH_FLAGS);
  return true;
}

/** What follows is another header when the EtherType or the UDP port is another one. */
// @ts-ignore: decorator
@inline
function leadsOn(place: u32): bool {
  const kind = place & ~PLACE_INNER;
  return kind == Place.ethertype || kind == Place.udp;
}

// @ts-ignore: decorator
@inline
function isThere(place: u32): bool {
  return place >= <u32>Place.register || offsetOf(place) != 0;
}

/** Where the bits of a place are counted from. */
function headerOf(branch: usize, place: u32): usize {
  if (place < <u32>Place.register) {
    return <usize>load<u32>(load<u32>(branch, BRANCH_FRAME), FRAME_ADDRESS) + <usize>(offsetOf(place) - 1);
  }
  const key: usize = load<u32>(branch, BRANCH_KEY);
  const register = place - Place.register;
  if (register == REGISTER_A) return key + MISC2_REGISTER_A;
  if (register == REGISTER_B) return key + EXT_REGISTER_B;
  return key + MISC2_REGISTER_C_0 - ((<usize>register) << 2);
}

/** The first bit, which in a field of both IP versions is another one in IPv6. */
function bitOf(header: usize, place: u32, bit: usize, bit6: usize): u32 {
  const isIp = place < <u32>Place.register && (place & ~PLACE_INNER) == Place.ip;
  return isIp && load<u8>(header) >> 4 == 6 ? load<u16>(bit6) : load<u16>(bit);
}

/** At most 32 bits, big-endian, from bit `bit` on. */
function readBits(header: usize, bit: u32, bits: u32): u32 {
  let value: u64 = 0;
  let word = bit >> 4;
  const last = (bit + bits - 1) >> 4;
  for (; word <= last; word++) value = (value << 16) | (<u64>be16(header + ((<usize>word) << 1)));
  const below = ((last + 1) << 4) - (bit + bits);
  return <u32>((value >> below) & (((<u64>1) << bits) - 1));
}

/** Writes them; gives the difference that a checksum over them has to follow, 0 when nothing has changed. */
function writeBits(header: usize, bit: u32, bits: u32, value: u32): u32 {
  const first = bit >> 4;
  let word = (bit + bits - 1) >> 4;
  const below = ((word + 1) << 4) - (bit + bits);
  let mask: u64 = (((<u64>1) << bits) - 1) << below;
  let fresh: u64 = (<u64>value) << below;
  let difference: u32 = 0;
  while (true) {
    const address = header + ((<usize>word) << 1);
    const part = (<u32>mask) & 0xffff;
    const old = be16(address);
    const now = (old & ~part) | ((<u32>fresh) & part);
    if (now != old) {
      store<u16>(address, bswap<u16>(<u16>now));
      difference += (~old & 0xffff) + now;
    }
    if (word == first) return fold(difference);
    word--;
    mask >>= 16;
    fresh >>= 16;
  }
}
