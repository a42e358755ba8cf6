/** A progress line on the terminal while a long capture is read, or while many rules are looked at. */
import { counted, grouped, share } from "../text.js";

/** Short runs show nothing. Long runs update the line a few times a second. */
const FIRST_MS = 700;
const EVERY_MS = 200;

export class Progress {
  readonly #stream: NodeJS.WriteStream;
  readonly #size: number | undefined;
  readonly #unit: string;
  readonly #began: number;
  #bytes = 0;
  #next: number;
  #shown = false;

  /**
   * @param size in bytes, or in what `read` counts; undefined where it is unknown, null for no progress line
   * @param unit what `show` counts
   */
  constructor(stream: NodeJS.WriteStream, size: number | undefined | null, unit = "frame") {
    this.#stream = stream;
    this.#unit = unit;
    this.#size = size ?? undefined;
    this.#began = Date.now();
    this.#next = stream.isTTY && size !== null ? this.#began + FIRST_MS : Infinity;
  }

  /** Counts more bytes as read. */
  read(bytes: number): void {
    this.#bytes += bytes;
  }

  /** @param more what else the line says */
  show(done: number, more: readonly string[] = []): void {
    const now = Date.now();
    if (now < this.#next) return;
    this.#next = now + EVERY_MS;
    this.#shown = true;
    const seconds = (now - this.#began) / 1000;
    const parts = [counted(done, this.#unit), `${grouped(Math.round(done / seconds))} a second`, ...more];
    if (this.#size !== undefined && this.#bytes > 0) {
      const left = (seconds * Math.max(this.#size - this.#bytes, 0)) / this.#bytes;
      parts.push(share(Math.min(this.#bytes, this.#size), this.#size), `${duration(left)} left`);
    }
    this.#stream.write(`\r\u001b[K${parts.join(", ")}`);
  }

  clear(): void {
    if (this.#shown) this.#stream.write("\r\u001b[K");
    this.#shown = false;
  }
}

/** A progress line for work that counts its parts. */
export class WorkProgress {
  readonly #stream: NodeJS.WriteStream;
  readonly #began = Date.now();
  #next: number;
  #shown = false;

  constructor(stream: NodeJS.WriteStream, quiet: boolean) {
    this.#stream = stream;
    this.#next = stream.isTTY && !quiet ? this.#began + FIRST_MS : Infinity;
  }

  show(done: number, total: number, one: string): void {
    const now = Date.now();
    if (now < this.#next) return;
    this.#next = now + EVERY_MS;
    this.#shown = true;
    const left = done === 0 ? "" : `, ${duration(((now - this.#began) / 1000 / done) * (total - done))} left`;
    this.#stream.write(`\r\u001b[K${grouped(done)} of ${counted(total, one)}${left}`);
  }

  clear(): void {
    if (this.#shown) this.#stream.write("\r\u001b[K");
    this.#shown = false;
  }
}

/** `42 s`, `3 min 5 s`, `2 h 7 min` */
export function duration(seconds: number): string {
  const all = Math.ceil(seconds);
  const [minutes, hours] = [Math.floor(all / 60), Math.floor(all / 3600)];
  if (minutes === 0) return `${all} s`;
  return hours === 0 ? `${minutes} min ${all % 60} s` : `${hours} h ${minutes % 60} min`;
}
