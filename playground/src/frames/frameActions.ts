/** What can be done with the selected frame. */
import { packetTextOf, selectedHex } from "./selectedBytes.js";
import type { ScenarioFrame } from "flowsteer/scenario";
import { answer } from "../state/answer.js";
import { buildPacket } from "../state/builder.js";
import type { Command } from "../state/commands.js";
import { untilSelected } from "../state/cursor.js";
import { editRules, rules } from "../state/document.js";
import { addFrame, remove } from "../state/edits.js";
import { valueOf } from "../text/json.js";
import { notify } from "../state/notices.js";
import { nodeAt } from "../text/places.js";
import { engine } from "../engine/client.js";
import { filter, selectedFrame, way } from "../state/selection.js";

export interface FrameAction extends Command {
  /** Whether it can be done now. It reads signals, so that an open menu follows an answer that comes later. */
  readonly can: () => boolean;
}

/** Whether the frame is one of the document, so that it can be changed there. */
function isOfDocument(): boolean {
  const frame = selectedFrame.value;
  return frame !== null && answer.value?.capture === null && nodeAt(rules.value, `frames[${frame - 1}]`) !== null;
}

const hasBytes = (): boolean => way.value !== null && way.value.frame === selectedFrame.value;

export const frameActions: readonly FrameAction[] = [
  {
    id: "frames.edit",
    title: "Edit as new frame",
    can: hasBytes,
    run: () => void packetTextOf().then((text) => text !== null && buildPacket(text)),
  },
  {
    id: "frames.copyNotation",
    title: "Copy frame as notation",
    can: hasBytes,
    run: () => void packetTextOf().then((text) => copy(text, "The frame was copied as packet notation.")),
  },
  {
    id: "frames.copyHex",
    title: "Copy frame as hex",
    can: hasBytes,
    run: () => copy(selectedHex(), "The bytes of the frame were copied as hex."),
  },
  { id: "frames.duplicate", title: "Duplicate frame", can: isOfDocument, run: duplicate },
  { id: "frames.remove", title: "Remove frame", can: isOfDocument, run: removeFrame },
  {
    id: "frames.follow",
    title: "Follow conversation",
    key: "C",
    can: () => selectedFrame.value !== null,
    run: () => void follow(),
  },
];

/**
 * The same for keys and palette, where nothing happens if it cannot be done. A key is meant for the frame that the keys
 * before it select, which may still be asked for.
 */
export const frameCommands: readonly Command[] = frameActions.map(({ can, run, ...command }) => ({
  ...command,
  run: () =>
    void untilSelected().then(() => {
      if (can()) run();
    }),
}));

/** Narrows the list to the frames between the ends of the selected one. */
async function follow(): Promise<void> {
  const frame = selectedFrame.peek();
  const fields = frame === null ? null : await engine().conversationOf(frame);
  if (fields !== null) filter.value = { fields };
  else notify({ id: "follow", text: "This frame has no addresses that a conversation could be followed by." });
}

function copy(text: string | null, done: string): void {
  if (text === null) return;
  navigator.clipboard.writeText(text).then(
    () => notify({ id: "copied", text: done }),
    () => notify({ id: "copied", text: `The browser blocked the copy. Copy it here: ${text}` }),
  );
}

function duplicate(): void {
  const frame = selectedFrame.peek();
  const node = frame === null ? null : nodeAt(rules.peek(), `frames[${frame - 1}]`);
  if (node === null) return;
  const original = valueOf(node) as ScenarioFrame;
  const name = original.name === undefined ? {} : { name: freeName(original.name) };
  const edits = addFrame(rules.peek(), { ...original, ...name });
  if (edits === null) return;
  editRules(edits);
  selectedFrame.value = (answer.peek()?.frames ?? 0) + 1;
}

/** A name that no frame of the document has yet. */
function freeName(name: string): string {
  const all = nodeAt(rules.peek(), "frames");
  const names = new Set(((all === null ? [] : valueOf(all)) as ScenarioFrame[]).map((one) => one.name));
  for (let number = 2; ; number++) {
    const free = `${name} ${number}`;
    if (!names.has(free)) return free;
  }
}

/** Takes the selected frame out of the document. */
export function removeFrame(): void {
  if (!isOfDocument()) return;
  const frame = selectedFrame.peek();
  const edits = frame === null ? null : remove(rules.peek(), `frames[${frame - 1}]`);
  if (edits !== null) editRules(edits);
}
