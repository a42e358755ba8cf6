/**
 * Describes match fields and the fields of header changes, for `flowsteer fields` and the generated
 * pages.
 */
import * as key from "../abi/key.js";
import { Place, PLACE_INNER } from "../abi/program.js";
import { titleOf } from "../headers/headers.js";
import { headerOfBit } from "../headers/presence.js";
import { modifyFieldNamed } from "../model/action/modifyFields.js";
import { FIELDS, type Field, type FieldKind } from "../model/match/fields.js";
import { CHANGE_FIELD_NAMES, changeFieldNamed, type ChangeField } from "./action/changeFields.js";

/** A field, as people use it. */
export interface FieldInfo {
  readonly name: string;
  readonly bits: number;
  /** The form of its values. */
  readonly written: string;
  /**
   * The header that contains it. A rule matches the field, and a change writes it, only where this
   * header is present.
   */
  readonly header: string;
}

/** A field of header changes. */
export interface ModifyFieldInfo extends FieldInfo {
  /**
   * Its names in device commands: several where the device splits it, or has it for IPv4 and IPv6.
   */
  readonly device: readonly string[];
}

/** Every match field, in key order. */
export function matchFields(): readonly FieldInfo[] {
  return FIELDS.filter(({ filled }) => filled).map((field) => ({
    name: field.name,
    bits: field.width,
    written: written(field.name, field.kind, field.width),
    header: headerOf(field),
  }));
}

/**
 * Every field of header changes: first under the names of match fields, then under those of the
 * device.
 */
export function modifyFields(): readonly ModifyFieldInfo[] {
  return CHANGE_FIELD_NAMES.map((name) => {
    const field = changeFieldNamed(name) as ChangeField;
    const device = field.ways.flat().map((part) => part.field);
    const places = [...new Set(device.map((one) => placeText(modifyFieldNamed(one)?.place ?? 0)))];
    return {
      name,
      bits: field.width,
      written: written(name, field.kind, field.width),
      header: places.join(" or "),
      device,
    };
  });
}

const KINDS: Readonly<Record<Exclude<FieldKind, "number">, string>> = {
  mac: 'MAC address: "02:00:00:00:00:01"',
  ipv4: 'IPv4 address: "10.0.0.1", "10.0.0.0/8"',
  ipv6: 'IPv6 address: "2001:db8::1", "2001:db8::/32"',
};

/** Fields whose values have names. */
const NAMED: readonly (readonly [ending: RegExp, text: string])[] = [
  [/\.ip_protocol$/, 'number or name: 6, "tcp"'],
  [/\.ethertype$/, 'number or name: "0x0800", "ipv4"'],
  [/^misc\.source_port$/, 'number or name: 1, "uplink"'],
];

function written(name: string, kind: FieldKind, width: number): string {
  if (kind !== "number") return KINDS[kind];
  const named = NAMED.find(([ending]) => ending.test(name));
  if (named !== undefined) return named[1];
  return width === 1 ? "0 or 1" : `number: 0 to ${width > 16 ? `2^${width} - 1` : 2 ** width - 1}`;
}

/** Presence bits of a level that are not of one header. */
const LEVEL_PARTS: Readonly<Record<number, string>> = {
  [key.PRESENT_ETHERTYPE]: "EtherType",
  [key.PRESENT_L3]: "IP",
  [key.PRESENT_PROTOCOL]: "IP protocol",
};

/** Presence bits of tunnels that are not of one header, and headers that need more than their names. */
const TUNNEL_PARTS: Readonly<Record<number, string>> = {
  [key.PRESENT_GRE_KEY]: "GRE key",
  [key.PRESENT_GENEVE_OPTION_0]: "Geneve option 0 (device.parser)",
  [key.PRESENT_GTPU_DW_2]: "GTP-U optional word",
  [key.PRESENT_GTPU_EXTENSION]: titleOf("gtpu_extension"),
  [key.PRESENT_BTH]: "BTH (RoCE)",
  [key.PRESENT_MACSEC_SCI]: "MACsec with SCI",
};

function headerOf({ name, here, ofWay, version }: Field): string {
  if (here === null) return ofWay ? "none: always present, not read from the frame" : "none: always present";
  const { word, bit } = here;
  if (word === key.EXT_PRESENT_TUNNEL) {
    if (bit >= key.PRESENT_SAMPLE) return "the sample's header (device.parser)";
    if (name.startsWith("misc5.tunnel_header")) return "tunnel header with this word";
    return TUNNEL_PARTS[bit] ?? headerOfBit("tunnel", bit)?.name ?? "tunnel";
  }
  const level = word === key.EXT_PRESENT_OUTER ? "outer" : "inner";
  return `${level} ${version === 4 ? "IPv4" : (LEVEL_PARTS[bit] ?? headerOfBit(level, bit)?.name ?? "header")}`;
}

const PLACES: Readonly<Partial<Record<number, string>>> = {
  [Place.ethernet]: "Ethernet",
  [Place.ethertype]: "EtherType",
  [Place.vlan]: "VLAN",
  [Place.ipv4]: "IPv4",
  [Place.ipv6]: "IPv6",
  [Place.ip]: "IP",
  [Place.tcp]: "TCP",
  [Place.udp]: "UDP",
  [Place.gtpu]: "GTP-U",
};

function placeText(place: number): string {
  if (place >= Place.register) return "none: a register";
  const level = place >= PLACE_INNER ? "inner" : "outer";
  return `${level} ${PLACES[place % PLACE_INNER] ?? "header"}`;
}
