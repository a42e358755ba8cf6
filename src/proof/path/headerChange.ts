/** Keys after a program of header changes (src/abi/program.ts), while the headers that the parser finds stay the same. */
import {
  EXT_GRE_FLAGS,
  EXT_PRESENT_INNER,
  EXT_PRESENT_OUTER,
  EXT_PRESENT_TUNNEL,
  INNER,
  LAYER_ETHERTYPE,
  LAYER_OK,
  MISC5_TUNNEL_HEADER,
  OUTER,
  PRESENT_ETHERTYPE,
  PRESENT_GRE,
  PRESENT_UDP,
} from "../../abi/key.js";
import {
  INSTRUCTION_BITS,
  INSTRUCTION_DATA,
  INSTRUCTION_FROM,
  INSTRUCTION_FROM_BIT,
  INSTRUCTION_SIZE,
  INSTRUCTION_TO,
  INSTRUCTION_TO_BIT,
  INSTRUCTION_TYPE,
  MODIFY_ADD,
  MODIFY_COPY,
  Place,
  PLACE_INNER,
  PROGRAM_COUNT,
  PROGRAM_FIRST,
} from "../../abi/program.js";
import type { Core } from "../../engine/core.js";
import type { SymbolicKey } from "../keys/symbolicKey.js";
import { constant, FALSE, TRUE, type Literal } from "../literal.js";
import { andOf, sum } from "../solver/numbers.js";
import type { Solver } from "../solver/solver.js";
import { choose, DerivedKey } from "./bits.js";
import { presenceBit } from "./levels.js";
import { keyBits, presenceOf } from "./places.js";

const GRE = presenceBit(EXT_PRESENT_TUNNEL, PRESENT_GRE);
/** Whether GRE has a checksum, and the checksum: the second dword of its header begins with it. */
const GRE_C = 8 * EXT_GRE_FLAGS;
const GRE_CHECKSUM = 8 * (MISC5_TUNNEL_HEADER + 4);
const UDP = presenceBit(EXT_PRESENT_OUTER, PRESENT_UDP);
/** OK_L4_CHECKSUM of the outer packet. */
const UDP_CHECKSUM_OK = 8 * (OUTER + LAYER_OK) + 7;

/** For each bit of an EtherType the bit that says that the key has it. */
const TYPED = new Map(
  [EXT_PRESENT_OUTER, EXT_PRESENT_INNER].flatMap((word) => {
    const first = 8 * ((word === EXT_PRESENT_OUTER ? OUTER : INNER) + LAYER_ETHERTYPE);
    return Array.from({ length: 16 }, (_, i) => [first + i, presenceBit(word, PRESENT_ETHERTYPE)] as const);
  }),
);

/** An instruction, with the bits of the key that it writes, most significant first. */
export interface Instruction {
  readonly type: number;
  readonly to: number;
  readonly data: number;
  /** The bits of the key that are the bits of the field, one list a bit. */
  readonly bits: readonly (readonly number[])[];
  /** Of a COPY: its place, and the bits that it reads. */
  readonly from: number;
  readonly source: readonly number[];
}

/** The instructions of the program at an address. */
export function programAt({ u8, u32 }: Core, address: number): Instruction[] {
  const count = u32[(address + PROGRAM_COUNT) >> 2] as number;
  return Array.from({ length: count }, (_, n) => {
    const at = address + PROGRAM_FIRST + n * INSTRUCTION_SIZE;
    const byte = (offset: number): number => u8[at + offset] as number;
    const half = (offset: number): number => byte(offset) | (byte(offset + 1) << 8);
    const width = byte(INSTRUCTION_BITS);
    const places = (place: number, bit: number): number[][] =>
      Array.from({ length: width }, (__, i) => keyBits(place, bit + i));
    const [type, to, from] = [byte(INSTRUCTION_TYPE), byte(INSTRUCTION_TO), byte(INSTRUCTION_FROM)];
    const source = type === MODIFY_COPY ? places(from, half(INSTRUCTION_FROM_BIT)) : [];
    return {
      type,
      to,
      from,
      data: u32[(at + INSTRUCTION_DATA) >> 2] as number,
      bits: places(to, half(INSTRUCTION_TO_BIT)),
      source: source.map(([first]) => first as number),
    };
  });
}

