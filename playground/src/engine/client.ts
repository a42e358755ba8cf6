/**
 * The engine as the page uses it. It starts the worker, and restarts it when it does not answer:
 * what a worker did not do in time, it never does.
 */
import { proxy, wrap, type Remote } from "comlink";
import type { Engine, Progress } from "./api.js";
import { Watchdog } from "./watchdog.js";

const WORKER = new URL("./engine.js", import.meta.url);
/** Milliseconds between two looks at a worker at work, and until it is late with its answer. */
const EVERY = 1000;
const LATE = 4000;

let onStuck: (stuck: boolean) => void = () => undefined;
let [worker, remote] = start();
const watchdog = new Watchdog({
  ping: () => remote.ping(),
  onStuck: (stuck) => onStuck(stuck),
  every: EVERY,
  late: LATE,
});
let counting = counted(remote, watchdog);

function start(): [Worker, Remote<Engine>] {
  const started = new Worker(WORKER, { type: "module", name: "flowsteer" });
  return [started, wrap<Engine>(started)];
}

/** The engine of the moment. */
export function engine(): Remote<Engine> {
  return counting;
}

/** Ends the worker, whatever it does, and starts another one. The new one knows no rules and no capture. */
export function restartEngine(): void {
  worker.terminate();
  [worker, remote] = start();
  watchdog.restart();
  counting = counted(remote, watchdog);
}

/** Calls `listener` when the worker has not answered for seconds, and when it answers again. */
export function whenStuck(listener: (stuck: boolean) => void): void {
  onStuck = listener;
}

/** A function that the worker can call. */
export function reporting(progress: Progress): Progress {
  return proxy(progress);
}

/** The same engine, whose calls the watchdog counts. */
function counted(all: Remote<Engine>, dog: Watchdog): Remote<Engine> {
  return new Proxy(all, {
    get(target, name: keyof Engine) {
      const method = target[name] as (...args: unknown[]) => Promise<unknown>;
      return async (...args: unknown[]): Promise<unknown> => {
        dog.begin();
        try {
          return await method(...args);
        } finally {
          if (target === remote) dog.end();
        }
      };
    },
  });
}
