/** Work of the engine that takes long: what is shown of it, and how it is stopped. */
import type { Progress } from "../engine/api.js";
import { engine, reporting } from "../engine/client.js";
import { work } from "./answer.js";

/** Milliseconds before work under way is shown. */
const PATIENCE = 200;

let newest = 0;

/** Makes a call whose progress is shown once it has taken long. Of several calls, the newest is shown. */
export async function working<T>(call: (progress: Progress) => Promise<T>): Promise<T> {
  const own = ++newest;
  const began = performance.now();
  const report: Progress = (done, total, what) => {
    if (own === newest && performance.now() - began >= PATIENCE) work.value = { what, done, total };
  };
  try {
    return await call(reporting(report));
  } finally {
    if (own === newest) {
      newest++;
      work.value = null;
    }
  }
}

/** Ends the work under way. */
export function stopWork(): void {
  void engine().stop();
}
