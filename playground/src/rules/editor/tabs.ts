/**
 * Tab indents only after something was typed since the editor got the focus; else it leaves the editor, as it leaves every
 * other control. Escape, then Tab, always leaves (the editor's view has that of its own).
 */
import { indentWithTab } from "@codemirror/commands";
import { StateEffect, StateField, type Extension } from "@codemirror/state";
import { EditorView, keymap, type Command } from "@codemirror/view";

const left = StateEffect.define();

/** Whether Tab indents. */
export const tabIndents = StateField.define<boolean>({
  create: () => false,
  update(before, transaction) {
    if (transaction.effects.some((one) => one.is(left))) return false;
    return before || transaction.isUserEvent("input") || transaction.isUserEvent("delete");
  },
});

const onceTyped =
  (run: Command | undefined): Command =>
  (view) =>
    view.state.field(tabIndents) && run?.(view) === true;

export const tabs: Extension = [
  tabIndents,
  EditorView.domEventHandlers({
    blur: (_event, view) => {
      if (view.state.field(tabIndents)) view.dispatch({ effects: left.of(null) });
    },
  }),
  keymap.of([{ key: "Tab", run: onceTyped(indentWithTab.run), shift: onceTyped(indentWithTab.shift) }]),
];
