/** Repairs of an explanation: each was tried by the engine, and a button makes it. */
import type { JSX } from "preact";
import type { OwnRepair } from "flowsteer/import";
import { answer } from "../../state/answer.js";
import { editRules, editWritten, rules, source } from "../../state/document.js";
import { notify } from "../../state/notices.js";
import { editsOfText } from "../../state/ownWords.js";
import { selectedFrame } from "../../state/selection.js";

export function Repairs({ repairs }: { readonly repairs: readonly OwnRepair[] }): JSX.Element | null {
  const able = repairs.filter(isAble);
  const told = repairs.filter((one) => !able.includes(one));
  if (repairs.length === 0) return null;
  return (
    <ul class="repairs" aria-label="Repairs">
      {able.map((repair) => (
        <li key={repair.sentence}>
          <button type="button" aria-label={`${verbOf(repair)}: ${repair.sentence}`} onClick={() => void make(repair)}>
            {verbOf(repair)}
          </button>
          <span>{textOf(repair)}</span>
        </li>
      ))}
      {told.map((repair) => (
        <li key={repair.sentence}>{textOf(repair)}</li>
      ))}
    </ul>
  );
}

/** A repair, and what it does to other frames. */
function textOf({ sentence, others }: OwnRepair): string {
  return others === null ? sentence : `${sentence} ${others}`;
}

/** Whether a button can make it. Rules of another program are changed in their own text. */
function isAble({ of, rule, frame, edits }: OwnRepair): boolean {
  if (of === "device") return true;
  if (of === "frame") return frame !== null;
  return source.value === null ? rule !== null : edits !== undefined;
}

/** Whether the frames are of a capture, which cannot be changed. */
function isCaptured(): boolean {
  return (answer.value?.capture ?? null) !== null;
}

function verbOf({ of }: OwnRepair): string {
  return of === "frame" && isCaptured() ? "Add the changed frame to the document" : "Try repair";
}

async function make(repair: OwnRepair): Promise<void> {
  if (repair.edits !== undefined) {
    const edits = editsOfText(repair.edits);
    if (edits === null)
      notify({ id: "repair", text: "The text has changed since: the repair is not for it any more." });
    else editWritten(edits);
    return;
  }
  const { addFrame, applyRepair } = await import("../../state/edits.js");
  const text = rules.peek();
  const edits =
    isCaptured() && repair.of === "frame"
      ? addFrame(text, { name: `frame ${selectedFrame.peek()} repaired`, hex: repair.frame ?? "" })
      : applyRepair(text, repair, selectedFrame.peek());
  if (edits === null) notify({ id: "repair", text: "The document has no place for this change" });
  else editRules(edits);
}
