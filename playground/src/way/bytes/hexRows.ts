/** Rows of a hex view, and how a cursor moves in it. */
import type { Removed } from "./bytesAt.js";

export type HexRow =
  | { readonly kind: "bytes"; readonly offset: number; readonly length: number }
  /** Bytes that are no longer there, above the row that they lay in. */
  | { readonly kind: "removed"; readonly offset: number; readonly bytes: string };

/** @param width bytes in a row */
export function hexRows(length: number, width: number, removed: readonly Removed[]): HexRow[] {
  const rows: HexRow[] = [];
  const left = [...removed].sort((a, b) => a.offset - b.offset);
  const gone = (end: number): void => {
    for (let next = left[0]; next !== undefined && next.offset < end; next = left[0]) {
      left.shift();
      for (let at = 0; at < next.bytes.length; at += 2 * width) {
        rows.push({ kind: "removed", offset: next.offset, bytes: next.bytes.slice(at, at + 2 * width) });
      }
    }
  };
  for (let offset = 0; offset < length; offset += width) {
    gone(offset + width);
    rows.push({ kind: "bytes", offset, length: Math.min(width, length - offset) });
  }
  gone(Infinity);
  return rows;
}

/** Where a key takes the cursor; null for other keys. */
export function movedCursor(
  key: string,
  at: number,
  view: { readonly length: number; readonly width: number; readonly page: number; readonly control: boolean },
): number | null {
  const { length, width, page, control } = view;
  const column = at % width;
  const last = length - 1;
  const within = (to: number): number => Math.max(0, Math.min(last, to));
  /** Up and down stay in the column, as far as the row has it. */
  const rows = (count: number): number => {
    const to = at + count * width;
    return to < 0 ? (at < width ? at : column) : to > last ? (last - (last % width) > at - column ? last : at) : to;
  };
  switch (key) {
    case "ArrowLeft":
      return within(at - 1);
    case "ArrowRight":
      return within(at + 1);
    case "ArrowUp":
      return rows(-1);
    case "ArrowDown":
      return rows(1);
    case "PageUp":
      return rows(-page);
    case "PageDown":
      return rows(page);
    case "Home":
      return control ? 0 : at - column;
    case "End":
      return control ? last : within(at - column + width - 1);
    default:
      return null;
  }
}

/** The letter of a byte: a point for those without one. */
export function letterOf(byte: number): string {
  return byte > 32 && byte < 127 ? String.fromCharCode(byte) : byte === 32 ? " " : "·";
}

export function hexByte(byte: number): string {
  return byte.toString(16).padStart(2, "0");
}

export function hexOffset(offset: number): string {
  return offset.toString(16).padStart(4, "0");
}
