/** The editor of the rules, in a shadow root, where its styles are adopted sheets. */
import { redo, redoDepth, undo, undoDepth } from "@codemirror/commands";
import { Compartment, EditorState, Prec } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { effect, signal } from "@preact/signals";
import { format } from "jsonc-parser";
import { rules } from "../../state/document.js";
import { findings, rangeOfFinding, type Finding } from "../../state/findings.js";
import { indentOf } from "../../text/json.js";
import { basics } from "./basics.js";
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
  #extras: Promise<Extras> | null = null;
  readonly #ends: (() => void)[];

  constructor(host: HTMLElement) {
    const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    const state = EditorState.create({
      doc: rules.peek(),
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
    ];
  }

  close(): void {
    for (const end of this.#ends) end();
    this.#view.destroy();
  }

  focus(): void {
    this.#view.focus();
  }

  undo(): void {
    undo(this.#view);
  }

  redo(): void {
    redo(this.#view);
  }

  /** Formats the document again: a member a line. */
  format(): boolean {
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
    const range = rangeOfFinding(rules.peek(), finding);
    this.#view.focus();
    if (range === null) return;
    const { from, to } = range;
    const effects = EditorView.scrollIntoView(from, { y: "center" });
    this.#view.dispatch({ selection: { anchor: from, head: to }, effects });
  }

  #with(run: (extras: Extras) => void): true {
    void this.#load().then(run);
    return true;
  }

  #load(): Promise<Extras> {
    return (this.#extras ??= import("./extras.js").then((extras) => {
      this.#view.dispatch({ effects: this.#more.reconfigure(extras.extras) });
      this.#ends.push(extras.followFindings(this.#view), extras.followDeadRules(this.#view));
      return extras;
    }));
  }
}
