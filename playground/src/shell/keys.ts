/** Keys of the whole page: each key runs the command that has it. */
import { commands } from "../state/commands.js";
import { viewIsLoading } from "./openView.js";

/** Begins. @returns ends it */
export function startKeys(): () => void {
  addEventListener("keydown", onKeyDown);
  return () => removeEventListener("keydown", onKeyDown);
}

function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || viewIsLoading.peek()) return;
  if (document.querySelector("dialog[open]") !== null) return;
  const key = keyOf(event);
  if (!event.ctrlKey && !event.metaKey && !/^F\d+$/.test(event.key) && isEditing(event)) return;
  // A line of text has a history of its own.
  if (/^Ctrl\+(Shift\+)?Z$/.test(key) && isEditing(event)) return;
  const command = commands.peek().find((one) => one.key === key);
  if (command === undefined) return;
  event.preventDefault();
  command.run();
}

/** The key as commands write it: `j`, `?`, `Ctrl+K`, `Shift+Alt+F`. The command key of a Mac counts as Ctrl. */
export function keyOf(
  event: Pick<KeyboardEvent, "key" | "code" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey">,
): string {
  const { key, code, ctrlKey, metaKey, altKey, shiftKey } = event;
  const control = ctrlKey || metaKey;
  if (!control && !altKey) return key.length === 1 ? key : `${shiftKey ? "Shift+" : ""}${key}`;
  // With Alt, the key may give another letter.
  const name = /^Key[A-Z]$/.test(code) ? code.slice(3) : key.length === 1 ? key.toUpperCase() : key;
  return `${control ? "Ctrl+" : ""}${shiftKey ? "Shift+" : ""}${altKey ? "Alt+" : ""}${name}`;
}

/** Whether the event comes from a place where keys are text. The editor is in a shadow root. */
function isEditing(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement)
    return true;
  return target instanceof HTMLInputElement && !/^(?:button|checkbox|radio|range|submit|reset)$/.test(target.type);
}
