/**
 * Bytes to outcome in plain JavaScript, for fixed 5-tuple rules: reads the fields that rules need,
 * finds the first rule, counts frames and bytes, tags, names a queue. It reuses typed arrays.
 */
import type { SetRule } from "../classify/ruleSets.js";
import { FlatTupleSpace, HAS_PORTS, tupleOf } from "./flatTupleSpace.js";
import { limits, TupleSpace } from "./tupleSpace.js";

const VLAN = 0x8100;
const SERVICE_VLAN = 0x88a8;
const IPV4 = 0x0800;
const TCP = 6;
const UDP = 17;
const TCP_BYTES = 20;
const UDP_BYTES = 8;

/** Finds the first matching rule: its line, or -1. */
interface Finder {
  lookup(src: number, dst: number, ports: number, protocol: number): number;
}

/** One Map per mask. */
export class MapFinder implements Finder {
  readonly #space = new TupleSpace();
  readonly #header = new Int32Array(4);

  constructor(rules: readonly SetRule[]) {
    for (const [line, rule] of rules.entries()) {
      const { mask, value } = tupleOf(rule);
      this.#space.insert(Int32Array.from(mask), Int32Array.from(value), line, limits(rule.sport), limits(rule.dport));
    }
  }

  lookup(src: number, dst: number, ports: number, protocol: number): number {
    const header = this.#header;
    header[0] = src;
    header[1] = dst;
    header[2] = ports;
    header[3] = protocol;
    return this.#space.lookup(header, 0);
  }
}

export class TupleNic {
  /** Of each frame of the last batch: the line of its rule, -1 without one; its tag, -1 without; its queue, -1 for none. */
  readonly lines: Int32Array;
  readonly tags: Int32Array;
  readonly queues: Int32Array;
  /** Of each line. Numbers that count exactly to 2^53. */
  readonly frames: Float64Array;
  readonly bytes: Float64Array;
  readonly #space: Finder;
  readonly #queueOf: Int32Array;

  /** Line i tags with i; `queueOf` names its queue. */
  constructor(
    rules: readonly SetRule[],
    queueOf: (line: number) => number,
    batch: number,
    space: Finder = new FlatTupleSpace(rules),
  ) {
    this.#space = space;
    this.#queueOf = Int32Array.from(rules, (_, line) => queueOf(line));
    this.lines = new Int32Array(batch);
    this.tags = new Int32Array(batch);
    this.queues = new Int32Array(batch);
    this.frames = new Float64Array(rules.length);
    this.bytes = new Float64Array(rules.length);
  }

  /** Steers the frame of `length` bytes at `at`; its result is in row `row`. */
  steer(view: DataView, at: number, length: number, row: number): void {
    const line = this.#classify(view, at, at + length);
    this.lines[row] = line;
    if (line < 0) {
      this.tags[row] = -1;
      this.queues[row] = -1;
      return;
    }
    this.frames[line]!++;
    this.bytes[line]! += length;
    this.tags[row] = line;
    this.queues[row] = this.#queueOf[line]!;
  }

  #classify(view: DataView, start: number, end: number): number {
    if (start + 34 > end) return -1;
    let at = start + 14;
    let ethertype = view.getUint16(at - 2);
    while ((ethertype === VLAN || ethertype === SERVICE_VLAN) && at + 24 <= end) {
      at += 4;
      ethertype = view.getUint16(at - 2);
    }
    if (ethertype !== IPV4) return -1;
    const first = view.getUint8(at);
    const header = (first & 0xf) << 2;
    if (first >>> 4 !== 4 || header < 20 || at + header > end) return -1;
    const packetEnd = Math.min(at + view.getUint16(at + 2), end);
    let protocol = view.getUint8(at + 9);
    let ports = 0;
    const upper = at + header;
    // A later fragment has no ports.
    if ((view.getUint16(at + 6) & 0x1fff) === 0 && upper + portsNeed(protocol) <= packetEnd) {
      ports = view.getInt32(upper);
      protocol |= HAS_PORTS;
    }
    return this.#space.lookup(view.getInt32(at + 12), view.getInt32(at + 16), ports, protocol);
  }
}

/** Bytes of the header that has ports. */
function portsNeed(protocol: number): number {
  return protocol === TCP ? TCP_BYTES : protocol === UDP ? UDP_BYTES : Infinity;
}
