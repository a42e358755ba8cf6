/** What the first worker of a pool and each other one say to each other, in memory that both have. */

/** Bytes of a page of linear memory. */
export const PAGE = 65536;

/** Characters of an error that is told. */
const MOST_TEXT = 240;

/** Words of the control block. */
export const Word = {
  /** Counts up with each task. */
  asked: 0,
  /** The last task that is done. */
  done: 1,
  task: 2,
  /** First row and number of rows of a run. */
  first: 3,
  count: 4,
  /** The table that they begin at. */
  root: 5,
  /** Which of the first worker's states the globals are of; they are taken when it changes. */
  version: 6,
  /** Pages of memory behind the task. */
  pages: 7,
  /** What `writeColumns` gave. */
  some: 8,
  /** How long the run took, in microseconds. */
  microseconds: 9,
  /** Characters of the error that the task has ended with, and the thread with it; 0 for none. */
  failed: 10,
  /** Where they are. */
  text: 16,
  /** Where the values of globals begin, two words each. */
  globals: 16 + MOST_TEXT,
} as const;

export const Task = { run: 0, end: 1 } as const;

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
  /** Areas of linear memory. */
  readonly areas: { readonly bytes: number; readonly frames: number };
  readonly globals: readonly string[];
}

/** What a thread says when it can take tasks. */
export const READY = "ready";
