/** Runs the worker of imports and exports: for one question, or for the text that is edited. */
import { wrap, type Remote } from "comlink";
import type { Choices, FormatWord, ImportFormat, OwnWords, ProvedObjects, ReadSource, Source } from "./api.js";
import type { Importer } from "./worker.js";

const WORKER = new URL("./importer.js", import.meta.url);

/** Milliseconds after which a text that is read is given up for a newer one. */
const LATE = 2000;

/** A worker, and what ends its calls if it cannot be loaded. */
class Running {
  readonly importer: Remote<Importer>;
  readonly #worker = new Worker(WORKER, { type: "module", name: "flowsteer importer" });
  readonly #failed: Promise<never>;

  constructor() {
    this.importer = wrap<Importer>(this.#worker);
    this.#failed = new Promise<never>((_, reject) => {
      this.#worker.addEventListener("error", () => reject(new Error("The worker of imports could not be loaded.")));
    });
    this.#failed.catch(() => undefined);
  }

  ask<T>(question: (importer: Remote<Importer>) => Promise<T>): Promise<T> {
    return Promise.race([question(this.importer), this.#failed]);
  }

  end(): void {
    this.#worker.terminate();
  }
}

/** Asks a worker of its own. */
export async function asked<T>(question: (importer: Remote<Importer>) => Promise<T>): Promise<T> {
  const running = new Running();
  try {
    return await running.ask(question);
  } finally {
    running.end();
  }
}

let reader: Running | null = null;
/** Finds words of answers, which takes long for many rules: the text is read by another worker meanwhile. */
let speaker: Running | null = null;
let isSpeaking = false;
/** When the reader began with the text that it reads; null while it reads none. */
let began: number | null = null;
let newest: Source;

/** The worker that reads the text of the moment. It is ended when it fails. */
async function ask<T>(question: (importer: Remote<Importer>) => Promise<T>): Promise<T> {
  const own = (reader ??= new Running());
  try {
    return await own.ask(question);
  } catch (error) {
    own.end();
    if (reader === own) reader = null;
    throw error;
  }
}

/** Reads a text, or the newest one that came while it was read. @returns null if that is the answer to an earlier call */
export async function readSource(source: Source): Promise<{ readonly of: Source; readonly read: ReadSource } | null> {
  newest = source;
  speaker ??= new Running();
  if (began !== null) {
    if (performance.now() - began < LATE) return null;
    reader?.end();
    reader = null;
  }
  const own = (began = performance.now());
  try {
    for (;;) {
      const of = newest;
      const read = await ask((importer) => importer.read(of));
      if (began !== own) return null;
      if (newest === of) return { of, read };
    }
  } finally {
    if (began === own) began = null;
  }
}

/** An answer about rules of a text, in its words. A newer question ends the work for an older one, which never resolves. */
export async function ownWords(...question: Parameters<Importer["ownWords"]>): Promise<OwnWords> {
  if (isSpeaking) {
    speaker?.end();
    speaker = null;
  }
  const own = (speaker ??= new Running());
  isSpeaking = true;
  try {
    return await own.ask((importer) => importer.ownWords(...question));
  } finally {
    if (own === speaker) isSpeaking = false;
  }
}

/** The words of a format. A worker of their own answers: that of a text is ended when a newer text comes. */
export function wordsOfFormat(format: ImportFormat): Promise<readonly FormatWord[]> {
  return asked((importer) => importer.words(format));
}

/** What a text can be read as. */
export function choices(): Promise<Choices> {
  return asked((importer) => importer.choices());
}

/** Of findings of proofs, those about what the text says that was read last. */
export async function aboutElements<T extends ProvedObjects>(found: readonly T[]): Promise<readonly T[]> {
  const about = await ask((importer) => importer.aboutElements(found.map(({ id, objects }) => ({ id, objects }))));
  return about.flatMap((n) => found[n] ?? []);
}
