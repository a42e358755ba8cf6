/** The pane "Frames": the list, its filter, captures, and the packet builder. */
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { MenuPlace } from "../parts/contextMenu.js";
import { FillButton } from "../parts/fillButton.js";
import { Menu } from "../parts/menu.js";
import { countText, counted } from "../parts/format.js";
import { answer } from "../state/answer.js";
import { chooseCapture, closeCapture, openFile } from "../state/capture.js";
import { registerCommands } from "../state/commands.js";
import { startConditions } from "../state/condition.js";
import { moveCursor, startCursor, untilSelected } from "../state/cursor.js";
import { listed } from "../state/frameList.js";
import { buildPacket } from "../state/builder.js";
import { narrow } from "../state/view.js";
import { AnswerBelow } from "./answerBelow.js";
import { LoadedBuilder } from "./builder/loaded.js";
import { CaptureBar } from "./capture/captureBar.js";
import { startDrops } from "./capture/drops.js";
import { DropTarget } from "./capture/dropTarget.js";
import { Empty } from "./empty.js";
import { conditionCommands } from "./filter/apply.js";
import { ConditionMenu } from "./filter/conditionMenu.js";
import { FilterBar } from "./filter/filterBar.js";
import { frameCommands, removeFrame } from "./frameActions.js";
import { Grid } from "./list/grid.js";
import { choices, toggleColumn } from "./list/columns.js";
import { FrameMenu } from "./list/frameMenu.js";

export function Frames(): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  const [menu, setMenu] = useState<MenuPlace | null>(null);
  useEffect(() => {
    const ends = [
      startConditions(),
      startCursor(),
      startDrops(),
      registerCommands([
        { id: "frames.next", title: "Next frame", key: "j", run: () => moveCursor(1) },
        { id: "frames.previous", title: "Previous frame", key: "k", run: () => moveCursor(-1) },
        { id: "frames.filter", title: "Filter frames", key: "/", run: () => input.current?.focus() },
        { id: "frames.build", title: "Build packet", run: () => buildPacket() },
        { id: "frames.open", title: "Open capture", run: chooseCapture },
        {
          id: "frames.close",
          title: "Close capture",
          run: () => {
            if (openFile.peek() !== null) void closeCapture();
          },
        },
        ...frameCommands,
        ...conditionCommands,
      ]),
    ];
    return () => ends.forEach((end) => end());
  }, []);
  const none = answer.value?.frames === 0;
  return (
    <section class="pane frames" aria-labelledby="pane-frames">
      <header class="frames-head">
        <h2 id="pane-frames">Frames</h2>
        <Count />
        <div class="frames-actions">
          {!none && <Columns />}
          <button type="button" onClick={() => buildPacket()}>
            Build packet
          </button>
          <button type="button" onClick={chooseCapture}>
            Open capture
          </button>
          <FillButton pane="frames" />
        </div>
      </header>
      <CaptureBar />
      {!none && <FilterBar input={input} />}
      {none ? (
        <Empty />
      ) : (
        <Grid onMenu={(x, y) => setMenu({ x, y })} onRemove={() => void untilSelected().then(removeFrame)} />
      )}
      {narrow.value && !none && <AnswerBelow />}
      {menu !== null && <FrameMenu place={menu} onClose={() => setMenu(null)} />}
      <ConditionMenu />
      <LoadedBuilder />
      <DropTarget />
    </section>
  );
}

function Columns(): JSX.Element {
  const items = choices().map(({ id, ...choice }) => ({ ...choice, many: true, run: () => toggleColumn(id) }) as const);
  return <Menu label="Columns" items={items} />;
}

function Count(): JSX.Element {
  const list = listed.value;
  const text =
    list === null
      ? ""
      : list.count === list.of
        ? counted(list.of, "frame")
        : `${countText(list.count)} of ${counted(list.of, "frame")}`;
  return (
    <span class="frames-count muted" role="status">
      {text}
    </span>
  );
}
