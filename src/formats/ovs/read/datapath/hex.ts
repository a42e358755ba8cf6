/** The headers of `tnl_push` as bytes. */
import { integerOf } from "../../../../base/integer.js";
import { namesHint } from "../../../../base/nearest.js";
import { parseIpv4, parseIpv6, parseMac } from "../../../../packet/addresses.js";
import { notImported } from "../../../text/refusal.js";
import type { Piece } from "../text.js";
import { optionsOf } from "./options.js";

type Values = ReadonlyMap<string, string>;

/** @throws NotImported a header of another kind */
export function headersHex(headers: Piece): string {
  const parts = headers.split(",").filter(({ text }) => !/^(?:size|type)=\d+$/.test(text));
  const bytes = parts.map((piece) => {
    const [name, inside] = piece.call() ?? notImported(piece, "a header has its fields in parentheses");
    const values = new Map(inside.split(",").map((one) => one.text.split("=") as [string, string]));
    const write = WRITERS[name] ?? notImported(piece, `the header ${name} of a tunnel is not read`);
    const known = FIELDS[name] ?? [];
    for (const [field] of values)
      if (!known.includes(field) && !/^(?:options)?\(/.test(field))
        notImported(piece, `there is no field ${field}; ${namesHint(field, "fields", known)}`);
    return write(values, piece);
  });
  return bytes.join("");
}

/** `gre((flags=0x2000,proto=0x6558),key=0x7)`. */
function gre(values: Values, piece: Piece): string {
  const [, flagsText = "0", protocol = "0"] = /\(flags=(\w+),proto=(\w+)\)/.exec(piece.text) ?? [];
  const flags = Number(flagsText);
  if ((flags & ~HAS_KEY) !== 0) notImported(piece, "the device writes neither checksums nor numbers of GRE");
  const key = (flags & HAS_KEY) === 0 ? "" : number(values.get("key"), 8, piece);
  return number(flagsText, 4, piece) + number(protocol, 4, piece) + key;
}

const HAS_KEY = 0x2000;

/** `geneve(oam,crit,vni=0x7,options({class=0x102,type=0x80,len=4,0xa}))`. */
function geneve(values: Values, piece: Piece): string {
  const [, inside] = piece.call() ?? notImported(piece, "a header has its fields in parentheses");
  const words = inside.split(",");
  const list = words.find(({ text }) => text.startsWith("options("))?.call()?.[1];
  const options = (list === undefined ? [] : optionsOf(list)).map((option) => {
    const head = (option.class * 256 + option.type).toString(16).padStart(6, "0");
    const length = (option.length / 4).toString(16).padStart(2, "0");
    return head + length + option.value.toString(16).padStart(2 * option.length, "0");
  });
  const flag = (name: string): number => Number(words.some(({ text }) => text === name));
  const length = options.join("").length / 8;
  const flags = 0x80 * flag("oam") + 0x40 * flag("crit");
  const vni = number(values.get("vni"), 6, piece);
  return `${number(String(length), 2, piece)}${number(String(flags), 2, piece)}6558${vni}00${options.join("")}`;
}

const WRITERS: Readonly<Record<string, (values: Values, piece: Piece) => string>> = {
  eth: (values, piece) =>
    address(values.get("dst"), parseMac, 12, piece) +
    address(values.get("src"), parseMac, 12, piece) +
    number(values.get("dl_type"), 4, piece),
  ipv4: (values, piece) =>
    `45${number(values.get("tos"), 2, piece)}${"0".repeat(8)}${number(values.get("frag"), 4, piece)}${number(values.get("ttl"), 2, piece)}` +
    `${number(values.get("proto"), 2, piece)}0000${address(values.get("src"), parseIpv4, 8, piece)}${address(values.get("dst"), parseIpv4, 8, piece)}`,
  ipv6: (values, piece) =>
    `6${number(values.get("tclass"), 2, piece)}${number(values.get("label"), 5, piece)}0000${number(values.get("proto"), 2, piece)}` +
    number(values.get("hlimit"), 2, piece) +
    address(values.get("src"), parseIpv6, 32, piece) +
    address(values.get("dst"), parseIpv6, 32, piece),
  udp: (values, piece) => `${number(values.get("src"), 4, piece)}${number(values.get("dst"), 4, piece)}00000000`,
  vxlan: (values, piece) => `${number(values.get("flags"), 8, piece)}${number(values.get("vni"), 6, piece)}00`,
  geneve,
  gre,
};

/** Fields of headers, also those that nothing depends on. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  eth: ["src", "dst", "dl_type"],
  ipv4: ["src", "dst", "proto", "tos", "ttl", "frag"],
  ipv6: ["src", "dst", "label", "proto", "tclass", "hlimit"],
  udp: ["src", "dst", "csum"],
  vxlan: ["flags", "vni"],
  geneve: ["oam", "crit", "vni"],
  gre: ["csum", "key", "seq"],
};

function number(text: string | undefined, digits: number, piece: Piece): string {
  if (text === undefined) return "0".repeat(digits);
  const value = integerOf(text) ?? notImported(piece, `"${text}" is not a number`);
  const hex = value.toString(16);
  return hex.length > digits ? notImported(piece, `${text} is too big`) : hex.padStart(digits, "0");
}

function address(
  text: string | undefined,
  parse: (text: string) => bigint | undefined,
  digits: number,
  piece: Piece,
): string {
  const value = text === undefined ? undefined : parse(text);
  return value === undefined
    ? notImported(piece, `"${text ?? ""}" is not an address`)
    : value.toString(16).padStart(digits, "0");
}
