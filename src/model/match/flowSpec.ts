/**
 * The specs of a flow as the model takes them (ibv_create_flow(3), "Flow specification general
 * structure").
 *
 * Objects and C bytes both become specs. A filter keeps the bytes of its C struct, which are in
 * wire order, as the key has them. One table says where each field lies and how people write it.
 */
import {
  IBV_FLOW_SPEC_ACTION_COUNT,
  IBV_FLOW_SPEC_ACTION_DROP,
  IBV_FLOW_SPEC_ACTION_HANDLE,
  IBV_FLOW_SPEC_ACTION_TAG,
  IBV_FLOW_SPEC_ESP,
  IBV_FLOW_SPEC_ETH,
  IBV_FLOW_SPEC_GRE,
  IBV_FLOW_SPEC_INNER,
  IBV_FLOW_SPEC_IPV4,
  IBV_FLOW_SPEC_IPV4_EXT,
  IBV_FLOW_SPEC_IPV6,
  IBV_FLOW_SPEC_MPLS,
  IBV_FLOW_SPEC_TCP,
  IBV_FLOW_SPEC_UDP,
  IBV_FLOW_SPEC_VXLAN_TUNNEL,
} from "../../abi/verbs.js";
import { once } from "../../base/once.js";
import type { FieldKind } from "./fields.js";

/** A field of `struct ibv_flow_*_filter`. */
export interface FilterField {
  readonly name: string;
  /** First byte in the filter. */
  readonly at: number;
  /** Length in bytes. */
  readonly size: number;
  readonly kind: FieldKind;
}

/** `struct ibv_flow_spec_*` on x86-64: type u32 at 0, size u16 at 4, two filters. */
export interface SpecLayout {
  readonly name: string;
  /** Without IBV_FLOW_SPEC_INNER. */
  readonly type: number;
  /** sizeof the struct. */
  readonly size: number;
  /** The byte at which the filters start. */
  readonly val: number;
  readonly mask: number;
  /** Bytes of a filter that are fields, back to back from its first byte on. */
  readonly known: number;
  /** Whether it takes IBV_FLOW_SPEC_INNER. */
  readonly inner: boolean;
  /** Whether the library accepts a `size` above sizeof for longer filters, which moves the mask. */
  readonly grows: boolean;
  readonly fields: readonly FilterField[];
  /** The names of its fields. */
  readonly names: readonly string[];
  /** Its fields by name. */
  readonly named: ReadonlyMap<string, FilterField>;
}

/** A spec that matches fields. */
export interface MatchSpec {
  readonly kind: "match";
  readonly layout: SpecLayout;
  readonly inner: boolean;
  /** Size of the C struct, as declared. */
  readonly size: number;
  /** `layout.known` bytes each. */
  readonly val: Uint8Array;
  readonly mask: Uint8Array;
  /** Whether mask bytes after the known ones are set: fields of a later library. */
  readonly more: boolean;
}

/** A type of spec that acts; its field, where it has one, is at byte 8. */
export interface ActionLayout {
  readonly name: string;
  readonly type: number;
  readonly kind: "tag" | "drop" | "handle" | "count";
  /** sizeof the struct. */
  readonly size: number;
  readonly field: "tag_id" | "action" | "counters" | null;
  /** The names of its fields. */
  readonly names: readonly string[];
}

/** A spec that acts, or one of an unknown type. Objects in it are the caller's, unchecked. */
export type ActionSpec =
  | { readonly kind: "tag"; readonly size: number; readonly tag_id: number }
  | { readonly kind: "drop"; readonly size: number }
  | { readonly kind: "handle"; readonly size: number; readonly action: unknown }
  | { readonly kind: "count"; readonly size: number; readonly counters: unknown }
  | { readonly kind: "unknown"; readonly size: number; readonly type: number };

export type Spec = MatchSpec | ActionSpec;

