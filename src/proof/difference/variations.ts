/** Frames that differ from one in a few bytes: a change may show itself only for some values of fields that no rule matches. */
export const VARIATIONS = 96;
/** Bytes at the beginning in which headers lie. */
const HEADERS = 160;

/** The same frames for the same frame. */
export function* variationsOf(frame: Uint8Array): Generator<Uint8Array> {
  const length = Math.min(frame.length, HEADERS);
  let state = 0x9e3779b9;
  const random = (below: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  for (let n = 0; n < VARIATIONS; n++) {
    const bytes = frame.slice();
    for (let flips = 1 + (n % 3); flips > 0; flips--) bytes[random(length)] = random(256);
    yield bytes;
  }
}
