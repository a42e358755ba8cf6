/** `Draft`: a header that `buildFrame` is building. It derives the fields that were not given and writes the bytes. */
import { refuse } from "../../errors.js";
import { writeBits } from "../bytes.js";
import { layoutOf, type FieldLayout, type LaidOutHeader, type Look } from "../layout.js";
import { CHECKSUMS } from "./checksums.js";
import { DEFAULTS } from "./defaults.js";
import type { Defaults, HeaderDraft } from "./headerDraft.js";
import { CALL, RAW, type CheckedLayer, type Value } from "./values.js";

export class Draft implements HeaderDraft {
  readonly header: CheckedLayer["header"];
  readonly path: string;
  readonly index: number;
  /** All layers of the frame, this one among them. */
  readonly all: readonly Draft[];
  /** What follows the header within its packet. */
  body: Uint8Array = new Uint8Array();
  readonly #given: ReadonlyMap<string, Value>;
  readonly #layout: readonly FieldLayout[];
  readonly #derived = new Map<string, Value>();

  constructor({ header, given }: CheckedLayer, index: number, all: readonly Draft[]) {
    this.header = header;
    this.path = `layers[${index}]`;
    this.index = index;
    this.all = all;
    this.#given = given;
    this.#layout = given.has("bytes") || header === "payload" || header === "trailer" ? RAW : layoutOf(header);
  }

  /** What follows: undefined at the end of the packet. */
  get next(): CheckedLayer["header"] | undefined {
    const next = this.all[this.index + 1]?.header;
    return next === "trailer" ? undefined : next;
  }

  given(...names: readonly string[]): boolean {
    return names.some((name) => this.#given.has(name));
  }

  number(name: string): number {
    const value = this.#value(name);
    return typeof value === "bigint" ? Number(value) : 0;
  }

  bytes(name: string): Uint8Array {
    const value = this.#value(name);
    return typeof value === "bigint" ? new Uint8Array() : value;
  }

  /** Bytes of the header. */
  get size(): number {
    return this.#present().reduce((sum, field) => sum + this.#width(field), 0) / 8;
  }

  /** The header's bytes. Its body is there. */
  build(): Uint8Array {
    const bytes = new Uint8Array(this.size);
    let at = 0;
    let checksum: { at: number; bits: number } | undefined;
    for (const field of this.#present()) {
      const [name] = field;
      const value = this.#value(name);
      const bits = this.#width(field);
      if (typeof value === "bigint") writeBits(bytes, at, bits, value);
      else bytes.set(value, at / 8);
      if (name === "checksum" && !this.given(name)) checksum = { at, bits };
      at += bits;
    }
    // The field is 0 while its sum is made.
    const sum = checksum === undefined ? undefined : CHECKSUMS[this.header as LaidOutHeader]?.(this, bytes);
    if (checksum !== undefined && sum !== undefined) writeBits(bytes, checksum.at, checksum.bits, BigInt(sum));
    return bytes;
  }

  /** Refuses a field that was left out. */
  cannotDerive(name: string, hint: string): never {
    return refuse({ code: "EINVAL", call: CALL, reason: "not_derived", path: `${this.path}.${name}`, hint });
  }

  #value(name: string): Value {
    const known = this.#given.get(name) ?? this.#derived.get(name);
    if (known !== undefined) return known;
    const value = this.#derive(name);
    this.#derived.set(name, value);
    return value;
  }

  #derive(name: string): Value {
    const field = this.#layout.find(([one]) => one === name);
    const value = (DEFAULTS[this.header as LaidOutHeader] as Defaults | undefined)?.[name]?.(this);
    const width = field?.[1];
    const numeric = field !== undefined && ["number", "hex", "flag", "flags"].includes(field[2]);
    if (value instanceof Uint8Array) return value;
    if (!numeric) return new Uint8Array(typeof width === "number" ? width / 8 : 0);
    const bits = width as number;
    const number = value ?? 0;
    if (Number.isInteger(number) && number < 2 ** bits) return BigInt(number);
    const why = Number.isInteger(number)
      ? `what is there makes it ${number}, which does not fit ${bits} bits`
      : `what is there makes no whole ${name}`;
    return this.cannotDerive(name, `${why}; give ${this.path}.${name}`);
  }

  /** Fields that the header has: those without a condition, those that were given, those whose condition holds. */
  #present(): FieldLayout[] {
    const look: Look = (name) => {
      const field = this.#layout.find(([one]) => one === name);
      const there = this.given(name) || (field !== undefined && field[3]?.when === undefined);
      return there ? this.number(name) : undefined;
    };
    return this.#layout.filter(([name, , , detail]) => this.given(name) || (detail?.when?.(look) ?? true));
  }

  #width([name, bits]: FieldLayout): number {
    return typeof bits === "number" ? bits : 8 * this.bytes(name).length;
  }
}
