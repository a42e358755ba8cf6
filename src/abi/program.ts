/** Programs of header changes, as the host writes them and the core runs them (assembly/act/header/modify.ts). */

/**
 * A program of header changes: | instructions 4 | 0 4 |, then of each instruction
 *     | type 1 | bits 1 | to 1 | from 1 | to: bit 2 | to: bit in IPv6 2 | from: bit 2 | from: bit in IPv6 2 | data 4 |
 * `to` and `from` are places (Place); bits are counted from the most significant bit of the header's first byte, and of
 * a register's word. ADD is of whole fields.
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

/** Where the bits of an instruction lie: a header of the outer packet, of the inner one (PLACE_INNER more), or a register. */
export enum Place {
  ethernet = 0,
  /** The two bytes in front of what follows the Ethernet header and its tags. */
  ethertype = 1,
  /** The TCI of the first tag. */
  vlan = 2,
  ipv4 = 3,
  ipv6 = 4,
  /** IPv4 or IPv6; only here are the two bit numbers different. */
  ip = 5,
  tcp = 6,
  udp = 7,
  gtpu = 8,
  /** Registers, in the order of REGISTERS. */
  register = 32,
}
export const PLACE_INNER = 16;
