/** The scenario that a text of another program became: to read, with what is selected lit. */
import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { effect } from "@preact/signals";
import { rules } from "../../state/document.js";
import { editsBetween } from "../../text/json.js";
import { basics } from "./basics.js";
import { followSelection, selecting } from "./lights.js";
import { scenarioLanguage } from "./scenarioLanguage.js";

export class ScenarioView {
  readonly #view: EditorView;
  readonly #ends: (() => void)[];

  constructor(host: HTMLElement) {
    const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    const state = EditorState.create({
      doc: rules.peek(),
      extensions: [
        basics,
        scenarioLanguage,
        selecting,
        EditorState.readOnly.of(true),
        EditorView.contentAttributes.of({ "aria-label": "Scenario", "aria-readonly": "true" }),
      ],
    });
    this.#view = new EditorView({ state, parent: root, root });
    this.#ends = [effect(() => this.#show(rules.value)), followSelection(this.#view)];
  }

  close(): void {
    for (const end of this.#ends) end();
    this.#view.destroy();
  }

  #show(text: string): void {
    const changes = editsBetween(this.#view.state.doc.toString(), text).map(({ offset, length, content }) => ({
      from: offset,
      to: offset + length,
      insert: content,
    }));
    if (changes.length > 0) this.#view.dispatch({ changes });
  }
}
