/** Keys of frames that got headers in front (assembly/act/header/reformat.ts). */
import { EXT_PRESENT_OUTER, PRESENT_IPV4, PRESENT_IPV6, PRESENT_MPLS } from "../../abi/key.js";
import type { SymbolicKey } from "../keys/symbolicKey.js";
import { FALSE, TRUE, type Literal } from "../literal.js";
import { andOf, orOf } from "../solver/numbers.js";
import type { Solver } from "../solver/solver.js";
import { choose, DerivedKey } from "./bits.js";
import type { FrontHeaders } from "./frontHeaders.js";
import { IS_LINK, IS_PATH, isSample, OUTER_OF, presenceBit } from "./levels.js";
import type { MakeKey } from "./reparsed.js";

const IPV4 = presenceBit(EXT_PRESENT_OUTER, PRESENT_IPV4);
const IPV6 = presenceBit(EXT_PRESENT_OUTER, PRESENT_IPV6);
const MPLS = presenceBit(EXT_PRESENT_OUTER, PRESENT_MPLS);

/**
 * The key of the frame after new headers. The frame, or its packet without the Ethernet header, is the packet inside where the
 * headers announce that.
 */
export class Encapsulated extends DerivedKey {
  readonly #solver: Solver;
  readonly #before: SymbolicKey;
  readonly #front: FrontHeaders;
  /** Whether the Ethernet header of the frame is kept. */
  readonly #keepsLink: boolean;
  readonly #newKey: MakeKey;
  #fresh: SymbolicKey | null = null;
  #isPacket: Literal = 0;
  #isTaken: Literal = 0;

  constructor(solver: Solver, before: SymbolicKey, front: FrontHeaders, keepsLink: boolean, newKey: MakeKey) {
    super(null);
    this.#solver = solver;
    this.#before = before;
    this.#front = front;
    this.#keepsLink = keepsLink;
    this.#newKey = newKey;
  }

  protected make(index: number): Literal {
    if (IS_PATH[index] === 1) return this.#before.bit(index);
    const front = this.#front;
    if (front.isPartial || isSample(index)) return this.#other(index);
    const outer = OUTER_OF[index] as number;
    if (outer >= 0) return this.#inner(index, outer);
    return front.open.has(index) ? this.#other(index) : front.key.bit(index);
  }

  /** A bit of the packet inside. */
  #inner(index: number, outer: number): Literal {
    const { takesEthernet, takesIpv4, takesIpv6 } = this.#front;
    if (this.#keepsLink) {
      if (takesEthernet) return this.#before.bit(outer);
      return takesIpv4 || takesIpv6 ? this.#other(index) : FALSE;
    }
    if (takesEthernet) return this.#other(index);
    if (!takesIpv4 && !takesIpv6) return FALSE;
    if (this.#isPacket === 0) {
      const [ipv4, ipv6, labels] = [IPV4, IPV6, MPLS].map((bit) => this.#before.bit(bit)) as [
        Literal,
        Literal,
        Literal,
      ];
      // Other bytes after the Ethernet header can look like an IP header.
      this.#isPacket = andOf(this.#solver, [orOf(this.#solver, [ipv4, ipv6]), -labels]);
      this.#isTaken = orOf(this.#solver, [takesIpv4 ? ipv4 : FALSE, takesIpv6 ? ipv6 : FALSE]);
    }
    const bit = IS_LINK[outer] === 1 ? FALSE : andOf(this.#solver, [this.#isTaken, this.#before.bit(outer)]);
    if (this.#isPacket === TRUE) return bit;
    return choose(this.#solver, this.#isPacket, bit, this.#other(index));
  }

  #other(index: number): Literal {
    this.#fresh ??= this.#newKey();
    return this.#fresh.bit(index);
  }
}
