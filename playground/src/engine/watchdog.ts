/**
 * Notices that the worker does not answer. Its work is done in short pieces, so that it answers in between; only rules or frames
 * that keep one piece busy for seconds keep it from that.
 */
export interface Watched {
  /** Resolves when the worker takes messages. */
  readonly ping: () => Promise<unknown>;
  /** Called when the worker has not answered for a while, and when it answers again. */
  readonly onStuck: (stuck: boolean) => void;
  /** Milliseconds between two pings, and until an answer is late. */
  readonly every: number;
  readonly late: number;
}

export class Watchdog {
  readonly #watched: Watched;
  #calls = 0;
  #timer: ReturnType<typeof setTimeout> | null = null;
  /** Answers to pings of a worker that was ended do not count. */
  #life = 0;
  #stuck = false;

  constructor(watched: Watched) {
    this.#watched = watched;
  }

  /** A call has been made. */
  begin(): void {
    this.#calls++;
    if (this.#timer === null) this.#later();
  }

  /** A call has been answered. */
  end(): void {
    this.#calls--;
  }

  /** The worker was restarted: nothing is asked of it. */
  restart(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#calls = 0;
    this.#life++;
    this.#say(false);
  }

  #later(): void {
    this.#timer = setTimeout(() => void this.#look(), this.#watched.every);
  }

  async #look(): Promise<void> {
    const life = this.#life;
    if (this.#calls === 0) {
      this.#timer = null;
      return;
    }
    const late = setTimeout(() => {
      if (life === this.#life) this.#say(true);
    }, this.#watched.late);
    await this.#watched.ping();
    clearTimeout(late);
    if (life !== this.#life) return;
    this.#say(false);
    this.#later();
  }

  #say(stuck: boolean): void {
    if (stuck === this.#stuck) return;
    this.#stuck = stuck;
    this.#watched.onStuck(stuck);
  }
}
