/** Wrapped lines go on below their own text, two columns in. */
import { RangeSetBuilder, type Extension } from "@codemirror/state";
import { Decoration, EditorView, ViewPlugin, type DecorationSet, type ViewUpdate } from "@codemirror/view";

/** Deeper lines go on at this column. */
const DEEPEST = 24;
const COLUMNS = Array.from({ length: DEEPEST + 1 }, (_, column) => column);
const LINES = COLUMNS.map((column) => Decoration.line({ class: `cm-hang${column}` }));

const styles = EditorView.theme(
  Object.fromEntries(
    COLUMNS.map((column) => [
      `.cm-line.cm-hang${column}`,
      { paddingLeft: `calc(${column + 2}ch + 8px)`, textIndent: `-${column + 2}ch` },
    ]),
  ),
);

const visibleLines = ViewPlugin.fromClass(
  class {
    lines: DecorationSet;

    constructor(view: EditorView) {
      this.lines = linesOf(view);
    }

    update({ view, docChanged, viewportChanged }: ViewUpdate): void {
      if (docChanged || viewportChanged) this.lines = linesOf(view);
    }
  },
  { decorations: ({ lines }) => lines },
);

function linesOf({ state, visibleRanges }: EditorView): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>();
  for (const { from, to } of visibleRanges) {
    for (let at = from; at <= to;) {
      const line = state.doc.lineAt(at);
      const column = Math.min(/^ */.exec(line.text)?.[0].length ?? 0, DEEPEST);
      builder.add(line.from, line.from, LINES[column] as Decoration);
      at = line.to + 1;
    }
  }
  return builder.finish();
}

export const wrapping: Extension = [EditorView.lineWrapping, visibleLines, styles];
