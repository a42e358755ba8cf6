/** Work that survives a reload: a record for each tab in IndexedDB, and the bytes of its capture. */
import { createStore, delMany, entries, get, set, setMany, type UseStore } from "idb-keyval";
import type { FrameFilter } from "../engine/api.js";
import type { Source } from "../importing/api.js";
import { idsInUse } from "./tab.js";

export interface KeptWork {
  /** When it was kept: milliseconds since 1970. */
  readonly at: number;
  readonly rules: string;
  /** The text of another program that the rules come from; null or left out for a scenario. */
  readonly source?: Source | null;
  readonly name: string;
  /** The scenario before it was edited. */
  readonly opened: string;
  readonly frame: number | null;
  readonly step: number;
  readonly path: string | null;
  readonly filter: FrameFilter;
  readonly capture: { readonly name: string; readonly size: number } | null;
  /** The files of the command that it began with. */
  readonly origin?: string;
  /** The last rules without errors, where these have some. */
  readonly good?: string;
}

export interface FoundWork {
  readonly id: string;
  readonly work: KeptWork;
}

/** The longest capture whose bytes are kept; of a longer one, the name. */
export const KEPT_CAPTURE = 16_000_000;
/** Records of tabs that are closed. */
const MAX_KEPT = 8;

const WORK = "work ";
const CAPTURE = "capture ";

let opened: UseStore | null = null;
const store = (): UseStore => (opened ??= createStore("flowsteer-playground", "work"));

/** The work of a tab; without an id, or where it has none, the newest of all. Null if nothing is kept. */
export async function findWork(id: string | null): Promise<FoundWork | null> {
  if (id !== null) {
    const work = await get<KeptWork>(WORK + id, store());
    if (work !== undefined) return { id, work };
  }
  return (await allWork())[0] ?? null;
}

/** All work, the newest first. */
export async function allWork(): Promise<FoundWork[]> {
  const found = (await entries<string, unknown>(store())).flatMap(([key, value]): FoundWork[] =>
    key.startsWith(WORK) ? [{ id: key.slice(WORK.length), work: value as KeptWork }] : [],
  );
  return found.sort((a, b) => b.work.at - a.work.at);
}

export async function keepWork(id: string, work: KeptWork): Promise<void> {
  await set(WORK + id, work, store());
}

/**
 * Keeps work with the bytes of its capture; null for none that is kept. A `Blob` is not stored as such: in a
 * private window of WebKit that fails, and all later transactions wait for ever.
 */
export async function keepWithCapture(id: string, work: KeptWork, capture: Blob | null): Promise<void> {
  const bytes = capture === null ? null : await capture.arrayBuffer();
  await setMany(
    [
      [WORK + id, work],
      [CAPTURE + id, bytes],
    ],
    store(),
  );
}

/** The bytes of the capture of a tab; null where they are not kept. */
export async function keptCapture(id: string): Promise<Blob | null> {
  const bytes = await get<ArrayBuffer | null>(CAPTURE + id, store());
  return bytes ? new Blob([bytes]) : null;
}

/** Forgets the oldest work, but that of open tabs. */
export async function forgetOldest(): Promise<void> {
  const used = await idsInUse();
  const old = (await allWork()).filter(({ id }) => !used.has(id)).slice(MAX_KEPT);
  await delMany(
    old.flatMap(({ id }) => [WORK + id, CAPTURE + id]),
    store(),
  );
}

const SPARE = "flowsteer.leaving";

/** Puts work where a page that ends can still write. The next page of this tab finds it there. */
export function leaveWork(found: FoundWork): void {
  try {
    sessionStorage.setItem(SPARE, JSON.stringify(found));
  } catch {
    // It is too long, or forbidden: IndexedDB has what was kept before.
  }
}

/** The work that the page before has left, where it is newer than what is kept. */
export function newerOf(kept: FoundWork | null): FoundWork | null {
  try {
    const left = JSON.parse(sessionStorage.getItem(SPARE) ?? "null") as FoundWork | null;
    sessionStorage.removeItem(SPARE);
    return left !== null && (kept === null || left.work.at > kept.work.at) ? left : kept;
  } catch {
    return kept;
  }
}

/** Whether the person has changed it. */
export function isEdited({ rules, source = null, opened, capture }: KeptWork): boolean {
  return rules !== opened || source !== null || capture !== null;
}
