/** The types of flow specs that match fields, as documents name them. */
import { specLayouts, type SpecLayout } from "../../model/flow/spec.js";

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
