/** Runs the worker of proofs. */
import { proxy, wrap, type Remote } from "comlink";
import type { ProofProgress } from "./api.js";
import type { Prover } from "./worker.js";

const WORKER = new URL("./prover.js", import.meta.url);

/** How a proof ended: with an answer, which is null for rules that are refused, or without one. */
export type ProofEnd<T> = { readonly kind: "done"; readonly found: T | null } | { readonly kind: Unproved };

/** Why nothing is known: a person stopped it, it reached its limit, or the worker failed. */
export type Unproved = "stopped" | "late" | "failed";

/** What the worker is asked. */
export type ProofCall<T> = (prover: Remote<Prover>, progress: ProofProgress) => Promise<T | null>;

/** Work in a worker of its own, which `stop` and the time limit end. */
export interface ProofWork<T> {
  readonly result: Promise<ProofEnd<T>>;
  readonly stop: () => void;
}

/** @param limit milliseconds */
export function startProof<T>(call: ProofCall<T>, limit: number, progress: ProofProgress): ProofWork<T> {
  const worker = new Worker(WORKER, { type: "module", name: "flowsteer prover" });
  let end = (_: Unproved): void => undefined;
  const ended = new Promise<ProofEnd<T>>((resolve) => (end = (kind) => resolve({ kind })));
  worker.addEventListener("error", () => end("failed"));
  const timer = setTimeout(() => end("late"), limit);
  const answered = call(wrap<Prover>(worker), proxy(progress)).then(
    (found): ProofEnd<T> => ({ kind: "done", found }),
    (): ProofEnd<T> => ({ kind: "failed" }),
  );
  const result = Promise.race([answered, ended]).finally(() => {
    clearTimeout(timer);
    worker.terminate();
  });
  return { result, stop: () => end("stopped") };
}
