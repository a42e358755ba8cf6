/** The types of flow specs that match fields, as documents name them. */
import { filterNumber, specLayouts, type MatchSpec, type SpecLayout } from "../../model/match/flowSpec.js";
import { format } from "../../model/match/term.js";

/** The names omit IBV_FLOW_SPEC_. */
export const SPEC_TYPE_NAMES = [
  "eth",
  "ipv4",
  "ipv4_ext",
  "ipv6",
  "esp",
  "tcp",
  "udp",
  "gre",
  "mpls",
  "vxlan_tunnel",
] as const;
export type ScenarioFlowSpecType = (typeof SPEC_TYPE_NAMES)[number];

/** Fields of a filter by C name: a value, a prefix, or a value and a mask. */
export type ScenarioFlowFilter = Record<string, string | number>;

const LAYOUTS: ReadonlyMap<string, SpecLayout> = new Map(
  specLayouts().map((layout) => [layout.name.replace("IBV_FLOW_SPEC_", "").toLowerCase(), layout]),
);

export const SPEC_TYPES = Object.fromEntries(SPEC_TYPE_NAMES.map((name) => [name, LAYOUTS.get(name)])) as Readonly<
  Record<ScenarioFlowSpecType, SpecLayout>
>;

/** A spec that matches fields, as documents write it: the inverse of `specFrom`. */
export function writtenSpec({ layout, inner, val, mask }: Pick<MatchSpec, "layout" | "inner" | "val" | "mask">): {
  [type: string]: ScenarioFlowFilter | boolean;
} {
  const filter: ScenarioFlowFilter = {};
  for (const field of layout.fields) {
    const bits = filterNumber(mask, field);
    if (bits === 0n) continue;
    const form = { name: field.name, width: 8 * field.size, kind: field.kind };
    const text = (value: bigint): string => (field.kind === "number" ? `0x${value.toString(16)}` : format(form, value));
    filter[field.name] = `${text(filterNumber(val, field) & bits)}/${text(bits)}`;
  }
  const name = layout.name.replace("IBV_FLOW_SPEC_", "").toLowerCase();
  return { [name]: filter, ...(inner ? { inner: true } : {}) };
}

/** The values of a filter that sets fields, without those that are 0. */
export function writtenValues(layout: SpecLayout, val: Uint8Array): ScenarioFlowFilter {
  const filter: ScenarioFlowFilter = {};
  for (const field of layout.fields) {
    const value = filterNumber(val, field);
    const form = { name: field.name, width: 8 * field.size, kind: field.kind };
    if (value !== 0n) filter[field.name] = field.kind === "number" ? `0x${value.toString(16)}` : format(form, value);
  }
  return filter;
}
