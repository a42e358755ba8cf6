/** Waits for signals. */
import { effect } from "@preact/signals";

/** Resolves when a condition of signals holds. */
export async function until(holds: () => boolean): Promise<void> {
  await new Promise<void>((resolve) => {
    const end = effect(() => {
      if (!holds()) return;
      resolve();
      queueMicrotask(() => end());
    });
  });
}
