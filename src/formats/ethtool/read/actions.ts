/** What a rule of ethtool does with frames. */
import { numberOf } from "../../text/numbers.js";
import { notImported, type Word } from "../../text/refusal.js";
import type { Cursor } from "../../text/words.js";

export type Action = "drop" | { readonly queue: number } | { readonly context: number; readonly word: Word };

/** What a text says of a rule besides its match. */
export interface Found {
  queue?: number;
  drop?: boolean;
  context?: number;
  contextWord?: Word;
  loc?: number;
}

export function actionIn(words: Cursor, found: Found): void {
  const word = words.next("a queue, or -1");
  if (word.text === "-1") found.drop = true;
  else if (word.text === "-2") notImported(word, "the device does not wake the host");
  else {
    const action = BigInt(numberOf({ ...word, text: word.text }, "an action", 53));
    if (action >> 32n !== 0n)
      notImported(word, "a rule of the host delivers to queues of the host, not to those of a VF");
    found.queue = queueOf({ ...word, text: String(action) });
  }
}

/** @throws NotImported */
function queueOf(word: Word): number {
  const queue = numberOf(word, "a queue", 53);
  return queue > 65535 ? notImported(word, "a queue has a number up to 65535") : queue;
}

export function listedAction(word: Word, found: Found): void {
  const [, queue] = /^Direct to queue (\d+)$/.exec(word.text) ?? [];
  if (word.text === "Drop") found.drop = true;
  else if (queue !== undefined) found.queue = queueOf({ ...word, text: queue });
  else notImported(word, "a rule of the host drops frames, or delivers them to a queue of the host");
}
