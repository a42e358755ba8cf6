/** The bytes of the frame: offset, bytes, letters. Only the rows in view are drawn. */
import { signal, useComputed } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { selectedBytes } from "../../state/selection.js";
import { bytes } from "../view.js";
import { markAt, type BytesAt } from "./bytesAt.js";
import { hexByte, hexOffset, hexRows, letterOf, movedCursor, type HexRow } from "./hexRows.js";
import { maskOfByte, pickByte, pickBytes } from "./selection.js";

/** Rows that are drawn above and below those in view. */
const BEYOND = 4;
/** The narrowest view with 16 bytes in a row, in characters. */
const WIDE = 72;

const cursor = signal(0);
/** Where a selection with Shift began. */
let anchor = 0;
const scroll = signal(0);
const size = signal({ height: 160, row: 18, width: 16 });

export function HexView(): JSX.Element | null {
  const view = useRef<HTMLDivElement>(null);
  // The cell that has the focus may leave the view before the next one is drawn.
  const moving = useRef(false);
  const shown = bytes.value;
  const { height, row: rowHeight, width } = size.value;
  const rows = useComputed(() => {
    const now = bytes.value;
    return now === null ? [] : hexRows(now.tree.frame.length, size.value.width, now.removed);
  }).value;

  useEffect(() => observe(view.current), [shown === null]);

  // What was selected elsewhere comes into view.
  const range = selectedBytes.value;
  useLayoutEffect(() => {
    const now = bytes.peek();
    const target = range?.offset ?? now?.marks[0]?.offset ?? now?.removed[0]?.offset;
    if (target !== undefined) reveal(view.current, rows, target, rowHeight);
  }, [range?.offset, shown, width]);

  useLayoutEffect(() => {
    const element = view.current;
    if (!moving.current && element?.contains(document.activeElement) !== true) return;
    const cell = element?.querySelector<HTMLElement>(`[data-at="${cursor.value}"]`);
    cell?.focus({ preventScroll: true });
    if (cell !== null) moving.current = false;
  });

  if (shown === null) return null;
  const { length } = shown.tree.frame;
  const at = Math.min(cursor.value, Math.max(0, length - 1));
  const first = Math.max(0, Math.floor(scroll.value / rowHeight) - BEYOND);
  const last = Math.min(rows.length, Math.ceil((scroll.value + height) / rowHeight) + BEYOND);
  return (
    <div class="hex mono" ref={view} onScroll={(event) => void (scroll.value = event.currentTarget.scrollTop)}>
      <div
        role="grid"
        aria-label={`Bytes of the frame, ${length}`}
        aria-rowcount={rows.length}
        aria-colcount={width + 2}
        class="hex-rows"
        data-filters=""
        style={{ height: `${rows.length * rowHeight}px` }}
        onClick={(event) => {
          const cell = (event.target as Element).closest<HTMLElement>("[data-at],[data-letter]");
          if (cell !== null) select(Number(cell.dataset["at"] ?? cell.dataset["letter"]), event.shiftKey);
        }}
        onKeyDown={(event) => {
          const page = Math.max(1, Math.floor(height / rowHeight) - 1);
          const to = movedCursor(event.key, at, { length, width, page, control: event.ctrlKey || event.metaKey });
          if (to === null) return;
          event.preventDefault();
          moving.current = true;
          select(to, event.shiftKey);
          reveal(view.current, rows, to, rowHeight);
        }}
      >
        {rows.slice(first, last).map((row, i) => (
          <Row key={first + i} row={row} index={first + i} top={(first + i) * rowHeight} shown={shown} cursor={at} />
        ))}
      </div>
    </div>
  );
}

/** @param extend whether the bytes from where the selection began are selected */
function select(at: number, extend: boolean): void {
  cursor.value = at;
  if (extend) pickBytes(anchor, at);
  else {
    anchor = at;
    pickByte(at);
  }
}

function observe(element: HTMLElement | null): (() => void) | undefined {
  if (element === null) return undefined;
  const observer = new ResizeObserver(() => {
    const font = parseFloat(getComputedStyle(element).fontSize);
    const width = element.clientWidth >= WIDE * font * 0.602 ? 16 : 8;
    size.value = { height: element.clientHeight, row: Math.round(font * 1.5), width };
  });
  observer.observe(element);
  return () => observer.disconnect();
}