/** `struct ibv_flow_attr` as read: every number fits its C field; nothing else is checked. */
export interface FlowRequest {
  readonly comp_mask: number;
  readonly type: number;
  readonly size: number;
  readonly priority: number;
  readonly num_of_specs: number;
  readonly port: number;
  readonly flags: number;
  readonly specs: readonly Spec[];
}

type Row = readonly [name: string, size: number, kind?: FieldKind];

function layout(
  name: string,
  type: number,
  [size, val, mask]: readonly [size: number, val: number, mask: number],
  fields: readonly Row[],
  { inner = true, grows = false } = {},
): SpecLayout {
  let known = 0;
  const placed = fields.map(([field, bytes, kind = "number"]): FilterField => {
    const at = known;
    known += bytes;
    return { name: field, at, size: bytes, kind };
  });
  const names = placed.map((field) => field.name);
  const named = new Map(placed.map((field) => [field.name, field]));
  return { name: `IBV_FLOW_SPEC_${name}`, type, size, val, mask, known, inner, grows, fields: placed, names, named };
}

const MACS: readonly Row[] = [
  ["dst_mac", 6, "mac"],
  ["src_mac", 6, "mac"],
];
const IPV4_ADDRESSES: readonly Row[] = [
  ["src_ip", 4, "ipv4"],
  ["dst_ip", 4, "ipv4"],
];
const IPV6_ADDRESSES: readonly Row[] = [
  ["src_ip", 16, "ipv6"],
  ["dst_ip", 16, "ipv6"],
];
const PORTS: readonly Row[] = [
  ["dst_port", 2],
  ["src_port", 2],
];

/** Every type of spec that matches fields. */
export const specLayouts = once((): readonly SpecLayout[] => [
  layout("ETH", IBV_FLOW_SPEC_ETH, [40, 6, 22], [...MACS, ["ether_type", 2], ["vlan_tag", 2]]),
  layout("IPV4", IBV_FLOW_SPEC_IPV4, [24, 8, 16], IPV4_ADDRESSES),
  layout(
    "IPV4_EXT",
    IBV_FLOW_SPEC_IPV4_EXT,
    [32, 8, 20],
    [...IPV4_ADDRESSES, ["proto", 1], ["tos", 1], ["ttl", 1], ["flags", 1]],
    { grows: true },
  ),
  layout(
    "IPV6",
    IBV_FLOW_SPEC_IPV6,
    [88, 8, 48],
    [...IPV6_ADDRESSES, ["flow_label", 4], ["next_hdr", 1], ["traffic_class", 1], ["hop_limit", 1]],
    { grows: true },
  ),
  layout(
    "ESP",
    IBV_FLOW_SPEC_ESP,
    [24, 8, 16],
    [
      ["spi", 4],
      ["seq", 4],
    ],
  ),
  layout("TCP", IBV_FLOW_SPEC_TCP, [16, 6, 10], PORTS),
  layout("UDP", IBV_FLOW_SPEC_UDP, [16, 6, 10], PORTS),
  layout(
    "GRE",
    IBV_FLOW_SPEC_GRE,
    [24, 8, 16],
    [
      ["c_ks_res0_ver", 2],
      ["protocol", 2],
      ["key", 4],
    ],
    { inner: false },
  ),
  layout("MPLS", IBV_FLOW_SPEC_MPLS, [16, 8, 12], [["label", 4]]),
  layout("VXLAN_TUNNEL", IBV_FLOW_SPEC_VXLAN_TUNNEL, [16, 8, 12], [["tunnel_id", 4]], { inner: false, grows: true }),
]);

function action(kind: ActionLayout["kind"], type: number, size: number, field: ActionLayout["field"]): ActionLayout {
  const names = field === null ? ["type", "size"] : ["type", "size", field];
  return { name: `IBV_FLOW_SPEC_ACTION_${kind.toUpperCase()}`, type, kind, size, field, names };
}

/** Every type of spec that acts. */
export const ACTION_LAYOUTS: readonly ActionLayout[] = [
  action("tag", IBV_FLOW_SPEC_ACTION_TAG, 12, "tag_id"),
  action("drop", IBV_FLOW_SPEC_ACTION_DROP, 8, null),
  action("handle", IBV_FLOW_SPEC_ACTION_HANDLE, 16, "action"),
  action("count", IBV_FLOW_SPEC_ACTION_COUNT, 16, "counters"),
];

