/** What is selected on the page, in the editor: the selected object is lit, rules that the frame hit have a mark. */
import { syntaxTree } from "@codemirror/language";
import { RangeSet, StateEffect, StateField, type EditorState, type Extension } from "@codemirror/state";
import { Decoration, EditorView, type DecorationSet, type GutterMarker } from "@codemirror/view";
import { effect } from "@preact/signals";
import { hitRules } from "../../state/hits.js";
import { imported } from "../../state/imported.js";
import { selectedPath } from "../../state/selection.js";
import { gutterMarks, Mark } from "./gutter.js";
import { objectPathAt, rangeOfObject, rangeOfUnread } from "./objects.js";

/** Lines of an object that are lit; a longer one has its first ones lit. */
const MAX_LINES = 500;
/** Milliseconds that the cursor rests in an object before it is selected. */
const REST = 120;

const light = StateEffect.define<string | null>();
const mark = StateEffect.define<ReadonlyMap<string, string>>();

interface Lights {
  readonly object: string | null;
  readonly hits: ReadonlyMap<string, string>;
  readonly lit: DecorationSet;
  readonly marks: RangeSet<GutterMarker>;
}

const lights = StateField.define<Lights>({
  create: (state) => lightsOf(state, null, new Map()),
  update(before, { state, startState, effects, docChanged }) {
    let { object, hits } = before;
    for (const one of effects) {
      if (one.is(light)) object = one.value;
      if (one.is(mark)) hits = one.value;
    }
    const same = object === before.object && hits === before.hits;
    if (same && !docChanged && syntaxTree(state) === syntaxTree(startState)) return before;
    return object === null && hits.size === 0 && same ? before : lightsOf(state, object, hits);
  },
  provide: (field) => [
    EditorView.decorations.from(field, ({ lit }) => lit),
    gutterMarks.from(field, ({ marks }) => marks),
  ],
});

function lightsOf(state: EditorState, object: string | null, hits: Lights["hits"]): Lights {
  const marks = [...hits].flatMap(([path, title]) => {
    const range = rangeOfObject(state, path);
    return range === null ? [] : [new Mark("hit", "▸", title).range(state.doc.lineAt(range.from).from)];
  });
  return { object, hits, lit: litLines(state, object), marks: RangeSet.of(marks, true) };
}

/** Whole lines where the object has its own, else its text. */
function litLines(state: EditorState, object: string | null): DecorationSet {
  const range = object === null ? null : rangeOfObject(state, object);
  if (range === null) return Decoration.none;
  const first = state.doc.lineAt(range.from);
  const last = state.doc.lineAt(range.to);
  const own = /^\s*$/.test(first.text.slice(0, range.from - first.from));
  if (!own) return Decoration.set([Decoration.mark({ class: "cm-object" }).range(range.from, range.to)]);
  const count = Math.min(last.number - first.number + 1, MAX_LINES);
  const line = Decoration.line({ class: "cm-object" });
  return Decoration.set(Array.from({ length: count }, (_, i) => line.range(state.doc.line(first.number + i).from)));
}

/** The object that the cursor of a view selected last; another one was selected elsewhere on the page. */
const selectedHere = new WeakMap<EditorView, string | null>();
let resting: ReturnType<typeof setTimeout> | undefined;

const cursor: Extension = EditorView.updateListener.of(({ view, selectionSet, docChanged }) => {
  if (!selectionSet || (docChanged && !view.hasFocus)) return;
  clearTimeout(resting);
  resting = setTimeout(() => {
    if (!view.hasFocus) return;
    const path = objectPathAt(view.state, view.state.selection.main.head);
    if (path === null || path === selectedPath.peek()) return;
    selectedHere.set(view, path);
    selectedPath.value = path;
  }, REST);
});

export const selecting: Extension = [lights, cursor];

/** Follows what is selected on the page. @returns ends it */
export function followSelection(view: EditorView): () => void {
  const ends = [
    effect(() => {
      const path = selectedPath.value;
      const effects: StateEffect<unknown>[] = [light.of(path)];
      const range = path === null || path === selectedHere.get(view) ? null : rangeOfUnread(view.state, path);
      if (range !== null) effects.push(EditorView.scrollIntoView(range.from, { y: "center" }));
      selectedHere.set(view, path);
      view.dispatch({ effects });
    }),
    effect(() => {
      // A text that was read again has its objects elsewhere.
      if (imported.value !== undefined) view.dispatch({ effects: mark.of(new Map(hitRules.value)) });
    }),
  ];
  return () => {
    for (const end of ends) end();
  };
}
