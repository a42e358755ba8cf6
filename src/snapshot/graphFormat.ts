/** The bytes of a graph: kinds of objects, tags of values, numbers of seven bits a byte. */

export enum Kind {
  plain,
  array,
  map,
  set,
  weak,
  typed,
  opaque,
  /** Further kinds are the classes of classes.ts. */
  classes,
}

export enum Tag {
  undefined,
  null,
  true,
  false,
  integer,
  negative,
  double,
  string,
  bigint,
  object,
  class,
  constant,
  /** A frozen array without elements. */
  empty,
  /** Further tags are small integers from 0. */
  small,
}

const MAX_SMALL = 255 - Tag.small;

export const TYPED = [
  Uint8Array,
  Uint16Array,
  Uint32Array,
  Int8Array,
  Int16Array,
  Int32Array,
  BigUint64Array,
  BigInt64Array,
  Float32Array,
  Float64Array,
  DataView,
] as const;

export type TypedArray = Uint8Array<ArrayBuffer>;

export class ByteWriter {
  private _bytes = new Uint8Array(1 << 16);
  private _at = 0;

  byte(value: number): void {
    if (this._at === this._bytes.length) this._grow();
    this._bytes[this._at++] = value;
  }

  /** An unsigned number. */
  number(value: number): void {
    let rest = value;
    for (; rest >= 2 ** 31; rest = Math.floor(rest / 128)) this.byte((rest % 128) | 0x80);
    for (; rest >= 128; rest >>>= 7) this.byte((rest & 0x7f) | 0x80);
    this.byte(rest);
  }

  /** A number with its tag. */
  value(value: number): void {
    if (!Number.isSafeInteger(value) || Object.is(value, -0)) {
      this.byte(Tag.double);
      for (const byte of new Uint8Array(Float64Array.of(value).buffer)) this.byte(byte);
    } else if (value < 0) {
      this.byte(Tag.negative);
      this.number(-value);
    } else if (value <= MAX_SMALL) this.byte(Tag.small + value);
    else {
      this.byte(Tag.integer);
      this.number(value);
    }
  }

  written(): Uint8Array {
    return this._bytes.subarray(0, this._at);
  }

  private _grow(): void {
    const more = new Uint8Array(2 * this._bytes.length);
    more.set(this._bytes);
    this._bytes = more;
  }
}

/** Reads what `ByteWriter` wrote. Every value takes a byte at least, and there are no more bytes than there are. */
export class ByteReader {
  private _at = 0;

  constructor(private readonly _bytes: Uint8Array) {}

  byte(): number {
    const byte = this._bytes[this._at++];
    if (byte === undefined) throw new RangeError("the bytes are over");
    return byte;
  }

  number(): number {
    const first = this.byte();
    if (first < 0x80) return first;
    let value = first & 0x7f;
    for (let scale = 128; ; scale *= 128) {
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  }

  double(): number {
    const bytes = this._bytes.slice(this._at, (this._at += 8));
    return new Float64Array(bytes.buffer)[0] as number;
  }
}
