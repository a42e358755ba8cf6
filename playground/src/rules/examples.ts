/** The examples of the package: an index that the build makes, and their files. */
import { signal } from "@preact/signals";
import { closeCapture, openCapture, openFile } from "../state/capture.js";
import { openRules } from "../state/document.js";
import { notify } from "../state/notices.js";

export interface Example {
  /** Without `.json`. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The capture that it is run over; null for one with frames of its own. */
  readonly capture: string | null;
}

/** Empty until they are loaded. */
export const examples = signal<readonly Example[]>([]);

/** Loads the index, once. */
export async function loadExamples(): Promise<void> {
  if (examples.peek().length === 0) examples.value = (await (await fetchFile("index.json")).json()) as Example[];
}

/** The capture that an example brought; it goes with the example. */
let brought: Blob | null = null;

/** Opens an example in place of the rules, with its capture. */
export async function openExample({ name, capture }: Example): Promise<void> {
  try {
    const [text, file] = await Promise.all([
      fetchFile(`${name}.json`).then((found) => found.text()),
      capture === null ? null : fetchFile(capture).then((found) => found.blob()),
    ]);
    openRules(text, name);
    if (file !== null && capture !== null) await openCapture(file, capture, true);
    else if (brought !== null && openFile.peek()?.file === brought) await closeCapture(true);
    brought = file;
  } catch (error) {
    notify({ id: "example", text: `The example "${name}" could not be read: ${String(error)}` });
  }
}

async function fetchFile(name: string): Promise<Response> {
  const found = await fetch(`./examples/${name}`);
  if (!found.ok) throw new Error(`${name}: ${found.status} ${found.statusText}`);
  return found;
}
