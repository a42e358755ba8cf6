/** Worker threads of a pool that die at their n-th message: what they post, and each word that they write for the caller. */

/** Ends the thread at its n-th message, then runs the script of the package. */
const SCRIPT = (script: string, n: number): string => `
  let left = ${n};
  const count = (real) => function (...args) {
    if (--left === 0) process.exit(1);
    return real.apply(this, args);
  };
  const { parentPort } = require("node:worker_threads");
  parentPort.postMessage = count(parentPort.postMessage);
  for (const name of ["store", "compareExchange"]) Atomics[name] = count(Atomics[name]);
  import(${JSON.stringify(script)});
`;

interface Threads {
  Worker: new (file: URL, options: object) => unknown;
}

/** Runs a function whose first new thread dies at its n-th message; 0: it dies before it runs anything. */
export async function withDyingThread<T>(n: number, work: () => Promise<T>): Promise<T> {
  const threads = process.getBuiltinModule("node:worker_threads") as unknown as Threads;
  const { Worker } = threads;
  let first = true;
  // eslint-disable-next-line @typescript-eslint/no-extraneous-class -- it stands for one that others make
  threads.Worker = class {
    constructor(file: URL, options: object) {
      if (!first) return new Worker(file, options) as object;
      first = false;
      const source = n === 0 ? "process.exit(1)" : SCRIPT(file.href, n);
      return new (Worker as unknown as new (source: string, options: object) => object)(source, {
        ...options,
        eval: true,
      });
    }
  };
  try {
    return await work();
  } finally {
    threads.Worker = Worker;
  }
}
