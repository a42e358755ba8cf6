/** The report of `flowsteer cover`: each table with its rules, then the sums. */
import { packetLine, type TableRef, type Witness } from "../../explain/index.js";
import type { Device, ParsedFrame } from "../../index.js";
import { counted, grouped, printable, share, wrapped, type Paint, type Style } from "../text.js";
import type { CoverAnswer, CoverCounts, CoverLine, CoverSumLine } from "./coverLines.js";
import { wordsOf } from "./elements.js";
import { hexBytes } from "../input/hex.js";
import { sourceText } from "../source.js";

const WIDTH = 100;
const LABEL = 9;
const STYLES: Readonly<Record<CoverAnswer["status"], Style>> = { live: "green", dead: "red", unknown: "yellow" };

/** The text of a line, for people. */
export function coverText(paint: Paint, device: Device, line: CoverLine): string {
  if (line.kind === "sum") return sumText(paint, line);
  if (line.kind === "table") return tableText(paint, device, line.table, line.answer);
  const { rule, answer, elements } = line;
  const kind = rule.kind === "rule" ? "" : `${rule.kind} `;
  const text = `${kind}"${rule.name}"  ${answerText(device, answer)}`;
  const own = elements?.[rule.name];
  const words = own === undefined ? "" : `${" ".repeat(2 + LABEL)}${wordsOf(own)}\n`;
  return labelled(paint, 2, answer.status, STYLES[answer.status], text) + words;
}

function tableText(paint: Paint, device: Device, table: TableRef, answer: CoverAnswer): string {
  const { domain, vport } = table;
  const owner = domain === "fdb" || device.vports === 0 ? "" : `${vport === 0 ? "PF" : `VF ${vport}`}, `;
  // The rules of a table show that it is reached.
  const more = answer.status === "live" ? "" : `: ${answerText(device, answer)}`;
  return labelled(paint, 0, domain.toUpperCase(), "bold", `${owner}table ${table.table}${more}`);
}

function answerText(device: Device, answer: CoverAnswer): string {
  if (answer.status === "live") return witnessText(device, answer.witness);
  return answer.status === "dead" ? answer.proof.sentence : `tried: ${answer.tried}`;
}

/** `ethernet / ipv4 10.0.0.1 > 10.0.0.7 / tcp 40000 > 80 / payload, at port 1`: what --packet takes. */
export function witnessText(device: Device, witness: Witness): string {
  const { before } = witness;
  const bytes = hexBytes(witness.bytes);
  const packet = packetLine(bytes, device.parseBatch([bytes])[0] as ParsedFrame);
  const after = before.length === 0 ? "" : `, after ${counted(before.length, "frame")}`;
  return `${packet}, ${sourceText(witness)}${after}`;
}

function labelled(paint: Paint, indent: number, label: string, style: Style, text: string): string {
  const head = " ".repeat(indent) + label.padEnd(LABEL);
  const lines = wrapped(printable(text), WIDTH, head, " ".repeat(head.length));
  return lines.slice(0, indent) + paint(style, label) + lines.slice(indent + label.length);
}

function sumText(paint: Paint, { rules, tables, partial }: CoverSumLine): string {
  const all = rules.live + rules.dead + rules.unknown;
  const count = (status: keyof CoverCounts): string => {
    const text = `${grouped(rules[status])} ${status} (${share(rules[status], all)})`;
    return rules[status] === 0 || status === "live" ? text : paint(STYLES[status], text);
  };
  const states = all === 0 ? "" : `: ${count("live")}, ${count("dead")}, ${count("unknown")}`;
  const reached = `${grouped(tables.live)} of ${counted(tables.live + tables.dead + tables.unknown, "table")} reached`;
  const part = partial === null ? "" : `partial: ${partial}\n`;
  return `\n${counted(all, "rule")}${states}\n${reached}\n${part}`;
}
