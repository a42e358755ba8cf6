/** What an entry of hardware steering asks of frames. */
import { VPORT_MANAGER } from "../../../../abi/engine.js";
import { MatchDraft } from "../../../rules/matchDraft.js";
import type { Run } from "../steps.js";
import { bytePlace, wordPlace, type HardwareEntry } from "./entry.js";
import { dependsOnProtocol, fieldsOf, GTPU_WORDS, PORTS } from "./headerLayout.js";
import type { Definer, HardwareContext } from "./tree.js";

const BITS = 32;
const BITS_OF_BYTE = 8;
const BYTES_OF_WORD = 4;
const TCP = 6;
const UDP = 17;

/** A word of the header layout: what is compared of it. */
interface Word {
  mask: number;
  value: number;
}

/** The protocols of the packet and of the one inside it. */
interface Protocols {
  readonly outer: number | undefined;
  readonly inner: number | undefined;
}

interface Source {
  readonly word: number;
  /** In the digits of an entry. */
  readonly place: number;
  readonly digits: number;
  readonly shift: number;
}

/** Why an entry cannot be imported. */
class NoMatch extends Error {}

/** How the entries of a definer are read. */
export class Reader {
  readonly #sources: readonly Source[];
  readonly #masks: ReadonlyMap<number, number>;

  constructor(
    private readonly context: HardwareContext,
    { words, bytes, mask }: Definer,
  ) {
    const sources = [
      ...words.map((word, n): Source => ({ word, place: wordPlace(n), digits: 8, shift: 0 })),
      ...bytes.map((byte, n): Source => {
        const shift = BITS_OF_BYTE * (BYTES_OF_WORD - 1 - (byte % BYTES_OF_WORD));
        return { word: Math.floor(byte / BYTES_OF_WORD), place: bytePlace(n), digits: 2, shift };
      }),
    ];
    this.#sources = sources.filter((source) => bitsAt(mask, source) !== 0);
    this.#masks = this.#wordsOf(mask);
  }

  /** What an entry asks: of several matches, a frame has one. @returns why that cannot be said, as text */
  read({ hex }: HardwareEntry): readonly MatchDraft[] | string {
    const values = this.#wordsOf(hex);
    const words = new Map<number, Word>();
    for (const [word, mask] of this.#masks) words.set(word, { mask, value: ((values.get(word) ?? 0) & mask) >>> 0 });
    try {
      const match = this.#ask(words, null);
      const open = PORTS.filter((word, layer) => words.has(word) && protocolOf(match, layer) === undefined);
      if (open.length === 0) return [this.#ask(words, { outer: protocolOf(match, 0), inner: protocolOf(match, 1) })];
      // The device has one place for the ports of TCP and UDP.
      return [TCP, UDP].map((protocol) =>
        this.#ask(words, {
          outer: protocolOf(match, 0) ?? protocol,
          inner: protocolOf(match, 1) ?? protocol,
        }),
      );
    } catch (error) {
      if (error instanceof NoMatch) return error.message;
      throw error;
    }
  }

  #wordsOf(hex: string): Map<number, number> {
    const words = new Map<number, number>();
    for (const source of this.#sources) {
      words.set(source.word, ((words.get(source.word) ?? 0) | bitsAt(hex, source)) >>> 0);
    }
    return words;
  }

  /** Asks for all words; without protocols, for those that do not depend on them. */
  #ask(words: ReadonlyMap<number, Word>, protocols: Protocols | null): MatchDraft {
    const match = new MatchDraft();
    for (const [number, word] of words) {
      if (protocols === null && dependsOnProtocol(number)) continue;
      const protocol = number === PORTS[1] ? protocols?.inner : protocols?.outer;
      let rest = word.mask;
      for (const run of this.#runs(number, protocol)) rest &= ~this.#run(match, run, word);
      if (rest >>> 0 === 0) continue;
      throw new NoMatch(
        `it compares bits 0x${(rest >>> 0).toString(16)} of word ${number} of the device's header layout, which no match field has`,
      );
    }
    return match;
  }

  #runs(word: number, protocol: number | undefined): readonly Run[] {
    const gtpu = this.context.gtpu.indexOf(word);
    if (gtpu >= 0 && word !== 0) return GTPU_WORDS[gtpu]?.() ?? [];
    return fieldsOf(word, protocol);
  }

  /** Asks for a field. @returns the bits of the word that it has */
  #run(match: MatchDraft, { field, keyBit, width, tag }: Run, word: Word): number {
    if (tag.kind === "values") {
      const bits = [...tag.values.values()].flat().reduce((all, bit) => all | bitOf(bit), 0);
      if ((word.mask & bits) === 0) return 0;
      if ((word.mask & bits) !== bits) throw new NoMatch(`it compares a part of the bits that ${field.name} becomes`);
      const [found] =
        [...tag.values].find(([, set]) => set.reduce((all, bit) => all | bitOf(bit), 0) === (word.value & bits)) ?? [];
      if (found === undefined) throw new NoMatch(`it matches a packet type for which ${field.name} has no value`);
      match.ask(field.name, found);
      return bits;
    }
    if (tag.kind === "unknown") return 0;
    const shift = BITS - (tag.bit + width);
    const full = width === BITS ? 0xffffffff : 2 ** width - 1;
    const mask = (word.mask >>> shift) & full;
    if (mask === 0) return 0;
    const value = ((word.value >>> shift) & full) >>> 0;
    if (tag.kind === "gvmi") {
      if (value !== this.context.gvmi || mask !== full)
        throw new NoMatch(`the dump does not say which vport has the gvmi 0x${value.toString(16)}`);
      match.ask(field.name, VPORT_MANAGER);
    } else {
      const low = BigInt(field.width - (keyBit - field.bit) - width);
      match.ask(field.name, BigInt(value) << low, BigInt(mask >>> 0) << low);
    }
    return full << shift;
  }
}

function protocolOf(match: MatchDraft, layer: number): number | undefined {
  const { mask, value } = match.bits(layer === 0 ? "outer.ip_protocol" : "inner.ip_protocol") ?? {};
  return mask === 0xffn ? Number(value) : undefined;
}

const bitOf = (bit: number): number => 1 << (BITS - 1 - bit);

function bitsAt(hex: string, { place, digits, shift }: Source): number {
  return (Number.parseInt(hex.slice(place, place + digits), 16) << shift) >>> 0;
}
