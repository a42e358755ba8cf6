/** Keeps answer and way true to rules and selection: what is edited is steered, what is selected is traced. */
import { effect } from "@preact/signals";
import type { RulesRefusal } from "../engine/api.js";
import { engine, restartEngine, whenStuck } from "../engine/client.js";
import { answer, engineLife, refusals, showAnswer, work } from "./answer.js";
import { openCapture, openFile } from "./capture.js";
import { rules } from "./document.js";
import { lastInput } from "./felt.js";
import { dismiss, notify } from "./notices.js";
import { wayInOwnWords } from "./ownWords.js";
import { selectedFrame, selectedStep, way } from "./selection.js";
import { until } from "./until.js";
import { forgetWork, working } from "./working.js";

/** Milliseconds that the engine has for ending its work by itself. */
const GRACE = 1000;

/** Milliseconds that an answer waits for words of the text that the rules came from. */
const OWN_WORDS = 200;

/** The last rules that were not refused. */
let lastGood: string | null = null;
export function goodRules(): string | null {
  return lastGood;
}

/** Shows the answer to rules without errors, before others that have some. */
export async function showGood(text: string): Promise<void> {
  const answered = await engine().load(text);
  if (answered === null || answered.refusals.length > 0) return;
  lastGood = text;
  showAnswer(answered);
}

/** How often work was stopped. */
let stops = 0;

/** Begins. Edits within one turn of the event loop are answered once. */
export function startSteering(): void {
  effect(() => {
    const text = rules.value;
    if (text !== "") void steer(text);
  });
  effect(() => {
    const frame = selectedFrame.value;
    // The way is another one after each change of the rules.
    if (answer.value !== null) void trace(frame);
  });
  whenStuck(offerRestart);
}

/** Ends the work under way; the engine with it, if it does not end by itself. */
export async function stopWork(): Promise<void> {
  stops++;
  const late = setTimeout(() => void restart(), GRACE);
  await engine().stop();
  clearTimeout(late);
}

/** Resolves when rules have been answered for the first time. */
export function untilAnswered(): Promise<void> {
  return until(() => answer.value !== null);
}

async function steer(text: string): Promise<void> {
  const [stopsBefore, since] = [stops, lastInput()];
  try {
    const answered = await working((progress) => engine().load(text, progress), "Loading rules");
    if (text !== rules.peek()) return;
    // Null also says that newer work came, whose answer follows.
    if (answered === null) {
      if (stops > stopsBefore) refusals.value = [failure(STOPPED)];
    } else {
      if (answered.refusals.length === 0) lastGood = text;
      showAnswer(answered, since);
    }
  } catch (error) {
    if (text === rules.peek()) refusals.value = [failure(error instanceof Error ? error.message : String(error))];
  }
}

const STOPPED = "these rules were stopped before their frames were steered";

async function trace(frame: number | null): Promise<void> {
  const traced =
    frame === null
      ? null
      : await engine()
          .way(frame)
          .catch(() => null);
  const spoken = traced === null ? null : wayInOwnWords(traced);
  const found = await Promise.race([spoken, later(OWN_WORDS, traced)]);
  if (frame !== selectedFrame.peek()) return;
  // Null may also say that a newer call came, whose answer follows.
  if (found === null && frame !== null && frame === way.peek()?.frame) return;
  const isSame = found !== null && found.frame === way.peek()?.frame;
  selectedStep.value = isSame ? Math.min(selectedStep.peek(), found.trace.steps.length - 1) : 0;
  way.value = found;
  const own = await spoken;
  if (way.peek() === found) way.value = own;
}

async function later<T>(milliseconds: number, what: T): Promise<T> {
  await new Promise((resolve) => void setTimeout(resolve, milliseconds));
  return what;
}

function offerRestart(stuck: boolean): void {
  const id = "stuck";
  // What is shown of the work has a button that stops it.
  if (!stuck || work.peek() !== null) {
    dismiss(id);
    return;
  }
  const text = "The engine has not answered for several seconds: these rules or frames keep it busy.";
  notify({ id, text, actions: [{ title: "Stop it", run: () => void restart() }] });
}

/** Restarts the engine with the last good rules and the open capture. */
async function restart(): Promise<void> {
  const text = rules.peek();
  const file = openFile.peek();
  restartEngine();
  forgetWork();
  const answered = lastGood === null ? null : await engine().load(lastGood);
  if (answered !== null) showAnswer(answered);
  engineLife.value++;
  if (file !== null) await openCapture(file.file, file.name);
  if (text !== rules.peek() || text === lastGood) return;
  refusals.value = [failure(STOPPED)];
}

function failure(text: string): RulesRefusal {
  return { message: text, text, hint: null, path: null, offset: null };
}
