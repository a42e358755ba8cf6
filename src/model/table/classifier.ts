/**
 * A table of the core and the ranks of its rules.
 *
 * A rank is one 64-bit number, and the first rule by rank wins:
 *
 *     63           47 46             31 30                          0
 *     | slot         | order of masks  | order of rules            |
 *
 * A priority has two slots: the rules of the first let a frame go on (DONT_TRAP), those of the second end its way. Who lets
 * a frame go on is followed by the next slot, whose first rank is one addition away (walk/nextTable.ts, resume).
 *
 * SPEC: among masks of equal priority (undefined in mlx5dv_dr, where a matcher is one) the newer one comes first in a DR
 * table, the older one in the root table, and duplicates, which the page's LIMITATIONS refuse and its Domain section allows,
 * are allowed; rules of one mask come in the order of their making, so that of duplicates the oldest wins. Both orders count
 * up (or down) without reuse; when one is used up, the living are numbered anew.
 */
import { RANK_SLOT } from "../../abi/engine.js";
import type { DeviceBase } from "../base/deviceBase.js";

export interface RankLimits {
  /** Orders of masks, at most 2^16. */
  orders: number;
  /** Orders of rules, at most 2^31 - 1. */
  sequence: number;
}

/** One sequence number is left out: a lookup takes the highest rank of all for "no rule". */
const LIMITS: RankLimits = { orders: 2 ** 16, sequence: 2 ** 31 - 1 };

/** Bits of the order of masks in the upper word. */
const UPPER_ORDER_BITS = RANK_SLOT - 32;

/** What rules of one mask and one slot share: a matcher, or the flows of one mask. */
export interface Place {
  /** `trappingSlot(priority)` or the one before it. */
  readonly slot: number;
  /** Place among those of its slot. */
  order: number;
}

/** A rule of the core, with what its rank is made from. */
export interface Placed {
  readonly classifier: Classifier;
  readonly place: Place;
  /** Place among the rules of its table. */
  sequence: number;
  /** The rule in the core; 0 while it has not come there. */
  readonly handle: number;
  /** Another rule of the core that stands beside it; 0 where there is none. */
  readonly secondHandle?: number;
}

/** The slot of rules that end the way of a frame; that of rules that let it go on is one less. */
export function trappingSlot(priority: number): number {
  return 2 * priority + 1;
}

export class Classifier {
  readonly device: DeviceBase;
  /** The table in the core. */
  readonly table: number;
  readonly #newerFirst: boolean;
  readonly #limits: RankLimits;
  readonly #places = new Set<Place>();
  #nextOrder = 0;
  #nextSequence = 0;
  /** Rules that the table keeps room for, whether they are there or not. */
  #room = 0;

  constructor(device: DeviceBase, table: number, newerFirst: boolean, limits: RankLimits = LIMITS) {
    this.device = device;
    this.table = table;
    this.#newerFirst = newerFirst;
    this.#limits = limits;
  }

  /** Gives a place its order; false when as many are alive as there are orders. */
  add(place: Place): boolean {
    if (this.#nextOrder === this.#limits.orders) this.#renumber();
    if (this.#nextOrder === this.#limits.orders) return false;
    place.order = this.#nextOrder++;
    this.#places.add(place);
    return true;
  }

  /** Masks that have an order, as they came. */
  get places(): Iterable<Place> {
    return this.#places;
  }

  remove(place: Place): void {
    this.#places.delete(place);
  }

  /** Room for `now` rules more than what is kept, at once, and from now on for `kept` more; false when memory is full. */
  makeRoom(now: number, kept: number): boolean {
    const { exports } = this.device.core;
    const room = this.#room + kept;
    if (exports.reserveRules(this.table, Math.max(this.#room + now, room)) === 0) return false;
    // Less is no new room: what is there stays until rules go.
    if (now > kept) exports.reserveRules(this.table, room);
    this.#room = room;
    return true;
  }

  /** The order of the next rule, and of so many behind it. */
  nextSequence(count = 1): number {
    if (this.#nextSequence + count > this.#limits.sequence) this.#renumber();
    const first = this.#nextSequence;
    this.#nextSequence += count;
    return first;
  }

  /** The upper word of a rank. */
  rankHigh(place: Place): number {
    return ((place.slot << UPPER_ORDER_BITS) | (this.#orderOf(place) >>> 1)) >>> 0;
  }

  /** The lower word. */
  rankLow(place: Place, sequence: number): number {
    return ((this.#orderOf(place) << 31) | sequence) >>> 0;
  }

  /** Which of two rules of this table is asked first: negative for `a`. */
  compare(a: Placed, b: Placed): number {
    return a.place.slot - b.place.slot || this.#orderOf(a.place) - this.#orderOf(b.place) || a.sequence - b.sequence;
  }

  #orderOf({ order }: Place): number {
    return this.#newerFirst ? this.#limits.orders - 1 - order : order;
  }

  /** Numbers masks and rules anew, closing the gaps that destroyed ones left. Their order stays. */
  #renumber(): void {
    this.#nextOrder = 0;
    for (const place of [...this.#places].sort((a, b) => a.order - b.order)) place.order = this.#nextOrder++;
    this.#nextSequence = 0;
    const rules: Placed[] = [];
    for (const one of this.device.installed) {
      if ("classifier" in one && one.classifier === this) rules.push(one as unknown as Placed);
    }
    for (const rule of rules.sort((a, b) => a.sequence - b.sequence)) {
      const { handle, secondHandle = 0, place } = rule;
      rule.sequence = this.#nextSequence++;
      for (const one of [handle, secondHandle]) {
        if (one === 0) continue;
        this.device.core.exports.rerankRule(one, this.rankHigh(place), this.rankLow(place, rule.sequence));
      }
    }
  }
}
