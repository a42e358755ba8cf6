/** How findings show texts of `ip xfrm`: without keys. */
import { withoutKeys } from "../../text/keys.js";
import type { NotImported, Word } from "../../text/refusal.js";

/** AES-GCM with a salt of four bytes at the end of its key (RFC 4106, 8.1). */
export const AES_GCM = "rfc4106(gcm(aes))";
const SHOWN = 120;

/** A text of a source as a finding shows it. */
export function shown(text: string): string {
  const hidden = withoutKeys(text);
  return hidden.length > SHOWN ? `${hidden.slice(0, SHOWN)}...` : hidden;
}

/** What a reader threw, as it is shown. Values in reasons are those of the word that is refused. */
export function shownRefusal({ word, reason }: NotImported): { word: Word; reason: string } {
  return {
    word: { ...word, text: shown(word.text) },
    reason: reason.replaceAll(/"([^"]*)"/g, (_, value: string) => `"${shown(value)}"`),
  };
}
