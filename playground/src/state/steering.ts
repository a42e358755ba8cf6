/** Keeps answer and way true to rules and selection: what is edited is steered, what is selected is traced. */
import { effect } from "@preact/signals";
import { engine } from "../engine/client.js";
import { answer, refusals } from "./answer.js";
import { rules } from "./document.js";
import { selectedFrame, selectedStep, way } from "./selection.js";

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
}

async function steer(text: string): Promise<void> {
  const answered = await engine().load(text);
  if (answered === null || text !== rules.peek()) return;
  refusals.value = answered.refusals;
  if (answered.refusals.length === 0) answer.value = answered;
}

async function trace(frame: number | null): Promise<void> {
  if (frame === null) {
    way.value = null;
    return;
  }
  const found = await engine().way(frame);
  if (frame !== selectedFrame.peek()) return;
  selectedStep.value = 0;
  way.value = found;
}
