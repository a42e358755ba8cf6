/** How long an answer takes as it is felt: from the input that asked for it to the frame that shows it. */
import { signal } from "@preact/signals";

const INPUTS = ["keydown", "beforeinput", "pointerup", "paste", "drop", "change"] as const;

/** Milliseconds of the last answer; null before the first one. */
export const felt = signal<number | null>(null);

/** When the last input came, on the clock of `performance.now()`; 0, the opening of the page, before the first one. */
let last = 0;

/** Begins. */
export function startMeasuring(): void {
  const note = ({ timeStamp }: Event): void => void (last = timeStamp);
  for (const input of INPUTS) addEventListener(input, note, { capture: true, passive: true });
}

export function lastInput(): number {
  return last;
}

/**
 * Measures until what is drawn now is painted: the next frame has it, and what follows that frame comes after. Profilers
 * show it as the measure "answer".
 */
export function feltSince(since: number): void {
  requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      felt.value = performance.measure("answer", { start: since }).duration;
    };
    port2.postMessage(null);
  });
}
