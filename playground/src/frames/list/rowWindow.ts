/** Rows of the list around the ones in view. Those of an older list stay until the new ones have come. */
import type { FrameRow } from "../../engine/api.js";

/** Rows that are fetched at once. */
export const PAGE = 64;
/** Pages that are kept. */
const KEPT = 24;

interface Page {
  readonly rows: readonly FrameRow[];
  readonly version: number;
}

export class RowWindow {
  readonly #fetch: (first: number, count: number) => Promise<readonly FrameRow[]>;
  readonly #onRows: () => void;
  /** Least recently seen first. */
  readonly #pages = new Map<number, Page>();
  #version = 0;
  #wanted: readonly number[] = [];
  #busy = false;

  /** @param onRows called when rows have come */
  constructor(fetch: (first: number, count: number) => Promise<readonly FrameRow[]>, onRows: () => void) {
    this.#fetch = fetch;
    this.#onRows = onRows;
  }

  /** The list is another one, or has other rows. */
  renew(): void {
    this.#version++;
    // What was asked of an engine that ended is never answered.
    this.#busy = false;
  }

  /** The row at a place of the list; undefined until it has come. */
  row(place: number): FrameRow | undefined {
    return this.#pages.get(Math.floor(place / PAGE))?.rows[place % PAGE];
  }

  /** Fetches rows from `first` to `end` - 1, and forgets what was wanted before. */
  want(first: number, end: number): void {
    const pages: number[] = [];
    for (let page = Math.floor(first / PAGE); page * PAGE < end; page++) pages.push(page);
    for (const page of pages) {
      const known = this.#pages.get(page);
      if (known === undefined) continue;
      this.#pages.delete(page);
      this.#pages.set(page, known);
    }
    this.#wanted = pages;
    if (!this.#busy) void this.#next();
  }

  async #next(): Promise<void> {
    const version = this.#version;
    const page = this.#wanted.find((one) => this.#pages.get(one)?.version !== version);
    this.#busy = page !== undefined;
    if (page === undefined) return;
    const rows = await this.#fetch(page * PAGE, PAGE);
    if (version !== this.#version) return;
    this.#pages.delete(page);
    this.#pages.set(page, { rows, version });
    for (const old of this.#pages.keys()) {
      if (this.#pages.size <= KEPT) break;
      this.#pages.delete(old);
    }
    this.#onRows();
    await this.#next();
  }
}
