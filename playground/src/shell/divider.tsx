/** A divider between panes: dragged, moved with arrow keys, and put back with a double click. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { MIN, MAX, moveSplit, splitOf, type SplitName } from "./splits.js";

interface DividerProps {
  readonly name: SplitName;
  readonly label: string;
  /** The id of the place before it. */
  readonly controls: string;
}

/** Percent that an arrow key moves it, and with Shift. */
const STEP = 2;
const LARGE_STEP = 10;

export function Divider({ name, label, controls }: DividerProps): JSX.Element {
  const [place, setPlace] = useState(() => splitOf(name));
  const isColumn = name === "columns";
  const move = (percent: number | null): void => setPlace(moveSplit(name, percent));
  const onKeyDown = (event: KeyboardEvent): void => {
    const to = target(event, isColumn, place);
    if (to === undefined) return;
    event.preventDefault();
    move(to);
  };
  const onPointerMove = (event: PointerEvent): void => {
    const handle = event.currentTarget as HTMLElement;
    const around = handle.parentElement?.getBoundingClientRect();
    if (around === undefined || !handle.hasPointerCapture(event.pointerId)) return;
    move(
      isColumn
        ? ((event.clientX - around.left) / around.width) * 100
        : ((event.clientY - around.top) / around.height) * 100,
    );
  };
  return (
    <div
      class={`divider ${name}`}
      role="separator"
      tabIndex={0}
      aria-label={label}
      aria-controls={controls}
      aria-orientation={isColumn ? "vertical" : "horizontal"}
      aria-valuemin={MIN}
      aria-valuemax={MAX}
      aria-valuenow={Math.round(place)}
      onKeyDown={onKeyDown}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        event.preventDefault();
        event.currentTarget.focus();
      }}
      onPointerMove={onPointerMove}
      onDblClick={() => move(null)}
    />
  );
}

/** Where a key moves the divider; null to where it was at first, undefined for other keys. */
function target({ key, shiftKey }: KeyboardEvent, isColumn: boolean, place: number): number | null | undefined {
  const step = shiftKey ? LARGE_STEP : STEP;
  if (key === (isColumn ? "ArrowLeft" : "ArrowUp")) return place - step;
  if (key === (isColumn ? "ArrowRight" : "ArrowDown")) return place + step;
  if (key === "Home") return MIN;
  if (key === "End") return MAX;
  return key === "Enter" ? null : undefined;
}
