/** What can be done with the document. */
import type { JSX } from "preact";
import { FillButton } from "../parts/fillButton.js";
import { rulesName, source } from "../state/document.js";
import type { Editor } from "./editor/editor.js";
import { ExampleMenu } from "./exampleMenu.js";
import { chooseScenarioFile, openNew } from "./files.js";
import { showImport } from "./import/view.js";

export function Toolbar({ editor }: { readonly editor: Editor | null }): JSX.Element {
  return (
    <div class="rules-tools">
      <ExampleMenu />
      <button type="button" onClick={openNew}>
        New
      </button>
      <button type="button" onClick={chooseScenarioFile}>
        Open
      </button>
      <button type="button" onClick={() => void showImport()}>
        Import
      </button>
      <Tool name="Undo" disabled={editor === null || editor.undoable.value === 0} run={() => editor?.undo()}>
        <path d="M5 6h6a4 4 0 0 1 0 8H7M5 6l3-3M5 6l3 3" />
      </Tool>
      <Tool name="Redo" disabled={editor === null || editor.redoable.value === 0} run={() => editor?.redo()}>
        <path d="M11 6H5a4 4 0 0 0 0 8h4M11 6L8 3M11 6L8 9" />
      </Tool>
      <Tool name="Find" disabled={editor === null} run={() => editor?.find()}>
        <path d="M7 3a4 4 0 1 0 0 8a4 4 0 0 0 0-8M10 10l4 4" />
      </Tool>
      <Tool name="Format" disabled={editor === null || source.value !== null} run={() => editor?.format()}>
        <path d="M2 3h12M5 6h9M5 9h9M2 12h12" />
      </Tool>
      <FillButton pane="rules" />
    </div>
  );
}

/** What the rules are called. */
export function NameOfRules(): JSX.Element {
  return (
    <label class="rules-name">
      <span class="visually-hidden">Name of the rules</span>
      <input
        class="mono"
        value={rulesName.value}
        spellcheck={false}
        autocomplete="off"
        onChange={({ currentTarget }) => {
          rulesName.value = currentTarget.value.trim() === "" ? "untitled" : currentTarget.value.trim();
        }}
      />
    </label>
  );
}

interface ToolProps {
  readonly name: string;
  readonly disabled: boolean;
  readonly run: () => void;
  readonly children: JSX.Element;
}

function Tool({ name, disabled, run, children }: ToolProps): JSX.Element {
  return (
    <button type="button" class="quiet tool" aria-label={name} title={name} disabled={disabled} onClick={run}>
      <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
        {children}
      </svg>
    </button>
  );
}
