/** Header changes of pedit: fields by name, or bits at an offset, as changes of fields of the device. */
import { ones } from "../../../base/bits.js";
import { fieldNamed } from "../../../model/match/fields.js";
import { format, fullMask } from "../../../model/match/term.js";
import { addressOf } from "../../text/numbers.js";
import { notImported, type Word } from "../../text/refusal.js";
import type { Cursor } from "../../text/words.js";
import { PEDIT_FIELDS, PEDIT_NAMES, type PeditHeader } from "../fields.js";
import { tcNumber } from "./values.js";

/** A change of bits of a header, which are counted from its start. */
export interface BitChange {
  readonly header: PeditHeader;
  readonly at: number;
  readonly width: number;
  readonly command: "set" | "add";
  readonly value: bigint;
  /** The bits that change. */
  readonly mask: bigint;
}

/** A change of a field of the device; "LEVEL." in front of its name is still open. */
export type FieldChange =
  | { readonly field: string; readonly set: bigint; readonly mask: bigint }
  | { readonly field: string; readonly add: number };

/** Reads what follows `munge`. @throws NotImported */
export function munge(
  words: Cursor,
  l4: "tcp" | "udp" | undefined,
  l3: "ip" | "ip6" | undefined,
): BitChange | undefined {
  const header = words.next("a header, or offset,");
  if (header.text === "offset") return rawMunge(words, header, l3, l4);
  let name = header.text as PeditHeader;
  const fields = PEDIT_NAMES[name] as (typeof PEDIT_NAMES)[PeditHeader] | undefined;
  if (fields === undefined)
    notImported(header, `"${header.text}" is not a header of pedit: ${Object.keys(PEDIT_NAMES).join(", ")}`);
  const field = words.next("a field");
  if (name === "ip" && (field.text === "sport" || field.text === "dport")) {
    name = l4 ?? notImported(field, "ip_proto is needed to tell TCP from UDP");
  }
  const known = PEDIT_NAMES[name][field.text];
  if (known === undefined) {
    skipCommand(words);
    return notImported(field, `the device does not change ${field.text} of ${header.text}`);
  }
  const [at, width, kind] = known;
  const change = command(words, width, kind);
  return change === undefined ? undefined : { header: name, at, width, ...change };
}

const LISTED_HEADERS: Readonly<Record<string, PeditHeader>> = {
  eth: "eth",
  ipv4: "ip",
  ipv6: "ip6",
  tcp: "tcp",
  udp: "udp",
};

/** `HEADER+OFFSET set|add VALUE MASK`, as listings have it: 32 bits, of which the mask keeps its own. @throws NotImported */
export function listedBits(words: Cursor, l4: "tcp" | "udp" | undefined, l3: "ip" | "ip6" | undefined): BitChange {
  const where = words.next("a place");
  const [, header, digits = ""] = /^(?:(\w+)(?=[+-])\+?)?(-?\d+)$/.exec(where.text) ?? [];
  const command = words.next("set or add").text === "add" ? "add" : "set";
  const [value, kept] = [words.next("a value"), words.next("a mask")].map((one) =>
    BigInt(tcNumber(one, "bits", 32, 16)),
  );
  const offset = Number(digits);
  const known = LISTED_HEADERS[header ?? ""];
  const place = known === undefined ? placed(offset, l3, l4) : { header: known, at: offset * 8 };
  if (digits === "" || place === undefined) notImported(where, "protocol and ip_proto are needed to find the header");
  const mask = ~(kept ?? 0n) & 0xffffffffn;
  return { ...place, width: 32, command, value: (value ?? 0n) & mask, mask };
}

/** `offset N u8|u16|u32 COMMAND`: bits from the network header on, the Ethernet header before it. */
function rawMunge(
  words: Cursor,
  at: Word,
  l3: "ip" | "ip6" | undefined,
  l4: "tcp" | "udp" | undefined,
): BitChange | undefined {
  const offsetWord = words.next("an offset");
  const offset = Number(offsetWord.text);
  const size = words.next("u8, u16 or u32");
  const width = { u8: 8, u16: 16, u32: 32 }[size.text];
  if (width === undefined) notImported(size, `"${size.text}" is not a size: u8, u16, u32`);
  if (words.peek() === "at") notImported(words.next("at"), "the device does not change bits at a variable offset");
  if (!Number.isInteger(offset)) notImported(offsetWord, `an offset is a number, not "${offsetWord.text}"`);
  const change = command(words, width, undefined);
  const place =
    placed(offset, l3, l4) ?? notImported(at, "protocol and ip_proto are needed to find the header at this offset");
  return change === undefined ? undefined : { ...place, width, ...change };
}

