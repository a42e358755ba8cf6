/**
 * Checks that the mlx5 driver and its steering core make on the specs of NORMAL flows. No manual
 * page names them.
 */
import {
  IBV_FLOW_SPEC_ESP,
  IBV_FLOW_SPEC_ETH,
  IBV_FLOW_SPEC_GRE,
  IBV_FLOW_SPEC_IPV4,
  IBV_FLOW_SPEC_IPV4_EXT,
  IBV_FLOW_SPEC_IPV6,
  IBV_FLOW_SPEC_TCP,
  IBV_FLOW_SPEC_UDP,
} from "../../abi/verbs.js";
import {
  ETHERTYPE_IPV4,
  ETHERTYPE_IPV6,
  ETHERTYPE_MPLS,
  ETHERTYPE_MPLS_UPSTREAM,
  PROTOCOL_GRE,
  PROTOCOL_TCP,
  PROTOCOL_UDP,
} from "../../abi/protocols.js";
import type { Finding } from "../profile/refusals.js";
import { fieldsOutsideMask, numberOf, type MatchSpec, type Spec } from "../match/flowSpec.js";

/** Fields that the driver cannot match. */
const UNMASKABLE: ReadonlyMap<number, readonly string[]> = new Map([
  [IBV_FLOW_SPEC_IPV4_EXT, ["ttl", "flags"]],
  [IBV_FLOW_SPEC_IPV6, ["hop_limit"]],
  [IBV_FLOW_SPEC_ESP, ["seq"]],
  [IBV_FLOW_SPEC_GRE, ["c_ks_res0_ver"]],
]);

export function unmaskableField(spec: Spec, index: number): Finding | undefined {
  if (spec.kind !== "match") return undefined;
  const field = UNMASKABLE.get(spec.layout.type)?.find((name) => numberOf(spec, "mask", name) !== 0n);
  if (field === undefined) return undefined;
  const value = numberOf(spec, "mask", field);
  return { reason: "unsupported", path: `specs[${index}].mask.${field}`, value, hint: "the mask must be 0" };
}

const isIp = ({ layout: { type } }: MatchSpec): boolean =>
  type === IBV_FLOW_SPEC_IPV4 || type === IBV_FLOW_SPEC_IPV4_EXT || type === IBV_FLOW_SPEC_IPV6;

const ETHERTYPES_OF_MPLS: readonly bigint[] = [BigInt(ETHERTYPE_MPLS), BigInt(ETHERTYPE_MPLS_UPSTREAM)];

/**
 * An EtherType beside an IP spec of its level must be masked in full or not at all, and must be
 * that of the IP spec, or MPLS. The last spec with an EtherType and the last IP spec of a level
 * count.
 */
export function checkEtherType(specs: readonly Spec[]): Finding | undefined {
  return etherTypeOf(false, specs) ?? etherTypeOf(true, specs);
}

function etherTypeOf(inner: boolean, specs: readonly Spec[]): Finding | undefined {
  let ethernet: { spec: MatchSpec; path: string } | undefined;
  let ip: MatchSpec | undefined;
  for (const [i, spec] of specs.entries()) {
    if (spec.kind !== "match" || spec.inner !== inner) continue;
    if (isIp(spec)) ip = spec;
    else if (spec.layout.type === IBV_FLOW_SPEC_ETH && numberOf(spec, "mask", "ether_type") !== 0n) {
      ethernet = { spec, path: `specs[${i}]` };
    }
  }
  if (ethernet === undefined || ip === undefined) return undefined;
  const mask = numberOf(ethernet.spec, "mask", "ether_type");
  if (mask !== 0xffffn) {
    const hint = `0xffff or 0 beside ${ip.layout.name}`;
    return { reason: "contradiction", path: `${ethernet.path}.mask.ether_type`, value: mask, hint };
  }
  const value = numberOf(ethernet.spec, "val", "ether_type");
  const carrier = BigInt(ip.layout.type === IBV_FLOW_SPEC_IPV6 ? ETHERTYPE_IPV6 : ETHERTYPE_IPV4);
  if (value === carrier || ETHERTYPES_OF_MPLS.includes(value)) return undefined;
  const hint = `0x${carrier.toString(16).padStart(4, "0")} beside ${ip.layout.name}`;
  const path = `${ethernet.path}.val.ether_type`;
  return { reason: "contradiction", path, value: `0x${value.toString(16)}`, hint };
}

const PROTOCOLS: ReadonlyMap<number, bigint> = new Map([
  [IBV_FLOW_SPEC_TCP, BigInt(PROTOCOL_TCP)],
  [IBV_FLOW_SPEC_UDP, BigInt(PROTOCOL_UDP)],
  [IBV_FLOW_SPEC_GRE, BigInt(PROTOCOL_GRE)],
]);

/** The IP protocol that a spec matches; undefined where it matches none. */
function protocolOf(spec: MatchSpec): { mask: bigint; value: bigint } | undefined {
  const implied = PROTOCOLS.get(spec.layout.type);
  if (implied !== undefined) return { mask: 0xffn, value: implied };
  const field = spec.layout.type === IBV_FLOW_SPEC_IPV6 ? "next_hdr" : "proto";
  const mask = numberOf(spec, "mask", field);
  return mask === 0n ? undefined : { mask, value: numberOf(spec, "val", field) };
}

/** All specs of a level that match the IP protocol must have the same mask and value. */
export function otherProtocol(spec: Spec, index: number, specs: readonly Spec[]): Finding | undefined {
  const protocol = spec.kind === "match" ? protocolOf(spec) : undefined;
  if (spec.kind !== "match" || protocol === undefined) return undefined;
  for (let before = 0; before < index; before++) {
    const other = specs[before] as Spec;
    const first = other.kind === "match" && other.inner === spec.inner ? protocolOf(other) : undefined;
    if (first === undefined) continue;
    if (first.mask === protocol.mask && first.value === protocol.value) return undefined;
    const hint = `IP protocol ${protocol.value}/0x${protocol.mask.toString(16)}, and ${first.value}/0x${first.mask.toString(16)} by an earlier spec`;
    return { reason: "contradiction", path: `specs[${index}]`, hint };
  }
  return undefined;
}

/** MODEL: every part of an MPLS entry can be matched; on devices this depends on the firmware. */
export function valueOutsideMask(spec: Spec, index: number): Finding | undefined {
  const field = spec.kind === "match" ? fieldsOutsideMask(spec)[0] : undefined;
  if (spec.kind !== "match" || field === undefined) return undefined;
  const value = numberOf(spec, "val", field.name);
  const mask = numberOf(spec, "mask", field.name);
  const hint = `the mask 0x${mask.toString(16)} keeps 0x${(value & mask).toString(16)}`;
  return { reason: "value_outside_mask", path: `specs[${index}].val.${field.name}`, value, hint };
}

/**
 * Whether a flow takes multicast only: its first spec is an outer IPv4 header with a destination in
 * 224.0.0.0/4, whatever the mask, or an outer Ethernet header with the group bit in mask and value.
 */
export function isMulticastOnly(specs: readonly Spec[]): boolean {
  const [first] = specs;
  if (first?.kind !== "match" || first.inner) return false;
  const { layout, val, mask } = first;
  if (layout.type === IBV_FLOW_SPEC_ETH) return (val[0]! & mask[0]! & 0x01) !== 0;
  return layout.type !== IBV_FLOW_SPEC_IPV6 && isIp(first) && (val[4]! & 0xf0) === 0xe0;
}
