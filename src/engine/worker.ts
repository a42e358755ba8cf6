/**
 * The thread of a worker of a pool: does the tasks that it is told of, unless it comes too late. It has no event loop: it waits until it is
 * told to end.
 */
import { claim, READY, Task, tellFailure, Word, type Start } from "./workerControl.js";
import { Runner } from "./inlineWorker.js";

/**
 * How long it looks for a task before it sleeps, in milliseconds: longer than the last one took to come, where that is not too long; to be
 * woken takes as long as a task. Half as long after one that came later, as who waits may keep others from working.
 */
const LEAST_PATIENCE = 0.02;
const MOST_PATIENCE = 0.5;
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
  const runner = await Runner.create(start);
  runner.open();
  port.postMessage(READY);
  const control = new Int32Array(start.control);
  for (let asked = nextTask(control, 0); control[Word.task] !== Task.end; asked = nextTask(control, asked)) {
    runner.load(asked);
    if (!claim(control, Word.claimed, asked)) continue;
    try {
      runner.run(asked);
    } catch (error) {
      tellFailure(control, error);
      throw error;
    } finally {
      Atomics.store(control, Word.done, asked);
      if (Atomics.load(control, Word.awaited) === 1) Atomics.notify(control, Word.done);
    }
  }
}

/** Waits for another task than the one that was asked for last. */
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
    waited < MOST_PATIENCE
      ? Math.min(MOST_PATIENCE, Math.max(patience, 4 * waited))
      : Math.max(LEAST_PATIENCE, patience / 2);
  return Atomics.load(control, Word.asked);
}
