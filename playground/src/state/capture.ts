/** Opens and closes captures. What the open one holds is in the answer. */
import { signal } from "@preact/signals";
import { engine } from "../engine/client.js";
import { showAnswer } from "./answer.js";
import { working } from "./working.js";

/** Why the last file was not opened; null if it was. */
export const captureError = signal<string | null>(null);
/** The open file; null without a capture. */
export const openFile = signal<{ readonly file: Blob; readonly name: string } | null>(null);

/** Opens a file in place of the open one. @returns whether it was opened */
export async function openCapture(file: Blob, name: string): Promise<boolean> {
  captureError.value = null;
  try {
    const answered = await working((progress) => engine().openCapture(file, name, progress));
    if (answered === null) return false;
    openFile.value = { file, name };
    showAnswer(answered);
    return true;
  } catch (error) {
    captureError.value = `${name}: ${error instanceof Error ? error.message : String(error)}`;
    return false;
  }
}

/** Goes back to the frames of the document. */
export async function closeCapture(): Promise<void> {
  const answered = await engine().closeCapture();
  openFile.value = null;
  if (answered !== null) showAnswer(answered);
}
