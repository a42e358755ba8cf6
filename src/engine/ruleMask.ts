/** The mask of many rules: the core stores it once, and finds it by its number. */

/** Numbers of masks; the last one is never reached. */
let last = 0;

export class RuleMask {
  /** A whole key. It never changes. */
  readonly key: Uint8Array;
  /** The bytes that are not 0. Only these of a value are staged. */
  readonly bytes: Uint16Array;
  /** 0 until someone asks, in a restored device too. */
  private _number = 0;

  constructor(key: Uint8Array) {
    this.key = key;
    const bytes: number[] = [];
    for (let at = 0; at < key.length; at++) if (key[at] !== 0) bytes.push(at);
    this.bytes = Uint16Array.from(bytes);
  }

  /** Unique in this process; 0 is no number. */
  get number(): number {
    return (this._number ||= ++last);
  }
}
