/** Opens and closes captures. What the open one holds is in the answer. */
import { signal } from "@preact/signals";
import { engine, reporting } from "../engine/client.js";
import { answer, work } from "./answer.js";

/** Why the last file was not opened; null if it was. */
export const captureError = signal<string | null>(null);
/** The open file; null without a capture. */
export const openFile = signal<{ readonly file: Blob; readonly name: string } | null>(null);

/** Milliseconds before work under way is shown. */
const PATIENCE = 200;

/** Opens a file in place of the open one. @returns whether it was opened */
export async function openCapture(file: Blob, name: string): Promise<boolean> {
  const began = performance.now();
  captureError.value = null;
  try {
    const answered = await engine().openCapture(
      file,
      name,
      reporting((done, total, what) => {
        if (performance.now() - began > PATIENCE) work.value = { what, done, total };
      }),
    );
    if (answered === null) return false;
    openFile.value = { file, name };
    answer.value = answered;
    return true;
  } catch (error) {
    captureError.value = `${name}: ${error instanceof Error ? error.message : String(error)}`;
    return false;
  } finally {
    work.value = null;
  }
}

/** Goes back to the frames of the document. */
export async function closeCapture(): Promise<void> {
  const answered = await engine().closeCapture();
  openFile.value = null;
  if (answered !== null) answer.value = answered;
}
