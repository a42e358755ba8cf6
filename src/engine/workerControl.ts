/** The control block of a worker thread: the words through which the caller's thread and the worker's exchange tasks and results. */

/** The longest error message, in characters. */
const MAX_TEXT = 240;

/** Words of a cache line. Words that one thread writes while the other polls have cache lines of their own. */
const LINE = 16;

/** Words of the control block. */
export const Word = {
  /** The number of the last task. */
  asked: 0,
  // Written by the caller before it increments `asked`.
  task: LINE,
  /** The rows of the task. */
  first: LINE + 1,
  count: LINE + 2,
  /** The table where they start. */
  root: LINE + 3,
  /** 1: the memory was copied from the first core since the last run. */
  fresh: LINE + 4,
  /** 1: the caller sleeps until `done` changes. */
  awaited: LINE + 5,
  /** 1: rows are summed by outcome class (outcomeClasses.ts). */
  sums: LINE + 6,
  // Task ownership: the thread that stores the number of a task first does that part of it.
  /** The last task whose rows one thread copies. */
  loading: 2 * LINE,
  /** The last task that one thread runs. */
  owned: 2 * LINE + 1,
  /** 1: the thread sleeps until `asked` changes. */
  idle: 2 * LINE + 2,
  /** The last task whose rows are copied. */
  loaded: 3 * LINE,
  /** The last task that is done. */
  done: 4 * LINE,
  // Results.
  /** The result of `writeColumns` (SOME_*). */
  some: 4 * LINE + 1,
  /** Duration of the run. */
  nanoseconds: 4 * LINE + 2,
  /** Length of the error message that ended the thread; 0 for none. */
  failed: 4 * LINE + 3,
  /** The characters of the message. */
  text: 5 * LINE,
} as const;
export const CONTROL_BYTES = 4 * (Word.text + MAX_TEXT);

export const Task = { run: 0, end: 1 } as const;

/**
 * Takes ownership of a part of a task, unless the other thread has it.
 * @param word `Word.loading` or `Word.owned`
 * @returns whether the calling thread owns it now
 */
export function takeOwnership(control: Int32Array, word: number, task: number): boolean {
  const before = (task - 1) | 0;
  return Atomics.compareExchange(control, word, before, task) === before;
}

/** Writes the message of an error that ends the thread. */
export function writeFailure(control: Int32Array, error: unknown): void {
  const text = String(error).slice(0, MAX_TEXT) || "no message";
  for (let i = 0; i < text.length; i++) control[Word.text + i] = text.charCodeAt(i);
  control[Word.failed] = text.length;
}

/** Reads that message; null for none. */
export function readFailure(control: Int32Array): string | null {
  const length = control[Word.failed] as number;
  if (length === 0) return null;
  return String.fromCharCode(...control.slice(Word.text, Word.text + length));
}

/** The first message to a worker thread. */
export interface Start {
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  readonly control: SharedArrayBuffer;
  /** The memory of the first core, where rows wait to be steered. */
  readonly waiting: SharedArrayBuffer;
  /** Addresses of areas in linear memory. Worker cores keep their globals in the staging area. */
  readonly areas: { readonly frames: number; readonly staging: number };
}

/** The message of a thread that can take tasks. */
export const READY = "ready";
