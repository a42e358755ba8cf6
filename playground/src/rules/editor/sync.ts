/** Text of the editor and of the page: typing sets the signal, a change of the signal becomes a small edit. */
import { isolateHistory } from "@codemirror/commands";
import { Annotation, type Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { effect } from "@preact/signals";
import { rules } from "../../state/document.js";
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

/** Typed text becomes the page's rules. */
export const typing: Extension = EditorView.updateListener.of((update) => {
  if (update.docChanged && !update.transactions.every((one) => one.annotation(FROM_PAGE) === true)) {
    rules.value = update.state.doc.toString();
  }
});

/** Follows the page's rules. A change is one step of the history. @returns ends it */
export function follow(view: EditorView): () => void {
  return effect(() => {
    const text = rules.value;
    // The editor ends lines as documents of the page do.
    if (text.includes("\r")) {
      rules.value = text.replace(/\r\n?/g, "\n");
      return;
    }
    const now = view.state.doc.toString();
    if (text === now) return;
    view.dispatch({
      changes: editsBetween(now, text).map(({ offset, length, content }) => ({
        from: offset,
        to: offset + length,
        insert: content,
      })),
      annotations: [FROM_PAGE.of(true), isolateHistory.of("full")],
    });
  });
}
