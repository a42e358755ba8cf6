/** One kind of proof about the rules of the moment: it begins once typing pauses, and the next edit, a person or a time limit ends it. */
import { signal } from "@preact/signals";
import { startProof, type ProofCall, type ProofWork, type Unproved } from "../proof/client.js";

/** Milliseconds without an edit before a proof begins, that it may take, and before it is shown to be under way. */
const QUIET = 400;
export const LIMIT = 30_000;
const PATIENCE = 1000;

export type ProofStatus =
  | { readonly kind: "idle" | Unproved }
  /** `total` is 0 while it is not known. */
  | { readonly kind: "running"; readonly done: number; readonly total: number };

const IDLE: ProofStatus = { kind: "idle" };

export class ProofTask<T> {
  readonly status = signal<ProofStatus>(IDLE);
  #work: ProofWork<T> | null = null;
  #begin: (() => void) | null = null;

  /**
   * Asks in place of what was asked before.
   * @param onFound gets the answer; null for rules that are refused
   * @returns takes the question back
   */
  ask(call: ProofCall<T>, onFound: (found: T | null) => void): () => void {
    const begin = (): void => void this.#run(call, onFound);
    this.#begin = begin;
    const timer = setTimeout(begin, QUIET);
    return () => {
      clearTimeout(timer);
      if (this.#begin !== begin) return;
      this.#begin = null;
      this.#work?.stop();
      this.#work = null;
      this.status.value = IDLE;
    };
  }

  /** Ends the proof under way: nothing is known then. */
  stop(): void {
    this.#work?.stop();
  }

  /** Begins once more after a stop. */
  again(): void {
    if (this.#work === null) this.#begin?.();
  }

  async #run(call: ProofCall<T>, onFound: (found: T | null) => void): Promise<void> {
    const began = performance.now();
    this.status.value = IDLE;
    const show = (done: number, total: number): void => {
      if (this.#work === work && performance.now() - began >= PATIENCE) {
        this.status.value = { kind: "running", done, total };
      }
    };
    const work = startProof(call, LIMIT, show);
    this.#work = work;
    const timer = setTimeout(() => {
      if (this.status.peek().kind === "idle") show(0, 0);
    }, PATIENCE);
    const end = await work.result;
    clearTimeout(timer);
    if (this.#work !== work) return;
    this.#work = null;
    this.status.value = end.kind === "done" ? IDLE : end;
    if (end.kind === "done") onFound(end.found);
  }
}
