/** The language of scenarios in the editor. */
import { json } from "@codemirror/lang-json";
import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";

export const scenarioLanguage: Extension = [
  json(),
  EditorView.contentAttributes.of({ tabindex: "0", "aria-description": "JSON. Escape, then Tab, leaves the editor." }),
];
