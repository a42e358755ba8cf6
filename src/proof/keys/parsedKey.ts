/**
 * `ParsedKey`: the key of some frame, as literals. Every key that the parser makes of a frame satisfies the clauses; a
 * solution is, as far as the clauses can say it, the key of a frame.
 *
 * Bits get their variables and clauses when they are asked for (plan.ts). The last question about what a solution means is
 * answered by the engine: `frameOf` builds the frame, and a walk of it decides.
 */
import {
  PRESENT_ETH,
  PRESENT_ETHERTYPE,
  PRESENT_ICMP,
  PRESENT_ICMPV6,
  PRESENT_INNER_MPLS_OVER_GRE,
  PRESENT_INNER_MPLS_OVER_UDP,
  PRESENT_MPLS,
  PRESENT_MPLS_OVER_GRE,
  PRESENT_MPLS_OVER_UDP,
  PRESENT_VLAN,
  PRESENT_VLAN2,
} from "../../abi/key.js";
import { FIELDS, fieldNamed } from "../../model/match/fields.js";
import { FALSE, type Literal } from "../literal.js";
import type { Solver } from "../solver/solver.js";
import { CELLS, ESP_FROM_PORT, ESP_TO_PORT, fact, LATER, present, presenceAt, type Cell, type Term } from "./cells.js";
import { planFor } from "./parserPlan.js";
import { ALIAS, GIVEN, VARIABLE, type Declaration, type Plan } from "./plan.js";
import type { SymbolicKey } from "./symbolicKey.js";

export interface ParsedKeySettings {
  /** What the device declares of its parser: `device.parser`. */
  readonly parser: Declaration;
  /** The literals of bits that no frame decides: origin, `ext.port`, registers. @default all 0 */
  given?(bit: number): Literal;
  /** The key whose inner packet this key is the key of, when the packet stands alone. */
  readonly insideOf?: ParsedKey;
  /**
   * With `insideOf`: literals of the bits of the Ethernet header and its tags, presence included, that decapsulation puts
   * before an inner IP packet. @default those of the inner packet's own Ethernet header
   */
  ethernet?(bit: number): Literal;
}

export class ParsedKey implements SymbolicKey {
  readonly settings: ParsedKeySettings;
  /** The key of the packet inside, once there is one. */
  inside: ParsedKey | null = null;
  readonly #solver: Solver;
  readonly #plan: Plan;
  /** By cell; 0: not asked. */
  readonly #literals = new Int32Array(CELLS);
  readonly #asked: Cell[] = [];
  /** Cells whose clauses are to be added. */
  readonly #pending: Cell[] = [];

  constructor(solver: Solver, settings: ParsedKeySettings) {
    this.#solver = solver;
    this.settings = settings;
    this.#plan = planFor(settings.parser);
    if (settings.insideOf !== undefined) settings.insideOf.inside = this;
  }

  get origin(): SymbolicKey {
    return this;
  }

  /** Bits that have a literal. Different bits can share one, and it can be a constant. */
  get asked(): Iterable<number> {
    return this.#asked;
  }

  /**
   * The literal of a bit, with the clauses that tie it to others.
   *
   * @example
   * const key = new ParsedKey(solver, { parser: device.parser });
   * const tcp = fieldNamed("outer.tcp_dport")!;
   * solver.addClause([key.bit(tcp.bit)]);
   * solver.solve([-key.bit(presenceOfTcp)]); // false: a port needs its header
   */
  bit(index: number): Literal {
    const literal = this.#literals[index] as Literal;
    if (literal !== 0) return literal;
    const made = this.#make(index);
    while (this.#pending.length > 0) this.#constrain(this.#pending.pop() as Cell);
    return made;
  }

  /** The literal of a cell, 0 if nothing asked for it, here or outside. */
  literalAt(cell: Cell): Literal {
    const literal = this.#literals[cell] as Literal;
    const { settings } = this;
    const other = INSIDE[cell] as number;
    if (literal !== 0 || settings.insideOf === undefined || other < 0) return literal;
    return "ethernet" in settings && LINK_LAYER.has(cell) ? 0 : settings.insideOf.literalAt(other);
  }

  /** Whether a bit is 1 in frames that nothing asks otherwise of. */
  isUsuallySet(term: Term): boolean {
    return this.#plan.preferred[term - 1] === 1;
  }

  /** How much was asked, for `restore`. */
  mark(): number {
    return this.#asked.length;
  }

  /** Forgets the bits that were asked after a mark, as `Solver.restore` forgets their clauses. */
  restore(mark: number): void {
    for (const cell of this.#asked.splice(mark)) this.#literals[cell] = 0;
  }

  #get(cell: Cell): Literal {
    const literal = this.#literals[cell] as Literal;
    return literal === 0 ? this.#make(cell) : literal;
  }

  #term(term: Term): Literal {
    return term > 0 ? this.#get(term - 1) : -this.#get(-term - 1);
  }

