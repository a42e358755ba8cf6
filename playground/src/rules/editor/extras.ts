/** What the editor gets when it is first used: find, completion, descriptions, marks of findings. */
import { highlightSelectionMatches, openSearchPanel, search, searchKeymap } from "@codemirror/search";
import { nextDiagnostic } from "@codemirror/lint";
import { startCompletion } from "@codemirror/autocomplete";
import { EditorState, type Extension } from "@codemirror/state";
import { keymap } from "@codemirror/view";
import { completing } from "./complete.js";
import { describeAtCursor, describing, goToDefinition } from "./describe.js";
import { dead, followDeadRules } from "./dead.js";
import { followHits, hits } from "./hits.js";
import { tokenLine } from "./tokenLine.js";
import { followFindings, marks } from "./marks.js";

/** Words of the find panel, as buttons of the page have them. */
const PHRASES = {
  next: "Next",
  previous: "Previous",
  all: "Select all",
  "match case": "Match case",
  regexp: "Pattern",
  "by word": "Whole words",
  replace: "Replace",
  "replace all": "Replace all",
};

export const extras: Extension = [
  marks,
  dead,
  hits,
  describing,
  tokenLine,
  completing,
  EditorState.phrases.of(PHRASES),
  search({ top: true }),
  highlightSelectionMatches({ minSelectionLength: 2 }),
  keymap.of(searchKeymap),
];

export {
  describeAtCursor,
  followDeadRules,
  followFindings,
  followHits,
  goToDefinition,
  nextDiagnostic,
  openSearchPanel,
  startCompletion,
};
