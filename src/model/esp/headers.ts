/**
 * The headers that full offload adds to and removes from a packet: the filter chain as bytes
 * (docs/esp.md, "Full offload, ENCRYPT").
 */
import { ESP_BYTES, ESP_DF, ESP_ETH, ESP_HEADERS, ESP_IP, ESP_TRAFFIC, ESP_UDP, ESP_VERSION } from "../../abi/esp.js";
import {
  IBV_FLOW_SPEC_ETH,
  IBV_FLOW_SPEC_IPV4,
  IBV_FLOW_SPEC_IPV4_EXT,
  IBV_FLOW_SPEC_IPV6,
  IBV_FLOW_SPEC_UDP,
} from "../../abi/verbs.js";
import {
  ETHERTYPE_IPV4,
  ETHERTYPE_IPV6,
  PORT_ESP,
  PROTOCOL_ESP,
  PROTOCOL_UDP,
  TPID_CVLAN,
} from "../../abi/protocols.js";
import type { Refusal } from "../../errors.js";
import type { EspEncap } from "./request.js";
import { filterNumber, layoutOf, type FilterField, type SpecLayout } from "../match/flowSpec.js";
import type { Found } from "../profile/refusals.js";

const ETHERTYPES: Readonly<Record<4 | 6, number>> = { 4: ETHERTYPE_IPV4, 6: ETHERTYPE_IPV6 };
const HOPS = 64;
const FLOW_LABEL_END = 2 ** 20;
/** enum ib_ipv4_flags, and the bits on the wire. */
const DF = 0x2;
const DF_ON_WIRE = 0x40;

const CITE = "ibv_flow_action_esp(3), ESP Encapsulation";
const PATH = "esp.esp_encap";

const IP_TYPES: readonly number[] = [IBV_FLOW_SPEC_IPV4, IBV_FLOW_SPEC_IPV4_EXT, IBV_FLOW_SPEC_IPV6];

interface Parts {
  readonly eth: Filter | null;
  readonly ip: Filter | null;
  readonly udp: Filter | null;
}

/** A filter of the chain, with its fields by name. */
class Filter {
  readonly layout: SpecLayout;
  readonly path: string;
  readonly #val: Uint8Array;

  constructor({ type, val }: EspEncap, i: number) {
    this.layout = layoutOf(type) as SpecLayout;
    this.path = `${PATH}[${i}].val`;
    this.#val = val as Uint8Array;
  }

  get version(): 4 | 6 {
    return this.layout.type === IBV_FLOW_SPEC_IPV6 ? 6 : 4;
  }

