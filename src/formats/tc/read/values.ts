/** Values as tc reads them: numbers of several bases, masks after a slash, names of protocols. */
import { ones } from "../../../base/bits.js";
import { addressOf, prefixMask, quoted } from "../../text/numbers.js";
import { ETHERTYPES, IP_PROTOCOLS } from "../fields.js";
import { notImported, partOf, unknownName, type Word } from "../../text/refusal.js";

export interface Masked {
  readonly value: bigint;
  readonly mask: bigint;
}

/** A number: `base` 0 reads 0x as C does, 16 reads digits as hexadecimal without it too. @throws NotImported */
export function tcNumber(word: Word, what: string, bits: number, base: 0 | 10 | 16 = 0): number {
  const { text } = word;
  const hex = /^0x[\da-f]+$/i.test(text) || (base === 16 && /^[\da-f]+$/i.test(text));
  if (!hex && !/^\d+$/.test(text)) notImported(word, `${what} is a number, not ${quoted(text)}`);
  const octal = base === 0 && /^0[0-7]+$/.test(text);
  const value = hex ? parseInt(text, 16) : parseInt(text, octal ? 8 : 10);
  if (value >= 2 ** bits) notImported(word, `${what} has ${bits} bits: 0 to ${2 ** bits - 1}`);
  return value;
}

/** A number and, after a slash, the bits of it that are compared. @throws NotImported */
export function maskedNumber(word: Word, what: string, bits: number, base: 0 | 10 | 16 = 0): Masked {
  const [value, mask] = halves(word);
  return {
    value: BigInt(tcNumber(value, what, bits, base)),
    mask: mask === undefined ? ones(bits) : BigInt(tcNumber(mask, `the mask of ${what}`, bits, base)),
  };
}

/** VXLAN_GBP_MASK (include/net/vxlan.h): the flags "don't learn" and "policy applied", and the group. */
const GROUP = 0x48ffffn;

/** The group of a VXLAN header, as the kernel takes it from `vxlan_opts`. @throws NotImported */
export function vxlanGroup(word: Word, assume: (word: Word, reason: string) => void): Masked {
  const { value, mask } = maskedNumber(word, "a group", 32);
  const lost = value & mask & ~GROUP;
  if (lost !== 0n) {
    const hex = (bits: bigint): string => `0x${bits.toString(16)}`;
    assume(
      word,
      `the kernel keeps the bits ${hex(GROUP)} of a group: ${hex(lost)} is lost, ${hex(value & GROUP)} is left`,
    );
  }
  return { value: value & GROUP, mask: mask & GROUP };
}

/** As tc reads the TOS and the TTL: decimal digits, else hexadecimal ones. @throws NotImported */
export function maskedByte(word: Word, what: string): Masked {
  const [value, mask] = halves(word);
  const byte = (one: Word): bigint => BigInt(tcNumber(one, what, 8, /^\d+$/.test(one.text) ? 10 : 16));
  return { value: byte(value), mask: mask === undefined ? 0xffn : byte(mask) };
}

/** A MAC address, a mask or the number of its high bits after a slash. @throws NotImported */
export function maskedMac(word: Word): Masked {
  const [value, mask] = halves(word);
  const address = addressOf(value, "mac");
  if (mask === undefined) return { value: address, mask: prefixMask(48, 48) };
  if (mask.text.includes(":")) return { value: address, mask: addressOf(mask, "mac") };
  return { value: address, mask: prefixMask(lengthOf(mask, 48), 48) };
}

/** An address and a prefix or a mask. @throws NotImported */
export function maskedIp(word: Word, kind: "ipv4" | "ipv6"): Masked {
  const width = kind === "ipv4" ? 32 : 128;
  const [value, mask] = halves(word);
  const address = addressOf(value, kind);
  if (mask === undefined) return { value: address, mask: prefixMask(width, width) };
  if (/[.:]/.test(mask.text)) return { value: address, mask: addressOf(mask, kind) };
  return { value: address, mask: prefixMask(lengthOf(mask, width), width) };
}

function lengthOf(word: Word, most: number): number {
  const length = tcNumber(word, "a prefix", 8);
  return length <= most ? length : notImported(word, `a prefix has 0 to ${most} bits`);
}

/** The text before and after the slash. */
export function halves(word: Word): [Word, Word | undefined] {
  const at = word.text.indexOf("/");
  return at < 0 ? [word, undefined] : [partOf(word, 0, at), partOf(word, at + 1)];
}

/** A name or a number of an EtherType; undefined for `all`. @throws NotImported */
export function etherTypeOf(word: Word): number | undefined {
  const name = word.text.toLowerCase();
  if (name === "all" || name === "0x3" || name === "3") return undefined;
  const known = ETHERTYPES[name];
  if (known !== undefined) return known;
  return /^(0x)?\d/i.test(name)
    ? tcNumber(word, "an EtherType", 16)
    : IP_PROTOCOLS[name] !== undefined
      ? notImported(word, `a protocol of IP, and no EtherType: write "protocol ip" and "flower ip_proto ${name}"`)
      : unknownName(word, "an EtherType", "names", ["all", ...Object.keys(ETHERTYPES)]);
}

/** A rate in bits a second: "1mbit", "100kbps", "1000". @throws NotImported */
export function bitRate(word: Word): number {
  const [, digits, unit] = /^(\d+(?:\.\d+)?)([a-z]*)$/i.exec(word.text) ?? [];
  const [, letter = "", binary, kind = ""] = /^([kmgt]?)(i?)(bit|bps)?$/i.exec(unit ?? "?") ?? [];
  if (digits === undefined || (unit !== "" && kind === "")) {
    notImported(word, `"${word.text}" is not a rate, such as 100mbit or 10mbps`);
  }
  const step = binary === "" ? 1000 : 1024;
  return Number(digits) * step ** " kmgt".indexOf(letter.toLowerCase() || " ") * (kind.toLowerCase() === "bps" ? 8 : 1);
}

/** Bytes: "100k", "64kb", "1500". @throws NotImported */
export function byteSize(word: Word): number {
  const [, digits, letter = "", bits] = /^(\d+(?:\.\d+)?)(?:([kmg])?(b|bit)?)?$/i.exec(word.text) ?? [];
  if (digits === undefined) notImported(word, `"${word.text}" is not a size, such as 64kb`);
  const scale = 1024 ** " kmg".indexOf(letter.toLowerCase() || " ");
  return Math.round((Number(digits) * scale) / (bits?.toLowerCase() === "bit" ? 8 : 1));
}
