/** The page: a bar, three panes with dividers, and the totals below. A narrow page shows one pane at a time. */
import type { ComponentChildren, JSX } from "preact";
import { useEffect } from "preact/hooks";
import { Answers } from "../answers/answers.js";
import { Frames } from "../frames/frames.js";
import { Notices } from "../parts/notices.js";
import { Tabs } from "../parts/tabs.js";
import { WorkBar } from "../parts/workBar.js";
import { RulesPane } from "../rules/rulesPane.js";
import { ShareView } from "../share/shareView.js";
import { registerCommands } from "../state/commands.js";
import { offerOwn, ownRules } from "../state/ownRules.js";
import { filled, narrow, shownPane, type PaneName } from "../state/view.js";
import { Way } from "../way/way.js";
import { Bar } from "./bar.js";
import { Divider } from "./divider.js";
import { keepFocus } from "./keepFocus.js";
import { startKeys } from "./keys.js";
import { openView, showTour, tourPanel } from "./openView.js";
import { PAGE_COMMANDS } from "./pageCommands.js";

const TABS = [
  { name: "rules", title: "Rules" },
  { name: "frames", title: "Frames" },
  { name: "way", title: "Path" },
  { name: "totals", title: "Totals" },
] as const;

export function App(): JSX.Element {
  useEffect(() => {
    const unregister = registerCommands(PAGE_COMMANDS);
    const endKeys = startKeys();
    const endFocus = keepFocus();
    // A reload does not end the tour.
    if (ownRules("tab") !== null) void showTour();
    else offerOwn();
    return () => {
      unregister();
      endKeys();
      endFocus();
    };
  }, []);
  return (
    <div class="app" data-shown={shownPane.value} data-filled={filled.value ?? undefined}>
      <Bar />
      <WorkBar />
      <Notices />
      <Tour />
      <main class="main-area">
        {narrow.value && (
          <Tabs label="Panes" tabs={TABS} selected={shownPane.value} onSelect={(name) => (shownPane.value = name)} />
        )}
        <div class="panes">
          <Place name="rules">
            <RulesPane />
          </Place>
          {!narrow.value && <Divider name="columns" label="Width of the rules" controls="panel-rules" />}
          <div class="right">
            <Place name="frames">
              <Frames />
            </Place>
            {!narrow.value && <Divider name="rows" label="Height of the frames" controls="panel-frames" />}
            <Place name="way">
              <Way />
            </Place>
          </div>
        </div>
        <Place name="totals">
          <Answers />
        </Place>
      </main>
      <View />
      <ShareView />
    </div>
  );
}

interface PlaceProps {
  readonly name: PaneName;
  readonly children: ComponentChildren;
}

/** Where a pane is: on a narrow page the panel of a tab. */
function Place({ name, children }: PlaceProps): JSX.Element {
  const tab = narrow.value ? ({ role: "tabpanel", "aria-labelledby": `tab-${name}` } as const) : {};
  return (
    <div class={`place place-${name}`} id={`panel-${name}`} tabIndex={-1} {...tab}>
      {children}
    </div>
  );
}

function View(): JSX.Element | null {
  const Shown = openView.value;
  return Shown === null ? null : <Shown onClose={() => (openView.value = null)} />;
}

function Tour(): JSX.Element | null {
  const Panel = tourPanel.value;
  return Panel === null ? null : <Panel />;
}
