/**
 * `struct ibv_flow_attr` and its specs as objects (ibv_create_flow(3)), with the C names of their fields.
 *
 * Packet fields are numbers as one writes them (0x0B86C806 is 11.134.200.6), text ("11.134.200.6", "66:11:22:33:44:55",
 * "fe80::1", "0x800") or bytes as on the wire. What is left out of a filter is 0, and a mask of 0 asks nothing.
 */
import { IBV_FLOW_SPEC_INNER } from "../../abi/verbs.js";
import { refuse } from "../../errors.js";
import { integerOf } from "../../base/integer.js";
import { writeBits, writeNumber } from "../../packet/bytes.js";
import { parseIpv4, parseIpv6, parseMac } from "../../packet/addresses.js";
import type { FieldKind } from "../../model/match/fields.js";
import {
  actionLayoutOf,
  ATTR_SIZE,
  layoutOf,
  maskAt,
  sharedMask,
  type ActionLayout,
  type FilterField,
  type FlowRequest,
  type Spec,
  type SpecLayout,
} from "../../model/match/flowSpec.js";
import { checkArray, unsigned, wrongType } from "../../base/checks.js";
import { namesHint } from "../../base/nearest.js";

/** A packet field. Bytes are as many as the C field has. */
export type FlowValue = number | bigint | string | Uint8Array;

/** `struct ibv_flow_*_filter`: the fields of the spec's own type may be given, others are refused. */
export interface FlowFilter {
  // ibv_flow_eth_filter; ether_type is the one after the last VLAN tag
  dst_mac?: FlowValue | undefined;
  src_mac?: FlowValue | undefined;
  ether_type?: FlowValue | undefined;
  /** PCP 3 bits, DEI 1, VID 12. */
  vlan_tag?: FlowValue | undefined;
  // ibv_flow_ipv4_filter, ibv_flow_ipv4_ext_filter, ibv_flow_ipv6_filter
  src_ip?: FlowValue | undefined;
  dst_ip?: FlowValue | undefined;
  proto?: FlowValue | undefined;
  tos?: FlowValue | undefined;
  ttl?: FlowValue | undefined;
  /** 0x2 don't fragment, 0x4 more fragments. */
  flags?: FlowValue | undefined;
  flow_label?: FlowValue | undefined;
  next_hdr?: FlowValue | undefined;
  traffic_class?: FlowValue | undefined;
  hop_limit?: FlowValue | undefined;
  // ibv_flow_esp_filter
  spi?: FlowValue | undefined;
  seq?: FlowValue | undefined;
  // ibv_flow_tcp_udp_filter
  dst_port?: FlowValue | undefined;
  src_port?: FlowValue | undefined;
  // ibv_flow_gre_filter
  c_ks_res0_ver?: FlowValue | undefined;
  protocol?: FlowValue | undefined;
  key?: FlowValue | undefined;
  /** ibv_flow_mpls_filter: the whole entry, label 20 bits, TC 3, S 1, TTL 8. */
  label?: FlowValue | undefined;
  /** ibv_flow_tunnel_filter: the VNI, 24 bits. */
  tunnel_id?: FlowValue | undefined;
}

/** `struct ibv_flow_spec_eth` .. `ibv_flow_spec_mpls`. */
export interface FlowMatchSpec {
  /** IBV_FLOW_SPEC_ETH .. IBV_FLOW_SPEC_MPLS, ored with IBV_FLOW_SPEC_INNER for the inner packet. */
  type: number;
  /** Bytes of the C struct. @default its sizeof */
  size?: number | undefined;
  val?: FlowFilter | undefined;
  mask?: FlowFilter | undefined;
}

/** `struct ibv_flow_spec_action_tag` */
export interface FlowTagSpec {
  type: number;
  size?: number | undefined;
  /** What completions carry, 24 bits. */
  tag_id: number | bigint;
}

/** `struct ibv_flow_spec_action_drop` */
export interface FlowDropSpec {
  type: number;
  size?: number | undefined;
}

/** `struct ibv_flow_spec_action_handle` */
export interface FlowHandleSpec {
  type: number;
  size?: number | undefined;
  action: object;
}

/** `struct ibv_flow_spec_counter_action` */
export interface FlowCountSpec {
  type: number;
  size?: number | undefined;
  counters: object;
}

/** One spec of a flow: a filter, or an action. */
export type FlowSpec = FlowMatchSpec | FlowTagSpec | FlowDropSpec | FlowHandleSpec | FlowCountSpec;

