/** SIGINT and SIGTERM: the first asks the work to end, a second ends the command at once. */

const NUMBERS = { SIGINT: 2, SIGTERM: 15 } as const;
export type StopSignal = keyof typeof NUMBERS;

/** What a shell says of a command that a signal has ended. */
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

  /** Begins to listen: until `end`, the signals do not end the process. */
  constructor() {
    for (const signal of Object.keys(NUMBERS)) process.on(signal, this.#heard);
  }

  /** The signal that came, null before. */
  get signal(): StopSignal | null {
    return this.#signal;
  }

  /** What ends a wait that could be long; null for nothing. */
  set stop(stop: (() => void) | null) {
    this.#stop = stop;
    if (this.#signal !== null) stop?.();
  }

  end(): void {
    for (const signal of Object.keys(NUMBERS)) process.off(signal, this.#heard);
  }
}
