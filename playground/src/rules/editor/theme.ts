/** How the editor looks: the variables of tokens.css, which reach into its shadow root. */
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const FRAME = EditorView.theme({
  "&": {
    height: "100%",
    color: "var(--text)",
    backgroundColor: "var(--back)",
    fontSize: "var(--size)",
  },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5", overflow: "auto" },
  ".cm-content": { caretColor: "var(--text)", padding: "var(--space) 0" },
  ".cm-line": { padding: "0 calc(2 * var(--space))" },
  ".cm-cursor": { borderLeft: "2px solid var(--accent)" },
  ".cm-gutters": { backgroundColor: "var(--back)", color: "var(--muted)", border: "none" },
  ".cm-activeLineGutter": { backgroundColor: "transparent", color: "var(--text)" },
  ".cm-activeLine": { backgroundColor: "transparent" },
  "&.cm-focused .cm-activeLine": { boxShadow: "inset 0 0 0 1px var(--line)" },
  ".cm-lineNumbers .cm-gutterElement": { padding: "0 var(--space) 0 calc(2 * var(--space))", minWidth: "28px" },
  ".cm-foldGutter .cm-gutterElement": { cursor: "pointer", width: "14px", textAlign: "center" },
  ".cm-foldPlaceholder": {
    margin: "0 var(--space)",
    padding: "0 var(--space)",
    color: "var(--muted)",
    backgroundColor: "var(--surface)",
    border: "1px solid var(--line)",
    borderRadius: "var(--corner)",
  },
  ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": {
    backgroundColor: "var(--accent-back)",
  },
  "&.cm-focused .cm-matchingBracket, .cm-matchingBracket": {
    backgroundColor: "transparent",
    outline: "1px solid var(--accent)",
  },
  "&.cm-focused .cm-nonmatchingBracket, .cm-nonmatchingBracket": {
    backgroundColor: "var(--error-back)",
    color: "var(--error)",
  },
});

/** What the page selects, and what the selected frame met. */
const LIGHTS = EditorView.theme({
  ".cm-object": { backgroundColor: "color-mix(in srgb, var(--accent-back) 45%, transparent)" },
  ".cm-flash": { backgroundColor: "var(--changed-back)" },
  ".cm-marks": { width: "18px", textAlign: "center", cursor: "default" },
  ".cm-marks .cm-gutterElement:has(span + span)": { fontSize: "10px", whiteSpace: "nowrap" },
  ".cm-hits::after": { content: "attr(data-hits)", marginLeft: "2ch", color: "var(--muted)", whiteSpace: "nowrap" },
  ".cm-hit": { color: "var(--accent)" },
  ".cm-error": { color: "var(--error)" },
  ".cm-warning": { color: "var(--miss-text)" },
  ".cm-note, .cm-dead": { color: "var(--muted)" },
});

const PANELS = EditorView.theme({
  ".cm-panels": { backgroundColor: "var(--surface)", color: "var(--text)", fontFamily: "var(--font)" },
  ".cm-tokenLine": {
    display: "flex",
    gap: "calc(3 * var(--space))",
    justifyContent: "space-between",
    minHeight: "22px",
    padding: "2px calc(2 * var(--space))",
    borderTop: "1px solid var(--line)",
    fontSize: "var(--small)",
    whiteSpace: "nowrap",
  },
  ".cm-tokenLine > :first-child": { overflow: "hidden", textOverflow: "ellipsis" },
  ".cm-tokenLeave": { flex: "none", color: "var(--muted)" },
  ".cm-panels-top": { borderBottom: "1px solid var(--line)" },
  ".cm-panel.cm-search": { padding: "var(--space) calc(2 * var(--space))", fontSize: "var(--size)" },
  ".cm-panel.cm-search label": {
    display: "inline-flex",
    gap: "var(--space)",
    alignItems: "center",
    minHeight: "24px",
    marginRight: "calc(2 * var(--space))",
    fontSize: "var(--small)",
    whiteSpace: "nowrap",
  },
  ".cm-panel.cm-search input[type=checkbox]": { width: "24px", minHeight: "24px", margin: "0" },
  ".cm-panel.cm-search .cm-button": { minHeight: "24px", margin: "2px var(--space) 2px 0", padding: "0 8px" },
  ".cm-panel.cm-search .cm-textfield": { minHeight: "24px", margin: "2px var(--space) 2px 0" },
  ".cm-panel.cm-search [name=close]": { color: "var(--text)", fontSize: "16px" },
  ".cm-textfield, .cm-button": {
    border: "1px solid var(--line)",
    borderRadius: "var(--corner)",
    backgroundColor: "var(--raised)",
    backgroundImage: "none",
    color: "var(--text)",
    font: "inherit",
  },
  ".cm-button:active": { backgroundImage: "none" },
  ".cm-textfield:focus-visible, .cm-button:focus-visible, [name=close]:focus-visible": {
    outline: "2px solid var(--accent)",
  },
  ".cm-searchMatch": { backgroundColor: "var(--changed-back)", outline: "1px solid var(--line)" },
  ".cm-searchMatch-selected": { backgroundColor: "var(--accent-back)", outline: "2px solid var(--accent)" },
  ".cm-selectionMatch": { backgroundColor: "var(--surface)", outline: "1px solid var(--line)" },
});

