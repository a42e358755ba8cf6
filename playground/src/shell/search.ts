/** Which actions a text finds. */
import type { Command } from "../state/commands.js";

/** The commands whose titles have every word of the text; those that have it at the beginning of a word first. */
export function search(all: readonly Command[], text: string): Command[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const ranked = all.flatMap((command) => {
    const title = command.title.toLowerCase();
    if (!words.every((word) => title.includes(word))) return [];
    return [{ command, rank: words.filter((word) => ` ${title}`.includes(` ${word}`)).length }];
  });
  return ranked.sort((a, b) => b.rank - a.rank).map(({ command }) => command);
}
