/** Starts worker threads, in Node and in browsers, and says whether threads can share memory. */
import { READY, type Start } from "./workerControl.js";

/** Not written within `new URL`: there webpack takes a variable for a folder of files that it should bundle. */
const HERE = import.meta.url;
const WORKER = import.meta.bundled ? "./worker.js" : "../../build/worker.js";

const COPY = "copy node_modules/flowsteer/dist/worker.js beside the module that creates the pool (docs/bundlers.md)";

export interface Thread {
  /** Why it ended before `end` was called; null while it runs. */
  readonly failure: string | null;
  /** Ends it at once. */
  end(): void;
}

/** The reason why threads cannot share memory here; null when they can. */
export function threadsMissing(): string | null {
  if (isNode()) return null;
  if (typeof SharedArrayBuffer === "undefined" || !globalThis.crossOriginIsolated) {
    return "memory cannot be shared: the page is not cross-origin isolated";
  }
  return typeof Worker === "undefined" ? "there are no threads" : null;
}

/** The number of processor cores. */
export function coresHere(): number {
  if (isNode()) return process.getBuiltinModule("node:os").availableParallelism();
  return globalThis.navigator?.hardwareConcurrency ?? 1;
}

/** Starts a thread that takes tasks. It does not keep the process alive. */
export function startThread(start: Start): Promise<Thread> {
  return isNode() ? startInNode(start) : startInBrowser(start);
}

function isNode(): boolean {
  return typeof process !== "undefined" && process.versions?.node !== undefined;
}

async function startInNode(start: Start): Promise<Thread> {
  const { Worker } = process.getBuiltinModule("node:worker_threads");
  const worker = new Worker(new URL(WORKER, HERE), { execArgv: [] });
  const thread = { failure: null as string | null, end: () => void worker.terminate() };
  await new Promise<void>((resolve, reject) => {
    worker.on("exit", () => {
      thread.failure ??= "it has ended";
      reject(new Error(`flowsteer: a worker of the pool: ${thread.failure}`));
    });
    worker.on("error", (error) => {
      thread.failure = String(error);
      reject(error);
    });
    worker.once("message", (message) => {
      if (message === READY) resolve();
    });
    worker.postMessage(start);
  });
  worker.unref();
  return thread;
}

async function startInBrowser(start: Start): Promise<Thread> {
  // Written out twice: bundlers look for this form.
  const worker = import.meta.bundled
    ? new Worker(new URL("./worker.js", import.meta.url), { type: "module" })
    : new Worker(new URL("../../build/worker.js", import.meta.url), { type: "module" });
  const thread = { failure: null as string | null, end: () => worker.terminate() };
  await new Promise<void>((resolve, reject) => {
    worker.addEventListener("error", ({ message }) => {
      // A worker that was never loaded has no message.
      thread.failure = message || `it cannot be loaded; ${COPY}`;
      reject(new Error(`flowsteer: a worker of the pool: ${thread.failure}`));
    });
    worker.addEventListener("message", () => resolve(), { once: true });
    worker.postMessage(start);
  });
  return thread;
}
