/** `checkLayer` checks a layer given to `buildFrame` and converts its fields to numbers or bytes. */
import { mistyped, refuse } from "../../errors.js";
import { parseIpv4, parseIpv6, parseMac } from "../addresses.js";
import { describe } from "../../base/checks.js";
import { namesHint } from "../../base/nearest.js";
import { bytesGiven, bytesOf, hexBytes, joined } from "../bytes.js";
import { LAYOUTS, type FieldLayout } from "../layout.js";
import type { LayerName } from "./headerDraft.js";
import { isLayerName, planOf, type HeaderPlan } from "./headerPlan.js";
import { encodeGeneve, encodeOption, IPV4, IPV6, OptionFault, TCP, type Option } from "../options.js";

/** A bigint is a number of more than 32 bits. */
export type Value = number | bigint | Uint8Array;

export interface CheckedLayer {
  header: LayerName;
  plan: HeaderPlan;
  /** Fields that were given, by their place in the plan. */
  given: readonly (Value | undefined)[];
}

export function checkLayer(layer: unknown, i: number): CheckedLayer {
  const path = `layers[${i}]`;
  if (layer instanceof Uint8Array) return { header: "payload", plan: planOf("payload", true), given: [layer] };
  if (typeof layer !== "object" || layer === null) {
    mistyped(`${path} must be a header or a Uint8Array, not ${describe(layer)}`);
  }
  const values = layer as Readonly<Record<string, unknown>>;
  const { header } = values;
  if (typeof header !== "string") mistyped(`${path}.header must be a string, not ${describe(header)}`);
  if (!isLayerName(header)) {
    const hint = namesHint(header, "headers", [...Object.keys(LAYOUTS), "payload", "trailer"]);
    return refuse({ code: "EINVAL", reason: "bad_header", path: `${path}.header`, value: header, hint });
  }
  const raw = values["bytes"] !== undefined || header === "payload" || header === "trailer";
  const plan = planOf(header, raw);
  const given: (Value | undefined)[] = [];
  for (const name of Object.keys(values)) {
    const value = values[name];
    if (name === "header" || value === undefined) continue;
    const field = plan.byName.get(name);
    if (field === undefined) {
      const hint = namesHint(name, `fields of ${header}`, [...plan.byName.keys()]);
      return refuse({ code: "EINVAL", reason: "bad_field", path: `${path}.${name}`, value, hint });
    }
    given[field.index] = checkValue(`${path}.${name}`, field.layout, value);
  }
  return { header, plan, given };
}

function checkValue(path: string, [name, width, kind, detail]: FieldLayout, value: unknown): Value {
  switch (kind) {
    case "number":
    case "hex":
      return number(path, value, width as number);
    case "flag":
      return number(path, typeof value === "boolean" ? Number(value) : value, width as number);
    case "flags":
      return flags(path, value, detail?.bits ?? []);
    case "route":
      return bytesGiven(value) ?? route(path, value);
    case "tcp_options":
      return (
        bytesGiven(value) ??
        filled(
          options(path, value, (one) => encodeOption(TCP, one)),
          4,
        )
      );
    case "ipv4_options":
      return (
        bytesGiven(value) ??
        filled(
          options(path, value, (one) => encodeOption(IPV4, one)),
          4,
        )
      );
    case "ipv6_options":
      return bytesGiven(value) ?? padN(options(path, value, (one) => encodeOption(IPV6, one)));
    case "geneve_options":
      return bytesGiven(value) ?? options(path, value, encodeGeneve);
    default:
      return address(path, kind, value, typeof width === "number" ? width / 8 : undefined, name);
  }
}

function number(path: string, value: unknown, bits: number): number | bigint {
  if (typeof value !== "number" && typeof value !== "bigint") {
    mistyped(`${path} must be a number, not ${describe(value)}`);
  }
  const whole = typeof value === "bigint" || Number.isInteger(value);
  if (!whole || value < 0 || value > highest(bits)) {
    const hint = bits === 1 ? "0 or 1, false or true" : `${bits} bits: 0 to ${highest(bits)}`;
    refuse({ code: "EINVAL", reason: "out_of_range", path, value, hint });
  }
  return bits > 32 ? BigInt(value) : Number(value);
}

/** The highest number of so many bits. */
function highest(bits: number): number | bigint {
  return bits > 32 ? (1n << BigInt(bits)) - 1n : 0xffffffff >>> (32 - bits);
}

