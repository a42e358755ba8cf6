/** Keys of frames that are parsed again after a change of what selects headers: an EtherType, a UDP port. */
import {
  EXT_OUTER_ESP_SEQ,
  EXT_PRESENT_OUTER,
  EXT_PRESENT_TUNNEL,
  KEY_SIZE,
  LAYER_ETHERTYPE,
  LAYER_UDP_PORTS,
  MISC2_MPLS_OVER_GRE,
  MISC2_MPLS_OVER_UDP,
  MISC_OUTER_ESP_SPI,
  PRESENT_ESP,
  PRESENT_ETH,
  PRESENT_ETHERTYPE,
  PRESENT_MPLS_OVER_UDP,
  PRESENT_UDP,
} from "../../abi/key.js";
import {
  ETHERTYPE_ARP,
  ETHERTYPE_ESP_METADATA,
  ETHERTYPE_IPV4,
  ETHERTYPE_IPV6,
  ETHERTYPE_MACSEC,
  ETHERTYPE_MPLS,
  ETHERTYPE_MPLS_UPSTREAM,
  PORT_ESP,
  TPID_CVLAN,
  TPID_SVLAN,
} from "../../abi/protocols.js";
import { Place, PLACE_INNER } from "../../abi/program.js";
import type { ParsedKey } from "../keys/parsedKey.js";
import type { Declaration } from "../keys/plan.js";
import type { SymbolicKey } from "../keys/symbolicKey.js";
import { FALSE, TRUE, type Literal } from "../literal.js";
import { andOf, exclusiveOr, orOf } from "../solver/numbers.js";
import type { Solver } from "../solver/solver.js";
import { bitsAt, choose, DerivedKey, isNumber } from "./bits.js";
import type { Instruction } from "./headerChange.js";
import { INNER_OF, IS_LINK, IS_PATH, isSample, OUTER_OF, presenceBit } from "./levels.js";

/** Makes keys that the parser could make of frames. */
export type MakeKey = () => ParsedKey;

/**
 * A key where other headers are found than before: bits that stay are those of `changed`, the others those of a new key,
 * unless the parser finds the same headers.
 */
export class Reparsed extends DerivedKey {
  readonly #solver: Solver;
  readonly #changed: SymbolicKey;
  readonly #stable: Uint8Array;
  readonly #controls: readonly number[];
  readonly #isSame: () => Literal;
  readonly #newKey: MakeKey;
  #same: Literal = 0;
  #fresh: SymbolicKey | null = null;

  constructor(
    solver: Solver,
    changed: SymbolicKey,
    stable: Uint8Array,
    controls: readonly number[],
    isSame: () => Literal,
    newKey: MakeKey,
  ) {
    super(null);
    this.#solver = solver;
    this.#changed = changed;
    this.#stable = stable;
    this.#controls = controls;
    this.#isSame = isSame;
    this.#newKey = newKey;
  }

