/** The commands of a line of a shell. */
import type { Word } from "../../text/refusal.js";

/** The commands of a line, which `;` and `&&` part. */
export function* commandsIn(words: readonly Word[]): Generator<readonly Word[]> {
  if (!words.some(({ text }) => /[;&|]/.test(text))) {
    yield commandOf(words);
    return;
  }
  let command: Word[] = [];
  for (const [n, word] of words.entries()) {
    const isEnd = /^(?:;+|&&|\|\||\|)$/.test(word.text);
    const ends = isEnd || /[^\\];$/.test(word.text);
    if (!isEnd) command.push(ends ? { ...word, text: word.text.slice(0, -1) } : word);
    if (!ends) continue;
    yield commandOf(command);
    command = [];
    // What follows is executed if the command fails, or reads what it prints.
    if (word.text === "|" || word.text === "||") {
      const rest = words.slice(n);
      if (commandOf(rest) !== rest) yield rest;
      return;
    }
  }
  yield commandOf(command);
}

/** From its command on, where that has other words in front of it: `then tc filter add ...`. */
function commandOf(words: readonly Word[]): readonly Word[] {
  const at = words.findIndex(
    ({ text }, n) => n > 0 && /(?:^|\/)tc$/.test(text) && /^(?:-|filter$|qdisc$|chain$)/.test(words[n + 1]?.text ?? ""),
  );
  return at < 0 ? words : words.slice(at);
}

/** Words as findings show them. */
export function textOf(words: readonly Word[]): string {
  const text = words.map((one) => one.text).join(" ");
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}...` : text;
}

const SHOWN = 100;
