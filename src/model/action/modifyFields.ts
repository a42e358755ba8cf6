/**
 * The fields of header changes: name, bits, and which real devices know them
 * (docs/modify-fields.md). Numbers and names are those of enum mlx5_modification_field in the
 * device's programming interface.
 */
import { REGISTER_A, REGISTER_B } from "../../abi/engine.js";
import { Place, PLACE_INNER } from "../../abi/program.js";
import { once } from "../../base/once.js";
import type { DomainType } from "../base/domainType.js";

export interface ModifyField {
  readonly id: number;
  readonly name: string;
  /** Width in bits. */
  readonly width: number;
  /**
   * The header (Place), and the first bit of the field in it, counted from the most significant bit
   * of its first byte.
   */
  readonly place: number;
  readonly bit: number;
  /** The same for IPv6, where the place stands for either IP header. */
  readonly bit6: number;
  /** The header group of the field: devices take one group a list. null fits every group. */
  readonly l3Type: "ipv4" | "ipv6" | null;
  readonly l4Type: "tcp" | "udp" | null;
  /** Whether direct rules of real devices can add to it; whether they know it. */
  readonly addAllowed: boolean;
  readonly swSteering: boolean;
  /** The only domain that has it; null for all. */
  readonly domain: DomainType | null;
}

/**
 * [outer number, inner number (0: none), name after OUT_ or IN_, width, place, first bit, first bit
 * in IPv6]
 */
type Row = readonly [
  outer: number,
  inner: number,
  name: string,
  width: number,
  place: Place,
  bit: number,
  bit6?: number,
];

const HEADERS = [
  [0x01, 0x31, "SMAC_47_16", 32, Place.ethernet, 48],
  [0x02, 0x32, "SMAC_15_0", 16, Place.ethernet, 80],
  [0x03, 0x33, "ETHERTYPE", 16, Place.ethertype, 0],
  [0x04, 0x34, "DMAC_47_16", 32, Place.ethernet, 0],
  [0x05, 0x35, "DMAC_15_0", 16, Place.ethernet, 32],
  [0x06, 0x36, "IP_DSCP", 6, Place.ip, 8, 4],
  [0x07, 0x37, "TCP_FLAGS", 9, Place.tcp, 103],
  [0x08, 0x38, "TCP_SPORT", 16, Place.tcp, 0],
  [0x09, 0x39, "TCP_DPORT", 16, Place.tcp, 16],
  [0x0a, 0x3a, "IP_TTL", 8, Place.ipv4, 64],
  [0x0b, 0x3b, "UDP_SPORT", 16, Place.udp, 0],
  [0x0c, 0x3c, "UDP_DPORT", 16, Place.udp, 16],
  [0x0d, 0x3d, "SIPV6_127_96", 32, Place.ipv6, 64],
  [0x0e, 0x3e, "SIPV6_95_64", 32, Place.ipv6, 96],
  [0x0f, 0x3f, "SIPV6_63_32", 32, Place.ipv6, 128],
  [0x10, 0x40, "SIPV6_31_0", 32, Place.ipv6, 160],
  [0x11, 0x41, "DIPV6_127_96", 32, Place.ipv6, 192],
  [0x12, 0x42, "DIPV6_95_64", 32, Place.ipv6, 224],
  [0x13, 0x43, "DIPV6_63_32", 32, Place.ipv6, 256],
  [0x14, 0x44, "DIPV6_31_0", 32, Place.ipv6, 288],
  [0x15, 0x45, "SIPV4", 32, Place.ipv4, 96],
  [0x16, 0x46, "DIPV4", 32, Place.ipv4, 128],
  [0x17, 0, "FIRST_VID", 16, Place.vlan, 0],
  [0x47, 0x48, "IPV6_HOPLIMIT", 8, Place.ipv6, 56],
  [0x59, 0x5a, "TCP_SEQ_NUM", 32, Place.tcp, 32],
  [0x5b, 0x5c, "TCP_ACK_NUM", 32, Place.tcp, 64],
  [0x73, 0, "IP_ECN", 2, Place.ip, 14, 10],
] as const satisfies readonly Row[];

type HeaderRow = (typeof HEADERS)[number];
type InnerName<R> = R extends readonly [number, 0, ...unknown[]]
  ? never
  : R extends readonly [number, number, infer N extends string, ...unknown[]]
    ? `IN_${N}`
    : never;

/** The names of fields that header changes take. */
export type DeviceFieldName =
  | `OUT_${HeaderRow[2]}`
  | InnerName<HeaderRow>
  | `METADATA_REG_${"A" | "B" | `C_${0 | 1 | 2 | 3 | 4 | 5 | 6 | 7}`}`
  | "GTPU_TEID";

/** Fields that direct rules of real devices can add to. */
const ADDABLE: ReadonlySet<string> = new Set(["OUT_IP_TTL", "OUT_IPV6_HOPLIMIT", "OUT_TCP_SEQ_NUM", "OUT_TCP_ACK_NUM"]);

export const modifyFields = once((): readonly ModifyField[] => [
  ...(HEADERS as readonly Row[]).flatMap(([outer, inner, name, width, place, bit, bit6 = bit]) => {
    const bits = { width, bit, bit6, domain: null };
    const out: ModifyField = {
      ...bits,
      id: outer,
      name: `OUT_${name}`,
      place,
      l3Type: place === Place.ipv4 ? "ipv4" : place === Place.ipv6 ? "ipv6" : null,
      // Sequence and acknowledgement numbers fit every group.
      l4Type: place === Place.tcp && width < 32 ? "tcp" : place === Place.udp ? "udp" : null,
      addAllowed: ADDABLE.has(`OUT_${name}`),
      swSteering: true,
    };
    const into = { ...bits, l3Type: null, l4Type: null, addAllowed: false, swSteering: false };
    return inner === 0 ? out : [out, { ...into, id: inner, name: `IN_${name}`, place: place + PLACE_INNER }];
  }),
  register(0x49, "A", REGISTER_A, "nic_tx"),
  register(0x50, "B", REGISTER_B, "nic_rx"),
  ...Array.from({ length: 8 }, (_, n) => register(0x51 + n, `C_${n}`, n, null)),
  whole(0x6e, "GTPU_TEID", Place.gtpu, 32, null, true),
]);

const byId = once((): ReadonlyMap<number, ModifyField> => new Map(modifyFields().map((field) => [field.id, field])));
const byName = once(
  (): ReadonlyMap<string, ModifyField> => new Map(modifyFields().map((field) => [field.name, field])),
);

export const modifyFieldNames = once((): readonly string[] => [...byName().keys()]);

export function modifyFieldAt(id: number): ModifyField | undefined {
  return byId().get(id);
}

export function modifyFieldNamed(name: string): ModifyField | undefined {
  return byName().get(name);
}

/** MODEL: C6 and C7 have numbers; direct rules of real devices do not know them. */
function register(id: number, name: string, number: number, domain: DomainType | null): ModifyField {
  return whole(id, `METADATA_REG_${name}`, Place.register + number, 0, domain, number !== 6 && number !== 7);
}

/** A field of 32 bits that fits every group. */
function whole(
  id: number,
  name: string,
  place: number,
  bit: number,
  domain: DomainType | null,
  swSteering: boolean,
): ModifyField {
  const free = { l3Type: null, l4Type: null, addAllowed: false };
  return { id, name, width: 32, place, bit, bit6: bit, ...free, swSteering, domain };
}
