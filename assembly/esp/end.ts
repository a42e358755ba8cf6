/** Results of the steps of an ESP action (docs/esp.md). */

/** Returned in place of a value: the branch has ended because memory is full. */
export const ENDED: u32 = 0x101;

/** The result of preparing a packet for its cipher. */
export enum Prepared {
  /** The branch has ended. */
  ended,
  ready,
  /** The packet must be processed alone, after the packets before it. */
  alone,
}
