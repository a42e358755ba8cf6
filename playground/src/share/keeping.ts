/** Keeps the work of this tab while it changes. */
import { openFile } from "../state/capture.js";
import { openedRules, rules, rulesName, source, written } from "../state/document.js";
import { notify } from "../state/notices.js";
import { filter, selectedFrame, selectedPath, selectedStep } from "../state/selection.js";
import { goodRules } from "../state/steering.js";
import { forgetOldest, keepWithCapture, keepWork, KEPT_CAPTURE, leaveWork, type KeptWork } from "./kept.js";
import { lastId, takeId } from "./tab.js";

/** Milliseconds without a change before it is kept. */
const PAUSE = 300;

/** What makes unedited work edited: text, name or capture are no longer these. */
interface Untouched {
  readonly written: string;
  readonly name: string;
  readonly file: Blob | null;
}

let id: Promise<string> = Promise.resolve("");
/** What was opened unasked, and is not kept until it is edited; null for what is kept. */
let untouched: Untouched | null = null;
let edited: (() => void) | null = null;
/** The capture whose bytes are kept; undefined while that is not known. */
let keptFile: Blob | null | undefined;
/** The capture of the work that was opened again, where its bytes were not kept. */
let missing: KeptWork["capture"] = null;
/** Runs while something is not kept yet. */
let timer: ReturnType<typeof setTimeout> | undefined;
/** The files of the command that the work began with. */
let origin: string | undefined;
let told = false;

/**
 * Begins to keep what the page shows, under the id of before or a new one.
 * @param lacking the capture of the work, where its bytes were not kept
 * @param began the files of the command that the work began with
 */
export function keepAs(wanted: string | null, lacking: KeptWork["capture"] = null, began?: string): void {
  origin = began;
  untouched = null;
  edited = null;
  keptFile = undefined;
  missing = lacking;
  id = takeId(wanted);
}

/** Keeps what the page shows only once it is edited, as new work. @param then called at the first edit */
export function keepOnceEdited(then: () => void, began?: string): void {
  missing = null;
  origin = began;
  untouched = { written: written.peek(), name: rulesName.peek(), file: openFile.peek()?.file ?? null };
  edited = then;
}

/** Watches what is to be kept. */
export function startKeeping(): void {
  const watched = [rules, source, rulesName, openedRules, openFile, selectedFrame, selectedStep, selectedPath, filter];
  for (const one of watched) one.subscribe(keepSoon);
  // A page that is hidden may never run again.
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") leave();
  });
  addEventListener("pagehide", leave);
  void forgetOldest().catch(tell);
}

function keepSoon(): void {
  clearTimeout(timer);
  timer = setTimeout(() => void keepNow(), PAUSE);
}

/** The database may not get what a page writes in its last moment. */
function leave(): void {
  if (timer === undefined || written.peek() === "" || stillUntouched()) return;
  leaveWork({ id: lastId() ?? "", work: workOfTheMoment() });
  void keepNow();
}

/** Keeps the work of the moment. */
export async function keepNow(): Promise<void> {
  clearTimeout(timer);
  timer = undefined;
  if (written.peek() === "" || stillUntouched()) return;
  const work = workOfTheMoment();
  const file = openFile.peek()?.file ?? null;
  try {
    const own = await id;
    if (file === keptFile) await keepWork(own, work);
    else await keepWithCapture(own, work, file !== null && file.size <= KEPT_CAPTURE ? file : null);
    keptFile = file;
  } catch (error) {
    tell(error);
  }
}

/** What the page shows, as it is kept. */
export function workOfTheMoment(): KeptWork {
  const open = openFile.peek();
  const good = goodRules();
  if (open !== null) missing = null;
  return {
    at: Date.now(),
    rules: rules.peek(),
    source: source.peek(),
    name: rulesName.peek(),
    opened: openedRules.peek(),
    frame: selectedFrame.peek(),
    step: selectedStep.peek(),
    path: selectedPath.peek(),
    filter: filter.peek(),
    ...(origin !== undefined && { origin }),
    // The engine may not have answered yet: the text may be one with errors.
    ...(good !== null && good !== rules.peek() && { good }),
    capture: open === null ? missing : { name: open.name, size: open.file.size },
  };
}

function stillUntouched(): boolean {
  if (untouched === null) return false;
  const { written: text, name, file } = untouched;
  if (text === written.peek() && name === rulesName.peek() && file === (openFile.peek()?.file ?? null)) return true;
  const then = edited;
  keepAs(null, null, origin);
  then?.();
  return false;
}

/** Says once that nothing is kept. The page works on. */
export function tell(error: unknown): void {
  if (told) return;
  told = true;
  const full = error instanceof DOMException && error.name === "QuotaExceededError";
  notify({
    id: "storage",
    text: full
      ? "The storage of this browser is full. What you edit is lost when you close the page: download it to keep it."
      : "This browser keeps nothing for this page. What you edit is lost when you close it: download it to keep it.",
  });
}
