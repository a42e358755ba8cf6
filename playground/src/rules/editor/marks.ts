/** Findings in the text: underlined, marked beside the line, and said where the cursor or pointer is. */
import { nextDiagnostic, previousDiagnostic, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { RangeSet, StateEffect, StateField, type EditorState, type Extension } from "@codemirror/state";
import { keymap, type EditorView, type GutterMarker } from "@codemirror/view";
import { effect } from "@preact/signals";
import { applyFix, findings, fixesOf, provedIsOld, rangeOfFinding, type Finding } from "../../state/findings.js";
import { gutterMarks, Mark } from "./gutter.js";

/** More findings than these are not marked. */
const MAX = 500;
const SHAPES = { error: "✕", warning: "▲", note: "i" } as const;
const GRAVITY = ["note", "warning", "error"] as const;

const mark = StateEffect.define<RangeSet<GutterMarker>>();

const beside = StateField.define<RangeSet<GutterMarker>>({
  create: () => RangeSet.empty,
  update(before, { effects, changes }) {
    for (const one of effects) if (one.is(mark)) return one.value;
    return before.map(changes);
  },
  provide: (field) => gutterMarks.from(field),
});

export const marks: Extension = [
  beside,
  keymap.of([
    { key: "F8", run: nextDiagnostic },
    { key: "Shift-F8", run: previousDiagnostic },
  ]),
];

/** Follows the findings of the page. @returns ends it */
export function followFindings(view: EditorView): () => void {
  return effect(() => {
    // The text of the page comes to the editor after this, or came before.
    const text = view.state.doc.toString();
    const shown = findings.value.slice(0, MAX).flatMap((finding) => diagnosticOf(text, finding));
    view.dispatch(setDiagnostics(view.state, shown));
    view.dispatch({ effects: mark.of(marksOf(view.state, shown)) });
    view.dom.toggleAttribute("data-old", provedIsOld.value);
  });
}

/** One mark a line: the gravest. */
function marksOf({ doc }: EditorState, shown: readonly Diagnostic[]): RangeSet<GutterMarker> {
  const lines = new Map<number, Diagnostic>();
  for (const one of shown) {
    const line = doc.lineAt(Math.min(one.from, doc.length)).from;
    const known = lines.get(line);
    if (known === undefined || gravityOf(one) > gravityOf(known)) lines.set(line, one);
  }
  const ranges = [...lines].map(([line, { severity, message }]) => {
    const kind = severity === "error" || severity === "warning" ? severity : "note";
    return new Mark(kind, SHAPES[kind], message).range(line);
  });
  return RangeSet.of(ranges, true);
}

function gravityOf({ severity }: Diagnostic): number {
  return GRAVITY.findIndex((one) => one === severity);
}

/** A finding without a place is in the list alone. */
function diagnosticOf(text: string, finding: Finding): Diagnostic[] {
  const range = rangeOfFinding(text, finding);
  if (range === null) return [];
  const { severity, text: message, hint } = finding;
  return [
    {
      ...range,
      severity: severity === "note" ? "info" : severity,
      message: hint === null ? message : `${message}\n${hint}`,
      renderMessage: () => rendered(message, hint),
      actions: fixesOf(finding).map((fix) => ({ name: fix.title, apply: () => applyFix(fix) })),
    },
  ];
}

function rendered(message: string, hint: string | null): Node {
  const element = document.createElement("div");
  for (const line of hint === null ? [message] : [message, hint]) {
    element.appendChild(document.createElement("div")).textContent = line;
  }
  return element;
}
