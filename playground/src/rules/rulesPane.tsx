/** The pane "Rules": the editor, what can be done with the document, and what is wrong with it. */
import { effect } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { openSource, source } from "../state/document.js";
import { onFirstUse } from "../state/firstUse.js";
import { registerCommands } from "../state/commands.js";
import { findings, type Finding } from "../state/findings.js";
import { selectedPath } from "../state/selection.js";
import { announcement } from "./announcement.js";
import { editorCommands } from "./editorCommands.js";
import type { Editor } from "./editor/editor.js";
import { droppedScenario, openScenarioFile } from "./files.js";
import { isSourceText } from "../importing/recognition.js";
import { importView } from "./import/view.js";
import { countText, FindingList } from "./findingList.js";
import { ProofBar } from "./proofBar.js";
import { Reading } from "./reading.js";
import { ScenarioTab, showsScenario, SourceTabs } from "./sourceTabs.js";
import { StillRules } from "./still.js";
import { NameOfRules, Toolbar } from "./toolbar.js";

/** Milliseconds without a change after which counts are announced. */
const QUIET = 800;

export function RulesPane(): JSX.Element {
  const host = useRef<HTMLDivElement>(null);
  const [editor, setEditor] = useState<Editor | null>(null);
  const [dropping, setDropping] = useState(false);
  useEffect(() => {
    let made: Editor | null = null;
    let ended = false;
    const open = once(() => {
      if (ended) return;
      void import("./editor/editor.js").then(({ Editor }) => {
        if (ended || host.current === null) return;
        const focused = host.current.contains(document.activeElement);
        made = new Editor(host.current);
        if (focused) made.focus();
        setEditor(made);
      });
    });
    onFirstUse(open);
    const end = effect(() => {
      if (findings.value.length > 0 || selectedPath.value !== null) open();
    });
    return () => {
      ended = true;
      end();
      made?.close();
    };
  }, []);
  useEffect(() => (editor === null ? undefined : registerCommands(editorCommands(editor))), [editor]);
  return (
    <section
      class="pane rules"
      aria-labelledby="pane-rules"
      data-dropping={dropping}
      onDragOver={(event) => {
        if (event.dataTransfer?.types.includes("Files") !== true) return;
        event.preventDefault();
        setDropping(true);
      }}
      onPasteCapture={(event) => {
        const text = event.clipboardData?.getData("text/plain") ?? "";
        if (!(event.target instanceof Element) || event.target.closest("dialog") !== null) return;
        if ((source.peek() !== null && editor?.selectsAll !== true) || !isSourceText(text)) return;
        event.preventDefault();
        event.stopPropagation();
        openSource(text, "pasted");
      }}
      onDragLeave={() => setDropping(false)}
      onDrop={(event) => {
        setDropping(false);
        const file = droppedScenario(event.dataTransfer);
        if (file === undefined) return;
        event.preventDefault();
        event.stopPropagation();
        void openScenarioFile(file);
      }}
    >
      <ImportView />
      <header class="rules-head">
        <h2 id="pane-rules">Rules</h2>
        <NameOfRules />
        <Toolbar editor={editor} />
      </header>
      <SourceTabs />
      <div class="rules-editor" id="panel-text" hidden={showsScenario()} ref={host}>
        {editor === null && <StillRules />}
      </div>
      {showsScenario() && <ScenarioTab />}
      <Reading />
      <ProofBar />
      <FindingList onGo={(finding: Finding) => editor?.goTo(finding)} />
      <Announcer />
    </section>
  );
}

/** The dialog "Import rules", if it is open. */
function ImportView(): JSX.Element | null {
  const Open = importView.value;
  return Open === null ? null : <Open onClose={() => (importView.value = null)} />;
}

/** Does something the first time only. */
function once(what: () => void): () => void {
  let done = false;
  return () => {
    if (!done) what();
    done = true;
  };
}

/** Counts of findings, once typing pauses, and descriptions that were asked for. */
function Announcer(): JSX.Element {
  const counts = countText(findings.value);
  const before = useRef(counts);
  useEffect(() => {
    if (counts === before.current) return undefined;
    const timer = setTimeout(() => {
      before.current = counts;
      announcement.value = counts === "" ? "No errors in the rules" : `${counts} in the rules`;
    }, QUIET);
    return () => clearTimeout(timer);
  }, [counts]);
  return (
    <div class="visually-hidden" role="status">
      {announcement.value}
    </div>
  );
}
