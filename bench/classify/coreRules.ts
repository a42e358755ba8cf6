/** Rules of a set and headers of a trace in the form of the core: IPv4 5-tuples of any protocol. */
import { swap } from "../tuples.js";
import { MAX_BATCH, Op } from "../../src/abi/engine.js";
import {
  EXT_PRESENT_OUTER,
  PRESENT_IPV4,
  PRESENT_L3,
  PRESENT_PROTOCOL,
  PRESENT_TCP,
  KEY_SIZE,
  LAYER_DST_IPV4,
  LAYER_PROTOCOL,
  LAYER_SRC_IPV4,
  LAYER_STATE,
  LAYER_TCP_PORTS,
  STATE_VERSION_SHIFT,
} from "../../src/abi/key.js";
import type { Core } from "../../src/engine/core.js";
import { insertRule, type CoreRule, type FieldRange } from "../../src/engine/rules.js";
import { RuleMask } from "../../src/engine/ruleMask.js";
import { HEADER_WORDS, type SetRule } from "./ruleSets.js";

const HERE = PRESENT_L3 | PRESENT_IPV4 | PRESENT_PROTOCOL | PRESENT_TCP;
const VERSION_MASK = 0xf << STATE_VERSION_SHIFT;
const VERSION_4 = 4 << STATE_VERSION_SHIFT;
const ALL_PORTS = 0xffff;
const DROP: readonly number[] = [Op.drop, 0];

/**
 * The rules of a set, line i with rank i; rules of one mask share it, like those of one matcher.
 */
export class CoreRules {
  readonly #rules: { mask: RuleMask; ranges: readonly FieldRange[]; words: readonly number[] }[];
  readonly #value = new Uint8Array(KEY_SIZE);
  readonly #view = new DataView(this.#value.buffer);
  readonly #rule: CoreRule;

  constructor(rules: readonly SetRule[]) {
    const masks = new Map<string, RuleMask>();
    this.#rules = rules.map((rule) => {
      const [source, destination] = [exact(rule.sport), exact(rule.dport)];
      const both = ((source ? 0xffff0000 : 0) | (destination ? 0xffff : 0)) >>> 0;
      const fields = [rule.srcMask, rule.dstMask, both, rule.protocolMask];
      let mask = masks.get(fields.join());
      if (mask === undefined) masks.set(fields.join(), (mask = new RuleMask(maskOf(fields))));
      const ports = (((rule.sport[0] << 16) | rule.dport[0]) & both) >>> 0;
      const ranges = [rangeOf(rule.sport, 16), rangeOf(rule.dport, 0)].filter((range) => range !== undefined);
      return { mask, ranges, words: [rule.src, rule.dst, ports, rule.protocol] };
    });
    writeFixed(this.#view, HERE, VERSION_4);
    this.#rule = { id: 0, rankHigh: 0, rankLow: 0, mask: this.#value, value: this.#value, ranges: [], actions: DROP };
  }

  /** Inserts line i; gives the rule's handle. */
  insert(core: Core, table: number, i: number): number {
    const { mask, ranges, words } = this.#rules[i]!;
    writeTuple(this.#view, words);
    const rule = this.#rule;
    rule.id = i;
    rule.rankLow = i;
    rule.mask = mask;
    rule.ranges = ranges;
    const handle = insertRule(core, table, rule);
    if (handle === 0) throw new Error("no memory for a rule");
    return handle;
  }

  get count(): number {
    return this.#rules.length;
  }
}

/**
 * Writes headers into the key area. Every key has the required fields of the rules besides the
 * tuple, and nothing else.
 */
export class CoreKeys {
  readonly #core: Core;
  /** | src | dst | ports | protocol |, the first three as the machine reads bytes in the order of the wire. */
  readonly #words: Uint32Array;

  constructor(core: Core, headers: Uint32Array) {
    this.#core = core;
    this.#words = headers.map((word, n) => (n % HEADER_WORDS === 3 ? word : swap(word)));
    core.u8.fill(0, core.keys, core.keys + MAX_BATCH * KEY_SIZE);
    for (let i = 0; i < MAX_BATCH; i++) {
      writeFixed(new DataView(core.u8.buffer, core.keys + i * KEY_SIZE, KEY_SIZE), HERE, VERSION_4);
    }
  }

  fill(first: number, count: number): void {
    const { keys, u8, u32 } = this.#core;
    const words = this.#words;
    let from = HEADER_WORDS * first;
    for (let i = 0, key = keys; i < count; i++, from += HEADER_WORDS, key += KEY_SIZE) {
      u32[(key + LAYER_SRC_IPV4) >> 2] = words[from]!;
      u32[(key + LAYER_DST_IPV4) >> 2] = words[from + 1]!;
      u32[(key + LAYER_TCP_PORTS) >> 2] = words[from + 2]!;
      u8[key + LAYER_PROTOCOL] = words[from + 3]!;
    }
  }
}

/**
 * Whether a port has a full mask; otherwise it is a wildcard or a range, never many exact ports.
 */
export function exact([low, high]: SetRule["sport"]): boolean {
  return low === high;
}

export function any([low, high]: SetRule["sport"]): boolean {
  return low === 0 && high === ALL_PORTS;
}

function rangeOf(ports: SetRule["sport"], shift: number): FieldRange | undefined {
  if (exact(ports) || any(ports)) return undefined;
  return { dword: LAYER_TCP_PORTS, shift, fieldMask: ALL_PORTS, low: ports[0], high: ports[1] };
}

function maskOf(fields: readonly number[]): Uint8Array {
  const mask = new Uint8Array(KEY_SIZE);
  const view = new DataView(mask.buffer);
  writeTuple(view, fields);
  writeFixed(view, HERE, VERSION_MASK);
  return mask;
}

function writeTuple(view: DataView, words: readonly number[]): void {
  view.setUint32(LAYER_SRC_IPV4, words[0]!);
  view.setUint32(LAYER_DST_IPV4, words[1]!);
  view.setUint32(LAYER_TCP_PORTS, words[2]!);
  view.setUint8(LAYER_PROTOCOL, words[3]!);
}

function writeFixed(view: DataView, here: number, version: number): void {
  view.setUint32(EXT_PRESENT_OUTER, here);
  view.setUint8(LAYER_STATE, version);
}
