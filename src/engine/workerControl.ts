/** What the first worker of a pool and each other one say to each other, in memory that both have. */

/** Bytes of a page of linear memory. */
export const PAGE = 65536;

/** Characters of an error that is told. */
const MOST_TEXT = 240;

/** Words of a cache line: what one thread writes while the other looks stands in lines of its own. */
const LINE = 16;

/** Words of the control block. */
export const Word = {
  /** Counts up with each task. */
  asked: 0,
  // The caller's, before it asks.
  task: LINE,
  /** Rows of a run. */
  first: LINE + 1,
  count: LINE + 2,
  /** The table that they begin at. */
  root: LINE + 3,
  /** 1: memory is a new copy of that of the first core, which nobody has run yet. */
  fresh: LINE + 4,
  /** 1: the caller sleeps until the task is done. */
  awaited: LINE + 5,
  /** 1: rows are summed (outcomeClasses.ts). */
  sums: LINE + 6,
  /** The last task whose rows somebody brings in, and the last that somebody does: the thread, or the caller, who has found it idle. */
  loading: 2 * LINE,
  claimed: 2 * LINE + 1,
  /** 1: the thread sleeps until there is another task. */
  idle: 2 * LINE + 2,
  /** The last task whose rows were brought in, and the last that was done. */
  loaded: 3 * LINE,
  done: 4 * LINE,
  // What became of it.
  /** What `writeColumns` gave. */
  some: 4 * LINE + 1,
  /** How long the run took. */
  nanoseconds: 4 * LINE + 2,
  /** Characters of the error that the task has ended with, and the thread with it; 0 for none. */
  failed: 4 * LINE + 3,
  /** Where they are. */
  text: 5 * LINE,
} as const;
export const CONTROL_BYTES = 4 * (Word.text + MOST_TEXT);

export const Task = { run: 0, end: 1 } as const;

/** Whether the task is the caller's to begin: nobody else has, as the word says. */
export function claim(control: Int32Array, word: number, task: number): boolean {
  const before = (task - 1) | 0;
  return Atomics.compareExchange(control, word, before, task) === before;
}

/** What has gone wrong in a thread, for the one that asked. */
export function tellFailure(control: Int32Array, error: unknown): void {
  const text = String(error).slice(0, MOST_TEXT) || "no message";
  for (let i = 0; i < text.length; i++) control[Word.text + i] = text.charCodeAt(i);
  control[Word.failed] = text.length;
}

/** What it was; null for nothing. */
export function failureIn(control: Int32Array): string | null {
  const length = control[Word.failed] as number;
  if (length === 0) return null;
  return String.fromCharCode(...control.slice(Word.text, Word.text + length));
}

/** What a thread gets when it begins. */
export interface Start {
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  readonly control: SharedArrayBuffer;
  /** The memory of the first core, where rows wait. */
  readonly waiting: SharedArrayBuffer;
  /** Areas of linear memory; where rules are staged in the first core, the others have their globals. */
  readonly areas: { readonly frames: number; readonly staging: number };
}

/** What a thread says when it can take tasks. */
export const READY = "ready";