function reveal(view: HTMLElement | null, rows: readonly HexRow[], at: number, rowHeight: number): void {
  const index = rows.findIndex((row) => row.kind === "bytes" && at < row.offset + row.length);
  if (view === null || index < 0) return;
  const [top, bottom] = [index * rowHeight, (index + 1) * rowHeight];
  if (top < view.scrollTop) view.scrollTop = Math.max(0, top - rowHeight);
  else if (bottom > view.scrollTop + view.clientHeight) view.scrollTop = bottom + rowHeight - view.clientHeight;
  scroll.value = view.scrollTop;
}

interface RowProps {
  readonly row: HexRow;
  readonly index: number;
  readonly top: number;
  readonly shown: BytesAt;
  readonly cursor: number;
}

function Row({ row, index, top, shown, cursor: at }: RowProps): JSX.Element {
  const place = { transform: `translateY(${top}px)` };
  const head = (
    <span role="rowheader" aria-colindex={1} class="hex-offset">
      {row.kind === "removed" ? "−" : hexOffset(row.offset)}
    </span>
  );
  if (row.kind === "removed") {
    return (
      <div role="row" aria-rowindex={index + 1} class="hex-row removed" style={place}>
        {head}
        <span role="gridcell" aria-colindex={2}>
          <span class="visually-hidden">removed </span>
          <del>{(row.bytes.match(/../g) ?? []).join(" ")}</del>
        </span>
      </div>
    );
  }
  const offsets = Array.from({ length: row.length }, (_, i) => row.offset + i);
  return (
    <div role="row" aria-rowindex={index + 1} class="hex-row" style={place}>
      {head}
      <span role="presentation" class="hex-bytes" data-width={size.value.width}>
        {offsets.map((offset, i) => (
          <Byte key={offset} offset={offset} column={i} shown={shown} current={offset === at} />
        ))}
      </span>
      <span role="gridcell" aria-colindex={size.value.width + 2} class="hex-letters">
        {offsets.map((offset) => (
          <span key={offset} data-letter={offset} {...stateOf(shown, offset)}>
            {letterOf(shown.tree.frame[offset] ?? 0)}
          </span>
        ))}
      </span>
    </div>
  );
}

interface ByteProps {
  readonly offset: number;
  readonly column: number;
  readonly shown: BytesAt;
  readonly current: boolean;
}

function Byte({ offset, column, shown, current }: ByteProps): JSX.Element {
  const state = stateOf(shown, offset);
  const bits = maskOfByte(offset);
  return (
    <span
      role="gridcell"
      aria-colindex={column + 2}
      aria-selected={state["data-lit"] ?? false}
      aria-description={state["data-mark"]}
      class="hex-byte"
      tabIndex={current ? 0 : -1}
      data-at={offset}
      {...state}
      {...(bits === null ? {} : { style: { backgroundImage: maskImage(bits) } })}
    >
      {hexByte(shown.tree.frame[offset] ?? 0)}
    </span>
  );
}

function stateOf(
  shown: BytesAt,
  offset: number,
): { "data-mark": "changed" | "inserted" | undefined; "data-lit": true | undefined } {
  const range = selectedBytes.value;
  const lit = range !== null && offset >= range.offset && offset < range.offset + range.length;
  return { "data-mark": markAt(shown.marks, offset) ?? undefined, "data-lit": lit || undefined };
}

const COLOURS: Readonly<Record<string, string>> = { "1": "var(--accent)", x: "var(--drop-fill)", "0": "var(--line)" };

/** Eight strips above a byte, one for each bit. */
function maskImage(bits: string): string {
  const stops = Array.from(bits, (bit, i) => {
    const colour = COLOURS[bit] ?? "transparent";
    return `${colour} ${i * 12.5}% ${(i + 1) * 12.5 - 2}%, transparent ${(i + 1) * 12.5 - 2}% ${(i + 1) * 12.5}%`;
  });
  return `linear-gradient(90deg, ${stops.join(", ")})`;
}
