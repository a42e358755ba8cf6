/** Keys of ciphers in texts: nothing that is said of a text shows them. */
import { parseIpv4, parseIpv6 } from "../../packet/addresses.js";

/** What stands around keys: the names of algorithms, and `ip xfrm`. */
const KEYED = /\b(?:aead|auth-trunc|rfc\d{4}\(|hmac\(|cbc\(|gcm\(|xfrm)|\bip\s+x\s+s/;
/** A key of an algorithm, however it is written. */
const KEY = /(?<![\w-])((?:aead|enc|auth(?:-trunc)?)\s+(?:"[^"]*"|'[^']*'|\S+)\s+)(?:"[^"]*"|'[^']*'|\S+)/g;
const HIDDEN = "...";
/** More hexadecimal digits than a word has that is no part of a key. */
const MAX_DIGITS = 7;
const ALGORITHM = /^['"]?(?:rfc\d{4}\()?(?:[a-z]\w{1,11}\()?[a-z]\w{1,11}(?:\([a-z]\w{1,11}\))?\){0,2}['"]?$/;
const KNOWN = /^(?:bitmap-length|decap-dscp|dont-encap-dscp|deleteall)$/;

/** Whether a text may have keys. */
export function hasKeys(text: string): boolean {
  return KEYED.test(text);
}

/** A text without its keys, and without words that may be parts of one. */
export function withoutKeys(text: string): string {
  return text.replaceAll(KEY, `$1${HIDDEN}`).replaceAll(/\S+/g, withoutDigits);
}

function withoutDigits(word: string): string {
  const digits = word.replace(/^0x/i, "").match(/[\da-f]/gi)?.length ?? 0;
  return digits <= MAX_DIGITS || isKnown(word) ? word : HIDDEN;
}

/** Whether a word is none of a key, though it has many letters and digits of hexadecimal numbers. */
function isKnown(word: string): boolean {
  const [address = "", length = ""] = word.split("/");
  const isAddress = parseIpv4(address) !== undefined || parseIpv6(address) !== undefined;
  return (isAddress && /^\d{0,3}$/.test(length)) || KNOWN.test(word) || (word.includes("(") && ALGORITHM.test(word));
}
