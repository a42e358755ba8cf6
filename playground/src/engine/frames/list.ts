/** The narrowed list of frames. */
export class FrameList {
  readonly count: number;
  /** In ascending order; null for all frames. */
  readonly #frames: Uint32Array | null;

  /** @param frames numbers in ascending order; or how many there are, for all frames */
  constructor(frames: Uint32Array | number) {
    this.#frames = typeof frames === "number" ? null : frames;
    this.count = typeof frames === "number" ? frames : frames.length;
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
    let [low, high] = [0, this.count];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#frames[middle] ?? 0) < frame) low = middle + 1;
      else high = middle;
    }
    return this.#frames[low] === frame ? low : -1;
  }
}
