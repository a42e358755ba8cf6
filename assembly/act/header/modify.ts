/**
 * Modify header: a program of SET, ADD and COPY over header fields and metadata registers (layouts
 * in src/abi/program.ts).
 * Places are those of the frame at the start of the program; each instruction reads the result of
 * the one before.
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
import { TraceEvent } from "../../../src/abi/trace";
import { BRANCH_FLAGS, BRANCH_FRAME, BRANCH_KEY, BRANCH_WRITTEN, STALE_KEY, STALE_MAP } from "../../branch/branch";
import { be16 } from "../../wire/cursor";
import { copyOnWrite } from "../../branch/bytes";
import { note } from "../../branch/events";
import { cover, fold } from "./checksumUpdate";
import { find, offsetOf } from "./places";
import { freshMap } from "../../branch/refresh";

/** Rules that match these fields depend on more than the changed field. */
const SEES_CHECKSUMS: u32 =
  (1 << GROUP_MISC4) |
  NEEDS_OUTER_IPV4_CHECKSUM |
  NEEDS_OUTER_L4_CHECKSUM |
  NEEDS_INNER_IPV4_CHECKSUM |
  NEEDS_INNER_L4_CHECKSUM;

/** Runs a program; false if the frame has ended because memory is full. */
export function modify(branch: usize, program: usize): bool {
  find(freshMap(branch), load<u32>(load<u32>(branch, BRANCH_FRAME), FRAME_ADDRESS));
  let instruction = program + PROGRAM_FIRST;
  const end = instruction + <usize>load<u32>(program, PROGRAM_COUNT) * INSTRUCTION_SIZE;
  for (; instruction < end; instruction += INSTRUCTION_SIZE) {
    if (!carryOut(branch, instruction)) return false;
  }
  return true;
}

/** The required fields of a program. */
export function needsOfProgram(program: usize): u32 {
  let needs: u32 = 0;
  const count = load<u32>(program, PROGRAM_COUNT);
  for (let n: u32 = 0; n < count; n++) {
    const instruction = program + PROGRAM_FIRST + <usize>n * INSTRUCTION_SIZE;
    needs |= placeNeeds(load<u8>(instruction, INSTRUCTION_TO));
    if (load<u8>(instruction, INSTRUCTION_TYPE) == MODIFY_COPY)
      needs |= placeNeeds(load<u8>(instruction, INSTRUCTION_FROM));
  }
  return needs;
}

function placeNeeds(place: u32): u32 {
  if (place >= <u32>Place.register) return 1 << GROUP_MISC2;
  return place & PLACE_INNER ? NEEDS_CHANGES | NEEDS_INNER : NEEDS_CHANGES;
}

/**
 * Whether the key after the program is a function of the key before it, for the fields that rules
 * match. SET always is. ADD is if one byte or one dword of the key holds the field, since rules
 * match such a field as a whole. The set of present headers is part of the key (NEEDS_CHANGES).
 * COPY is not, since it may read bits that no rule matches. A change of an EtherType or a UDP port
 * is not, since other headers may follow it. No change is when rules match checksums or samples,
 * which depend on the bytes that cover a field.
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
    if (TRACED) note(TraceEvent.register, branch, to - Place.register);
    return true;
  }
  if (difference != 0) cover(load<u32>(load<u32>(branch, BRANCH_FRAME), FRAME_ADDRESS), to, bit, difference);
  const stale = leadsOn(to) ? STALE_KEY | STALE_MAP : STALE_KEY;
  store<u32>(branch, load<u32>(branch, BRANCH_FLAGS) | stale, BRANCH_FLAGS);
  return true;
}

/** Whether the place selects the next header: an EtherType or a UDP port. */
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

/** The address from which the bits of a place are counted. */
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

/** The first bit of the field; for a field of both IP versions it differs in IPv6. */
function bitOf(header: usize, place: u32, bit: usize, bit6: usize): u32 {
  const isIp = place < <u32>Place.register && (place & ~PLACE_INNER) == Place.ip;
  return isIp && load<u8>(header) >> 4 == 6 ? load<u16>(bit6) : load<u16>(bit);
}

/** Reads at most 32 bits, big-endian, from bit `bit` on. */
function readBits(header: usize, bit: u32, bits: u32): u32 {
  let value: u64 = 0;
  let word = bit >> 4;
  const last = (bit + bits - 1) >> 4;
  for (; word <= last; word++) value = (value << 16) | (<u64>be16(header + ((<usize>word) << 1)));
  const below = ((last + 1) << 4) - (bit + bits);
  return <u32>((value >> below) & (((<u64>1) << bits) - 1));
}

/**
 * Writes bits. Returns the difference for the checksums that cover them, 0 if nothing has changed.
 */
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
