/** SIGINT and SIGTERM: the first signal ends the run early, the second ends the command at once. */

const NUMBERS = { SIGINT: 2, SIGTERM: 15 } as const;
export type StopSignal = keyof typeof NUMBERS;

/** Exit codes that shells expect of a command ended by a signal. */
export function exitCodeOf(signal: StopSignal): number {
  return 128 + NUMBERS[signal];
}

export class Interruption {
  #signal: StopSignal | null = null;
  #stop: (() => void) | null = null;
  readonly #heard = (signal: StopSignal): void => {
    if (this.#signal !== null) process.exit(exitCodeOf(signal));
    this.#signal = signal;
    this.#stop?.();
  };

  /** Starts to catch signals; `end` stops it. */
  constructor() {
    for (const signal of Object.keys(NUMBERS)) process.on(signal, this.#heard);
  }

  /** The first signal; null before. */
  get signal(): StopSignal | null {
    return this.#signal;
  }

  /** Ends a wait that may be long; null for none. */
  set stop(stop: (() => void) | null) {
    this.#stop = stop;
    if (this.#signal !== null) stop?.();
  }

  end(): void {
    for (const signal of Object.keys(NUMBERS)) process.off(signal, this.#heard);
  }
}
