/** What comes after an action. */
import { notImported, type Word } from "../../../text/refusal.js";
import type { Cursor } from "../../../text/words.js";
import { tcNumber } from "../values.js";
import type { Step, Verdict } from "./steps.js";

export const CONTROLS = ["drop", "shot", "pass", "ok", "pipe", "continue", "reclassify", "trap", "goto", "stolen"];

/** Options of any action that change nothing for frames. */
export function options(words: Cursor): void {
  for (;;) {
    if (["index", "cookie", "hw_stats"].includes(words.peek() ?? "")) {
      words.next("an option");
      words.next("its value");
    } else if (!words.take("no_percpu") && !words.take("skip_sw")) return;
  }
}

/** What comes next, after its first word. @throws NotImported */
export function control(words: Cursor, word: Word): Verdict {
  switch (word.text) {
    case "drop":
    case "shot":
      return { kind: "drop" };
    case "pass":
    case "ok":
      return { kind: "pass" };
    case "pipe":
    case "continue":
    case "reclassify":
    case "trap":
      return { kind: word.text };
    case "goto":
      if (!words.take("chain")) notImported(word, "goto needs chain and its number");
      return { kind: "goto", chain: tcNumber(words.next("a chain"), "a chain", 28) };
    default:
      return notImported(word, `"${word.text}" is not a control action: ${CONTROLS.join(", ")}`);
  }
}

export function skipAction(words: Cursor): void {
  while (!words.done && words.peek() !== "action") words.next("a word");
}

export function gact(words: Cursor): Step[] {
  words.take("action");
  const verdict = control(words, words.next("drop, pass or another control"));
  if (words.peek() === "random") {
    const word = words.next("random");
    if (words.peek() !== "none") notImported(word, "the device cannot choose at random");
    for (let n = 0; n < 3 && !words.done; n++) words.next("random");
  }
  return verdict.kind === "pipe" ? [] : [{ kind: "end", verdict }];
}
