/** Commands that say everything in one order: `set vxlan ip-version ipv4 vni 4 ...`. */
import type { Cursor } from "../../../text/words.js";
import { notImported, type Word } from "../../../text/refusal.js";
import { unknownWord } from "../values.js";

/**
 * Gives each key and its value, in their order: testpmd takes no other one, and none that is left out.
 *
 * @param command with its words: "set vxlan"
 * @throws NotImported
 */
export function readKeyed(
  command: string,
  keys: readonly string[],
  words: Cursor,
  take: (key: string, value: Word) => void,
): void {
  for (const key of keys) {
    const word = words.next(`"${key}"`);
    if (word.text !== key) {
      if (keys.includes(word.text)) notImported(word, `"${key}" comes here in "${command}"`);
      unknownWord(word, `key of ${command}`, [key]);
    }
    take(key, words.next(`the value of ${key}`));
  }
  if (!words.done) notImported(words.next(""), `"${command}" ends before this`);
}
