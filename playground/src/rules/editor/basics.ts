/** What the editor has before anybody touches it. */
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, foldGutter, foldKeymap, indentOnInput, indentUnit } from "@codemirror/language";
import { EditorState, type Extension } from "@codemirror/state";
import { drawSelection, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from "@codemirror/view";
import { marksGutter } from "./gutter.js";
import { tabs } from "./tabs.js";
import { theme } from "./theme.js";
import { wrapping } from "./wrapping.js";

export const basics: Extension = [
  marksGutter,
  lineNumbers(),
  foldGutter({ openText: "▾", closedText: "▸" }),
  highlightActiveLineGutter(),
  highlightActiveLine(),
  history(),
  drawSelection(),
  EditorState.allowMultipleSelections.of(true),
  EditorState.tabSize.of(2),
  indentUnit.of("  "),
  indentOnInput(),
  bracketMatching(),
  wrapping,
  tabs,
  keymap.of([...defaultKeymap, ...historyKeymap, ...foldKeymap]),
  theme,
];
