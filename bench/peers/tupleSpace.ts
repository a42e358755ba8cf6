/**
 * 5-tuple rules in plain JavaScript: a Map a mask, the masks in the order of their best rule, so that a lookup ends
 * where no later mask can win. What PlainClassifier does for any words, for these four:
 *
 *     0     4     8               12         16
 *     | src | dst | sport | dport | protocol |       a header, a mask and a value alike
 *
 * A port that is asked as a range is none of the mask's: its limits are compared where all else is equal.
 *
 * Masks and Maps of all groups lie side by side: objects in their place would take twice the time.
 */

/** | value 4 words | rank | next of the chain, by rank | limits of the ports 2 |, a rule. */
const RANK = 4;
const NEXT = 5;
const LIMITS = 6;
const RULE_WORDS = 8;
const NONE = -1;
const FIRST_ROOM = 1024;

/** The limits of a port as one number, both inside. */
export function limits([low, high]: readonly [low: number, high: number]): number {
  return (high << 16) | low;
}

/** The rules of one mask. */
interface Group {
  mask: Int32Array;
  /** From a hash of the value to the first rule of a chain. */
  chains: Map<number, number>;
  /** At most the lowest rank of the rules; Infinity without rules. */
  best: number;
}

function hashOf(src: number, dst: number, ports: number, protocol: number): number {
  // Products that do not wait for one another.
  const sum =
    Math.imul(src, 0x85ebca6b) +
    Math.imul(dst, 0x9e3779b1) +
    Math.imul(ports, 0xc2b2ae35) +
    Math.imul(protocol, 0x27d4eb2f);
  return (sum | 0) ^ (sum >>> 15);
}

/** Ready for a lookup after every change. */
export class TupleSpace {
  /** By a hash of the mask. */
  readonly #groups = new Map<number, Group[]>();
  /** Of each rule. */
  readonly #owners: Group[] = [];
  readonly #free: number[] = [];
  #rules = new Int32Array(FIRST_ROOM * RULE_WORDS);
  #count = 0;
  /** Groups that have rules, by their best, and what a lookup reads of them. */
  readonly #order: Group[] = [];
  readonly #chains: Map<number, number>[] = [];
  readonly #bests: number[] = [];
  #masks = new Int32Array(0);

  /** A value inside the mask; ranks differ; gives what `remove` takes. */
  insert(mask: Int32Array, value: Int32Array, rank: number, sport: number, dport: number): number {
    const group = this.#groupOf(mask);
    const rule = this.#free.pop() ?? this.#count++;
    const at = rule * RULE_WORDS;
    if (at === this.#rules.length) {
      const larger = new Int32Array(2 * at);
      larger.set(this.#rules);
      this.#rules = larger;
    }
    this.#owners[rule] = group;
    const rules = this.#rules;
    rules[at] = value[0]!;
    rules[at + 1] = value[1]!;
    rules[at + 2] = value[2]!;
    rules[at + 3] = value[3]!;
    rules[at + RANK] = rank;
    rules[at + LIMITS] = sport;
    rules[at + LIMITS + 1] = dport;
    const hash = this.#hash(at);
    const first = group.chains.get(hash) ?? NONE;
    if (first === NONE || rank < rules[first * RULE_WORDS + RANK]!) {
      rules[at + NEXT] = first;
      group.chains.set(hash, rule);
    } else {
      let before = first * RULE_WORDS;
      for (;;) {
        const next = rules[before + NEXT]! * RULE_WORDS;
        if (next < 0 || rank < rules[next + RANK]!) break;
        before = next;
      }
      rules[at + NEXT] = rules[before + NEXT]!;
      rules[before + NEXT] = rule;
    }
    if (rank < group.best) this.#move(group, rank);
    return rule;
  }

  remove(rule: number): void {
    const group = this.#owners[rule]!;
    const rules = this.#rules;
    const at = rule * RULE_WORDS;
    const next = rules[at + NEXT]!;
    const hash = this.#hash(at);
    const first = group.chains.get(hash)!;
    if (first === rule) {
      if (next === NONE) group.chains.delete(hash);
      else group.chains.set(hash, next);
    } else {
      let before = first * RULE_WORDS;
      while (rules[before + NEXT] !== rule) before = rules[before + NEXT]! * RULE_WORDS;
      rules[before + NEXT] = next;
    }
    this.#free.push(rule);
    if (group.chains.size === 0) this.#move(group, Infinity);
  }

  /** The lowest rank of the rules that match the header at a place, or -1. */
  lookup(headers: Int32Array, place: number): number {
    const [masks, chains, bests, rules] = [this.#masks, this.#chains, this.#bests, this.#rules];
    const src = headers[place]!;
    const dst = headers[place + 1]!;
    const ports = headers[place + 2]!;
    const protocol = headers[place + 3]!;
    let best = 0x7fffffff;
    for (let i = 0, mask = 0; i < chains.length; i++, mask += 4) {
      if (best < bests[i]!) break;
      const s = src & masks[mask]!;
      const d = dst & masks[mask + 1]!;
      const p = ports & masks[mask + 2]!;
      const o = protocol & masks[mask + 3]!;
      let rule = chains[i]!.get(hashOf(s, d, p, o)) ?? NONE;
      while (rule !== NONE) {
        const at = rule * RULE_WORDS;
        const rank = rules[at + RANK]!;
        if (rank >= best) break;
        if (
          rules[at] === s &&
          rules[at + 1] === d &&
          rules[at + 2] === p &&
          rules[at + 3] === o &&
          inside(ports >>> 16, rules[at + LIMITS]!) &&
          inside(ports & 0xffff, rules[at + LIMITS + 1]!)
        ) {
          best = rank;
          break;
        }
        rule = rules[at + NEXT]!;
      }
    }
    return best === 0x7fffffff ? -1 : best;
  }

  #hash(at: number): number {
    const rules = this.#rules;
    return hashOf(rules[at]!, rules[at + 1]!, rules[at + 2]!, rules[at + 3]!);
  }

  #groupOf(mask: Int32Array): Group {
    const hash = hashOf(mask[0]!, mask[1]!, mask[2]!, mask[3]!);
    let same = this.#groups.get(hash);
    if (same === undefined) this.#groups.set(hash, (same = []));
    for (const group of same) {
      const one = group.mask;
      if (one[0] === mask[0] && one[1] === mask[1] && one[2] === mask[2] && one[3] === mask[3]) return group;
    }
    const group = { mask, chains: new Map<number, number>(), best: Infinity };
    same.push(group);
    return group;
  }

  /** Moves a group to the position of its new best rank. */
  #move(group: Group, best: number): void {
    const [order, chains, bests] = [this.#order, this.#chains, this.#bests];
    if (group.best !== Infinity) {
      const from = order.indexOf(group);
      order.splice(from, 1);
      chains.splice(from, 1);
      bests.splice(from, 1);
      this.#masks.copyWithin(4 * from, 4 * from + 4);
    }
    group.best = best;
    if (best === Infinity) return;
    let to = order.length;
    while (to > 0 && bests[to - 1]! > best) to--;
    order.splice(to, 0, group);
    chains.splice(to, 0, group.chains);
    bests.splice(to, 0, best);
    if (4 * order.length > this.#masks.length) {
      const larger = new Int32Array(8 * order.length);
      larger.set(this.#masks);
      this.#masks = larger;
    }
    this.#masks.copyWithin(4 * to + 4, 4 * to, 4 * (order.length - 1));
    this.#masks.set(group.mask, 4 * to);
  }
}

function inside(port: number, both: number): boolean {
  return port >= (both & 0xffff) && port <= both >>> 16;
}
