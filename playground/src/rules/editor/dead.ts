/**
 * Rules that no frame hits: their text is grey and slanted, and a mark beside the first line says why. Screen readers
 * have the same in the list of findings: gutters are hidden from them.
 */
import { RangeSet, StateEffect, StateField, type EditorState, type Range } from "@codemirror/state";
import { Decoration, EditorView, type DecorationSet, type GutterMarker } from "@codemirror/view";
import { effect } from "@preact/signals";
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
    view.dispatch({ effects: mark.of(found.length === 0 ? NONE : markedOf(view.state, found)) });
  });
}

type Found = (typeof deadRules.value)[number];

function markedOf({ doc }: EditorState, found: readonly Found[]): Marked {
  const text = doc.toString();
  const texts: Range<Decoration>[] = [];
  const marks: Range<GutterMarker>[] = [];
  for (const { range: rangeNow, why } of found) {
    const range = rangeNow(text);
    if (range === null) continue;
    const attributes = { title: `No frame hits this rule: ${why}.` };
    texts.push(Decoration.mark({ class: "cm-deadRule", attributes }).range(range.from, range.to));
    marks.push(new Mark("dead", "⊘", attributes.title).range(doc.lineAt(range.from).from));
  }
  return { texts: Decoration.set(texts, true), marks: RangeSet.of(marks, true) };
}
