/** Frames that show something, as plain data. */
import type { TraceSource } from "./trace.js";

/** A frame that shows something. */
export interface WitnessFrame {
  /** The whole frame as hexadecimal digits. */
  readonly bytes: string;
  /** Where it comes in. */
  readonly from: TraceSource;
  /** When it comes in, in nanoseconds of the device's clock; for stateful rules. */
  readonly time?: string;
  /** Of a frame that a queue sends: the initial value of register A. @default 0 */
  readonly metadata?: number;
}

/** A frame, with the frames that must come before it, in order. */
export interface Witness extends WitnessFrame {
  readonly before: readonly WitnessFrame[];
}
