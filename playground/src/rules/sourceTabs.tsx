/** Rules of another program: their text and the scenario that they become, as tabs. */
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Tabs } from "../parts/tabs.js";
import { editAsScenario, source } from "../state/document.js";
import { imported } from "../state/imported.js";

export type SourceTab = "text" | "scenario";

/** The tab that is shown of a text of another program. */
export const shownTab = signal<SourceTab>("text");

/** Whether the scenario of a text is shown, in place of the editor. */
export function showsScenario(): boolean {
  return source.value !== null && shownTab.value === "scenario";
}

export function SourceTabs(): JSX.Element | null {
  if (source.value === null) return null;
  const { format } = source.value.options;
  const tabs = [
    { name: "text" as const, title: `Rules (${imported.value?.format ?? format ?? "text"})` },
    { name: "scenario" as const, title: "Scenario" },
  ];
  return (
    <div class="source-tabs">
      <Tabs label="Rules and their scenario" tabs={tabs} selected={shownTab.value} onSelect={select} />
      {shownTab.value === "scenario" && (
        <button type="button" onClick={edit}>
          Edit as scenario
        </button>
      )}
    </div>
  );
}

/** Where the edit is undone, the text is shown again. */
function edit(): void {
  shownTab.value = "text";
  editAsScenario();
}

function select(tab: SourceTab): void {
  shownTab.value = tab;
}

export function ScenarioTab(): JSX.Element {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let end = (): void => undefined;
    let ended = false;
    void import("./editor/scenarioView.js").then(({ ScenarioView }) => {
      if (ended || host.current === null) return;
      const view = new ScenarioView(host.current);
      end = () => view.close();
    });
    return () => {
      ended = true;
      end();
    };
  }, []);
  return <div class="rules-editor" id="panel-scenario" role="tabpanel" aria-labelledby="tab-scenario" ref={host} />;
}
