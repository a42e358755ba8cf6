/** Runs the worker of proofs. */
import { wrap, type Remote } from "comlink";
import type { Prover } from "./worker.js";

const WORKER = new URL("./prover.js", import.meta.url);

/** Work in a worker of its own, which `stop` and the time limit end. */
export interface ProofWork<T> {
  /** Null if it was stopped, took too long, or failed: then nothing is known. */
  readonly result: Promise<T | null>;
  readonly stop: () => void;
}

export function startProof<T>(work: (prover: Remote<Prover>) => Promise<T | null>, limit: number): ProofWork<T> {
  const worker = new Worker(WORKER, { type: "module", name: "flowsteer prover" });
  let stop = (): void => undefined;
  const stopped = new Promise<null>((resolve) => (stop = () => resolve(null)));
  const timer = setTimeout(stop, limit);
  const result = Promise.race([work(wrap<Prover>(worker)), stopped])
    .catch(() => null)
    .finally(() => {
      clearTimeout(timer);
      worker.terminate();
    });
  return { result, stop };
}