function flags(path: string, value: unknown, names: readonly string[]): number | bigint {
  if (typeof value !== "string" && !Array.isArray(value)) return number(path, value, names.length);
  const words = typeof value === "string" ? value.split(/[\s,]+/).filter((word) => word !== "") : (value as unknown[]);
  let bits = 0;
  for (const word of words) {
    const at = names.indexOf(String(word));
    if (at < 0) {
      const hint = namesHint(String(word), "flags", names);
      refuse({ code: "EINVAL", reason: "bad_field", path, value: String(word), hint });
    }
    bits |= 1 << (names.length - 1 - at);
  }
  return bits;
}

const WORDS = { mac: "a MAC address", ipv4: "an IPv4 address", ipv6: "an IPv6 address" } as const;

function address(path: string, kind: string, value: unknown, size: number | undefined, name: string): Uint8Array {
  if (typeof value !== "string" && !(value instanceof Uint8Array)) {
    mistyped(`${path} must be text or a Uint8Array, not ${describe(value)}`);
  }
  const bytes = value instanceof Uint8Array ? value : textBytes(kind, value);
  const exact = kind === "mac" || kind === "ipv4" || kind === "ipv6";
  if (bytes === undefined || (exact && bytes.length !== size)) {
    const hint = exact ? WORDS[kind] : "pairs of hexadecimal digits, or an address";
    return refuse({ code: "EINVAL", reason: exact ? "bad_address" : "bad_number", path, value, hint });
  }
  if (size === undefined || bytes.length === size) return bytes;
  if (bytes.length > size) {
    const hint = `${name} has ${size} bytes`;
    refuse({ code: "EINVAL", reason: "out_of_range", path, value, hint });
  }
  // An address that is shorter than its field (LINKTYPE_LINUX_SLL) stands at its start.
  return joined(bytes, new Uint8Array(size - bytes.length));
}

/** Forms of addresses: kind, bytes, parser. */
const FORMS: readonly (readonly [string, number, (text: string) => bigint | undefined])[] = [
  ["mac", 6, parseMac],
  ["ipv4", 4, parseIpv4],
  ["ipv6", 16, parseIpv6],
];

function textBytes(kind: string, text: string): Uint8Array | undefined {
  for (const [one, size, parse] of FORMS) {
    if (kind !== one && kind !== "address") continue;
    const value = parse(text);
    if (value !== undefined) return bytesOf(value, size);
  }
  return kind === "address" || kind === "bytes" ? hexBytes(text) : undefined;
}

function options(path: string, value: unknown, encode: (option: Option) => Uint8Array | OptionFault): Uint8Array {
  if (!Array.isArray(value)) {
    mistyped(`${path} must be a list of options, hexadecimal digits or a Uint8Array, not ${describe(value)}`);
  }
  const encoded = (value as unknown[]).map((option, i) => {
    const at = `${path}[${i}]`;
    if (typeof option !== "object" || option === null) {
      mistyped(`${at} must be an option, not ${describe(option)}`);
    }
    const bytes = encode(option as Option);
    if (!(bytes instanceof OptionFault)) return bytes;
    const { key, hint } = bytes;
    const wrong = (option as Record<string, unknown>)[key];
    return refuse({ code: "EINVAL", reason: "bad_option", path: `${at}.${key}`, value: wrong, hint });
  });
  return joined(...encoded);
}

/** The end of the list, as often as it takes. */
function filled(bytes: Uint8Array, unit: number): Uint8Array {
  return joined(bytes, new Uint8Array((unit - (bytes.length % unit)) % unit));
}

/** Options of IPv6 stand behind two bytes, and the whole takes a multiple of eight (RFC 8200 section 4.2). */
export function padN(bytes: Uint8Array): Uint8Array {
  const missing = (8 - ((bytes.length + 2) % 8)) % 8;
  if (missing === 0) return bytes;
  return joined(
    bytes,
    missing === 1 ? Uint8Array.of(0) : joined(Uint8Array.of(1, missing - 2), new Uint8Array(missing - 2)),
  );
}

/** A word that is filled in with the rest of the header, and addresses. */
function route(path: string, value: unknown): Uint8Array {
  if (!Array.isArray(value)) {
    mistyped(`${path} must be a list of addresses, hexadecimal digits or a Uint8Array, not ${describe(value)}`);
  }
  const addresses = (value as unknown[]).map((text, i) => {
    const parsed = typeof text === "string" ? parseIpv6(text) : undefined;
    if (parsed !== undefined) return bytesOf(parsed, 16);
    return refuse({
      code: "EINVAL",
      reason: "bad_address",
      path: `${path}[${i}]`,
      value: text,
      hint: WORDS.ipv6,
    });
  });
  return joined(routeWord(addresses.length), ...addresses);
}

/** RFC 8754 section 2: | last entry 1 | flags 1 | tag 2 |. */
function routeWord(addresses: number): Uint8Array {
  return Uint8Array.of(Math.max(0, addresses - 1) & 0xff, 0, 0, 0);
}
