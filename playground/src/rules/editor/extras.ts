/** What the editor gets when it is first used: find, completion, descriptions, marks of findings. */
import { highlightSelectionMatches, openSearchPanel, search, searchKeymap } from "@codemirror/search";
import { nextDiagnostic } from "@codemirror/lint";
import { startCompletion } from "@codemirror/autocomplete";
import type { Extension } from "@codemirror/state";
import { keymap } from "@codemirror/view";
import { completing } from "./complete.js";
import { describeAtCursor, describing, goToDefinition } from "./describe.js";
import { followFindings, marks } from "./marks.js";

export const extras: Extension = [
  marks,
  describing,
  completing,
  search({ top: true }),
  highlightSelectionMatches({ minSelectionLength: 2 }),
  keymap.of(searchKeymap),
];

export { describeAtCursor, followFindings, goToDefinition, nextDiagnostic, openSearchPanel, startCompletion };
