/** An action of the text of `tc filter show`, in the words of a command. */
import type { Word } from "../../../text/refusal.js";
import { at } from "./listed.js";

type Assume = (word: Word, reason: string) => void;

/** The words of an action after `action order N:`, with those of its other lines. */
export function actionWords(words: readonly Word[], assume: Assume): Word[] {
  const [kind, ...rest] = words;
  if (kind === undefined) return [];
  const turned = (TURN[kind.text] ?? same)(rest, assume);
  return [...at(kind.place, "action"), kind, ...turned];
}

const same = (words: readonly Word[]): readonly Word[] => words;

const TURN: Readonly<Record<string, (words: readonly Word[], assume: Assume) => readonly Word[]>> = {
  gact: (words) => words.filter(({ text }) => text !== "action" && text !== "type"),
  // (Egress Redirect to device eth1) stolen
  mirred: (words) =>
    words.flatMap(({ text, place }) => {
      const plain = text.replace(/[()]/g, "");
      if (plain === "to") return [];
      return [{ text: plain === "device" ? "dev" : /^[EIRM][a-z]+$/.test(plain) ? plain.toLowerCase() : plain, place }];
    }),
  csum: (words) =>
    words.flatMap((word) => (word.text === "action" ? [] : [{ ...word, text: word.text.replace(/[(),]/g, "") }])),
  tunnel_key: (words) => words.map((word) => (word.text === "key_id" ? { ...word, text: "id" } : word)),
  sample: (words) =>
    words.map((word) => ({ ...word, text: word.text === "trunc_size" ? "trunc" : word.text.replace(/^1\//, "") })),
  police,
  pedit,
};

/** `police 0x1 rate 10Mbit burst 20Kb mtu 2Kb action drop/pipe overhead 0b` */
function police(words: readonly Word[], assume: Assume): readonly Word[] {
  const turned: Word[] = [];
  for (let n = 0; n < words.length; n++) {
    const word = words[n] as Word;
    if (n === 0 && word.text.startsWith("0x")) continue;
    if (word.text === "ref" || word.text === "bind") n++;
    else if (word.text === "mtu") {
      const size = words[++n];
      if (size !== undefined && size.text !== "0b") {
        assume(size, "tc prints a limit of the kernel where none was given: no frame is longer");
      }
    } else turned.push(word.text === "action" ? { ...word, text: "conform-exceed" } : word);
  }
  return turned;
}

/** `pedit action pipe keys 1`, `key #0 at ipv4+16: val 0a000001 mask 00000000` */
function pedit(words: readonly Word[]): readonly Word[] {
  const keys: Word[] = [];
  let control: readonly Word[] = [];
  for (let n = 0; n < words.length; n++) {
    const word = words[n] as Word;
    if (word.text === "action") {
      const end = words.findIndex(({ text }) => text === "keys");
      control = words.slice(n + 1, end < 0 ? n + 2 : end);
    } else if (word.text === "key") {
      const [, , , where, how, value, , mask] = words.slice(n, n + 8) as (Word | undefined)[];
      const [place, command, bits, kept] = [where, how, value, mask].map((one) => one ?? word) as [
        Word,
        Word,
        Word,
        Word,
      ];
      keys.push(
        ...[...at(word.place, "bits"), { ...place, text: place.text.replace(/:$/, "") }],
        ...[{ ...command, text: command.text === "add" ? "add" : "set" }, bits, kept],
      );
      n += 7;
    }
  }
  return [...keys, ...control];
}
