/**
 * Keeps the event loop from sleeping for a moment after a message. Waking an idle processor takes longer than most calls,
 * and a program often makes its next call at once.
 */
import { availableParallelism } from "node:os";

/** Milliseconds. */
const MOMENT = 0.2;

export class Attention {
  #until = 0;
  #turn: NodeJS.Immediate | null = null;

  /** @param programs that run: the loop may only use a processor that they leave over */
  keep(programs: number): void {
    if (programs >= availableParallelism()) return;
    this.#until = performance.now() + MOMENT;
    this.#turn ??= setImmediate(() => this.#look());
  }

  end(): void {
    if (this.#turn !== null) clearImmediate(this.#turn);
  }

  #look(): void {
    this.#turn = performance.now() < this.#until ? setImmediate(() => this.#look()) : null;
  }
}
