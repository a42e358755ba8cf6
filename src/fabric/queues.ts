/** The queues of a fabric's cables: what marks and captures the frames that they take. */
import type { Port } from "../model/base/port/ports.js";
import type { Line } from "../model/traffic/line.js";
import { markedCe } from "./ecn.js";

/** Gets the frames that a queue takes. */
export type Tap = (frame: Uint8Array) => void;

const TAPS = new WeakMap<Line, Tap>();

/** The lines of the cable of a port: from it, and to it; null for a port whose frames arrive at once. */
export function linesOf(port: Port): readonly [from: Line, to: Line] | null {
  const [from, to] = [port, port.cable?.port ?? port].map(({ cable }) => (cable as { line?: Line } | null)?.line);
  return from && to ? [from, to] : null;
}

export function isCaptured(line: Line): boolean {
  return TAPS.has(line);
}

/** Captures a line; null ends that. */
export function tap(line: Line, to: Tap | null): void {
  if (to === null) TAPS.delete(line);
  else TAPS.set(line, to);
  prepare(line);
}

/** Lets a line do what its fabric does to the frames in its queue: as `ecn` says, and for its capture. */
export function prepare(line: Line): void {
  const { ecn } = line;
  const to = TAPS.get(line);
  if (ecn === null && to === undefined) {
    line.queued = null;
    return;
  }
  line.queued = (frame, before) => {
    const carried = ecn !== null && before >= ecn ? markedCe(frame) : frame;
    to?.(carried);
    return carried;
  };
}