/** The header at an offset from the network header. */
export function placed(
  offset: number,
  l3: "ip" | "ip6" | undefined,
  l4: "tcp" | "udp" | undefined,
): Pick<BitChange, "header" | "at"> | undefined {
  if (offset < 0) return offset < -14 ? undefined : { header: "eth", at: (offset + 14) * 8 };
  if (l3 === undefined) return undefined;
  const size = l3 === "ip" ? 20 : 40;
  if (offset < size) return { header: l3, at: offset * 8 };
  return l4 === undefined ? undefined : { header: l4, at: (offset - size) * 8 };
}

type Change = Pick<BitChange, "command" | "value" | "mask">;

function command(words: Cursor, width: number, kind: "mac" | "ipv4" | "ipv6" | undefined): Change | undefined {
  const full = ones(width);
  const word = words.next("set or add");
  const valueOf = (): bigint => {
    const value = words.next("a value");
    return kind !== undefined && /[.:]/.test(value.text)
      ? addressOf(value, kind)
      : BigInt(tcNumber(value, "a value", Math.min(width, 32)));
  };
  const change = ((): Change | undefined => {
    if (word.text === "set") return { command: "set", value: valueOf(), mask: full };
    if (word.text === "add") return { command: "add", value: valueOf(), mask: full };
    if (word.text === "decrement") return { command: "add", value: full, mask: full };
    if (word.text === "clear") return { command: "set", value: 0n, mask: full };
    if (word.text === "preserve") return undefined;
    return notImported(word, `the device sets fields and adds to them; it does not ${word.text}`);
  })();
  if (!words.take("retain")) return change;
  const retained = BigInt(tcNumber(words.next("a mask"), "the mask of retain", 32)) & full;
  return change === undefined ? undefined : { ...change, mask: retained };
}

function skipCommand(words: Cursor): void {
  if (["set", "add"].includes(words.next("set or add").text)) words.next("a value");
  if (words.take("retain")) words.next("a mask");
}

/** The fields that a change of bits changes. @throws NotImported bits that are in no field */
export function fieldChanges({ header, at, width, command: how, value, mask }: BitChange, word: Word): FieldChange[] {
  const changes: FieldChange[] = [];
  let covered = 0n;
  for (const [field, start, size] of PEDIT_FIELDS[header]) {
    const from = Math.max(start, at);
    const to = Math.min(start + size, at + width);
    if (from >= to) continue;
    const down = BigInt(at + width - to);
    const part = (1n << BigInt(to - from)) - 1n;
    const own = (mask >> down) & part;
    if (own === 0n) continue;
    const up = BigInt(start + size - to);
    covered |= own << down;
    const whole = own === part && to - from === size;
    if (how === "set") changes.push({ field, set: ((value >> down) & own) << up, mask: own << up });
    else if (whole && size <= 32) changes.push({ field, add: signed((value >> down) & part, size) });
    else notImported(word, "the device adds to whole fields of at most 32 bits");
  }
  if (covered !== mask) notImported(word, `some of these bits of ${header} are in no field that the device changes`);
  return changes;
}

function signed(value: bigint, width: number): number {
  return Number(BigInt.asIntN(width, value));
}

/** Changes of one field after each other are one change. */
export function merged(changes: readonly FieldChange[]): FieldChange[] {
  const list: FieldChange[] = [];
  for (const change of changes) {
    const last = list.at(-1);
    if (last !== undefined && "set" in last && "set" in change && last.field === change.field) {
      list[list.length - 1] = {
        field: last.field,
        set: (last.set & ~change.mask) | change.set,
        mask: last.mask | change.mask,
      };
    } else list.push(change);
  }
  return list;
}

/** As changes of a scenario, of the outer packet or of the one inside a tunnel. */
export function modifyOf(
  changes: readonly FieldChange[],
  level: "outer" | "inner",
): ({ set: string; to: string | number } | { add: string; by: number })[] {
  return merged(changes).map((change) => {
    const name = change.field.includes(".") ? change.field : `${level}.${change.field}`;
    if ("add" in change) return { add: name, by: change.add };
    const field = fieldNamed(name);
    if (field === undefined) throw new Error(`there is no field ${name}`);
    const { set, mask } = change;
    if (mask !== fullMask(field)) {
      const bits = field.kind === "number" ? `0x${mask.toString(16)}` : format(field, mask);
      return { set: name, to: `${format(field, set)}/${bits}` };
    }
    return { set: name, to: field.kind === "number" ? Number(set) : format(field, set) };
  });
}
