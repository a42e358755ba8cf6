/** The mask of many rules: the core stores it once, and finds it by its number. */

/** Numbers of masks; the last one is never reached. */
let last = 0;

export class RuleMask {
  /** A whole key. It never changes. */
  readonly key: Uint8Array;
  /** 0 until someone asks, in a restored device too. */
  private _number = 0;

  constructor(key: Uint8Array) {
    this.key = key;
  }

  /** Unique in this process; 0 is no number. */
  get number(): number {
    return (this._number ||= ++last);
  }
}
