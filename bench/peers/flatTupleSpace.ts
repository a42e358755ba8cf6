/**
 * 5-tuple rules that do not change, in plain JavaScript: a tuple space whose masks stand in the order of their best rule, so
 * that a lookup ends where no later mask can win.
 *
 * Everything lies in typed arrays. A mask has an open hash table of its own inside one array, a quarter full or less: most
 * probes end at an empty slot. A slot names a rule, equal values are a chain by rank behind it.
 */
import type { SetRule } from "../classify/ruleSets.js";
import { limits } from "./tupleSpace.js";

/** Beside the protocol of a packet: it has ports. Rules that ask for some ask for this too. */
export const HAS_PORTS = 0x100;

/** | src | dst | ports | protocol | limits of the ports 2 | next of the chain, -1 at its end | 0 |, a rule. */
const LIMITS = 4;
const NEXT = 6;
const RULE_WORDS = 8;
/** | src | dst | ports | protocol | first slot | slots - 1 | best rank | 0 |, a mask. */
const FIRST_SLOT = 4;
const SLOT_MASK = 5;
const BEST = 6;
const MASK_WORDS = 8;
const NONE = -1;
const ANY = limits([0, 0xffff]);
const SLOTS_PER_RULE = 4;

/** A rule as four words: | src | dst | ports | protocol, HAS_PORTS |. */
export function tupleOf(rule: SetRule): { mask: number[]; value: number[] } {
  const { src, srcMask, dst, dstMask, sport, dport, protocol, protocolMask } = rule;
  const ports = (sport[0] === sport[1] ? 0xffff0000 : 0) | (dport[0] === dport[1] ? 0xffff : 0);
  const asks = limits(sport) === ANY && limits(dport) === ANY ? 0 : HAS_PORTS;
  return {
    mask: [srcMask | 0, dstMask | 0, ports, protocolMask | asks],
    value: [src, dst, ((sport[0] << 16) | dport[0]) & ports, protocol | asks],
  };
}

function hashOf(src: number, dst: number, ports: number, protocol: number): number {
  // Products that do not wait for one another; the low bits are taken.
  const sum =
    Math.imul(src, 0x85ebca6b) +
    Math.imul(dst, 0x9e3779b1) +
    Math.imul(ports, 0xc2b2ae35) +
    Math.imul(protocol, 0x27d4eb2f);
  return (sum | 0) ^ (sum >>> 15);
}

function inside(port: number, both: number): boolean {
  return port >= (both & 0xffff) && port <= both >>> 16;
}

export class FlatTupleSpace {
  readonly #rules: Int32Array;
  readonly #masks: Int32Array;
  readonly #slots: Int32Array;

  /** The first rule that matches wins. */
  constructor(rules: readonly SetRule[]) {
    const groups = new Map<string, { mask: number[]; lines: number[] }>();
    this.#rules = new Int32Array(rules.length * RULE_WORDS);
    for (const [line, rule] of rules.entries()) {
      const { mask, value } = tupleOf(rule);
      this.#rules.set([...value, limits(rule.sport), limits(rule.dport), NONE], line * RULE_WORDS);
      const group = groups.get(mask.join()) ?? { mask, lines: [] };
      group.lines.push(line);
      groups.set(mask.join(), group);
    }
    // Groups stand in the order of their first lines, as a Map keeps them.
    this.#masks = new Int32Array(groups.size * MASK_WORDS);
    let slots = 0;
    for (const [n, { mask, lines }] of [...groups.values()].entries()) {
      const size = 2 ** Math.ceil(Math.log2(SLOTS_PER_RULE * lines.length));
      this.#masks.set([...mask, slots, size - 1, lines[0]!], n * MASK_WORDS);
      slots += size;
    }
    this.#slots = new Int32Array(slots).fill(NONE);
    for (const [n, { lines }] of [...groups.values()].entries()) for (const line of lines) this.#insert(n, line);
  }

  /** Lines of a mask come in their order, so that a new one ends its chain. */
  #insert(group: number, line: number): void {
    const [rules, masks, slots] = [this.#rules, this.#masks, this.#slots];
    const at = line * RULE_WORDS;
    const first = masks[group * MASK_WORDS + FIRST_SLOT]!;
    const slotMask = masks[group * MASK_WORDS + SLOT_MASK]!;
    let slot = hashOf(rules[at]!, rules[at + 1]!, rules[at + 2]!, rules[at + 3]!) & slotMask;
    while (slots[first + slot] !== NONE && !this.#sameValue(slots[first + slot]!, at)) slot = (slot + 1) & slotMask;
    let last = slots[first + slot]!;
    if (last === NONE) {
      slots[first + slot] = at;
      return;
    }
    while (rules[last + NEXT] !== NONE) last = rules[last + NEXT]!;
    rules[last + NEXT] = at;
  }

  #sameValue(one: number, other: number): boolean {
    const rules = this.#rules;
    return [0, 1, 2, 3].every((word) => rules[one + word] === rules[other + word]);
  }

  /**
   * The first line that matches, or -1. Numbers are signed; the port of the source is the high half of the ports, and the
   * protocol has HAS_PORTS where there are any.
   */
  lookup(src: number, dst: number, ports: number, protocol: number): number {
    const masks = this.#masks;
    const slots = this.#slots;
    const rules = this.#rules;
    let best = 0x7fffffff;
    for (let mask = 0; mask < masks.length; mask += MASK_WORDS) {
      if (best < masks[mask + BEST]!) break;
      const s = src & masks[mask]!;
      const d = dst & masks[mask + 1]!;
      const p = ports & masks[mask + 2]!;
      const o = protocol & masks[mask + 3]!;
      const first = masks[mask + FIRST_SLOT]!;
      const slotMask = masks[mask + SLOT_MASK]!;
      let slot = hashOf(s, d, p, o) & slotMask;
      for (let at = slots[first + slot]!; at >= 0; at = slots[first + slot]!) {
        if (rules[at] === s && rules[at + 1] === d && rules[at + 2] === p && rules[at + 3] === o) {
          for (let rule = at; rule >= 0; rule = rules[rule + NEXT]!) {
            const line = rule / RULE_WORDS;
            if (line >= best) break;
            if (inside(ports >>> 16, rules[rule + LIMITS]!) && inside(ports & 0xffff, rules[rule + LIMITS + 1]!)) {
              best = line;
              break;
            }
          }
          break;
        }
        slot = (slot + 1) & slotMask;
      }
    }
    return best === 0x7fffffff ? NONE : best;
  }
}
