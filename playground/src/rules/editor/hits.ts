/** How many frames hit each rule, at the end of its first line. */
import { StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, type DecorationSet } from "@codemirror/view";
import { effect, untracked } from "@preact/signals";
import { counted } from "../../parts/format.js";
import type { Totals } from "../../engine/api.js";
import { totals } from "../../state/answer.js";
import { imported, rangeInWritten } from "../../state/imported.js";

/** More rules than these have their hits in the totals alone. */
const MAX = 5000;

const mark = StateEffect.define<DecorationSet>();

export const hits = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(before, { effects, changes }) {
    for (const one of effects) if (one.is(mark)) return one.value;
    return before.map(changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** Follows the totals of the page. @returns ends it */
export function followHits(view: EditorView): () => void {
  return effect(() => {
    const all = totals.value;
    // A text that was read again has its rules elsewhere.
    const isRead = imported.value !== undefined;
    const isShown = isRead && all !== null && all.frames > 0 && all.rules.length <= MAX;
    view.dispatch({ effects: mark.of(isShown ? untracked(() => marksOf(view, all.rules)) : Decoration.none) });
  });
}

/** An element of a text of another program may be several rules: their hits are one sum. */
function marksOf({ state: { doc } }: EditorView, rules: Totals["rules"]): DecorationSet {
  const lines = new Map<number, number>();
  for (const { path, frames } of rules) {
    const range = rangeInWritten(path);
    if (range === null || range.from > doc.length) continue;
    const line = doc.lineAt(range.from).from;
    lines.set(line, (lines.get(line) ?? 0) + frames);
  }
  const marks = [...lines].map(([line, frames]) =>
    Decoration.line({ class: "cm-hits", attributes: { "data-hits": counted(frames, "hit") } }).range(line),
  );
  return Decoration.set(marks, true);
}
