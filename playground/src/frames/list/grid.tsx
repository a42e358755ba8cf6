/** The list of frames: only the rows around the view are in the page. */
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useReducer, useRef } from "preact/hooks";
import { engine } from "../../engine/client.js";
import { stale } from "../../state/answer.js";
import { cursor, moveCursor, selectPlace } from "../../state/cursor.js";
import { listed } from "../../state/frameList.js";
import { columns, fieldColumns } from "./columns.js";
import { Head } from "./head.js";
import { Row, rowId } from "./row.js";
import { RowWindow } from "./rowWindow.js";
import { ScrollMap } from "./scrollMap.js";

/** Rows above and below the view that are in the page too. */
const MARGIN = 12;
/** Milliseconds without scrolling after which the scroll bar is set right. */
const REST = 200;

interface GridProps {
  /** Opens the menu of the selected frame at a place of the page. */
  readonly onMenu: (x: number, y: number) => void;
  /** Removes the selected frame. */
  readonly onRemove: () => void;
}

export function Grid({ onMenu, onRemove }: GridProps): JSX.Element {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const scroller = useRef<HTMLDivElement>(null);
  const sizes = useRef({ row: 22, view: 400, head: 24 });
  const map = useRef(new ScrollMap()).current;
  const rows = useRef<RowWindow>(null);
  rows.current ??= new RowWindow(
    (first, count) => engine().rows(first, count, fieldColumns.peek()),
    () => redraw(0),
  );
  const list = listed.value;
  const count = list?.count ?? 0;
  const shown = columns.value;
  const [seen, asked] = [useRef(list), useRef(fieldColumns.value)];
  if (seen.current !== list || asked.current !== fieldColumns.value) {
    [seen.current, asked.current] = [list, fieldColumns.value];
    rows.current.renew();
  }

  const { row: height, view } = sizes.current;
  map.resize(count * height, view);
  const first = Math.max(0, Math.floor(map.top / height) - MARGIN);
  const end = Math.min(count, Math.ceil((map.top + view) / height) + MARGIN);
  rows.current.want(first, end);

  const scrollTo = (bar: number | null): void => {
    if (bar !== null && scroller.current !== null) scroller.current.scrollTop = bar;
  };
  const reveal = (place: number): void => {
    const { row, view } = sizes.current;
    const top = place * row;
    if (top < map.top) scrollTo(map.scrollTo(top));
    else if (top + row > map.top + view) scrollTo(map.scrollTo(top + row - view));
    redraw(0);
  };

  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const measure = (): void => {
      const head = element.querySelector<HTMLElement>(".frame-head")?.offsetHeight ?? 0;
      const row = Number.parseFloat(getComputedStyle(element).getPropertyValue("--row-height")) || 22;
      sizes.current = { row, head, view: Math.max(0, element.clientHeight - head) };
      if (cursor.peek() >= 0 && row !== height) map.resize(count * row, sizes.current.view);
      redraw(0);
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, []);
  // A shorter list leaves the scroll bar at another place.
  useLayoutEffect(() => scrollTo(map.settle()), [count]);
  const place = cursor.value;
  useEffect(() => {
    if (place >= 0) reveal(place);
    // A frame that was added has no row before the list is longer.
  }, [place, count, list?.filter, list?.order]);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const element = scroller.current;
    const onScroll = (): void => {
      if (element === null) return;
      scrollTo(map.scrolled(element.scrollTop));
      redraw(0);
      clearTimeout(timer);
      timer = setTimeout(() => {
        scrollTo(map.settle());
        redraw(0);
      }, REST);
    };
    element?.addEventListener("scroll", onScroll, { passive: true });
    return () => {
      clearTimeout(timer);
      element?.removeEventListener("scroll", onScroll);
    };
  }, []);

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    // Enter on a title sorts.
    if (event.key === "Enter" && event.target !== event.currentTarget) return;
    if (event.key === "ContextMenu" || (event.shiftKey && event.key === "F10")) {
      const box = document.getElementById(rowId(cursor.peek()))?.getBoundingClientRect();
      if (box === undefined) return;
      event.preventDefault();
      onMenu(box.left + 40, box.bottom);
      return;
    }
    const page = Math.max(1, Math.floor(sizes.current.view / sizes.current.row) - 1);
    const moves: Readonly<Record<string, () => void>> = {
      ArrowDown: () => moveCursor(1),
      ArrowUp: () => moveCursor(-1),
      PageDown: () => moveCursor(page),
      PageUp: () => moveCursor(-page),
      Home: () => void selectPlace(0),
      End: () => void selectPlace(count - 1),
      Delete: onRemove,
      Enter: () => void selectPlace(Math.max(0, cursor.peek())),
    };
    const move = moves[event.key];
    if (move === undefined) return;
    event.preventDefault();
    move();
  };

  const places = Array.from({ length: Math.max(0, end - first) }, (_, i) => first + i);
  return (
    <div
      ref={scroller}
      class="frame-list"
      role="grid"
      aria-label="Frames"
      aria-rowcount={count + 1}
      aria-colcount={shown.length}
      aria-activedescendant={place >= first && place < end ? rowId(place) : undefined}
      tabIndex={0}
      style={{ "--columns": shown.map(({ width }) => width).join(" ") }}
      data-stale={stale.value || undefined}
      onKeyDown={onKeyDown}
      onClick={(event) => selectRow(event, rows.current)}
      onContextMenu={(event) => {
        event.preventDefault();
        selectRow(event, rows.current);
        onMenu(event.clientX, event.clientY);
      }}
    >
      <Head />
      <div class="frame-space" role="presentation" style={{ height: `${map.height}px` }}>
        <div class="frame-rows" role="presentation" style={{ top: `${first * height + map.shift}px` }}>
          {places.map((one) => (
            <Row key={one} place={one} row={rows.current?.row(one)} selected={one === place} />
          ))}
        </div>
      </div>
    </div>
  );
}

function selectRow(event: MouseEvent, rows: RowWindow | null): void {
  const row = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-place]") : null;
  if (row === null) return;
  const place = Number(row.dataset.place);
  void selectPlace(place, rows?.row(place)?.number);
}
