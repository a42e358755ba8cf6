/** Text for terminals: numbers, columns, colour. */
import { styleText } from "node:util";

export { printable } from "../base/terminal.js";

export type Style = Parameters<typeof styleText>[0];

/** Colours text. */
export type Paint = (style: Style, text: string) => string;

/** When text has colour. `auto`: on a terminal, unless NO_COLOR is set (no-color.org). */
export const COLOR_MODES = ["auto", "always", "never"] as const;
export type ColorMode = (typeof COLOR_MODES)[number];

let mode: ColorMode = "auto";

/** Sets the colour mode of the command. */
export function setColorMode(wanted: ColorMode): void {
  mode = wanted;
}

/** Leaves text as it is. */
export const NO_PAINT: Paint = (_, text) => text;

export function painter(stream: { isTTY?: boolean }): Paint {
  const { NO_COLOR, TERM } = process.env;
  const auto = stream.isTTY === true && (NO_COLOR ?? "") === "" && TERM !== "dumb";
  if (mode === "never" || (mode === "auto" && !auto)) return NO_PAINT;
  return (style, text) => styleText(style, text, { validateStream: false });
}

/** 1,234,567 */
export function grouped(number: number | bigint): string {
  return number.toLocaleString("en-US");
}

/** `1 frame`, `2 frames` */
export function counted(number: number, one: string, several = `${one}s`): string {
  return `${grouped(number)} ${number === 1 ? one : several}`;
}

/** `1 element was not imported; --lenient leaves it out` */
export function leftOut(number: number, done: "imported" | "exported"): string {
  const [verb, it] = number === 1 ? ["was", "it"] : ["were", "them"];
  return `${counted(number, "element")} ${verb} not ${done}; --lenient leaves ${it} out`;
}

/** `18.8 %` */
export function share(part: number, whole: number): string {
  return whole === 0 ? "" : `${((100 * part) / whole).toFixed(1)} %`;
}

export interface Column {
  title: string;
  /** Numbers are right-aligned. */
  right?: boolean;
}

export interface Row {
  cells: readonly string[];
  style?: Style;
}

/** A table with a heading, two blanks between columns, no trailing blanks. */
export function table(paint: Paint, columns: readonly Column[], rows: readonly Row[]): string {
  const widths = columns.map(({ title }, i) =>
    rows.reduce((width, { cells }) => Math.max(width, cells[i]?.length ?? 0), title.length),
  );
  const line = (cells: readonly string[]): string =>
    columns
      .map(({ right }, i) =>
        right ? (cells[i] ?? "").padStart(widths[i] ?? 0) : (cells[i] ?? "").padEnd(widths[i] ?? 0),
      )
      .join("  ")
      .trimEnd();
  const head = paint("bold", line(columns.map(({ title }) => title)));
  const body = rows.map(({ cells, style }) => (style === undefined ? line(cells) : paint(style, line(cells))));
  return [head, ...body].map((text) => `${text}\n`).join("");
}

/** Breaks text between words, at `width` columns; `first` stands before the first line, `next` before the others. */
export function wrapped(text: string, width: number, first: string, next: string): string {
  let done = "";
  let line = first;
  let empty = true;
  for (const word of text.split(" ")) {
    if (!empty && line.length + 1 + word.length > width) {
      done += `${line}\n`;
      line = next;
      empty = true;
    }
    line += empty ? word : ` ${word}`;
    empty = false;
  }
  return `${done}${line}\n`;
}