  #make(cell: Cell): Literal {
    const literal = this.#linked(cell) ?? this.#own(cell);
    this.#literals[cell] = literal;
    this.#asked.push(cell);
    return literal;
  }

  /** The literal of a cell that is another key's. */
  #linked(cell: Cell): Literal | undefined {
    const { settings } = this;
    const other = INSIDE[cell] as number;
    if (settings.insideOf === undefined || other < 0) return undefined;
    const ethernet = LINK_LAYER.has(cell) ? settings.ethernet?.(cell) : undefined;
    return ethernet ?? settings.insideOf.bit(other);
  }

  #own(cell: Cell): Literal {
    const plan = this.#plan;
    switch (plan.kinds[cell]) {
      case VARIABLE: {
        for (const before of plan.before[cell] as Cell[]) this.#get(before);
        const literal = this.#solver.newVariable();
        if (plan.preferred[cell] === 1) this.#solver.prefer(literal);
        this.#pending.push(cell);
        return literal;
      }
      case GIVEN:
        return this.settings.given?.(cell) ?? FALSE;
      case ALIAS:
        return this.#term(plan.aliases[cell] as Term);
      default:
        return FALSE;
    }
  }

  #constrain(cell: Cell): void {
    for (const other of this.#plan.others[cell] as Cell[]) this.#get(other);
    for (const clause of this.#plan.clauses[cell] as Term[][]) {
      this.#solver.addClause(clause.map((term) => this.#term(term)));
    }
  }
}

/** For each cell, the cell of the key outside that is the same bit; -1 for what the outside key does not have. */
const INSIDE = new Int32Array(CELLS).fill(-1);
/** Cells of the Ethernet header and its tags. */
const LINK_LAYER = new Set<Cell>();

function link(outer: Term, inner: Term): void {
  INSIDE[outer - 1] = inner - 1;
}

for (const { name, bit, width, here } of FIELDS) {
  if (here === null && !/cvlan|svlan|frag|_ok$/.test(name)) continue;
  const labels = /^misc2\.outer_first_mpls_over_(.*)/.exec(name);
  const twin = fieldNamed(
    labels === null
      ? name.replace(/^outer\./, "inner.").replace(".outer_", ".inner_")
      : `ext.inner_first_mpls_over_${labels[1]}`,
  );
  if (twin === undefined || twin.name === name) continue;
  for (let i = 0; i < width; i++) link(bit + i + 1, twin.bit + i + 1);
  if (/mac$|ethertype$|first_(prio|cfi|vid)$|second_|[cs]vlan_tag$/.test(name))
    for (let i = 0; i < width; i++) LINK_LAYER.add(bit + i);
  if (here !== null && twin.here !== null)
    link(presenceAt(here.word, here.bit), presenceAt(twin.here.word, twin.here.bit));
}
link(present("tunnel", PRESENT_MPLS_OVER_UDP), present("inner", PRESENT_INNER_MPLS_OVER_UDP));
link(present("tunnel", PRESENT_MPLS_OVER_GRE), present("inner", PRESENT_INNER_MPLS_OVER_GRE));
for (const bit of [PRESENT_ICMP, PRESENT_ICMPV6]) INSIDE[present("outer", bit) - 1] = -1;
for (const which of [LATER, ESP_TO_PORT, ESP_FROM_PORT]) link(fact("outer", which), fact("inner", which));
for (const bit of [PRESENT_ETH, PRESENT_ETHERTYPE, PRESENT_VLAN, PRESENT_VLAN2, PRESENT_MPLS])
  LINK_LAYER.add(present("outer", bit) - 1);
