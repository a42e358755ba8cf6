/**
 * Programs of header changes: the host writes them, and the core runs them
 * (assembly/act/header/modify.ts).
 */

/**
 * A program of header changes: | instructions 4 | 0 4 |, then for each instruction
 *     | type 1 | bits 1 | to 1 | from 1 | to: bit 2 | to: bit in IPv6 2 | from: bit 2 | from: bit in IPv6 2 | data 4 |
 * `to` and `from` are places (Place). Bits count from the most significant bit of the header's
 * first byte, or of the register. ADD changes whole fields only.
 */
export const PROGRAM_COUNT = 0;
export const PROGRAM_FIRST = 8;
export const INSTRUCTION_TYPE = 0;
export const INSTRUCTION_BITS = 1;
export const INSTRUCTION_TO = 2;
export const INSTRUCTION_FROM = 3;
export const INSTRUCTION_TO_BIT = 4;
export const INSTRUCTION_TO_BIT6 = 6;
export const INSTRUCTION_FROM_BIT = 8;
export const INSTRUCTION_FROM_BIT6 = 10;
export const INSTRUCTION_DATA = 12;
export const INSTRUCTION_SIZE = 16;
export const MODIFY_SET = 1;
export const MODIFY_ADD = 2;
export const MODIFY_COPY = 3;

/**
 * The place of the bits of an instruction: a header of the outer packet, of the inner packet (add
 * PLACE_INNER), or a register.
 */
export enum Place {
  ethernet = 0,
  /** The last two bytes of the Ethernet header with its tags. */
  ethertype = 1,
  /** The TCI of the first tag. */
  vlan = 2,
  ipv4 = 3,
  ipv6 = 4,
  /** IPv4 or IPv6; the two bit numbers differ only here. */
  ip = 5,
  tcp = 6,
  udp = 7,
  gtpu = 8,
  /** Registers, in the order of REGISTERS. */
  register = 32,
}
export const PLACE_INNER = 16;
