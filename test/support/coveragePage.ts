/** Common parts of the pages of asserted rows. */

/** Names are formatted as code. */
export const code = (text: string): string => (/^\w+$/.test(text) ? `\`${text}\`` : text);

/** A Markdown table in Prettier's format. */
export function aligned(lines: readonly (readonly string[])[]): string {
  const widths = lines[0]!.map((_, i) => Math.max(3, ...lines.map((line) => line[i]!.length)));
  const rule = widths.map((width) => "-".repeat(width));
  const [head, ...rest] = lines.map((line) => line.map((cell, i) => cell.padEnd(widths[i]!)));
  return `${[head!, rule, ...rest].map((cells) => `| ${cells.join(" | ")} |`).join("\n")}\n`;
}