/** sizeof struct ibv_flow_attr; the specs follow it. */
export const ATTR_SIZE = 20;

const byType = once((): ReadonlyMap<number, SpecLayout> => new Map(specLayouts().map((one) => [one.type, one])));

/**
 * The layout of a type, with or without IBV_FLOW_SPEC_INNER; undefined for actions and unknown
 * types.
 */
export function layoutOf(type: number): SpecLayout | undefined {
  return byType().get(type & ~IBV_FLOW_SPEC_INNER);
}

/** The layout of an action's type. */
export function actionLayoutOf(type: number): ActionLayout | undefined {
  return ACTION_LAYOUTS.find((one) => one.type === type);
}

/**
 * The offset of the mask in a spec of `size` bytes; undefined where the spec is too short for its
 * filters. A padded tail may be missing. The filters of an extensible type are the halves of the
 * bytes after the first eight.
 */
export function maskAt({ val, mask, known, grows }: SpecLayout, size: number): number | undefined {
  const at = grows ? val + ((size - val) >> 1) : mask;
  return at - val >= known && at + known <= size ? at : undefined;
}

/** The last masks of each layout, and where the next one goes. */
const LAST_MASKS = new Map<SpecLayout, { readonly masks: Uint8Array[]; next: number }>();
/** Flows of a program have few masks. */
const MASKS_KEPT = 8;

/**
 * The bytes of a mask, from `at` on: those of an earlier spec if they are the same. Nobody writes to
 * the masks of specs.
 */
export function sharedMask(layout: SpecLayout, bytes: Uint8Array, at: number): Uint8Array {
  let last = LAST_MASKS.get(layout);
  if (last === undefined) LAST_MASKS.set(layout, (last = { masks: [], next: 0 }));
  for (const mask of last.masks) if (isAt(bytes, at, mask)) return mask;
  const mask = copyOf(bytes, at, layout.known);
  last.masks[last.next] = mask;
  last.next = (last.next + 1) % MASKS_KEPT;
  return mask;
}

function isAt(bytes: Uint8Array, at: number, mask: Uint8Array): boolean {
  for (let i = 0; i < mask.length; i++) if (mask[i] !== bytes[at + i]) return false;
  return true;
}

/** A copy of a few bytes. The slice of a Buffer of Node is none. */
export function copyOf(bytes: Uint8Array, at: number, length: number): Uint8Array {
  const copy = new Uint8Array(length);
  for (let i = 0; i < length; i++) copy[i] = bytes[at + i]!;
  return copy;
}

/** A field of a filter as a number. */
export function filterNumber(filter: Uint8Array, { at, size }: FilterField): bigint {
  let value = 0n;
  for (let byte = at; byte < at + size; byte++) value = (value << 8n) | BigInt(filter[byte]!);
  return value;
}

/** Whether `val` has a bit outside `mask`. */
export function isOutsideMask({ val, mask }: MatchSpec): boolean {
  for (let byte = 0; byte < val.length; byte++) if ((val[byte]! & ~mask[byte]!) !== 0) return true;
  return false;
}

/**
 * The fields with a bit of `val` outside `mask`. The manual profile ignores such bits; drivers
 * refuse them.
 */
export function fieldsOutsideMask({ layout: { fields }, val, mask }: MatchSpec): FilterField[] {
  return fields.filter(({ at, size }) => {
    for (let byte = at; byte < at + size; byte++) if ((val[byte]! & ~mask[byte]!) !== 0) return true;
    return false;
  });
}

/** A field of a filter by its C name; 0 where the filter has no such field. */
export function numberOf(spec: MatchSpec, filter: "val" | "mask", name: string): bigint {
  const field = spec.layout.named.get(name);
  return field === undefined ? 0n : filterNumber(spec[filter], field);
}
