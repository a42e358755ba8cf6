/**
 * The thread of a worker core. It runs each task of its control block, unless the caller's thread has taken the task over. It
 * does not return to its event loop: it waits for tasks until one ends it.
 */
import { takeOwnership, READY, Task, writeFailure, Word, type Start } from "./workerControl.js";
import { InlineWorker } from "./inlineWorker.js";

/**
 * Milliseconds that the thread polls for a task before it sleeps. To wake a thread takes as long as a task, so it polls longer than
 * the last task took to arrive, up to a limit. After a task that arrived later it polls half as long, because a polling thread takes
 * time from others.
 */
const MIN_PATIENCE = 0.02;
const MAX_PATIENCE = 0.5;
let patience = 0.05;

interface Port {
  postMessage(message: unknown): void;
  addEventListener(type: "message", listener: (event: { data: Start }) => void, options: { once: true }): void;
}

const port = portOf();
port.addEventListener("message", ({ data }) => void serve(data), { once: true });

function portOf(): Port {
  const node = typeof process === "undefined" ? undefined : process.getBuiltinModule("node:worker_threads").parentPort;
  return (node ?? globalThis) as unknown as Port;
}

async function serve(start: Start): Promise<void> {
  const worker = await InlineWorker.create(start);
  worker.open();
  port.postMessage(READY);
  const control = new Int32Array(start.control);
  for (let asked = nextTask(control, 0); control[Word.task] !== Task.end; asked = nextTask(control, asked)) {
    worker.load(asked);
    if (!takeOwnership(control, Word.owned, asked)) continue;
    try {
      worker.run(asked);
    } catch (error) {
      writeFailure(control, error);
      throw error;
    } finally {
      Atomics.store(control, Word.done, asked);
      if (Atomics.load(control, Word.awaited) === 1) Atomics.notify(control, Word.done);
    }
  }
}

/** Waits for the task after `last`. @returns its number */
function nextTask(control: Int32Array, last: number): number {
  const begun = performance.now();
  const until = begun + patience;
  while (Atomics.load(control, Word.asked) === last) {
    if (performance.now() < until) continue;
    Atomics.store(control, Word.idle, 1);
    while (Atomics.load(control, Word.asked) === last) Atomics.wait(control, Word.asked, last);
    Atomics.store(control, Word.idle, 0);
  }
  const waited = performance.now() - begun;
  patience =
    waited < MAX_PATIENCE
      ? Math.min(MAX_PATIENCE, Math.max(patience, 4 * waited))
      : Math.max(MIN_PATIENCE, patience / 2);
  return Atomics.load(control, Word.asked);
}