  /** 0 where the filter has no such field. */
  number(name: string): number {
    const field = this.#field(name);
    return field === undefined ? 0 : Number(filterNumber(this.#val, field));
  }

  bytes(name: string): Uint8Array {
    const { at, size } = this.#field(name) as FilterField;
    return this.#val.subarray(at, at + size);
  }

  #field(name: string): FilterField | undefined {
    return this.layout.fields.find((one) => one.name === name);
  }
}

/** Checks of the chain. */
export function encapFault(chain: readonly EspEncap[], transport: boolean): Found | undefined {
  return chainFault(chain, transport) ?? fieldsFault(partsOf(chain));
}

function bad(path: string, value: unknown, hint: string, reason: Refusal["reason"] = "out_of_range"): Found {
  return { code: "EINVAL", reason, path, value, hint, cite: CITE };
}

/** Checks each link, then their order: [ETH] IP [UDP], or UDP alone. */
function chainFault(chain: readonly EspEncap[], transport: boolean): Found | undefined {
  const order = transport ? [[IBV_FLOW_SPEC_UDP]] : [[IBV_FLOW_SPEC_ETH], IP_TYPES, [IBV_FLOW_SPEC_UDP]];
  const hint = transport ? "transport mode: UDP, or nothing" : "[ETH] IPV4 | IPV4_EXT | IPV6 [UDP]";
  let step = 0;
  for (const [i, { type, len, val, more }] of chain.entries()) {
    const path = `${PATH}[${i}]`;
    while (step < order.length && order[step]?.includes(type) === false) step++;
    if (step === order.length) return bad(`${path}.type`, `0x${type.toString(16)}`, hint, "bad_spec");
    step++;
    const { known } = layoutOf(type) as SpecLayout;
    if (val === null) return bad(`${path}.len`, len, `the filter has ${known} bytes`, "bad_spec_size");
    if (more) {
      const rest = `bytes after the ${known} of the filter must be zero`;
      return { ...bad(`${path}.len`, len, rest, "reserved_bits"), code: "EOPNOTSUPP" };
    }
  }
  if (transport || chain.some(({ type }) => IP_TYPES.includes(type))) return undefined;
  return bad(PATH, undefined, hint, "bad_spec");
}

/** The headers of a chain in valid order. */
function partsOf(chain: readonly EspEncap[]): Parts {
  const of = (types: readonly number[]): Filter | null => {
    const i = chain.findIndex(({ type }) => types.includes(type));
    return i < 0 ? null : new Filter(chain[i] as EspEncap, i);
  };
  return { eth: of([IBV_FLOW_SPEC_ETH]), ip: of(IP_TYPES), udp: of([IBV_FLOW_SPEC_UDP]) };
}

function fieldsFault({ eth, ip, udp }: Parts): Found | undefined {
  if (ip === null) return undefined;
  /** 0 means the required value. */
  const must = (filter: Filter, field: string, wanted: number): Found | undefined => {
    const value = filter.number(field);
    if (value === 0 || value === wanted) return undefined;
    return bad(`${filter.path}.${field}`, value, `0x${wanted.toString(16)}, or 0 for it`, "contradiction");
  };
  const type = eth === null ? undefined : must(eth, "ether_type", ETHERTYPES[ip.version]);
  const next = must(ip, ip.version === 4 ? "proto" : "next_hdr", udp === null ? PROTOCOL_ESP : PROTOCOL_UDP);
  if (type !== undefined || next !== undefined) return type ?? next;
  const flags = ip.number("flags");
  if ((flags & ~DF) !== 0) return bad(`${ip.path}.flags`, flags, "0x2, don't fragment, or 0", "reserved_bits");
  const label = ip.number("flow_label");
  return label < FLOW_LABEL_END ? undefined : bad(`${ip.path}.flow_label`, label, "flow_label has 20 bits");
}

/** Writes the headers of a checked chain into an association. */
export function writeHeaders(record: Uint8Array, chain: readonly EspEncap[]): void {
  const { eth, ip, udp } = partsOf(chain);
  const view = new DataView(record.buffer, record.byteOffset, record.length);
  let at = 0;
  if (eth !== null && ip !== null) {
    view.setUint8(ESP_ETH, 1);
    at = ethernet(record, eth, ip.version);
  }
  if (ip !== null) {
    view.setUint8(ESP_VERSION, ip.version);
    view.setUint16(ESP_IP, at, true);
    const traffic = trafficOf(ip);
    view.setUint8(ESP_TRAFFIC, traffic === 0 ? 1 : 0);
    view.setUint8(ESP_DF, ip.layout.type === IBV_FLOW_SPEC_IPV4 ? 1 : 0);
    const next = udp === null ? PROTOCOL_ESP : PROTOCOL_UDP;
    at = ip.version === 4 ? ipv4(record, at, ip, next, traffic) : ipv6(record, at, ip, next, traffic);
  }
  if (udp !== null) {
    view.setUint16(ESP_UDP, at, true);
    view.setUint16(ESP_HEADERS + at, udp.number("src_port") || PORT_ESP);
    view.setUint16(ESP_HEADERS + at + 2, udp.number("dst_port") || PORT_ESP);
    at += 8;
  }
  view.setUint32(ESP_BYTES, at, true);
}

/** DSCP only: ECN is that of the inner packet (RFC 4301, 5.1.2). */
function trafficOf(ip: Filter): number {
  return ip.number(ip.version === 4 ? "tos" : "traffic_class") & 0xfc;
}

/** Returns the offset of the next header. */
function ethernet(record: Uint8Array, eth: Filter, version: 4 | 6): number {
  const view = new DataView(record.buffer, record.byteOffset + ESP_HEADERS);
  const tag = eth.number("vlan_tag");
  record.set(eth.bytes("dst_mac"), ESP_HEADERS);
  record.set(eth.bytes("src_mac"), ESP_HEADERS + 6);
  let at = 12;
  if (tag !== 0) {
    view.setUint16(at, TPID_CVLAN);
    view.setUint16(at + 2, tag);
    at += 4;
  }
  view.setUint16(at, ETHERTYPES[version]);
  return at + 2;
}

/** Length, identification and checksum are set for each packet. */
function ipv4(record: Uint8Array, at: number, ip: Filter, next: number, traffic: number): number {
  const header = record.subarray(ESP_HEADERS + at);
  header.set([0x45, traffic]);
  header[6] = (ip.number("flags") & DF) === 0 ? 0 : DF_ON_WIRE;
  header.set([ip.number("ttl") || HOPS, next], 8);
  header.set(ip.bytes("src_ip"), 12);
  header.set(ip.bytes("dst_ip"), 16);
  return at + 20;
}

function ipv6(record: Uint8Array, at: number, ip: Filter, next: number, traffic: number): number {
  const header = record.subarray(ESP_HEADERS + at);
  const label = ip.number("flow_label");
  header.set([0x60 | (traffic >> 4), ((traffic & 0xf) << 4) | (label >> 16), (label >> 8) & 0xff, label & 0xff]);
  header.set([next, ip.number("hop_limit") || HOPS], 6);
  header.set(ip.bytes("src_ip"), 8);
  header.set(ip.bytes("dst_ip"), 24);
  return at + 40;
}
