/** What one spec of a flow is refused for, by itself (docs/flows.md, "What a flow asks"). */
import { IBV_FLOW_SPEC_IPV4_EXT, IBV_FLOW_SPEC_IPV6, IBV_FLOW_SPEC_VXLAN_TUNNEL } from "../../abi/verbs.js";
import type { Refusal } from "../../errors.js";
import { filterNumber, type MatchSpec, type Spec } from "./spec.js";

/** What a check says: a refusal whose call is not known yet. */
export type Found = Omit<Refusal, "call">;

export type SpecCheck = (spec: Spec, path: string) => Found | undefined;

/** What the first of these checks that finds something says of the first spec that has it. */
export function anySpec(specs: readonly Spec[], checks: readonly SpecCheck[]): Found | undefined {
  for (const [i, spec] of specs.entries()) {
    for (const check of checks) {
      const found = check(spec, `specs[${i}]`);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** A flow has one tag, and one counters object. */
export function noSecond(kind: "tag" | "count", specs: readonly Spec[]): Found | undefined {
  const first = specs.findIndex((spec) => spec.kind === kind);
  const second = specs.findIndex((spec, i) => spec.kind === kind && i > first);
  if (second < 0) return undefined;
  const hint = `specs[${first}] is one already`;
  return { code: "EINVAL", reason: "bad_action_list", path: `specs[${second}].type`, hint };
}

/** A field of a filter by its C name; 0 where the filter has no such field. */
export function numberOf(spec: MatchSpec, filter: "val" | "mask", name: string): bigint {
  const field = spec.layout.fields.find((one) => one.name === name);
  return field === undefined ? 0n : filterNumber(spec[filter], field);
}

/** The type exists, and takes INNER if it has it. */
export const existing: SpecCheck = (spec, path) => {
  const bad = { code: "EINVAL", reason: "bad_spec", path: `${path}.type`, cite: "ibv_create_flow(3)" } as const;
  if (spec.kind === "unknown") return { ...bad, value: `0x${spec.type.toString(16)}` };
  if (spec.kind !== "match" || !spec.inner || spec.layout.inner) return undefined;
  const hint = "it is of the outer packet: leave IBV_FLOW_SPEC_INNER out";
  return { ...bad, value: spec.layout.name, hint };
};

/** Filters of a later library may be longer, if the mask asks nothing of what is new. */
export const knownFilter: SpecCheck = (spec, path) => {
  if (spec.kind !== "match" || !spec.more) return undefined;
  const hint = `the filter has ${spec.layout.known} bytes; mask bytes behind them must be zero`;
  return { code: "EOPNOTSUPP", reason: "reserved_bits", path: `${path}.mask`, hint };
};

/** Fields that have fewer bits than their C type. */
const WIDTHS: ReadonlyMap<number, readonly [field: string, bits: number]> = new Map([
  [IBV_FLOW_SPEC_IPV6, ["flow_label", 20]],
  [IBV_FLOW_SPEC_VXLAN_TUNNEL, ["tunnel_id", 24]],
]);

/** The value is held to its width too, whatever the mask (uverbs). */
export const inWidth: SpecCheck = (spec, path) => {
  const limit = spec.kind === "match" ? WIDTHS.get(spec.layout.type) : undefined;
  if (limit === undefined) return undefined;
  const [field, bits] = limit;
  for (const filter of ["mask", "val"] as const) {
    const value = numberOf(spec as MatchSpec, filter, field);
    if (value < 1n << BigInt(bits)) continue;
    const hint = `${field} has ${bits} bits`;
    return { code: "EINVAL", reason: "out_of_range", path: `${path}.${filter}.${field}`, value, hint };
  }
  return undefined;
};

/** enum ib_ipv4_flags: don't fragment 0x2, more fragments 0x4. */
const IPV4_FLAGS = 0x6n;

export const knownFlags: SpecCheck = (spec, path) => {
  if (spec.kind !== "match" || spec.layout.type !== IBV_FLOW_SPEC_IPV4_EXT) return undefined;
  const value = numberOf(spec, "mask", "flags");
  if ((value & ~IPV4_FLAGS) === 0n) return undefined;
  const hint = "0x2 is don't fragment, 0x4 more fragments";
  return { code: "EINVAL", reason: "reserved_bits", path: `${path}.mask.flags`, value, hint };
};

/** A completion carries 24 bits. */
export const tagFits: SpecCheck = (spec, path) => {
  if (spec.kind !== "tag" || spec.tag_id < 2 ** 24) return undefined;
  const hint = `0 to ${2 ** 24 - 1}`;
  return { code: "EINVAL", reason: "out_of_range", path: `${path}.tag_id`, value: spec.tag_id, hint };
};

/** What no profile takes. */
export const SPEC_CHECKS: readonly SpecCheck[] = [existing, knownFilter, inWidth, knownFlags, tagFits];
