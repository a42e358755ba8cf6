/**
 * The id under which this tab keeps its work. A reload has the id of before. A tab that was duplicated has a
 * copy of the other's id: a lock tells, and it takes an id of its own.
 */
import { hexOf } from "../text/hex.js";

const KEY = "flowsteer.tab";
const lockOf = (id: string): string => `flowsteer.tab ${id}`;

/** The id of before the reload, or of the tab that this one is a copy of; null in a new tab. */
export function lastId(): string | null {
  try {
    return sessionStorage.getItem(KEY);
  } catch {
    return null;
  }
}

/** Takes an id, the given one unless another tab has it. @returns the id */
export async function takeId(wanted: string | null): Promise<string> {
  const id = wanted !== null && (await lock(wanted)) ? wanted : newId();
  if (id !== wanted) await lock(id);
  try {
    sessionStorage.setItem(KEY, id);
  } catch {
    // The work is then found as the newest.
  }
  return id;
}

/** The ids of tabs that are open. */
export async function idsInUse(): Promise<ReadonlySet<string>> {
  const { held: all = [] } = (await locks()?.query()) ?? {};
  const prefix = lockOf("");
  return new Set(all.flatMap(({ name }) => (name?.startsWith(prefix) ? [name.slice(prefix.length)] : [])));
}

/** The ids whose locks this page holds until it ends. */
const held = new Set<string>();

/** @returns false if another tab holds the lock */
async function lock(id: string): Promise<boolean> {
  const manager = locks();
  if (manager === undefined || held.has(id)) return true;
  const got = await new Promise<boolean>((resolve) => {
    void manager.request(lockOf(id), { ifAvailable: true }, (given) => {
      resolve(given !== null);
      return given === null ? undefined : new Promise(() => undefined);
    });
  });
  if (got) held.add(id);
  return got;
}

/** Pages that are not from https or loopback have none. */
function locks(): LockManager | undefined {
  return (navigator as Partial<Navigator>).locks;
}

function newId(): string {
  return hexOf(crypto.getRandomValues(new Uint8Array(8)));
}
