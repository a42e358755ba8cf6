/** Text of the editor and of the page: typing sets the signal, a change of the signal becomes a small edit. */
import { invertedEffects, isolateHistory } from "@codemirror/commands";
import { Annotation, StateEffect, StateField, type EditorState, type Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { batch, effect } from "@preact/signals";
import type { SourceOptions } from "../../importing/api.js";
import { rules, source, written } from "../../state/document.js";
import { editsBetween } from "../../text/json.js";

/** Marks a change that comes from the page. */
const FROM_PAGE = Annotation.define<boolean>();

/**
 * Text that comes over a selection, as from an input method, is put in by the editor: browsers that do
 * it themselves style what they move, which the content security policy refuses.
 */
export const overSelection: Extension = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { data, inputType, isComposing } = event;
    const { from, to, empty } = view.state.selection.main;
    if (inputType !== "insertText" || data === null || isComposing || view.composing) return false;
    if (empty && !data.includes("\n")) return false;
    const insert = () => view.state.update(view.state.replaceSelection(data), { userEvent: "input.type" });
    const handled = view.state.facet(EditorView.inputHandler).some((one) => one(view, from, to, data, insert));
    if (!handled) view.dispatch(insert());
    event.preventDefault();
    return true;
  },
});

const setOptions = StateEffect.define<SourceOptions | null>();

/** How the text is read; null for a scenario. The history of the editor has it beside the text. */
const optionsField = StateField.define<SourceOptions | null>({
  create: () => source.peek()?.options ?? null,
  update: (before, { effects }) => effects.reduce((last, one) => (one.is(setOptions) ? one.value : last), before),
});

/** Whether the text is one of another program. */
export function isSource(state: EditorState): boolean {
  return (state.field(optionsField, false) ?? null) !== null;
}

/** What is typed, undone and redone becomes the page's text. */
export const typing: Extension = [
  optionsField,
  invertedEffects.of(({ startState, effects }) =>
    effects.some((one) => one.is(setOptions)) ? [setOptions.of(startState.field(optionsField))] : [],
  ),
  EditorView.updateListener.of(({ state, startState, docChanged, transactions }) => {
    const options = state.field(optionsField);
    if (!docChanged && options === startState.field(optionsField)) return;
    if (transactions.every((one) => one.annotation(FROM_PAGE) === true)) return;
    const text = state.doc.toString();
    batch(() => {
      source.value = options === null ? null : { text, options };
      if (options === null) rules.value = text;
    });
  }),
];

/** Follows the page's text. A change is one step of the history. @returns ends it */
export function follow(view: EditorView): () => void {
  return effect(() => {
    const text = written.value;
    const options = source.value?.options ?? null;
    // The editor ends lines as documents of the page do.
    if (text.includes("\r")) {
      rules.value = text.replace(/\r\n?/g, "\n");
      return;
    }
    const now = view.state.doc.toString();
    const isKnown = view.state.field(optionsField) === options;
    if (text === now && isKnown) return;
    view.dispatch({
      changes: editsBetween(now, text).map(({ offset, length, content }) => ({
        from: offset,
        to: offset + length,
        insert: content,
      })),
      effects: isKnown ? [] : [setOptions.of(options)],
      annotations: [FROM_PAGE.of(true), isolateHistory.of("full")],
    });
  });
}
