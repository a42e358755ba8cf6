/** Lines that the page has changed in the text are lit for a moment. */
import { StateEffect, StateField, type ChangeDesc, type EditorState } from "@codemirror/state";
import { Decoration, EditorView, type DecorationSet } from "@codemirror/view";

/** Longer changes are another text. */
const MAX_LINES = 20;
const MILLISECONDS = 1600;

const light = StateEffect.define<DecorationSet>();
const line = Decoration.line({ class: "cm-flash" });

export const flashes = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(before, { effects, changes }) {
    for (const one of effects) if (one.is(light)) return one.value;
    return before.map(changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** Lights the lines of changes that were made. */
export function flash(view: EditorView, changes: ChangeDesc): void {
  const lines = linesOf(view.state, changes);
  const [first] = lines;
  if (first === undefined || lines.length > MAX_LINES) return;
  const lit = Decoration.set(lines.map((at) => line.range(at)));
  view.dispatch({ effects: [light.of(lit), EditorView.scrollIntoView(first, { y: "nearest", yMargin: 40 })] });
  setTimeout(() => {
    if (view.state.field(flashes) !== Decoration.none) view.dispatch({ effects: light.of(Decoration.none) });
  }, MILLISECONDS);
}

function linesOf({ doc }: EditorState, changes: ChangeDesc): number[] {
  const lines: number[] = [];
  changes.iterChangedRanges((_, __, from, to) => {
    const last = doc.lineAt(to).number;
    for (let number = doc.lineAt(from).number; number <= last; number++) lines.push(doc.line(number).from);
  });
  return lines;
}