/**
 * The key after a program. Each instruction reads the result of the one before, but headers are those of the key before the
 * program.
 */
export class HeaderChange extends DerivedKey {
  readonly #solver: Solver;
  readonly #before: SymbolicKey;
  readonly #program: readonly Instruction[];
  /** For each bit of the key, the instructions that write it, and which bit of their fields it is. */
  readonly #writes = new Map<number, { readonly by: number; readonly place: number }[]>();
  /** Whether it can change the packet inside a tunnel, which the checksum of UDP or GRE before it covers. */
  readonly #changesInner: boolean;
  readonly #sums = new Map<number, readonly Literal[]>();

  constructor(solver: Solver, before: SymbolicKey, program: readonly Instruction[]) {
    super(before.origin ?? null);
    this.#solver = solver;
    this.#before = before;
    this.#program = program;
    this.#changesInner = program.some(({ to }) => to < (Place.register as number) && (to & PLACE_INNER) !== 0);
    for (const [by, { bits }] of program.entries()) {
      for (const [place, same] of bits.entries()) {
        for (const bit of same) this.#writes.set(bit, [...(this.#writes.get(bit) ?? []), { by, place }]);
      }
    }
  }

  protected make(index: number): Literal {
    const after = this.#after(index, this.#program.length);
    const summed = this.#changesInner ? this.#isSummed(index) : FALSE;
    return summed === FALSE ? after : choose(this.#solver, summed, this.#solver.newVariable(), after);
  }

  /**
   * Whether a change of the packet inside a tunnel changes a bit in a way that the key does not tell: the checksum of GRE,
   * and whether that of UDP is right, whose length may be shorter than the packet that is inside.
   */
  #isSummed(index: number): Literal {
    if (index === UDP_CHECKSUM_OK) return this.#before.bit(UDP);
    if (index < GRE_CHECKSUM || index >= GRE_CHECKSUM + 16) return FALSE;
    return andOf(this.#solver, [this.#before.bit(GRE), this.#before.bit(GRE_C)]);
  }

  /** A bit of the key after the first `count` instructions. */
  #after(index: number, count: number): Literal {
    const write = this.#writes.get(index)?.findLast(({ by }) => by < count);
    if (write === undefined) return this.#before.bit(index);
    const { by, place } = write;
    const instruction = this.#program[by] as Instruction;
    const there = this.#isThere(instruction);
    return choose(this.#solver, there, this.#written(by, instruction, place), this.#after(index, by));
  }

  #written(by: number, { type, data, bits, source }: Instruction, place: number): Literal {
    if (type === MODIFY_COPY) return this.#read(source[place] as number, by);
    if (type !== MODIFY_ADD) return constant(((data >>> (bits.length - 1 - place)) & 1) === 1);
    let result = this.#sums.get(by);
    if (result === undefined) {
      const field = bits.map(([first]) => this.#read(first as number, by));
      this.#sums.set(by, (result = sum(this.#solver, field, data)));
    }
    return result[place] as Literal;
  }

  /** As `#after`. The EtherType of a frame that was cut in a tag is not in its key. */
  #read(index: number, count: number): Literal {
    const bit = this.#after(index, count);
    const typed = TYPED.get(index);
    if (typed === undefined || this.#before.bit(typed) === TRUE) return bit;
    return choose(this.#solver, this.#before.bit(typed), bit, this.#solver.newVariable());
  }

  /** Whether the frame has the headers of an instruction. */
  #isThere({ type, to, from }: Instruction): Literal {
    const presence = type === MODIFY_COPY ? [to, from] : [to];
    const bits = presence.map(presenceOf).map((bit) => (bit < 0 ? TRUE : this.#before.bit(bit)));
    return andOf(this.#solver, bits);
  }
}
