/** What the first worker of a pool and each other one say to each other, in memory that both have. */

/** Bytes of a page of linear memory. */
export const PAGE = 65536;

/** Characters of an error that is told. */
const MOST_TEXT = 240;

/** Words of the control block. */
export const Word = {
  /** Counts up with each task. */
  asked: 0,
  /** The last task that somebody has begun: the thread, or the one that asked, who has found it idle. */
  claimed: 1,
  /** The last task that the thread has done. */
  done: 2,
  task: 3,
  /** First row and number of rows of a run. */
  first: 4,
  count: 5,
  /** The table that they begin at. */
  root: 6,
  /** Pages of memory behind the task. */
  pages: 7,
  /** What `writeColumns` gave. */
  some: 8,
  /** How long the run took, in microseconds. */
  microseconds: 9,
  /** 1: memory is a new copy of that of the first core, which nobody has run yet. */
  fresh: 11,
  /** 1: rows are summed (shapes.ts). */
  sums: 12,
  /** Characters of the error that the task has ended with, and the thread with it; 0 for none. */
  failed: 10,
  /** Where they are. */
  text: 16,
} as const;
export const CONTROL_BYTES = 4 * (Word.text + MOST_TEXT);

export const Task = { run: 0, end: 1 } as const;

/** Whether the task is the caller's to do: nobody has begun it. */
export function claim(control: Int32Array, task: number): boolean {
  const before = (task - 1) | 0;
  return Atomics.compareExchange(control, Word.claimed, before, task) === before;
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
  /** Rows of all workers (stage.ts): their frames, and the descriptors of these. */
  readonly bytes: SharedArrayBuffer;
  readonly descriptors: SharedArrayBuffer;
  /** Areas of linear memory; where rules are staged in the first core, the others have their globals. */
  readonly areas: { readonly bytes: number; readonly frames: number; readonly staging: number };
}

/** What a thread says when it can take tasks. */
export const READY = "ready";
