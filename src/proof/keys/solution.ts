/** `Solution`: what a solver's solution says about a frame, header by header. A bit that was not asked has no value. */
import { MISC4, MISC4_SAMPLE_SIZE, PRESENT_SAMPLE } from "../../abi/key.js";
import type { HeaderLayer } from "../../packet/builder/layers.js";
import { bytesOf } from "../../packet/bytes.js";
import { layoutOf } from "../../packet/layout.js";
import type { Solver } from "../solver/solver.js";
import { present, type Level, type Term } from "./cells.js";
import type { ParsedKey } from "./parsedKey.js";
import type { WireHeader } from "../../headers/fields.js";
import { layoutHeader, tunnelBit, wireOf } from "./wire.js";

/** Fields of a layer by name, as `buildFrame` takes them. */
export type Fields = Readonly<Record<string, unknown>>;

/** Where a header's bits come from. */
interface Source {
  readonly level: Level;
  readonly header: WireHeader;
  /** The bit of `misc5.tunnel_header_*` that its first bit is; undefined for a header that is no tunnel's. */
  readonly tunnel?: number | undefined;
}

export interface Place extends Source {
  /** Fields that this header does not have. */
  readonly without?: readonly string[];
  readonly fields?: Fields;
}

/** Of Ethernet and IPv4, as `buildFrame` makes it (RFC 826). */
function lengthInArp(name: string): number | undefined {
  return name === "hardware_length" ? 6 : name === "protocol_length" ? 4 : undefined;
}

export class Solution {
  readonly key: ParsedKey;
  readonly #solver: Solver;

  constructor(solver: Solver, key: ParsedKey) {
    this.#solver = solver;
    this.key = key;
  }

  /** The solution for the key of the packet inside, if it has one. */
  get inside(): Solution | null {
    return this.key.inside === null ? null : new Solution(this.#solver, this.key.inside);
  }

  /** Whether a term holds; undefined if nothing asked for its cell. */
  value(term: Term): boolean | undefined {
    const literal = this.key.literalAt(Math.abs(term) - 1);
    return literal === 0 ? undefined : this.#solver.value(term > 0 ? literal : -literal);
  }

  has(term: Term, otherwise = false): boolean {
    return this.value(term) ?? otherwise;
  }

  asked(terms: readonly Term[]): boolean {
    return terms.some((term) => this.value(term) !== undefined);
  }

  /** The number that terms are the bits of; bits that were not asked are those of `otherwise`. */
  number(terms: readonly Term[], otherwise = 0): number {
    return terms.reduce((number, term, i) => {
      const usual = Math.floor(otherwise / 2 ** (terms.length - 1 - i)) % 2 === 1;
      return number * 2 + Number(this.has(term, usual));
    }, 0);
  }

  /** A header with the fields that were asked; `buildFrame` makes the others. */
  layer({ level, header, tunnel, without = [], fields = {} }: Place): HeaderLayer {
    const values: Record<string, unknown> = {};
    let at = 0;
    for (const [name, laidOut, kind] of layoutOf(layoutHeader(header))) {
      const width = typeof laidOut === "function" && header === "arp" ? laidOut(lengthInArp) : laidOut;
      if (typeof width !== "number") break;
      const value = without.includes(name) ? undefined : this.#bits({ level, header, tunnel }, at, width);
      const numeric = kind === "number" || kind === "hex" || kind === "flag" || kind === "flags";
      if (value !== undefined) values[name] = numeric ? value : bytesOf(value, width / 8);
      at += width;
    }
    return { header: layoutHeader(header), ...values, ...fields } as HeaderLayer;
  }

  /** The value of a field of a header; undefined if none of its bits was asked. */
  #bits(place: Source, at: number, width: number): bigint | undefined {
    let known = false;
    let value = 0n;
    for (let bit = at; bit < at + width; bit++) {
      const one = this.#wireBit(place, bit);
      known ||= one !== undefined;
      const term = wireOf(place.level, place.header).get(bit);
      value = value * 2n + BigInt(one ?? (term !== undefined && this.key.isUsuallySet(term)));
    }
    return known ? value : undefined;
  }

  #wireBit({ level, header, tunnel }: Source, bit: number): boolean | undefined {
    const term = wireOf(level, header).get(bit);
    const own = term === undefined ? undefined : this.value(term);
    if (own !== undefined) return own;
    if (tunnel !== undefined && tunnel + bit < 128) {
      const repeated = this.value(tunnelBit(tunnel + bit));
      if (repeated !== undefined) return repeated;
    }
    return this.#sampled(level, header, bit);
  }

  /** The bit of a header as a programmable sample has it. */
  #sampled(level: Level, header: string, bit: number): boolean | undefined {
    for (const { id, header: from, level: at = "outer", offset } of this.key.settings.parser.samples) {
      const within = bit - 8 * offset;
      if (from !== header || at !== level || within < 0 || within >= 32) continue;
      if (!this.has(present("tunnel", PRESENT_SAMPLE << id))) continue;
      const value = this.value((MISC4 + id * MISC4_SAMPLE_SIZE) * 8 + within + 1);
      if (value !== undefined) return value;
    }
    return undefined;
  }
}
