/** Work of the engine that takes long: what is shown of it. */
import type { Progress } from "../engine/api.js";
import { reporting } from "../engine/client.js";
import { work } from "./answer.js";

/** Milliseconds before work under way is shown. */
const PATIENCE = 200;

let newest = 0;

/**
 * Makes a call whose progress is shown once it has taken long. Of several calls, the newest is shown.
 * @param what what is shown before the call says something itself
 */
export async function working<T>(call: (progress: Progress) => Promise<T>, what = "Working"): Promise<T> {
  const own = ++newest;
  const began = performance.now();
  const show: Progress = (done, total, now) => {
    if (own === newest && performance.now() - began >= PATIENCE) work.value = { what: now, done, total };
  };
  const timer = setTimeout(() => {
    if (own === newest && work.peek() === null) work.value = { what, done: 0, total: 0 };
  }, PATIENCE);
  try {
    return await call(reporting(show));
  } finally {
    clearTimeout(timer);
    if (own === newest) forgetWork();
  }
}

/** Shows no work: that of an engine that was ended never ends by itself. */
export function forgetWork(): void {
  newest++;
  work.value = null;
}
