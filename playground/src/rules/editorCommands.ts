/** Actions of the pane, for the palette and the list of keys. The editor has the same keys of its own. */
import type { Command } from "../state/commands.js";
import { shownPane } from "../state/view.js";
import type { Editor } from "./editor/editor.js";
import { addWitnessOfSelected } from "./proofBar.js";
import { chooseScenarioFile, openNew } from "./files.js";
import { showImport } from "./import/view.js";

export function editorCommands(editor: Editor): Command[] {
  return [
    { id: "rules.edit", title: "Edit rules", key: "e", run: () => edit(editor) },
    { id: "rules.new", title: "New rules", run: openNew },
    { id: "rules.open", title: "Open a scenario file", run: chooseScenarioFile },
    { id: "rules.import", title: "Import rules of a device or another program", run: () => void showImport() },
    { id: "rules.format", title: "Format rules", key: "Shift+Alt+F", run: () => editor.format() },
    { id: "rules.find", title: "Find in rules", run: () => editor.find() },
    { id: "rules.undo", title: "Undo", key: "Ctrl+Z", run: () => editor.undo() },
    { id: "rules.redo", title: "Redo", key: "Ctrl+Shift+Z", run: () => editor.redo() },
    { id: "rules.next", title: "Next problem in rules", key: "F8", run: () => editor.nextFinding() },
    { id: "rules.witness", title: "Add a frame that hits the selected rule", run: addWitnessOfSelected },
    { id: "rules.describe", title: "Describe what is at the cursor", key: "F2", run: () => editor.describe() },
    {
      id: "rules.definition",
      title: "Go to the object named at the cursor",
      key: "F12",
      run: () => editor.goToDefinition(),
    },
    { id: "rules.complete", title: "Complete at the cursor", run: () => editor.complete() },
  ];
}

/** On a narrow page the pane is shown first. */
function edit(editor: Editor): void {
  shownPane.value = "rules";
  requestAnimationFrame(() => editor.focus());
}
