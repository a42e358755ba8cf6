/** Goals of the frame path, as ratios: time of the peer by time of the engine. */

/**
 * 64-byte frames from bytes to outcome, 10,000 rules, against plain JavaScript and against
 * classification alone.
 */
export const JAVASCRIPT_GOAL = 8;
export const READY_GOAL = 0.5;
/** The flow cache on and off: skewed traffic, and traffic whose flows never return. */
export const SKEWED_GOAL = 2;
export const UNIFORM_GOAL = 0.97;
/** Two workers and one, wall time. */
export const WORKERS_GOAL = 1.7;
/** A capture through the command and through tcpdump, wall time: at most 1.5 times as long. Peak memory in bytes. */
export const CAPTURE_GOAL = 0.667;
export const CAPTURE_MEMORY_GOAL = 300e6;
/** Every lost frame of a capture explained, and the capture steered, wall time: at most 3 times as long. */
export const WHY_ALL_GOAL = 0.333;
/** The text of a capture, one parse a frame: at most 3 times the CPU time of `tshark -n`, a line a frame. */
export const TEXT_GOAL = 0.333;
/** A process with the package and an empty one, wall time: at most 1.5 times as long. */
export const START_GOAL = 0.667;
