/** `printFrame` formats a frame tree as text, one line a header. */
import { hexOf } from "../bytes.js";
import type { ParsedHeaders } from "../parsedFrame.js";
import { faultsOf, summaryOf } from "./summary.js";
import { frameTree, lazyTree } from "./tree.js";
import type { FrameTree, TreeField, TreeNode } from "./types.js";

export interface PrintOptions {
  /** Every field below its header. @default false */
  detail?: boolean;
  /** The bytes below each header. @default false */
  hex?: boolean;
  /** Columns that lines are folded at. @default 110 */
  width?: number;
  /** Colours parts of the text. @default none */
  paint?: Paint;
}

type Paint = (style: PrintStyle, text: string) => string;

/** Offsets and bytes are dim, names of headers bold, faults red. */
export type PrintStyle = "dim" | "bold" | "red";

const WIDTH = 110;
const OFFSET = 7;
const GAP = "  ";
const ROW = 16;

/**
 * A line for each header: offset, name, what people look for first; headers of the inner packet are indented. With
 * `detail` a line for each field, too.
 *
 *     14  ipv4      10.0.0.1 > 10.0.0.2, ttl 64, udp, length 84
 *     34  udp       49152 > 4789, length 64
 *     42  vxlan     vni 5
 *     50    ethernet  ...
 *
 * The text ends with a newline, unless the frame is empty. It does not mention why parsing stopped: see `tree.stopped`.
 */
export function printFrame(tree: FrameTree, options: PrintOptions = {}): string {
  const { width = WIDTH } = options;
  const paint: Paint = options.paint ?? ((_, text) => text);
  let column = 8;
  for (const { header, level } of tree.nodes) {
    column = Math.max(column, header.length + (level === "inner" ? GAP.length : 0));
  }
  let text = "";
  for (const node of tree.nodes) {
    const name = node.level === "inner" ? GAP + node.header : node.header;
    text += headerLines(node, name.padEnd(column), width, paint);
    if (options.detail === true) text += linesText(details(node, width, paint));
    if (options.hex === true) text += linesText(hexLines(tree.frame, node, paint));
  }
  return text;
}

/**
 * The text that `printFrame` gives of `frameTree`. Without `detail` it takes a fraction of the time,
 * since it reads only the fields that it shows.
 */
export function printParsed(frame: Uint8Array, parsed: ParsedHeaders, options: PrintOptions = {}): string {
  return printFrame(options.detail === true ? frameTree(frame, parsed) : lazyTree(frame, parsed), options);
}

/** What people look for first; a long line is folded. */
function headerLines(node: TreeNode, name: string, width: number, paint: Paint): string {
  const margin = OFFSET + GAP.length + name.length + GAP.length;
  const words = summaryOf(node);
  const faults = faultsOf(node);
  const head = `${paint("dim", String(node.offset).padStart(OFFSET))}${GAP}${paint("bold", name)}${GAP}`;
  const folded = fold(faults.length === 0 ? words : [...words, ...faults], width - margin);
  if (folded.length === 1 && faults.length === 0 && folded[0] !== "") return `${head}${folded[0]}\n`;
  const painted = folded.map((line) => faults.reduce((text, fault) => text.replace(fault, paint("red", fault)), line));
  return linesText([
    `${head}${painted[0] ?? ""}`.trimEnd(),
    ...painted.slice(1).map((line) => " ".repeat(margin) + line),
  ]);
}

function linesText(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

/** Words with commas between them, folded before a word that would go beyond the width. */
function fold(words: readonly string[], width: number): string[] {
  let whole = words[0] ?? "";
  for (let i = 1; i < words.length; i++) whole += `, ${words[i]}`;
  if (whole.length <= width) return [whole];
  const lines: string[] = [];
  let line = "";
  for (const [i, word] of words.entries()) {
    const text = i === words.length - 1 ? word : `${word},`;
    for (const part of text.length > width ? pieces(text, width) : [text]) {
      if (line !== "" && line.length + part.length + 1 > width) {
        lines.push(line);
        line = "";
      }
      line += line === "" ? part : ` ${part}`;
    }
  }
  return line === "" && lines.length > 0 ? lines : [...lines, line];
}

/** Words of a text, those that no line can hold in pieces of a line. */
function pieces(text: string, width: number): string[] {
  return text.split(" ").flatMap((word) => word.match(new RegExp(`.{1,${width}}`, "gu")) ?? []);
}

function details(node: TreeNode, width: number, paint: Paint): string[] {
  const indent = GAP.repeat(node.level === "inner" ? 3 : 2);
  const column = Math.max(...node.fields.map(({ name }) => name.length), 0) + indent.length;
  const margin = OFFSET + 2 * GAP.length + column;
  const row = (offset: number, name: string, text: string): string[] =>
    fold(
      text.split(/(?<=,) /).map((word) => word.replace(/,$/, "")),
      width - margin,
    ).map((line, i) => {
      const head =
        i === 0
          ? `${paint("dim", String(offset).padStart(OFFSET))}${GAP}${(indent + name).padEnd(column)}`
          : " ".repeat(margin - GAP.length);
      return `${head}${GAP}${line}`.trimEnd();
    });
  return node.fields.flatMap((field: TreeField) => {
    const text = field.right === false ? paint("red", field.text) : field.text;
    if (field.items === undefined) return row(field.offset, field.name, text);
    return field.items.flatMap((item, i) => row(item.offset, i === 0 ? field.name : "", item.text));
  });
}

/** Rows of 16 bytes, each with its offset; with letters beside them. */
function hexLines(frame: Uint8Array, node: TreeNode, paint: Paint): string[] {
  const indent = GAP.repeat(node.level === "inner" ? 2 : 1);
  const end = node.offset + node.length;
  return Array.from({ length: Math.ceil(node.length / ROW) }, (_, i) => {
    const at = node.offset + ROW * i;
    const bytes = frame.subarray(at, Math.min(at + ROW, end));
    const letters = Array.from(bytes, (byte) => (byte > 32 && byte < 127 ? String.fromCharCode(byte) : "."));
    const pairs = (hexOf(bytes).match(/../g) ?? []).join(" ").padEnd(3 * ROW - 1);
    return `${paint("dim", String(at).padStart(OFFSET))}${GAP}${indent}${pairs}${GAP}${letters.join("")}`;
  });
}
