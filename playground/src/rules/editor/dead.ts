/**
 * Rules that no frame hits: their text is grey and slanted, and a mark beside the first line says why. Screen readers
 * have the same in the list of findings: gutters are hidden from them.
 */
import { RangeSet, StateEffect, StateField, type EditorState, type Range } from "@codemirror/state";
import { Decoration, EditorView, type DecorationSet, type GutterMarker } from "@codemirror/view";
import { effect } from "@preact/signals";
import type { DeadRule } from "../../proof/api.js";
import { rules } from "../../state/document.js";
import { rangeOf } from "../../state/places.js";
import { deadRules } from "../../state/proofs.js";
import { gutterMarks, Mark } from "./gutter.js";

interface Marked {
  readonly texts: DecorationSet;
  readonly marks: RangeSet<GutterMarker>;
}

const NONE: Marked = { texts: Decoration.none, marks: RangeSet.of<GutterMarker>([]) };

const mark = StateEffect.define<Marked>();

const marked = StateField.define<Marked>({
  create: () => NONE,
  update(before, { effects, changes, docChanged }) {
    for (const one of effects) if (one.is(mark)) return one.value;
    return docChanged ? { texts: before.texts.map(changes), marks: before.marks.map(changes) } : before;
  },
  provide: (field) => [
    EditorView.decorations.from(field, ({ texts }) => texts),
    gutterMarks.from(field, ({ marks }) => marks),
  ],
});

export const dead = marked;

/** Follows the proofs of the page. @returns ends it */
export function followDeadRules(view: EditorView): () => void {
  return effect(() => {
    const found = deadRules.value;
    view.dispatch({ effects: mark.of(found.length === 0 ? NONE : markedOf(view.state, rules.peek(), found)) });
  });
}

function markedOf({ doc }: EditorState, text: string, found: readonly DeadRule[]): Marked {
  const texts: Range<Decoration>[] = [];
  const marks: Range<GutterMarker>[] = [];
  for (const { path, why } of found) {
    const range = rangeOf(text, path);
    if (range === null || range.to > doc.length) continue;
    const attributes = { title: `No frame hits this rule. ${why}` };
    texts.push(Decoration.mark({ class: "cm-deadRule", attributes }).range(range.from, range.to));
    marks.push(new Mark("dead", "⊘", attributes.title).range(doc.lineAt(range.from).from));
  }
  return { texts: Decoration.set(texts, true), marks: RangeSet.of(marks, true) };
}
