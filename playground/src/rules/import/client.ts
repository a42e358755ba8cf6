/** Runs the worker of imports and exports, for one question. */
import { wrap, type Remote } from "comlink";
import type { Importer } from "./worker.js";

const WORKER = new URL("./importer.js", import.meta.url);

export async function asked<T>(question: (importer: Remote<Importer>) => Promise<T>): Promise<T> {
  const worker = new Worker(WORKER, { type: "module", name: "flowsteer importer" });
  const failed = new Promise<never>((_, reject) => {
    worker.addEventListener("error", () => reject(new Error("The worker of imports could not be loaded.")));
  });
  try {
    return await Promise.race([question(wrap<Importer>(worker)), failed]);
  } finally {
    worker.terminate();
  }
}
