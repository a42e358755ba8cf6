/** Keys after a VLAN tag was pushed or removed (assembly/act/header/vlan.ts). */
import {
  EXT_PRESENT_OUTER,
  LAYER_STATE,
  LAYER_TCI,
  MISC_OUTER_TCI2,
  MISC_TAGS2,
  PRESENT_ETH,
  PRESENT_VLAN,
  PRESENT_VLAN2,
} from "../../abi/key.js";
import { TPID_CVLAN } from "../../abi/protocols.js";
import type { SymbolicKey } from "../keys/symbolicKey.js";
import { constant, type Literal } from "../literal.js";
import { andOf } from "../solver/numbers.js";
import type { Solver } from "../solver/solver.js";
import { choose, DerivedKey } from "./bits.js";
import { presenceBit } from "./levels.js";

const ETHERNET = presenceBit(EXT_PRESENT_OUTER, PRESENT_ETH);
/** The bits of the first and of the second tag: presence, whether it is a C-tag, an S-tag, and its 16 bits. */
const FIRST = tagBits(PRESENT_VLAN, 8 * LAYER_STATE, 1, 8 * LAYER_TCI);
const SECOND = tagBits(PRESENT_VLAN2, 8 * MISC_TAGS2, 2, 8 * MISC_OUTER_TCI2);

/** The bits of both tags. */
export const TAGS: readonly number[] = [...FIRST, ...SECOND];

function tagBits(present: number, customer: number, step: number, tci: number): number[] {
  const bits = Array.from({ length: 16 }, (_, i) => tci + i);
  return [presenceBit(EXT_PRESENT_OUTER, present), customer, customer + step, ...bits];
}

/** The key with a tag before the present ones. `tag`: TPID and TCI. */
export class Pushed extends DerivedKey {
  readonly #solver: Solver;
  readonly #before: SymbolicKey;
  readonly #tag: number;

  constructor(solver: Solver, before: SymbolicKey, tag: number) {
    super(before.origin ?? null);
    this.#solver = solver;
    this.#before = before;
    this.#tag = tag;
  }

  protected make(index: number): Literal {
    const second = SECOND.indexOf(index);
    if (second >= 0) return this.#ifEthernet(this.#before.bit(FIRST[second] as number), index);
    const first = FIRST.indexOf(index);
    return first < 0 ? this.#before.bit(index) : this.#ifEthernet(this.#pushed(first), index);
  }

  #ifEthernet(bit: Literal, index: number): Literal {
    return choose(this.#solver, this.#before.bit(ETHERNET), bit, this.#before.bit(index));
  }

  #pushed(part: number): Literal {
    const isCustomer = this.#tag >>> 16 === TPID_CVLAN;
    if (part < 3) return constant(part === 0 || (part === 1) === isCustomer);
    return constant(((this.#tag >>> (18 - part)) & 1) === 1);
  }
}

/** The key without its first tag, if it has one. The third tag, which no key has, becomes the second. */
export class Popped extends DerivedKey {
  readonly #solver: Solver;
  readonly #before: SymbolicKey;
  #third: Literal = 0;
  #isCustomer: Literal = 0;

  constructor(solver: Solver, before: SymbolicKey) {
    super(before.origin ?? null);
    this.#solver = solver;
    this.#before = before;
  }

  protected make(index: number): Literal {
    const first = FIRST.indexOf(index);
    if (first >= 0) return this.#before.bit(SECOND[first] as number);
    const second = SECOND.indexOf(index);
    if (second < 0) return this.#before.bit(index);
    if (this.#third === 0) this.#addThird();
    if (second === 0) return this.#third;
    const bit = second < 3 ? (second === 1 ? this.#isCustomer : -this.#isCustomer) : this.#solver.newVariable();
    return andOf(this.#solver, [this.#third, bit]);
  }

  #addThird(): void {
    const has = this.#solver.newVariable();
    this.#third = andOf(this.#solver, [this.#before.bit(SECOND[0] as number), has]);
    this.#isCustomer = this.#solver.newVariable();
  }
}
