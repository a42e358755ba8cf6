/** Repairs of an explanation: each was tried by the engine, and a button makes it. */
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { OwnRepair } from "flowsteer/import";
import { End } from "../../answers/compare/end.js";
import type { RulesEffect } from "../../engine/api.js";
import { counted, countText } from "../../parts/format.js";
import { answer } from "../../state/answer.js";
import { commands } from "../../state/commands.js";
import { editRules, editWritten, rules, source, written } from "../../state/document.js";
import { dismiss, notify } from "../../state/notices.js";
import { editsOfText } from "../../state/ownWords.js";
import { filter, selectedFrame } from "../../state/selection.js";
import { editsBetween } from "../../text/json.js";
import { effects, lookAtRepairs } from "./effects.js";

export function Repairs({ repairs }: { readonly repairs: readonly OwnRepair[] }): JSX.Element | null {
  const able = repairs.filter(isAble);
  useEffect(() => lookAtRepairs(able), [repairs]);
  const told = repairs.filter((one) => !able.includes(one));
  if (repairs.length === 0) return null;
  return (
    <ul class="repairs" aria-label="Repairs">
      {able.map((repair) => (
        <li key={repair.sentence}>
          <button type="button" aria-label={`${verbOf(repair)}: ${repair.sentence}`} onClick={() => void make(repair)}>
            {verbOf(repair)}
          </button>
          <span>
            {textOf(repair)} <Effect repair={repair} effect={effects.value.get(repair.sentence)} />
          </span>
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

/** The ends of so many groups are shown. */
const SHOWN = 2;

interface EffectProps {
  readonly repair: OwnRepair;
  readonly effect: RulesEffect | undefined;
}

/** Which other frames of the list a repair changes. */
function Effect({ repair, effect }: EffectProps): JSX.Element | null {
  if (effect === undefined) return null;
  const { changed, groups, numbers, looked } = effect;
  const of = looked < (answer.value?.frames ?? 0) ? ` of the first ${countText(looked)}` : "";
  // A proof about all frames says more.
  if (changed === 0 && repair.standing === "safe") return null;
  if (changed === 0) return <span class="muted">No other frame{of} changes.</span>;
  return (
    <span class="repair-effect">
      <b>{`${counted(changed, "other frame")}${of} ${changed === 1 ? "changes" : "change"}: `}</b>
      {groups.slice(0, SHOWN).map(({ id, before, after, frames }) => (
        <span key={id} class="repair-group">
          {countText(frames)} <End end={before} /> <span aria-hidden="true">→</span>
          <span class="visually-hidden">then</span> <End end={after} />
        </span>
      ))}
      {groups.length > SHOWN && <span class="muted">and {counted(groups.length - SHOWN, "other way")} </span>}
      <button
        type="button"
        class="quiet"
        onClick={() => void (filter.value = { fields: `frame.number in {${rangesOf(numbers)}}` })}
      >
        {numbers.length < changed ? `Show the first ${countText(numbers.length)}` : "Show"}
      </button>
    </span>
  );
}

/** `3..7, 9`. */
function rangesOf(numbers: readonly number[]): string {
  const ranges: [from: number, to: number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last?.[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}..${to}`)).join(", ");
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
  const before = written.peek();
  await editBy(repair);
  const after = written.peek();
  if (before === after) return;
  const undo = (): void =>
    commands
      .peek()
      .find(({ id }) => id === "rules.undo")
      ?.run();
  notify({
    id: "repair",
    text: `${counted(changedLines(before, after), "line")} changed.`,
    actions: [{ title: "Undo", run: undo }],
  });
  // Undo is about this change alone.
  const end = written.subscribe((now) => {
    if (now === after) return;
    dismiss("repair");
    queueMicrotask(() => end());
  });
}

/** Lines of the longer text between what both texts have at their begin and at their end. */
function changedLines(before: string, after: string): number {
  const [edit] = editsBetween(before, after);
  if (edit === undefined) return 0;
  const { offset, length, content } = edit;
  const lines = [before.slice(offset, offset + length), content].map((text) => text.split("\n").length);
  return Math.max(...lines);
}

async function editBy(repair: OwnRepair): Promise<void> {
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