/** `struct ibv_flow_attr`, its specs in a list. */
export interface FlowAttr {
  comp_mask?: number | undefined;
  /** IBV_FLOW_ATTR_NORMAL .. IBV_FLOW_ATTR_SNIFFER */
  type: number;
  /** Taken and not used: the specs say how long they are. @default as long as they are */
  size?: number | undefined;
  /** Lower comes first. @default 0 */
  priority?: number | undefined;
  /** @default the length of `specs` */
  num_of_specs?: number | undefined;
  /** Counted from 1. */
  port: number;
  /** IBV_FLOW_ATTR_FLAGS_*, ored. @default 0 */
  flags?: number | undefined;
  /** @default none */
  specs?: readonly FlowSpec[] | undefined;
}

const MATCH_FIELDS = ["type", "size", "val", "mask"];
const ATTR_FIELDS = ["comp_mask", "type", "size", "priority", "num_of_specs", "port", "flags", "specs"];

/** The mask that is being read; the longest filter is that of IPv6. */
const MASK = new Uint8Array(64);

/**
 * Reads a flow from objects.
 * @throws TypeError values of the wrong JavaScript type; EINVAL fields that do not exist, values that do not fit theirs
 */
export function readFlowAttr(attr: FlowAttr): FlowRequest {
  const given = fieldsAt("attr", attr, "ibv_flow_attr", ATTR_FIELDS);
  const list = given["specs"] ?? [];
  checkArray("attr.specs", list);
  // The flow keeps the list: exactly as long as it is.
  const specs = new Array<Spec>(list.length);
  let length = ATTR_SIZE;
  for (let i = 0; i < list.length; i++) {
    const spec = readSpec(specPath(i), list[i]);
    specs[i] = spec;
    length += spec.size;
  }
  return {
    comp_mask: integer("attr.comp_mask", given["comp_mask"] ?? 0, 32),
    type: integer("attr.type", given["type"] ?? 0, 32),
    size: integer("attr.size", given["size"] ?? length, 16),
    priority: integer("attr.priority", given["priority"] ?? 0, 16),
    num_of_specs: integer("attr.num_of_specs", given["num_of_specs"] ?? specs.length, 8),
    port: integer("attr.port", given["port"] ?? 0, 8),
    flags: integer("attr.flags", given["flags"] ?? 0, 32),
    specs,
  };
}

/** The paths of the first specs: few flows have more. */
const PATHS = Array.from({ length: 16 }, (_, i) => `specs[${i}]`);

/** What refusals call the i-th spec of a flow. */
export function specPath(i: number): string {
  return PATHS[i] ?? `specs[${i}]`;
}

function readSpec(path: string, spec: unknown): Spec {
  const type = integerAt(path, "type", objectAt(path, spec)["type"] ?? 0, 32);
  const layout = layoutOf(type);
  if (layout !== undefined) return readMatchSpec(path, spec, layout, (type & IBV_FLOW_SPEC_INNER) !== 0);
  const action = actionLayoutOf(type);
  if (action === undefined) return { kind: "unknown", size: 0, type };
  return readActionSpec(path, spec, action);
}

function readMatchSpec(path: string, spec: unknown, layout: SpecLayout, inner: boolean): Spec {
  const given = fieldsAt(path, spec, layout.name, MATCH_FIELDS);
  const size = readSize(path, given["size"] ?? layout.size);
  if (size !== layout.size && maskAt(layout, size) === undefined) badSize(path, size, layout.size);
  const val = readFilter(path, "val", given["val"], layout);
  const mask = MASK.fill(0);
  writeFilter(path, "mask", given["mask"], layout, mask);
  return { kind: "match", layout, inner, size, val, mask: sharedMask(layout, mask, 0), more: false };
}

function readActionSpec(path: string, spec: unknown, { name, kind, size, names }: ActionLayout): Spec {
  const given = fieldsAt(path, spec, name, names);
  const bytes = readSize(path, given["size"] ?? size);
  if (bytes < size) badSize(path, bytes, size);
  switch (kind) {
    case "tag":
      return { kind, size: bytes, tag_id: integerAt(path, "tag_id", given["tag_id"] ?? 0, 32) };
    case "drop":
      return { kind, size: bytes };
    case "handle":
      return { kind, size: bytes, action: objectAt(`${path}.action`, given["action"]) };
    case "count":
      return { kind, size: bytes, counters: objectAt(`${path}.counters`, given["counters"]) };
  }
}

function readSize(path: string, given: unknown): number {
  return integerAt(path, "size", given, 16);
}

function badSize(path: string, bytes: number, size: number): never {
  const hint = `sizeof the struct is ${size}; it can be left out`;
  return refuse({ code: "EINVAL", reason: "bad_spec_size", path: `${path}.size`, value: bytes, hint });
}