  protected make(index: number): Literal {
    if (IS_PATH[index] === 1 || this.#stable[index] === 1) return this.#changed.bit(index);
    if (this.#same === 0) this.#same = this.#isSame();
    if (this.#same === TRUE) return this.#changed.bit(index);
    const other = this.#freshKey().bit(index);
    return this.#same === FALSE ? other : choose(this.#solver, this.#same, this.#changed.bit(index), other);
  }

  #freshKey(): SymbolicKey {
    if (this.#fresh === null) {
      this.#fresh = this.#newKey();
      for (const bit of this.#controls) {
        const [one, other] = [this.#changed.bit(bit), this.#fresh.bit(bit)];
        this.#solver.addClause([this.#same, -one, other]);
        this.#solver.addClause([this.#same, one, -other]);
      }
    }
    return this.#fresh;
  }
}

/** What a change of a place leaves as it was, and what selects the headers after it. */
interface Selector {
  readonly place: number;
  /** 1 for bits that stay. */
  readonly stable: Uint8Array;
  /** Bits that select the headers: the new key has them too. */
  readonly controls: readonly number[];
  /** Whether the parser finds the same headers before and after. */
  readonly isSame: (solver: Solver, before: SymbolicKey, after: SymbolicKey, parser: Declaration) => Literal;
}

/** The key after a program that may have changed what selects headers. */
export function reparsed(
  solver: Solver,
  before: SymbolicKey,
  changed: SymbolicKey,
  program: readonly Instruction[],
  parser: Declaration,
  newKey: MakeKey,
): SymbolicKey {
  let key = changed;
  for (const { place, stable, controls, isSame } of SELECTORS) {
    if (!program.some(({ to }) => to === place)) continue;
    if ((place & ~PLACE_INNER) === (Place.ethertype as number)) key = new Typed(solver, key, before, place);
    const tagged = leadsBack(solver, changed, place);
    const same = (): Literal => andOf(solver, [isSame(solver, before, changed, parser), -tagged]);
    const stays = tagged === FALSE ? stable : withoutTags(stable, place);
    key = new Reparsed(solver, key, stays, tagged === FALSE ? controls : [], same, newKey);
  }
  return key;
}

/**
 * A frame that was cut in a tag has an EtherType again if the type before the tag was changed. The key has no bit of that
 * type, so it does not tell what a change of some bits makes of it.
 */
class Typed extends DerivedKey {
  readonly #solver: Solver;
  readonly #changed: SymbolicKey;
  readonly #before: SymbolicKey;
  readonly #ethernet: number;
  readonly #typed: number;
  readonly #type: number;

  constructor(solver: Solver, changed: SymbolicKey, before: SymbolicKey, place: number) {
    super(changed.origin ?? null);
    this.#solver = solver;
    this.#changed = changed;
    this.#before = before;
    this.#ethernet = atPlace(place, presence(PRESENT_ETH));
    this.#typed = atPlace(place, presence(PRESENT_ETHERTYPE));
    this.#type = atPlace(place, TYPE);
  }

  protected make(index: number): Literal {
    const after = this.#changed.bit(index);
    if (index !== this.#typed && (index < this.#type || index >= this.#type + 16)) return after;
    const [ethernet, typed] = [this.#ethernet, this.#typed].map((bit) => this.#before.bit(bit)) as [Literal, Literal];
    const cut = andOf(this.#solver, [ethernet, -typed]);
    return cut === FALSE ? after : choose(this.#solver, cut, this.#solver.newVariable(), after);
  }
}

const ETHERTYPES = [
  ETHERTYPE_IPV4,
  ETHERTYPE_IPV6,
  ETHERTYPE_ARP,
  ETHERTYPE_MACSEC,
  ETHERTYPE_MPLS,
  ETHERTYPE_MPLS_UPSTREAM,
];
/** EtherTypes after which the parser reads tags, or another type. */
const TAGS = [TPID_CVLAN, TPID_SVLAN, ETHERTYPE_ESP_METADATA];
const TYPE = 8 * LAYER_ETHERTYPE;
const PORTS = 8 * LAYER_UDP_PORTS;

const ESP_WORDS = new Set([MISC_OUTER_ESP_SPI / 4, EXT_OUTER_ESP_SEQ / 4]);
const LABEL_WORDS = new Set([MISC2_MPLS_OVER_UDP / 4, MISC2_MPLS_OVER_GRE / 4]);
const LABELS = presenceBit(EXT_PRESENT_TUNNEL, PRESENT_MPLS_OVER_UDP);

function presence(bit: number): number {
  return presenceBit(EXT_PRESENT_OUTER, bit);
}

/** The bit of the level of a place that has the meaning of a bit of the outer packet. */
function atPlace(place: number, bit: number): number {
  return (place & PLACE_INNER) === 0 ? bit : (INNER_OF[bit] as number);
}

function range(from: number, width: number): number[] {
  return Array.from({ length: width }, (_, i) => from + i);
}

/** Whether a changed EtherType announces a tag, or metadata and another type. */
function leadsBack(solver: Solver, changed: SymbolicKey, place: number): Literal {
  if ((place & ~PLACE_INNER) !== (Place.ethertype as number)) return FALSE;
  const type = bitsAt(changed, atPlace(place, TYPE), 16);
  return orOf(
    solver,
    TAGS.map((tag) => isNumber(solver, type, tag)),
  );
}

/** The same without EtherType and tags of the level. */
function withoutTags(stable: Uint8Array, place: number): Uint8Array {
  const less = stable.slice();
  for (const [bit, isLink] of IS_LINK.entries()) {
    const isMac = bit < 48 || (bit >= 64 && bit < 112) || bit === presence(PRESENT_ETH);
    if (isLink === 1 && !isMac) less[atPlace(place, bit)] = 0;
  }
  return less;
}

/** Whether a bit, by its bit of the outer packet, belongs to what follows UDP or GRE. */
function isUpper(outer: number): boolean {
  const word = outer >> 5;
  return ESP_WORDS.has(word) || LABEL_WORDS.has(word) || outer === LABELS || outer === presence(PRESENT_ESP);
}

function isTunnelWord(bit: number): boolean {
  return bit >> 5 === EXT_PRESENT_TUNNEL / 4;
}

function stableWhere(test: (bit: number, inner: boolean, outer: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 8 * KEY_SIZE }, (_, bit) => {
    if (isSample(bit)) return 0;
    const outer = OUTER_OF[bit] as number;
    const inner = outer >= 0;
    return test(bit, inner, inner ? outer : bit) ? 1 : 0;
  });
}

function udpSame(place: number): Selector["isSame"] {
  return (solver, before, after, parser) => {
    const there = before.bit(atPlace(place, presence(PRESENT_UDP)));
    const [one, other] = [before, after].map((key) => selected(solver, key, atPlace(place, PORTS), parser));
    const same = (one as Literal[]).map((bit, i) => -exclusiveOr(solver, bit, (other as Literal[])[i] as Literal));
    return orOf(solver, [-there, andOf(solver, same)]);
  };
}

/** For each header over UDP, whether a port selects it (docs/parsing.md, "Network layer and above"). */
function selected(solver: Solver, key: SymbolicKey, ports: number, { udpPorts }: Declaration): Literal[] {
  const [from, to] = [bitsAt(key, ports, 16), bitsAt(key, ports + 16, 16)];
  const known = Object.values(udpPorts);
  const chosen = known.map((all) =>
    orOf(
      solver,
      all.map((port) => isNumber(solver, to, port)),
    ),
  );
  const none = andOf(
    solver,
    chosen.map((one) => -one),
  );
  const reply = andOf(solver, [none, isNumber(solver, from, PORT_ESP)]);
  return known.map((all, i) =>
    all.includes(PORT_ESP) ? orOf(solver, [chosen[i] as Literal, reply]) : (chosen[i] as Literal),
  );
}

function typeSame(place: number): Selector["isSame"] {
  return (solver, before, after) => {
    const [ethernet, typed] = [PRESENT_ETH, PRESENT_ETHERTYPE].map((bit) => before.bit(atPlace(place, presence(bit))));
    const [one, other] = [before, after].map((key) => bitsAt(key, atPlace(place, TYPE), 16));
    const same = ETHERTYPES.map((type) => {
      const [was, is] = [one, other].map((bits) => isNumber(solver, bits as Literal[], type));
      return -exclusiveOr(solver, was as Literal, is as Literal);
    });
    return orOf(solver, [-(ethernet as Literal), andOf(solver, [typed as Literal, ...same])]);
  };
}

function selector(
  place: number,
  stable: Uint8Array,
  controls: readonly number[],
  isSame: (place: number) => Selector["isSame"],
): Selector {
  return { place, stable, controls: controls.map((bit) => atPlace(place, bit)), isSame: isSame(place) };
}

const UDP_CONTROLS = [presence(PRESENT_UDP), ...range(PORTS, 32)];
const TYPE_CONTROLS = [presence(PRESENT_ETH), presence(PRESENT_ETHERTYPE), ...range(TYPE, 16)];

/** Changes of the inner packet come first: those of the outer one decide whether there still is an inner packet. */
const SELECTORS: readonly Selector[] = [
  selector(
    Place.udp + PLACE_INNER,
    stableWhere((_, inner, outer) => !inner || !isUpper(outer)),
    UDP_CONTROLS,
    udpSame,
  ),
  selector(
    Place.ethertype + PLACE_INNER,
    stableWhere((_, inner, outer) => !inner || IS_LINK[outer] === 1),
    TYPE_CONTROLS,
    typeSame,
  ),
  selector(
    Place.udp,
    stableWhere((bit, inner) => !inner && (INNER_OF[bit] as number) >= 0 && !isUpper(bit) && !isTunnelWord(bit)),
    UDP_CONTROLS,
    udpSame,
  ),
  selector(
    Place.ethertype,
    stableWhere((bit, inner) => !inner && IS_LINK[bit] === 1),
    TYPE_CONTROLS,
    typeSame,
  ),
];

/** The key with other programmable samples: those of some frame that has the same headers. */
export function resampled(solver: Solver, changed: SymbolicKey, newKey: MakeKey): SymbolicKey {
  return new Resampled(solver, changed, newKey);
}

class Resampled extends DerivedKey {
  readonly #solver: Solver;
  readonly #changed: SymbolicKey;
  readonly #newKey: MakeKey;
  #fresh: ParsedKey | null = null;
  /** Bits of the new key that are tied to those of the changed one. */
  readonly #tied = new Set<number>();

  constructor(solver: Solver, changed: SymbolicKey, newKey: MakeKey) {
    super(changed.origin ?? null);
    this.#solver = solver;
    this.#changed = changed;
    this.#newKey = newKey;
  }

  protected make(index: number): Literal {
    if (!isSample(index)) return this.#changed.bit(index);
    this.#fresh ??= this.#newKey();
    const literal = this.#fresh.bit(index);
    // What samples are within, and which ones there are, is part of the headers.
    for (const bit of [...this.#fresh.asked]) {
      if (this.#tied.has(bit)) continue;
      this.#tied.add(bit);
      if (bit < 8 * KEY_SIZE && !isSample(bit) && IS_PATH[bit] !== 1) this.#tie(bit, this.#fresh);
    }
    return literal;
  }

  #tie(bit: number, fresh: ParsedKey): void {
    const [one, other] = [this.#changed.bit(bit), fresh.bit(bit)];
    if (one === other) return;
    this.#solver.addClause([-one, other]);
    this.#solver.addClause([one, -other]);
  }
}
