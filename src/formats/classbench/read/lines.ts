/**
 * Lines of ClassBench: rules, and headers of a trace.
 *
 *     @10.0.0.0/8  192.168.1.0/24  0 : 65535  80 : 80  0x06/0xFF  0x0000/0x0000
 *     167772161  3232235777  1234  80  6  17
 */
import { ones } from "../../../base/bits.js";
import { parseIpv4, parseIpv6 } from "../../../packet/addresses.js";

export interface Network {
  readonly address: bigint;
  readonly length: number;
}

export interface FilterLine {
  readonly version: 4 | 6;
  readonly src: Network;
  readonly dst: Network;
  /** First and last port. */
  readonly sport: readonly [number, number];
  readonly dport: readonly [number, number];
  readonly protocol: number;
  readonly protocolMask: number;
  readonly hasFlags: boolean;
}

/** What is wrong with a line, and where in it. */
export class BadLine extends Error {
  constructor(
    readonly column: number,
    readonly text: string,
    reason: string,
  ) {
    super(reason);
  }
}

const WORD = /\S+/y;
const PORT = /[^\s:]+/y;

/** Reads a rule. @throws BadLine */
export function parseFilter(line: string): FilterLine {
  const reader = new Reader(line);
  const src = network(reader.next(WORD, "the source"));
  const second = reader.next(WORD, "the destination");
  const dst = network(second);
  if (src.version !== dst.version) {
    throw new BadLine(second.column, second.text, "source and destination must have the same IP version");
  }
  const [sport, dport] = [reader.range(), reader.range()];
  const [protocol, mask] = valueAndMask(reader.next(WORD, "the protocol"), 8);
  const flags = reader.done ? [0, 0] : valueAndMask(reader.next(WORD, "the flags"), 16);
  return {
    version: src.version,
    src: src.network,
    dst: dst.network,
    sport,
    dport,
    protocol: protocol & mask,
    protocolMask: mask,
    hasFlags: flags[1] !== 0,
  };
}

class Reader {
  #at: number;

  constructor(private readonly line: string) {
    this.#at = line.startsWith("@") ? 1 : 0;
    this.#skip();
  }

  get done(): boolean {
    return this.#at >= this.line.length;
  }

  #skip(): void {
    while (/\s/.test(this.line.charAt(this.#at))) this.#at++;
  }

  next(pattern: RegExp, what: string): Column {
    pattern.lastIndex = this.#at;
    const column = this.#at + 1;
    const text = pattern.exec(this.line)?.[0];
    if (text === undefined) throw new BadLine(column, "", `${what} is missing`);
    this.#at += text.length;
    this.#skip();
    return { text, column };
  }

  /** `LOW : HIGH` */
  range(): [number, number] {
    const first = this.next(PORT, "a port");
    this.next(/:/y, "the colon between two ports");
    const [low, high] = [number(first, 16), number(this.next(PORT, "a port"), 16)];
    if (low > high) throw new BadLine(first.column, first.text, "the first port of a range is not above the last one");
    return [low, high];
  }
}

interface Column {
  readonly text: string;
  readonly column: number;
}

function network({ text, column }: Column): { version: 4 | 6; network: Network } {
  const [name = "", length, more] = text.split("/");
  const version = name.includes(":") ? 6 : 4;
  const width = version === 4 ? 32 : 128;
  const address = version === 4 ? parseIpv4(name) : parseIpv6(name);
  const bits = length === undefined ? width : /^\d+$/.test(length) ? Number(length) : NaN;
  if (address === undefined || more !== undefined || !(bits <= width)) {
    throw new BadLine(column, text, "a network is an address, a slash and the length of its prefix");
  }
  const mask = ones(bits) << BigInt(width - bits);
  return { version, network: { address: address & mask, length: bits } };
}

function number({ text, column }: Column, bits: number): number {
  const value = /^(?:0x[\da-f]+|\d+)$/i.test(text) ? Number(text) : NaN;
  if (!(value < 2 ** bits)) throw new BadLine(column, text, `it is a number of ${bits} bits`);
  return value;
}

function valueAndMask(word: Column, bits: number): [number, number] {
  const [value = "", mask = "", more] = word.text.split("/");
  if (more !== undefined || mask === "") throw new BadLine(word.column, word.text, "it is a value, a slash and a mask");
  return [number({ ...word, text: value }, bits), number({ ...word, text: mask }, bits)];
}

export interface HeaderLine {
  readonly src: number;
  readonly dst: number;
  readonly sport: number;
  readonly dport: number;
  readonly protocol: number;
}

/** Reads a header of a trace; undefined if the line is none. */
export function parseHeader(line: string): HeaderLine | undefined {
  if (!/^\s*\d+(?:\s+-?\d+){4,}\s*$/.test(line)) return undefined;
  const [src = 0, dst = 0, sport = 0, dport = 0, protocol = 0] = line.trim().split(/\s+/).map(Number);
  const fits = src < 2 ** 32 && dst < 2 ** 32 && sport < 65536 && dport < 65536 && protocol < 256 && sport >= 0;
  return fits && dport >= 0 && protocol >= 0 ? { src, dst, sport, dport, protocol } : undefined;
}