/** The bytes of a filter, which is the member `name` of `path`. */
export function readFilter(path: string, name: string, filter: unknown, layout: SpecLayout): Uint8Array {
  const bytes = new Uint8Array(layout.known);
  writeFilter(path, name, filter, layout, bytes);
  return bytes;
}

/** Writes a filter over zeros. */
function writeFilter(path: string, name: string, filter: unknown, layout: SpecLayout, bytes: Uint8Array): void {
  if (filter === undefined || hasNumbersOnly(filter, layout, bytes)) return;
  const given = fieldsAt(path, filter, layout.name, layout.names, name);
  for (const field of layout.fields) {
    const value = given[field.name];
    if (value !== undefined) writeValue(`${path}.${name}.${field.name}`, bytes, field, value);
  }
}

/** Writes a filter whose fields are all small numbers, as most are; false if it may be another one. */
function hasNumbersOnly(filter: unknown, { named }: SpecLayout, bytes: Uint8Array): boolean {
  if (typeof filter !== "object" || filter === null) return false;
  for (const name in filter) {
    const field = named.get(name);
    const value = (filter as Readonly<Record<string, unknown>>)[name];
    if (field === undefined || !isSmall(value, 8 * field.size)) return false;
    writeSmall(bytes, field, value);
  }
  return true;
}

function writeSmall(filter: Uint8Array, { at, size }: FilterField, value: number): void {
  let rest = value;
  for (let byte = at + size - 1; rest !== 0; byte--) {
    filter[byte] = rest;
    rest >>>= 8;
  }
}

const PARSERS: Readonly<Record<FieldKind, (text: string) => bigint | undefined>> = {
  mac: parseMac,
  ipv4: parseIpv4,
  ipv6: parseIpv6,
  number: integerOf,
};

const EXAMPLES: Readonly<Record<FieldKind, string>> = {
  mac: '"66:11:22:33:44:55"',
  ipv4: '"11.134.200.6"',
  ipv6: '"fe80::1"',
  number: '80 or "0x50"',
};

function writeValue(path: string, filter: Uint8Array, field: FilterField, value: unknown): void {
  const { at, size, kind } = field;
  const bad = (hint: string): never =>
    refuse({ code: "EINVAL", reason: kind === "number" ? "bad_number" : "bad_address", path, value, hint });
  if (value instanceof Uint8Array) {
    if (value.length !== size) bad(`${size} bytes, as on the wire`);
    filter.set(value, at);
    return;
  }
  let number: number | bigint;
  if (typeof value === "bigint" || typeof value === "number") number = value;
  else if (typeof value === "string") number = PARSERS[kind](value.trim()) ?? bad(`write it as ${EXAMPLES[kind]}`);
  else wrongType(path, "a number, a string or a Uint8Array", value);
  const whole = typeof number === "bigint" || Number.isSafeInteger(number);
  if (!whole || number < 0 || number >= 2 ** (8 * size)) return bad(`0 to 0x${"ff".repeat(size)}`);
  if (size > 4) writeBits(filter, 8 * at, 8 * size, BigInt(number));
  else writeNumber(filter, 8 * at, 8 * size, Number(number));
}

/** An unsigned integer of so many bits. */
export function integer(path: string, value: unknown, bits: number): number {
  return unsigned(path, typeof value === "bigint" ? Number(value) : value, bits);
}

/** The same of the member `name` of `path`, which is text only in a refusal. */
function integerAt(path: string, name: string, value: unknown, bits: number): number {
  return isSmall(value, bits) ? value : integer(`${path}.${name}`, value, bits);
}

/** Whether a value is a whole number of at most `bits` bits, and of at most 32. */
function isSmall(value: unknown, bits: number): value is number {
  return typeof value === "number" && value >>> 0 === value && (bits >= 32 || value >>> bits === 0);
}

export function objectAt(path: string, value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  wrongType(path, "an object", value);
}

/** The object, if it has no other fields than these. With `name` it is that member of `path`. */
export function fieldsAt(
  path: string,
  value: unknown,
  what: string,
  known: readonly string[],
  name?: string,
): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return objectAt(memberOf(path, name), value);
  for (const field in value) {
    if (known.includes(field) || !Object.hasOwn(value, field)) continue;
    const hint = namesHint(field, `fields of ${what}`, known);
    refuse({ code: "EINVAL", reason: "bad_field", path: `${memberOf(path, name)}.${field}`, hint });
  }
  return value as Record<string, unknown>;
}

function memberOf(path: string, name: string | undefined): string {
  return name === undefined ? path : `${path}.${name}`;
}
