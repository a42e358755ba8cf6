/** Runs the worker that writes frames down. */
import { proxy, wrap, type Remote } from "comlink";
import type { Progress } from "../../engine/api.js";
import type { Writer } from "./worker.js";

const WORKER = new URL("./writer.js", import.meta.url);

let stopNow: (() => void) | null = null;

/** Does one thing in a worker of its own. @returns null if it was stopped */
export async function written<T>(
  work: (writer: Remote<Writer>, progress: Progress) => Promise<T>,
  progress: Progress,
): Promise<T | null> {
  stopWriting();
  const worker = new Worker(WORKER, { type: "module", name: "flowsteer writer" });
  const stopped = new Promise<null>((resolve) => (stopNow = () => resolve(null)));
  try {
    return await Promise.race([work(wrap<Writer>(worker), proxy(progress)), stopped]);
  } finally {
    worker.terminate();
  }
}

/** Ends the work under way. */
export function stopWriting(): void {
  stopNow?.();
  stopNow = null;
}
