/**
 * A table of the core, and the ranks of its rules.
 *
 * A rank is one 64-bit number. The first matching rule by rank wins:
 *
 *     63           47 46             31 30                          0
 *     | slot         | order of masks  | order of rules            |
 *
 * Each priority has two slots: rules of the first let the frame continue (DONT_TRAP), rules of the
 * second end its walk. A frame that continues resumes at the next slot, whose first rank is one
 * addition away (forward/nextTable.ts, resume).
 *
 * SPEC: mlx5dv_dr leaves the order of masks of equal priority open. A DR table asks the newer mask
 * first, a root table the older one. Duplicates are allowed: the page's LIMITATIONS refuse them and
 * its Domain section allows them. Rules of one mask are ordered by age, so the oldest duplicate
 * wins. Both order numbers only grow; when one is used up, the living masks and rules are
 * renumbered.
 */
import { RANK_SLOT } from "../../abi/engine.js";
import type { DeviceBase } from "../base/deviceBase.js";

export interface RankLimits {
  /** Numbers for the order of masks, at most 2^16. */
  orders: number;
  /** Numbers for the order of rules, at most 2^31 - 1. */
  sequence: number;
}

/** The last order number stays free: a lookup uses the highest rank for "no rule". */
const LIMITS: RankLimits = { orders: 2 ** 16, sequence: 2 ** 31 - 1 };

/** Bits of the order of masks in the upper word. */
const UPPER_ORDER_BITS = RANK_SLOT - 32;

/** What rules of one mask and one slot share: a matcher, or the flows of one mask. */
export interface Place {
  /** `trappingSlot(priority)` or the one before it. */
  readonly slot: number;
  /** Order among the masks of its slot. */
  order: number;
}

/** A rule of the core, with the parts of its rank. */
export interface Placed {
  readonly classifier: Classifier;
  readonly place: Place;
  /** Order among the rules of its table. */
  sequence: number;
  /** The rule in the core; 0 while it is pending. */
  readonly handle: number;
  /** The rule of the core for the second direction; 0 without one. */
  readonly secondHandle?: number;
}

/**
 * The slot of rules that end the walk of a frame. Rules that let it continue have the slot before.
 */
export function trappingSlot(priority: number): number {
  return 2 * priority + 1;
}

export class Classifier {
  readonly device: DeviceBase;
  /** The table in the core. */
  readonly table: number;
  private readonly _newerFirst: boolean;
  private readonly _limits: RankLimits;
  private readonly _places = new Set<Place>();
  private _nextOrder = 0;
  private _nextSequence = 0;
  /** Rules that the table reserves memory for. */
  private _room = 0;

  constructor(device: DeviceBase, table: number, newerFirst: boolean, limits: RankLimits = LIMITS) {
    this.device = device;
    this.table = table;
    this._newerFirst = newerFirst;
    this._limits = limits;
  }

  /** Gives a place its order. Returns false when all order numbers are in use. */
  add(place: Place): boolean {
    if (this._nextOrder === this._limits.orders) this._renumber();
    if (this._nextOrder === this._limits.orders) return false;
    place.order = this._nextOrder++;
    this._places.add(place);
    return true;
  }

  /** Masks that have an order, oldest first. */
  get places(): Iterable<Place> {
    return this._places;
  }

  remove(place: Place): void {
    this._places.delete(place);
  }

  /**
   * Reserves room for `now` more rules at once, and for `kept` more from now on. Returns false when
   * memory is full.
   */
  makeRoom(now: number, kept: number): boolean {
    const { exports } = this.device.core;
    const room = this._room + kept;
    if (exports.reserveRules(this.table, Math.max(this._room + now, room)) === 0) return false;
    // A smaller reservation frees nothing: existing room stays until rules go.
    if (now > kept) exports.reserveRules(this.table, room);
    this._room = room;
    return true;
  }

  /** Takes `count` consecutive order numbers for rules; returns the first. */
  nextSequence(count = 1): number {
    if (this._nextSequence + count > this._limits.sequence) this._renumber();
    const first = this._nextSequence;
    this._nextSequence += count;
    return first;
  }

  /** The upper 32 bits of a rank. */
  rankHigh(place: Place): number {
    return ((place.slot << UPPER_ORDER_BITS) | (this._orderOf(place) >>> 1)) >>> 0;
  }

  /** The lower 32 bits of a rank. */
  rankLow(place: Place, sequence: number): number {
    return ((this._orderOf(place) << 31) | sequence) >>> 0;
  }

  /** Compares two rules of this table by rank: negative where `a` comes first. */
  compare(a: Placed, b: Placed): number {
    return a.place.slot - b.place.slot || this._orderOf(a.place) - this._orderOf(b.place) || a.sequence - b.sequence;
  }

  private _orderOf({ order }: Place): number {
    return this._newerFirst ? this._limits.orders - 1 - order : order;
  }

  /** Renumbers masks and rules and keeps their order: the gaps of destroyed ones close. */
  private _renumber(): void {
    this._nextOrder = 0;
    for (const place of [...this._places].sort((a, b) => a.order - b.order)) place.order = this._nextOrder++;
    this._nextSequence = 0;
    const rules: Placed[] = [];
    for (const one of this.device.installed) {
      if ("classifier" in one && one.classifier === this) rules.push(one as unknown as Placed);
    }
    for (const rule of rules.sort((a, b) => a.sequence - b.sequence)) {
      const { handle, secondHandle = 0, place } = rule;
      rule.sequence = this._nextSequence++;
      for (const one of [handle, secondHandle]) {
        if (one === 0) continue;
        this.device.core.exports.rerankRule(one, this.rankHigh(place), this.rankLow(place, rule.sequence));
      }
    }
  }
}
