/**
 * What a device tells those who watch it. `DeviceBase.observer` is null without an observer, and each
 * place that could tell something asks for null and does no more.
 */
export interface Observer {
  /** Whether frames are watched, so that the outcomes of bursts are read. */
  readonly watchesFrames: boolean;
  /** Whether frames are steered one at a time, so that states are compared after each. */
  readonly oneByOne: boolean;
  /** Called before frames are steered. */
  before(): void;
  /**
   * Called when the outcomes of received frames were read; none of them has left by a port yet.
   * @param ports the port of all frames, or one for each
   * @param frames those of a call, and `outcomes` theirs
   * @param first the first of these frames to tell of
   * @param end the one after the last
   */
  received(
    ports: number | readonly number[],
    frames: readonly Uint8Array[],
    outcomes: readonly object[],
    first: number,
    end: number,
  ): void;
  /** Called when the outcome of a sent frame was read. */
  sent(sender: object, port: number, frame: Uint8Array, outcome: object): void;
  /** Called when a call has added a rule, and when one has removed it. */
  ruleAdded(rule: object): void;
  ruleRemoved(rule: object): void;
  completed(queue: object, completion: object): void;
}
