/** Flows of the verbs as C: `struct ibv_flow_attr` with its specs after it. */
import {
  filterNumber,
  type FilterField,
  type FlowRequest,
  type MatchSpec,
  type Spec,
} from "../../../model/match/flowSpec.js";
import type { ProgramFlow } from "../../program/program.js";
import { byteText, literal } from "./data.js";

const STRUCTS: Readonly<Record<string, string>> = {
  IBV_FLOW_SPEC_ETH: "eth",
  IBV_FLOW_SPEC_IPV4: "ipv4",
  IBV_FLOW_SPEC_IPV4_EXT: "ipv4_ext",
  IBV_FLOW_SPEC_IPV6: "ipv6",
  IBV_FLOW_SPEC_ESP: "esp",
  IBV_FLOW_SPEC_TCP: "tcp_udp",
  IBV_FLOW_SPEC_UDP: "tcp_udp",
  IBV_FLOW_SPEC_GRE: "gre",
  IBV_FLOW_SPEC_MPLS: "mpls",
  IBV_FLOW_SPEC_VXLAN_TUNNEL: "tunnel",
};

const TYPES = [
  "IBV_FLOW_ATTR_NORMAL",
  "IBV_FLOW_ATTR_ALL_DEFAULT",
  "IBV_FLOW_ATTR_MC_DEFAULT",
  "IBV_FLOW_ATTR_SNIFFER",
];
const FLAGS: readonly (readonly [bit: number, name: string])[] = [
  // ALLOW_LOOP_BACK, which headers of today do not have.
  [1, "1"],
  [2, "IBV_FLOW_ATTR_FLAGS_DONT_TRAP"],
  [4, "IBV_FLOW_ATTR_FLAGS_EGRESS"],
];

/** The statements that create a flow, in a block of their own. */
export function flowLines(flow: ProgramFlow, handle: string, queue: string, counters: readonly string[]): string[] {
  const { request, name } = flow;
  const members = request.specs.map((spec, n) => `\t\t\tstruct ibv_flow_spec_${structOf(spec)} spec${n + 1};`);
  return [
    "\t{",
    "\t\tstruct {",
    "\t\t\tstruct ibv_flow_attr attr;",
    ...members,
    "\t\t} __attribute__((packed, aligned(4))) flow = {",
    `\t\t\t.attr = { ${attrText(request)} },`,
    ...request.specs.map((spec, n) => `\t\t\t.spec${n + 1} = { ${specText(spec, counters)} },`),
    "\t\t};",
    `\t\t${handle} = ibv_create_flow(${queue}, (struct ibv_flow_attr *)(void *)&flow);`,
    `\t\tif (!${handle})`,
    `\t\t\treturn failed(${literal(`flow ${name}`)});`,
    "\t}",
  ];
}

function attrText({ type, priority, num_of_specs, port, flags }: FlowRequest): string {
  const set = FLAGS.filter(([bit]) => (flags & bit) !== 0).map(([, name]) => name);
  return [
    `.type = ${TYPES[type] ?? type}`,
    ".size = sizeof flow",
    `.priority = ${priority}`,
    `.num_of_specs = ${num_of_specs}`,
    `.port = ${port}`,
    ...(set.length === 0 ? [] : [`.flags = ${set.join(" | ")}`]),
  ].join(", ");
}

function structOf(spec: Spec): string {
  if (spec.kind === "match") return STRUCTS[spec.layout.name] ?? "";
  return spec.kind === "count" ? "counter_action" : spec.kind === "tag" ? "action_tag" : "action_drop";
}

function specText(spec: Spec, counters: readonly string[]): string {
  const size = `.size = sizeof(struct ibv_flow_spec_${structOf(spec)})`;
  if (spec.kind === "match") {
    const type = `.type = ${spec.layout.name}${spec.inner ? " | IBV_FLOW_SPEC_INNER" : ""}`;
    return [type, size, `.val = { ${filter(spec, "val")} }`, `.mask = { ${filter(spec, "mask")} }`].join(", ");
  }
  if (spec.kind === "count") {
    return `.type = IBV_FLOW_SPEC_ACTION_COUNT, ${size}, .counters = ${counters[Number(spec.counters)] ?? ""}`;
  }
  if (spec.kind === "tag") return `.type = IBV_FLOW_SPEC_ACTION_TAG, ${size}, .tag_id = ${spec.tag_id}`;
  return `.type = IBV_FLOW_SPEC_ACTION_DROP, ${size}`;
}

/** The fields that are asked, in wire order; without one, a single zero. */
function filter(spec: MatchSpec, which: "val" | "mask"): string {
  const asked = spec.layout.fields.filter((field) => filterNumber(spec.mask, field) !== 0n);
  const texts = asked.map((field) => `.${field.name} = ${valueText(spec[which], field)}`);
  return texts.length === 0
    ? `.${spec.layout.fields[0]?.name ?? ""} = ${ZERO[spec.layout.name] ?? "0"}`
    : texts.join(", ");
}

/** Filters that begin with an array. */
const ZERO: Readonly<Record<string, string>> = { IBV_FLOW_SPEC_ETH: "{ 0 }", IBV_FLOW_SPEC_IPV6: "{ 0 }" };

function valueText(filterBytes: Uint8Array, field: FilterField): string {
  const { at, size } = field;
  const value = filterNumber(filterBytes, field);
  if (size === 1) return `0x${value.toString(16)}`;
  if (size === 2) return `htons(0x${value.toString(16)})`;
  if (size === 4) return `htonl(0x${value.toString(16)})`;
  return `{ ${Array.from(filterBytes.subarray(at, at + size), byteText).join(", ")} }`;
}
