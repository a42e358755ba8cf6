/**
 * The engine as the page uses it. It starts the worker, and starts it anew when it does not answer:
 * what a worker did not do in time, it never does.
 */
import { proxy, wrap, type Remote } from "comlink";
import type { Engine, Progress } from "./api.js";

const WORKER = new URL("./engine.js", import.meta.url);

let worker = start();
let remote: Remote<Engine> = wrap<Engine>(worker);

function start(): Worker {
  return new Worker(WORKER, { type: "module", name: "flowsteer" });
}

/** The engine of the moment. */
export function engine(): Remote<Engine> {
  return remote;
}

/** Ends the worker, whatever it does, and starts another one. The new one knows no rules and no capture. */
export function restartEngine(): void {
  worker.terminate();
  worker = start();
  remote = wrap<Engine>(worker);
}

/** A function that the worker can call. */
export function reporting(progress: Progress): Progress {
  return proxy(progress);
}
