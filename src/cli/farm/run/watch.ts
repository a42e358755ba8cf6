/** Tells a person what a run waits for, and how far it is. */
import { Progress } from "../../input/progress.js";
import { notesText } from "../../report/report.js";
import { counted, painter } from "../../text.js";
import { version } from "../../version.js";
import type { Farm } from "./farm.js";

/** Milliseconds between looks at the workers. */
const EVERY = 2000;

export class Watch {
  readonly #farm: Farm;
  readonly #where: string;
  readonly #quiet: boolean;
  readonly #progress: Progress;
  readonly #frames: () => number;
  readonly #timer: NodeJS.Timeout;
  #workers = 0;
  /** What was told last about missing workers. */
  #told = "";

  /**
   * @param where Redis, for messages
   * @param bytes the size of all captures
   * @param frames gives the frames of all results so far
   */
  constructor(farm: Farm, where: string, bytes: number, frames: () => number, quiet: boolean) {
    this.#farm = farm;
    this.#where = where;
    this.#quiet = quiet;
    this.#frames = frames;
    this.#progress = new Progress(process.stderr, quiet ? null : bytes);
    this.#timer = setInterval(() => void this.#look().catch(() => undefined), EVERY);
    void this.#look().catch(() => undefined);
  }

  /** Counts captured bytes as steered. */
  readonly done = (bytes: number): void => {
    this.#progress.read(bytes);
    this.#show();
  };

  end(): void {
    clearInterval(this.#timer);
    this.#progress.clear();
  }

  /** Says once what goes wrong. */
  readonly tell = (text: string): void => {
    if (this.#quiet || text === this.#told) return;
    this.#told = text;
    this.#progress.clear();
    process.stderr.write(notesText(painter(process.stderr), [text]));
  };

  async #look(): Promise<void> {
    this.#workers = await this.#farm.workers();
    if (this.#workers === 0) {
      const others = await this.#farm.otherVersions();
      const own = `no worker of flowsteer ${version()} is connected to ${this.#where}`;
      this.tell(
        others.length === 0
          ? `${own}: start flowsteer farm worker on each machine`
          : `${own}; those of ${others.join(", ")} are, and accept only jobs of their own version`,
      );
    }
    this.#show();
  }

  #show(): void {
    const { failed } = this.#farm.counts;
    const more = [counted(this.#workers, "worker"), ...(failed === 0 ? [] : [`${failed} failed`])];
    this.#progress.show(this.#frames(), more);
  }
}
