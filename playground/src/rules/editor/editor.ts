/** The editor of the rules, in a shadow root, where its styles are adopted sheets. */
import { redo, redoDepth, undo, undoDepth } from "@codemirror/commands";
import { Compartment, EditorState, Prec } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { effect, signal, untracked } from "@preact/signals";
import { format } from "jsonc-parser";
import type { ImportFormat } from "../../importing/api.js";
import { wordsOfFormat } from "../../importing/client.js";
import { openedRules, rules, source, written } from "../../state/document.js";
import { findings, rangeOfFinding, type Finding } from "../../state/findings.js";
import { imported, rangeInWritten } from "../../state/imported.js";
import { selectedPath } from "../../state/selection.js";
import { LINES_BEFORE, spokenOf } from "../../state/spoken.js";
import { indentOf } from "../../text/json.js";
import { basics } from "./basics.js";
import { scenarioLanguage } from "./scenarioLanguage.js";
import type * as ExtrasModule from "./extras.js";
import { followSelection, selecting } from "./lights.js";
import { follow, overSelection, typing } from "./sync.js";

type Extras = typeof ExtrasModule;

export class Editor {
  /** How many steps can be undone and redone. */
  readonly undoable = signal(0);
  readonly redoable = signal(0);
  readonly #view: EditorView;
  readonly #more = new Compartment();
  readonly #language = new Compartment();
  #extras: Promise<Extras> | null = null;
  #spoken: ImportFormat | "unknown" | null = null;
  readonly #ends: (() => void)[];

  constructor(host: HTMLElement) {
    const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    const state = EditorState.create({
      doc: written.peek(),
      extensions: [
        this.#more.of([]),
        // Keys of what is loaded when it is first used.
        Prec.lowest(
          keymap.of([
            { key: "Mod-f", run: () => this.find() },
            { key: "F2", run: () => this.describe() },
            { key: "Ctrl-Space", run: () => this.complete() },
          ]),
        ),
        keymap.of([{ key: "Shift-Alt-f", run: () => this.format() }]),
        basics,
        this.#language.of(scenarioLanguage),
        EditorView.contentAttributes.of({ "aria-label": "Rules" }),
        typing,
        overSelection,
        selecting,
        EditorView.updateListener.of(({ state: now }) => {
          this.undoable.value = undoDepth(now);
          this.redoable.value = redoDepth(now);
        }),
      ],
    });
    this.#view = new EditorView({ state, parent: root, root });
    const load = (): void => void this.#load();
    for (const event of ["focusin", "pointerenter"] as const) host.addEventListener(event, load, { once: true });
    this.#ends = [
      follow(this.#view),
      followSelection(this.#view),
      effect(() => {
        if (findings.value.length > 0) load();
      }),
      effect(() => {
        const path = spokenOf.value;
        const range = path === null ? null : untracked(() => rangeInWritten(path));
        if (range !== null && selectedPath.peek() === null && rules.peek() === openedRules.peek())
          this.#showFrom(range.from);
      }),
      effect(() => void this.#view.dom.toggleAttribute("data-source", source.value !== null)),
      effect(() => void this.#speak(source.value === null ? null : (imported.value?.format ?? "unknown"))),
    ];
  }

  close(): void {
    for (const end of this.#ends) end();
    this.#view.destroy();
  }

  focus(): void {
    this.#view.focus();
  }

  /** Whether the whole text is selected, so that what is pasted takes its place. */
  get selectsAll(): boolean {
    const { doc, selection } = this.#view.state;
    return selection.main.from === 0 && selection.main.to === doc.length;
  }

  undo(): void {
    undo(this.#view);
  }

  redo(): void {
    redo(this.#view);
  }

  /** Formats the scenario again: a member a line. Texts of other programs stay as they are. */
  format(): boolean {
    if (source.peek() !== null) return true;
    const text = rules.peek();
    const indent = indentOf(text);
    const edits = format(text, undefined, {
      insertSpaces: !indent.startsWith("\t"),
      tabSize: indent.length,
      eol: "\n",
      insertFinalNewline: true,
    });
    const changes = edits.map(({ offset, length, content }) => ({
      from: offset,
      to: offset + length,
      insert: content,
    }));
    this.#view.dispatch({ changes, userEvent: "format" });
    return true;
  }

  find(): boolean {
    return this.#with(({ openSearchPanel }) => openSearchPanel(this.#view));
  }

  nextFinding(): boolean {
    return this.#with(({ nextDiagnostic }) => {
      this.#view.focus();
      nextDiagnostic(this.#view);
    });
  }

  describe(): boolean {
    return this.#with(({ describeAtCursor }) => describeAtCursor(this.#view));
  }

  goToDefinition(): boolean {
    return this.#with(({ goToDefinition }) => goToDefinition(this.#view));
  }

  complete(): boolean {
    return this.#with(({ startCompletion }) => startCompletion(this.#view));
  }

  /** Selects what a finding is about, and gives the editor the focus. */
  goTo(finding: Finding): void {
    const range = rangeOfFinding(written.peek(), finding);
    this.#view.focus();
    if (range === null) return;
    const { from, to } = range;
    const effects = EditorView.scrollIntoView(from, { y: "center" });
    this.#view.dispatch({ selection: { anchor: from, head: to }, effects });
  }

  /** Colours and completes the text in its language; null: that of scenarios. */
  async #speak(format: ImportFormat | "unknown" | null): Promise<void> {
    if (format === this.#spoken) return;
    this.#spoken = format;
    const { sourceLanguage } = format === null ? { sourceLanguage: null } : await import("./sourceLanguage.js");
    const words = sourceLanguage === null || format === "unknown" ? [] : await wordsOfFormat(format as ImportFormat);
    if (format !== this.#spoken) return;
    const language = sourceLanguage === null ? scenarioLanguage : sourceLanguage(words);
    this.#view.dispatch({ effects: this.#language.reconfigure(language) });
  }

  /** Scrolls to a place, as the text does that is shown before the editor (still.tsx). */
  #showFrom(at: number): void {
    const { doc } = this.#view.state;
    if (at > doc.length) return;
    const first = doc.line(Math.max(1, doc.lineAt(at).number - LINES_BEFORE)).from;
    this.#view.dispatch({ effects: EditorView.scrollIntoView(first, { y: "start", yMargin: 0 }) });
  }

  #with(run: (extras: Extras) => void): true {
    void this.#load().then(run);
    return true;
  }

  #load(): Promise<Extras> {
    return (this.#extras ??= import("./extras.js").then((extras) => {
      this.#view.dispatch({ effects: this.#more.reconfigure(extras.extras) });
      const { followFindings, followDeadRules, followHits } = extras;
      this.#ends.push(...[followFindings, followDeadRules, followHits].map((follow) => follow(this.#view)));
      return extras;
    }));
  }
}
