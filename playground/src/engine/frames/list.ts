/** The narrowed list of frames. */
export class FrameList {
  readonly count: number;
  /** Null for all frames. */
  readonly #frames: Uint32Array | null;

  /** @param frames numbers in the order of the list; or how many there are, for all frames in ascending order */
  constructor(frames: Uint32Array | number) {
    this.#frames = typeof frames === "number" ? null : frames;
    this.count = typeof frames === "number" ? frames : frames.length;
  }

  /** All numbers, in an array of the caller's own. */
  get numbers(): Uint32Array {
    return this.#frames?.slice() ?? Uint32Array.from({ length: this.count }, (_, place) => place + 1);
  }

  /** The frames at places `first` to `first + count - 1`. */
  at(first: number, count: number): number[] {
    const end = Math.min(this.count, first + count);
    const places = Array.from({ length: Math.max(0, end - first) }, (_, i) => first + i);
    return places.map((place) => (this.#frames === null ? place + 1 : (this.#frames[place] ?? 0)));
  }

  /** The place of a frame; -1 if it is not there. */
  placeOf(frame: number): number {
    if (this.#frames === null) return frame >= 1 && frame <= this.count ? frame - 1 : -1;
    return this.#frames.indexOf(frame);
  }
}
