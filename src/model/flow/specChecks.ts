/** The checks of one spec of a flow (docs/flows.md, "What a flow matches"). */
import { IBV_FLOW_SPEC_IPV4_EXT, IBV_FLOW_SPEC_IPV6, IBV_FLOW_SPEC_VXLAN_TUNNEL } from "../../abi/verbs.js";
import type { SpecCheck } from "../profile/profile.js";
import type { Finding } from "../profile/refusals.js";
import { otherProtocol, unmaskableField, valueOutsideMask } from "./driverChecks.js";
import { numberOf, type MatchSpec, type Spec } from "../match/flowSpec.js";

/** Checks a spec at its place in the list. */
export type SpecLook = (spec: Spec, index: number, specs: readonly Spec[]) => Finding | undefined;

/** The type exists, and has an inner form where INNER is set. */
const unknownSpec: SpecLook = (spec, index) => {
  if (spec.kind === "unknown") return badSpec(index, `0x${spec.type.toString(16)}`);
  if (spec.kind !== "match" || !spec.inner || spec.layout.inner) return undefined;
  return badSpec(index, spec.layout.name, "it is of the outer packet: leave IBV_FLOW_SPEC_INNER out");
};

function badSpec(index: number, value: string, hint?: string): Finding {
  return { reason: "bad_spec", path: `specs[${index}].type`, value, hint, cite: "ibv_create_flow(3)" };
}

/** Longer filters of a later library are accepted where the mask is 0 in the new fields. */
const longFilter: SpecLook = (spec, index) => {
  if (spec.kind !== "match" || !spec.more) return undefined;
  const hint = `the filter has ${spec.layout.known} bytes; mask bytes after them must be zero`;
  return { reason: "reserved_bits", path: `specs[${index}].mask`, hint };
};

/** Fields that are narrower than their C type. */
const WIDTHS: ReadonlyMap<number, readonly [field: string, bits: number]> = new Map([
  [IBV_FLOW_SPEC_IPV6, ["flow_label", 20]],
  [IBV_FLOW_SPEC_VXLAN_TUNNEL, ["tunnel_id", 24]],
]);

/** The value must fit its width whatever the mask is (uverbs). */
const wideField: SpecLook = (spec, index) => {
  const limit = spec.kind === "match" ? WIDTHS.get(spec.layout.type) : undefined;
  if (limit === undefined) return undefined;
  const [field, bits] = limit;
  for (const filter of ["mask", "val"] as const) {
    const value = numberOf(spec as MatchSpec, filter, field);
    if (value < 1n << BigInt(bits)) continue;
    const hint = `${field} has ${bits} bits`;
    return { reason: "out_of_range", path: `specs[${index}].${filter}.${field}`, value, hint };
  }
  return undefined;
};

/** enum ib_ipv4_flags: don't fragment 0x2, more fragments 0x4. */
const IPV4_FLAGS = 0x6n;

const unknownIpv4Flag: SpecLook = (spec, index) => {
  if (spec.kind !== "match" || spec.layout.type !== IBV_FLOW_SPEC_IPV4_EXT) return undefined;
  const value = numberOf(spec, "mask", "flags");
  if ((value & ~IPV4_FLAGS) === 0n) return undefined;
  const hint = "0x2 is don't fragment, 0x4 more fragments";
  return { reason: "reserved_bits", path: `specs[${index}].mask.flags`, value, hint };
};

/** A completion carries 24 bits. */
const wideTag: SpecLook = (spec, index) => {
  if (spec.kind !== "tag" || spec.tag_id < 2 ** 24) return undefined;
  const hint = `0 to ${2 ** 24 - 1}`;
  return { reason: "out_of_range", path: `specs[${index}].tag_id`, value: spec.tag_id, hint };
};

export const SPEC_CHECKS: Readonly<Record<SpecCheck, SpecLook>> = {
  unknownSpec,
  longFilter,
  wideField,
  unknownIpv4Flag,
  wideTag,
  unmaskableField,
  otherProtocol,
  valueOutsideMask,
};
