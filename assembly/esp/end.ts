/** How the steps of an ESP action tell each other that a packet goes no further (docs/esp.md). */

/** In place of what was asked for: the branch has ended, for want of memory. */
export const ENDED: u32 = 0x101;

/** What became of a packet that was to be made ready for its cipher. */
export enum Prepared {
  /** The branch has ended. */
  ended,
  ready,
  /** It is for its own turn. */
  alone,
}
