/** Options of Geneve headers: CLASS:TYPE:DATA, in hexadecimal. */
import type { GeneveOption } from "../../reading/draft.js";
import type { MatchDraft } from "../../rules/matchDraft.js";
import { notImported, type Word } from "../../text/refusal.js";

const WORD = 8;

/** Asks for an option. @throws NotImported */
export function geneveOption(word: Word, match: MatchDraft, declare: (option: GeneveOption, word: Word) => void): void {
  const [value = "", mask] = word.text.split("/");
  if (value.includes(",")) notImported(word, "the device looks for one option");
  const option = numbers(value, word);
  if (mask !== undefined) {
    const masked = numbers(mask, word);
    if (masked.class !== 0xffff || masked.type !== 0xff) notImported(word, "class and type of an option have no masks");
  }
  declare({ class: option.class, type: option.type }, word);
  match.ask("misc.geneve_tlv_option_0_exist", 1);
  const width = option.data.length;
  if (width === 0) return;
  if (width !== WORD) notImported(word, "the device matches the first four bytes of an option");
  const dataMask = mask === undefined ? "ffffffff" : numbers(mask, word).data;
  match.ask("misc3.geneve_tlv_option_0_data", BigInt(`0x${option.data}`), BigInt(`0x${dataMask || "0"}`));
}

function numbers(text: string, word: Word): GeneveOption & { data: string } {
  const [, kind, type, data] = /^(?:0x)?([\da-f]{1,4}):(?:0x)?([\da-f]{1,2}):(?:0x)?([\da-f]*)$/i.exec(text) ?? [];
  if (kind === undefined || type === undefined || data === undefined) {
    notImported(word, "an option is CLASS:TYPE:DATA in hexadecimal");
  }
  return { class: parseInt(kind, 16), type: parseInt(type, 16), data };
}
