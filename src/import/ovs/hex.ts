/** The headers of `tnl_push` as bytes. */
import { parseIpv4, parseIpv6, parseMac } from "../../packet/addresses.js";
import { notImported } from "../text/refusal.js";
import type { Piece } from "./text.js";

type Values = ReadonlyMap<string, string>;

/** @throws NotImported a header of another kind */
export function hexOf(headers: Piece): string {
  const parts = headers.split(",").filter(({ text }) => text.includes("("));
  const bytes = parts.map((piece) => {
    const [name, inside] = piece.call() ?? notImported(piece, "a header has its fields in parentheses");
    const values = new Map(inside.split(",").map((one) => one.text.split("=") as [string, string]));
    const write = WRITERS[name] ?? notImported(piece, `the header ${name} of a tunnel is not read`);
    return write(values, piece);
  });
  return bytes.join("");
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
  vxlan: (values, piece) =>
    number(values.get("flags"), 8, piece) + number(`0x${BigInt(values.get("vni") ?? 0).toString(16)}00`, 8, piece),
  geneve: (values, piece) => {
    if ([...values.keys()].some((one) => one.startsWith("options")))
      notImported(piece, "options of Geneve are not read");
    return `00006558${number(`0x${BigInt(values.get("vni") ?? 0).toString(16)}00`, 8, piece)}`;
  },
};

function number(text: string | undefined, digits: number, piece: Piece): string {
  if (text === undefined) return "0".repeat(digits);
  if (!/^(0x[\da-f]+|\d+)$/i.test(text)) notImported(piece, `"${text}" is no number`);
  const hex = BigInt(text).toString(16);
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
    ? notImported(piece, `"${text ?? ""}" is no address`)
    : value.toString(16).padStart(digits, "0");
}
