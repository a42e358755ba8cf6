/** Keys of the packet inside a tunnel, after the headers around it were removed (assembly/act/header/reformat.ts). */
import {
  EXT_PRESENT_INNER,
  EXT_PRESENT_OUTER,
  LAYER_ETHERTYPE,
  LAYER_PROTOCOL,
  LAYER_UDP_PORTS,
  MISC2_OUTER_MPLS,
  PRESENT_ETH,
  PRESENT_IPV4,
  PRESENT_IPV6,
  PRESENT_MPLS,
} from "../../abi/key.js";
import type { SymbolicKey } from "../keys/symbolicKey.js";
import { FALSE, TRUE, type Literal } from "../literal.js";
import { andOf } from "../solver/numbers.js";
import type { Solver } from "../solver/solver.js";
import { DerivedKey } from "./bits.js";
import { INNER_OF, IS_LINK, IS_PATH, presenceBit } from "./levels.js";
import type { FrontHeaders } from "./frontHeaders.js";

const ETHERNET = presenceBit(EXT_PRESENT_OUTER, PRESENT_ETH);
export const INNER_ETHERNET = presenceBit(EXT_PRESENT_INNER, PRESENT_ETH);
const IPV4 = presenceBit(EXT_PRESENT_INNER, PRESENT_IPV4);
const IPV6 = presenceBit(EXT_PRESENT_INNER, PRESENT_IPV6);

/** Bits that select the headers of a packet: presence of headers of a level, EtherType, protocol, UDP ports. */
const CONTROLS = [
  ...range(ETHERNET - Math.log2(PRESENT_MPLS), 1 + Math.log2(PRESENT_MPLS)),
  ...range(8 * LAYER_ETHERTYPE, 16),
  ...range(8 * LAYER_PROTOCOL, 8),
  ...range(8 * LAYER_UDP_PORTS, 32),
].filter((bit) => (INNER_OF[bit] as number) >= 0);

function range(from: number, width: number): number[] {
  return Array.from({ length: width }, (_, i) => from + i);
}

/** Whether a bit is of the labels between Ethernet and IP, which are removed with the Ethernet header. */
function isLabel(bit: number): boolean {
  return bit >> 5 === MISC2_OUTER_MPLS / 4 || bit === presenceBit(EXT_PRESENT_OUTER, PRESENT_MPLS);
}

/** What decapsulation needs besides the key. */
export interface Inside {
  /** The key of the packet inside, as the parser makes it of the packet alone; `link`: the bits of its Ethernet header. */
  readonly newKey: (origin: SymbolicKey | null, link: ((bit: number) => Literal) | null) => SymbolicKey;
  /** The headers that are put in place of the Ethernet header, for decapsulation to IP; null to keep the inner Ethernet header. */
  readonly front: FrontHeaders | null;
}

/**
 * The packet inside: bits of the inner packet become those of the outer one, and the rest is what its own parser finds.
 * MODEL: proofs are about tunnels that carry whole packets. The end of the outer packet cuts a longer one, but once that is
 * removed, bytes of the frame after it count.
 */
export class Decapsulated extends DerivedKey {
  readonly #solver: Solver;
  readonly #before: SymbolicKey;
  readonly #front: FrontHeaders | null;
  /** The key of the packet alone: its own tunnel, and headers that only outer packets fill. */
  readonly #alone: SymbolicKey;
  #tied = false;
  #isIp: Literal = 0;

  constructor(solver: Solver, before: SymbolicKey, { newKey, front }: Inside) {
    const link = front === null ? null : (bit: number): Literal => front.key.bit(bit);
    const alone = newKey(before.origin ?? null, link);
    super(alone);
    this.#solver = solver;
    this.#before = before;
    this.#front = front;
    this.#alone = alone;
  }

  protected make(index: number): Literal {
    if (IS_PATH[index] === 1) return this.#before.bit(index);
    const front = this.#front;
    if (front !== null && IS_LINK[index] === 1) return front.key.bit(index);
    if (front !== null && isLabel(index)) return FALSE;
    if (front !== null && !front.takesIpv4 && !front.takesIpv6) return this.#own(index);
    const inner = INNER_OF[index] as number;
    if (inner < 0) return this.#own(index);
    const bit = this.#before.bit(inner);
    return front === null ? bit : andOf(this.#solver, [this.#taken(front), bit]);
  }

  /** Whether the parser reads the inner IP packet after the new headers. */
  #taken({ takesIpv4 }: FrontHeaders): Literal {
    if (this.#isIp === 0) this.#isIp = this.#before.bit(takesIpv4 ? IPV4 : IPV6);
    return this.#isIp;
  }

  #own(index: number): Literal {
    if (!this.#tied) {
      this.#tied = true;
      const taken = this.#front === null ? TRUE : this.#taken(this.#front);
      for (const control of CONTROLS) this.#tie(taken, this.bit(control), this.#alone.bit(control));
    }
    return this.#alone.bit(index);
  }

  /** Where the packet is read, both have the same headers. */
  #tie(taken: Literal, one: Literal, other: Literal): void {
    if (one === other) return;
    this.#solver.addClause([-taken, -one, other]);
    this.#solver.addClause([-taken, one, -other]);
  }
}

/** Whether a frame has the packet that decapsulation keeps. */
export function hasInside(solver: Solver, before: SymbolicKey, ethernet: boolean): Literal {
  if (ethernet) return before.bit(INNER_ETHERNET);
  return -andOf(solver, [-before.bit(IPV4), -before.bit(IPV6)]);
}
