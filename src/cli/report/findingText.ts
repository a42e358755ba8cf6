/** Findings as text and as lines of JSON. */
import type { Severity } from "../../explain/index.js";
import type { CheckedFile } from "../check/findings.js";
import { counted, printable, wrapped, type Paint, type Style } from "../text.js";
import { elementsText } from "./elements.js";
import { sourceText } from "../source.js";
import { countsOf, type CheckLine, type FileLine, type FindingLine } from "./checkLines.js";

const WIDTH = 100;
const STYLES: Readonly<Record<Severity, Style>> = { error: ["red", "bold"], warning: "yellow", note: "cyan" };

/** `good`, or how many findings a file has: style and text. */
export function summary(findings: readonly FindingLine[]): [Style, string] {
  const counts = countsOf(findings);
  const worst = (["error", "warning", "note"] as const).filter((severity) => counts[severity] > 0);
  const [first] = worst;
  if (first === undefined) return ["green", "good"];
  return [STYLES[first], worst.map((severity) => counted(counts[severity], severity)).join(", ")];
}

/** A finding: a line with its place, then its sentence, its witness and its repair. */
export function findingLines(paint: Paint, finding: FindingLine): string {
  const { id, severity, sentence, witness, fix, place } = finding;
  const where = place === null || place.path === "" ? "" : ` ${printable(place.path)}`;
  const head = `${placeText(finding)}: ${paint(STYLES[severity], severity)} ${id}${where}`;
  const lines = [`${head}\n`, wrapped(printable(sentence), WIDTH, "  ", "  ")];
  if (witness !== null) {
    for (const frame of [...witness.before, witness]) {
      lines.push(`  frame ${printable(sourceText(frame))}: ${frame.bytes}\n`);
    }
  }
  lines.push(elementsText(paint, finding));
  if (fix !== null) lines.push(wrapped(printable(`repair (--fix): ${fix.sentence}`), WIDTH, "  ", "  "));
  return lines.join("");
}

/** A repair that was made. */
export function fixedLine(paint: Paint, finding: FindingLine): string {
  const { id, fix, sentence, place } = finding;
  const where =
    `${placeText(finding)}: ${paint("green", "fixed")} ${id}${place === null ? "" : ` ${place.path}`}`.trimEnd();
  return `${where}\n${wrapped(printable(`${sentence} ${fix?.sentence ?? ""}`.trimEnd()), WIDTH, "  ", "  ")}`;
}

function placeText({ file, place }: FindingLine): string {
  return printable(place === null ? file : `${file}:${place.line}:${place.column}`);
}

export function jsonLines({ name, findings }: CheckedFile, fixed: readonly FindingLine[]): string {
  const { error, warning, note } = countsOf(findings);
  const last: FileLine = {
    kind: "file",
    file: name,
    errors: error,
    warnings: warning,
    notes: note,
    fixed: fixed.map(({ id, place }) => `${id} ${place?.path ?? ""}`.trimEnd()),
  };
  const lines: CheckLine[] = [...findings, last];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}