const TOOLTIPS = EditorView.theme({
  ".cm-tooltip": {
    maxWidth: "min(520px, 90vw)",
    color: "var(--text)",
    backgroundColor: "var(--raised)",
    border: "1px solid var(--line)",
    borderRadius: "var(--corner)",
    fontFamily: "var(--font)",
    fontSize: "var(--size)",
    boxShadow: "0 2px 8px rgb(0 0 0 / 0.2)",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", maxHeight: "16em" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "2px calc(2 * var(--space))" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": {
    backgroundColor: "var(--accent)",
    color: "var(--on-accent)",
  },
  ".cm-completionDetail": { marginLeft: "calc(3 * var(--space))", fontStyle: "normal", color: "var(--muted)" },
  "li[aria-selected] .cm-completionDetail": { color: "var(--on-accent)" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "bold" },
  ".cm-tooltip.cm-completionInfo": { padding: "calc(2 * var(--space))", maxWidth: "360px" },
  ".cm-about": { padding: "calc(2 * var(--space))", overflowWrap: "anywhere" },
  ".cm-about + .cm-about": { borderTop: "1px solid var(--line)" },
  ".cm-about p": { margin: "0 0 var(--space)" },
  ".cm-about p:last-child": { margin: "0" },
  ".cm-about .cm-aboutName": { fontFamily: "var(--mono)", fontWeight: "600" },
  ".cm-about .cm-aboutForm": { color: "var(--muted)" },
});

/** Words beside colours: the underline is wavy for errors and dotted for warnings, gutter marks have shapes. */
const FINDINGS = EditorView.theme({
  ".cm-lintRange-error": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--error)",
    textDecorationSkipInk: "none",
  },
  ".cm-lintRange-warning": {
    backgroundImage: "none",
    textDecoration: "underline dotted var(--miss-text)",
    textDecorationThickness: "2px",
  },
  ".cm-lintRange-info": {
    backgroundImage: "none",
    textDecoration: "underline dotted var(--muted)",
  },
  ".cm-deadRule, .cm-deadRule span": { color: "var(--muted)", fontStyle: "italic" },
  "&[data-source] .cm-deadRule": { textDecoration: "line-through" },
  "&[data-old] .cm-lintRange-warning": { textDecorationColor: "var(--muted)" },
  "&[data-old] .cm-warning": { color: "var(--muted)" },
  ".cm-lintRange-active": { backgroundColor: "var(--error-back)" },
  ".cm-lintPoint::after": { borderBottomColor: "var(--error)" },
  ".cm-diagnostic": { padding: "calc(2 * var(--space))", marginLeft: "0", whiteSpace: "normal" },
  ".cm-diagnostic-error": { borderLeft: "4px solid var(--error)" },
  ".cm-diagnostic-warning": { borderLeft: "4px solid var(--miss-fill)" },
  ".cm-diagnostic-info": { borderLeft: "4px solid var(--muted)" },
  ".cm-diagnosticAction": {
    minHeight: "24px",
    backgroundColor: "var(--accent)",
    color: "var(--on-accent)",
    borderRadius: "var(--corner)",
    font: "inherit",
    fontSize: "var(--small)",
  },
});

const COLOURS = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--forward-text)" },
  { tag: tags.string, color: "var(--deliver-text)" },
  { tag: tags.comment, color: "var(--muted)" },
  { tag: tags.number, color: "var(--copy-text)" },
  { tag: [tags.bool, tags.null], color: "var(--drop-text)" },
  { tag: [tags.separator, tags.squareBracket, tags.brace], color: "var(--muted)" },
]);

export const theme: Extension = [FRAME, LIGHTS, PANELS, TOOLTIPS, FINDINGS, syntaxHighlighting(COLOURS)];
