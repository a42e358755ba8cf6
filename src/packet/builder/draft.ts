/** `Draft`: a header that `buildFrame` is building. It derives the fields that were not given and writes the bytes. */
import { refuse } from "../../errors.js";
import { writeBits, writeBytes, writeNumber } from "../bytes.js";
import type { LaidOutHeader, Look } from "../layout.js";
import { CHECKSUMS } from "./checksums.js";
import type { HeaderDraft, LayerName } from "./headerDraft.js";
import type { HeaderPlan, PlannedField } from "./headerPlan.js";
import { type CheckedLayer, type Value } from "./values.js";

const NO_BYTES = new Uint8Array();

export class Draft implements HeaderDraft {
  readonly header: LayerName;
  readonly index: number;
  /** All layers of the frame, this one among them. */
  readonly all: readonly Draft[];
  readonly #plan: HeaderPlan;
  readonly #given: readonly (Value | undefined)[];
  readonly #derived: (Value | undefined)[] = [];
  /** The bytes that the frame is built in; the body is its end, from #bodyAt on. */
  #room: Uint8Array = NO_BYTES;
  #bodyAt = 0;
  #fields: readonly PlannedField[] | undefined;
  #size: number | undefined;

  constructor({ header, plan, given }: CheckedLayer, index: number, all: readonly Draft[]) {
    this.header = header;
    this.index = index;
    this.all = all;
    this.#plan = plan;
    this.#given = given;
  }

  get path(): string {
    return `layers[${this.index}]`;
  }

  /** What follows: undefined at the end of the packet. */
  get next(): LayerName | undefined {
    const next = this.all[this.index + 1]?.header;
    return next === "trailer" ? undefined : next;
  }

  given(name: string): boolean {
    const field = this.#plan.byName.get(name);
    return field !== undefined && this.#given[field.index] !== undefined;
  }

  number(name: string): number {
    const value = this.#valueNamed(name);
    return value instanceof Uint8Array ? 0 : Number(value);
  }

  bytes(name: string): Uint8Array {
    const value = this.#valueNamed(name);
    return value instanceof Uint8Array ? value : NO_BYTES;
  }

  /** Bytes of the header. */
  get size(): number {
    if (this.#size !== undefined) return this.#size;
    let bits = 0;
    for (const field of this.#present) bits += this.#width(field);
    return (this.#size = bits / 8);
  }

  /** Tells it its body: the end of `room` from byte `at` on. */
  follow(room: Uint8Array, at: number): void {
    this.#room = room;
    this.#bodyAt = at;
  }

  get bodyLength(): number {
    return this.#room.length - this.#bodyAt;
  }

  get body(): Uint8Array {
    return this.#room.subarray(this.#bodyAt);
  }

  /** Writes the header in front of its body. */
  write(): void {
    const room = this.#room;
    const start = this.#bodyAt - this.size;
    room.fill(0, start, this.#bodyAt);
    let bit = 8 * start;
    let checksum: PlannedField | undefined;
    let checksumBit = 0;
    for (const field of this.#present) {
      const value = this.#value(field);
      const bits = this.#width(field);
      if (typeof value === "number") writeNumber(room, bit, bits, value);
      else if (typeof value === "bigint") writeBits(room, bit, bits, value);
      else writeBytes(room, bit / 8, value);
      if (field.name === "checksum" && !this.#isGiven(field)) {
        checksum = field;
        checksumBit = bit;
      }
      bit += bits;
    }
    if (checksum === undefined) return;
    // The field is 0 while its sum is made.
    const sum = CHECKSUMS[this.header as LaidOutHeader]?.(this, room.subarray(start, this.#bodyAt));
    if (sum !== undefined) writeNumber(room, checksumBit, this.#width(checksum), sum);
  }

  /** Refuses a field that was left out. */
  cannotDerive(name: string, hint: string): never {
    return refuse({ code: "EINVAL", reason: "not_derived", path: `${this.path}.${name}`, hint });
  }

  #valueNamed(name: string): Value {
    const field = this.#plan.byName.get(name);
    if (field !== undefined) return this.#value(field);
    // A header that was given as bytes counts as one with the addresses of the defaults.
    const value = this.#plan.defaults[name]?.(this);
    return value instanceof Uint8Array ? value : NO_BYTES;
  }

  #value(field: PlannedField): Value {
    return this.#given[field.index] ?? (this.#derived[field.index] ??= this.#derive(field));
  }

  #derive({ name, bits, limit, default: make }: PlannedField): Value {
    const value = make?.(this);
    if (value instanceof Uint8Array) return value;
    if (limit === null) return bits === null ? NO_BYTES : new Uint8Array(bits / 8);
    const number = value ?? 0;
    const whole = Number.isInteger(number);
    if (whole && number < limit) return limit > 2 ** 32 ? BigInt(number) : number;
    const why = whole
      ? `what is there makes it ${number}, which does not fit ${bits} bits`
      : `what is there makes no whole ${name}`;
    return this.cannotDerive(name, `${why}; give ${this.path}.${name}`);
  }

  #isGiven(field: PlannedField): boolean {
    return this.#given[field.index] !== undefined;
  }

  /** Fields that the header has: those without a condition, those that were given, those whose condition holds. */
  get #present(): readonly PlannedField[] {
    const { fields, byName, hasConditions } = this.#plan;
    if (!hasConditions) return fields;
    if (this.#fields !== undefined) return this.#fields;
    const look: Look = (name) => {
      const field = byName.get(name);
      if (field === undefined || (field.when !== undefined && !this.#isGiven(field))) return undefined;
      return this.number(name);
    };
    const present: PlannedField[] = [];
    for (const field of fields) {
      if (this.#isGiven(field) || field.when === undefined || field.when(look)) present.push(field);
    }
    return (this.#fields = present);
  }

  #width(field: PlannedField): number {
    return field.bits ?? 8 * this.bytes(field.name).length;
  }
}
