/** Text of the editor and of the page: typing sets the signal, a change of the signal becomes a small edit. */
import { invertedEffects, isolateHistory } from "@codemirror/commands";
import { Annotation, StateEffect, StateField, Transaction, type EditorState, type Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { effect } from "@preact/signals";
import { around, belongsToStepBefore, restore, sameAround, type Around } from "../../state/around.js";
import { openedRules, rules, written } from "../../state/document.js";
import { editsBetween } from "../../text/json.js";
import { flash, flashes } from "./flash.js";

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

const setAround = StateEffect.define<Around>();

/** What is around the text. The history of the editor has it beside the text. */
const aroundField = StateField.define<Around>({
  create: () => around.peek(),
  update: (before, { effects }) => effects.reduce((last, one) => (one.is(setAround) ? one.value : last), before),
});

/** Whether the text is one of another program. */
export function isSource(state: EditorState): boolean {
  return (state.field(aroundField, false)?.options ?? null) !== null;
}

/** What is typed, undone and redone becomes the page's text. */
export const typing: Extension = [
  aroundField,
  flashes,
  invertedEffects.of(({ startState, effects }) =>
    effects.some((one) => one.is(setAround)) ? [setAround.of(startState.field(aroundField))] : [],
  ),
  EditorView.updateListener.of(({ state, startState, docChanged, transactions }) => {
    const now = state.field(aroundField);
    if (!docChanged && now === startState.field(aroundField)) return;
    if (transactions.every((one) => one.annotation(FROM_PAGE) === true)) return;
    restore(state.doc.toString(), now);
  }),
];

/** Follows the page's text. A change is one step of the history. @returns ends it */
export function follow(view: EditorView): () => void {
  return effect(() => {
    const text = written.value;
    const wanted = around.value;
    // The editor ends lines as documents of the page do.
    if (text.includes("\r")) {
      rules.value = text.replace(/\r\n?/g, "\n");
      return;
    }
    const now = view.state.doc.toString();
    const known = view.state.field(aroundField);
    const isKnown = sameAround(known, wanted);
    if (text === now && isKnown) return;
    const joins = text === now && belongsToStepBefore(known, wanted);
    const change = view.state.update({
      changes: editsBetween(now, text).map(({ offset, length, content }) => ({
        from: offset,
        to: offset + length,
        insert: content,
      })),
      effects: isKnown ? [] : [setAround.of(wanted)],
      annotations: [FROM_PAGE.of(true), joins ? Transaction.addToHistory.of(false) : isolateHistory.of("full")],
    });
    view.dispatch(change);
    if (isKnown && text !== openedRules.peek()) flash(view, change.changes);
  });
}
