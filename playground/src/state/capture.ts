/** Opens and closes captures. What the open one holds is in the answer. */
import { batch, signal } from "@preact/signals";
import { engine } from "../engine/client.js";
import { showAnswer } from "./answer.js";
import { openRules, openSource } from "./document.js";
import { sourceTextOf } from "../importing/recognition.js";
import { filter, selectedFrame } from "./selection.js";
import { working } from "./working.js";

/** Why the last file was not opened; null if it was. */
export const captureError = signal<string | null>(null);
export interface OpenFile {
  readonly file: Blob;
  readonly name: string;
}

/** The open file; null without a capture. */
export const openFile = signal<OpenFile | null>(null);

/** Whether the file changed last together with the rules, and is undone with them. */
let ofRules = false;

export function isFileOfRules(): boolean {
  return ofRules;
}

/** The longest text of rules that is opened. */
const MAX_RULES = 16 << 20;

/**
 * Opens a file in place of the open one. The frame that was selected is not; the list selects one.
 * @param withRules whether it comes with rules that were opened
 * @returns whether it was opened
 */
export async function openCapture(file: Blob, name: string, withRules = false): Promise<boolean> {
  captureError.value = null;
  try {
    const answered = await working((progress) => engine().openCapture(file, name, progress), "Reading");
    if (answered === null) return false;
    ofRules = withRules;
    batch(() => {
      openFile.value = { file, name };
      selectedFrame.value = null;
      showAnswer(answered);
    });
    return true;
  } catch (error) {
    captureError.value = `${name} was not opened: ${error instanceof Error ? error.message : String(error)}`;
    return false;
  }
}

/** Goes back to the frames of the document. */
export async function closeCapture(withRules = false): Promise<void> {
  const answered = await engine().closeCapture();
  ofRules = withRules;
  batch(() => {
    openFile.value = null;
    selectedFrame.value = null;
    if (answered !== null) showAnswer(answered);
  });
}

/** Lets the person choose files to open. */
export function chooseCapture(): void {
  const input = document.createElement("input");
  input.type = "file";
  input.multiple = true;
  input.accept = ".pcap,.pcapng,.cap,.gz,.json";
  input.addEventListener("change", () => void openDropped([...(input.files ?? [])]));
  input.click();
}

/** Opens files that a person gave: text of rules as rules, anything else as a capture. Of each kind, the first counts. */
export async function openDropped(files: readonly File[]): Promise<void> {
  const isScenario = ({ name, type }: File): boolean => /\.json$/i.test(name) || type === "application/json";
  const others = files.filter((file) => !isScenario(file));
  const sources = await Promise.all(others.map(sourceTextOf));
  const source = others.find((_, n) => sources[n] !== null);
  const rules = files.find(isScenario) ?? source;
  const capture = others.find((_, n) => sources[n] === null);
  if (rules !== undefined && rules.size > MAX_RULES) {
    captureError.value = `${rules.name} was not opened: it is longer than 16 MB, the maximum for rules`;
    return;
  }
  if (rules === source && source !== undefined) openSource(await source.text(), source.name);
  else if (rules !== undefined) openRules(await rules.text(), rules.name.replace(/\.json$/i, ""));
  if (capture !== undefined) await openCapture(capture, capture.name, rules !== undefined);
}

/** A capture that comes with the page, and the rules that it belongs to. */
export interface Sample {
  readonly title: string;
  readonly rules: string;
  readonly capture: string;
}

export const SAMPLES: readonly Sample[] = [
  { title: "Everyday traffic", rules: "everyday.json", capture: "everyday.pcap" },
  { title: "ESP of strongSwan", rules: "flows-strongswan.json", capture: "strongswan.pcap" },
];

export async function openSample({ rules, capture }: Sample): Promise<void> {
  const [text, file] = await Promise.all([
    fetch(`./examples/${rules}`).then((response) => response.text()),
    fetch(`./examples/${capture}`).then((response) => response.blob()),
  ]);
  filter.value = {};
  openRules(text, rules.replace(/\.json$/, ""));
  await openCapture(file, capture, true);
}
