/** `printFrame` formats a frame tree as text, one line a header. */
import { hexOf } from "../bytes.js";
import { faultsOf, summaryOf } from "./summary.js";
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
  const named = tree.nodes.map(({ header, level }) => `${level === "inner" ? GAP : ""}${header}`);
  const column = Math.max(8, ...named.map((name) => name.length));
  const lines = tree.nodes.flatMap((node, i) => {
    const margin = OFFSET + GAP.length + column + GAP.length;
    const faults = faultsOf(node);
    const folded = fold([...summaryOf(node), ...faults], width - margin);
    const name = (named[i] ?? "").padEnd(column);
    const painted = folded.map((line) =>
      faults.reduce((text, fault) => text.replace(fault, paint("red", fault)), line),
    );
    const head = `${paint("dim", String(node.offset).padStart(OFFSET))}${GAP}${paint("bold", name)}${GAP}${painted[0] ?? ""}`;
    return [
      head.trimEnd(),
      ...painted.slice(1).map((line) => " ".repeat(margin) + line),
      ...(options.detail === true ? details(node, width, paint) : []),
      ...(options.hex === true ? hexLines(tree.frame, node, paint) : []),
    ];
  });
  return lines.map((line) => `${line}\n`).join("");
}

/** Words with commas between them, folded before a word that would go beyond the width. */
function fold(words: readonly string[], width: number): string[] {
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
