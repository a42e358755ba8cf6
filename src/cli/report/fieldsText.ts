/** Match parameters of a frame as text: one group a paragraph. */
import type { ParsedFrame } from "../../index.js";

const WIDTH = 100;

export function fieldsText(fields: ParsedFrame["fields"]): string {
  const groups = new Map<string, string[]>();
  for (const [name, value] of Object.entries(fields)) {
    const [group = "", bare = ""] = name.split(/\.(.*)/s);
    const shown = bare === "ethertype" ? `0x${Number(value).toString(16).padStart(4, "0")}` : String(value);
    const words = groups.get(group) ?? [];
    words.push(`${bare} ${shown}`);
    groups.set(group, words);
  }
  return [...groups]
    .flatMap(([group, words]) => wrapped(group, words))
    .map((line) => `${line}\n`)
    .join("");
}

function wrapped(group: string, words: readonly string[]): string[] {
  const margin = " ".repeat(9);
  const lines: string[] = [];
  let line = `  ${group.padEnd(7)}`;
  for (const word of words) {
    if (line.length + word.length + 2 > WIDTH) {
      lines.push(line.trimEnd());
      line = margin;
    }
    line += word.concat("  ");
  }
  return [...lines, line.trimEnd()];
}
