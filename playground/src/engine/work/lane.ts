/** Long work in pieces, of which only the newest counts. */

/** Milliseconds of work between two turns of the event loop, in which newer calls arrive. */
const PIECE = 25;

/** Ends work that newer work has superseded, or that was stopped. */
class Superseded extends Error {}

/** What work calls between its pieces. */
export class Pace {
  readonly #isCurrent: () => boolean;
  #since = performance.now();

  constructor(isCurrent: () => boolean) {
    this.#isCurrent = isCurrent;
  }

  /** Lets newer calls in, if the last turn was long ago. @throws Superseded the work is no longer wanted */
  async rest(): Promise<void> {
    if (performance.now() - this.#since >= PIECE) await this.turn();
  }

  /** Lets newer calls in. @throws Superseded the work is no longer wanted */
  async turn(): Promise<void> {
    await nextTurn();
    this.check();
    this.#since = performance.now();
  }

  /** @throws Superseded the work is no longer wanted */
  check(): void {
    if (!this.#isCurrent()) throw new Superseded();
  }
}

/** One kind of work: a new call ends the one under way, and begins after its end. */
export class Lane {
  #newest = 0;
  #last: Promise<void> = Promise.resolve();

  /** @returns null if newer work came, or the work was stopped */
  async run<T>(work: (pace: Pace) => Promise<T>): Promise<T | null> {
    const own = ++this.#newest;
    const before = this.#last;
    let end = (): void => undefined;
    this.#last = new Promise((resolve) => (end = resolve));
    try {
      await before;
      const pace = new Pace(() => own === this.#newest);
      pace.check();
      return await work(pace);
    } catch (error) {
      if (error instanceof Superseded) return null;
      throw error;
    } finally {
      end();
    }
  }

  /** Ends the work under way. */
  stop(): void {
    this.#newest++;
  }
}

/** The next turn of the event loop. A timer would wait for 4 milliseconds. */
async function nextTurn(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  await new Promise((resolve) => {
    port1.onmessage = resolve;
    port2.postMessage(null);
  });
  port1.close();
}
