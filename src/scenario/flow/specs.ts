/** Translates the flow specs of a document to those of the model. */
import {
  IBV_FLOW_ATTR_ALL_DEFAULT,
  IBV_FLOW_ATTR_FLAGS_ALLOW_LOOP_BACK,
  IBV_FLOW_ATTR_FLAGS_DONT_TRAP,
  IBV_FLOW_ATTR_FLAGS_EGRESS,
  IBV_FLOW_ATTR_MC_DEFAULT,
  IBV_FLOW_ATTR_NORMAL,
  IBV_FLOW_ATTR_SNIFFER,
  IBV_FLOW_SPEC_ACTION_COUNT,
  IBV_FLOW_SPEC_ACTION_DROP,
  IBV_FLOW_SPEC_ACTION_HANDLE,
  IBV_FLOW_SPEC_ACTION_TAG,
  IBV_FLOW_SPEC_INNER,
} from "../../abi/verbs.js";
import {
  actionLayoutOf,
  ATTR_SIZE,
  type FilterField,
  type FlowRequest,
  type Spec,
  type SpecLayout,
} from "../../model/match/flowSpec.js";
import { parseBits, type FieldForm } from "../../model/match/term.js";
import type {
  ScenarioFlowFlag,
  ScenarioFlowSpecObject,
  ScenarioFlowType,
  ScenarioFlow,
  ScenarioFlowSpec,
} from "./definition.js";
import { SPEC_TYPES, type ScenarioFlowFilter, type ScenarioFlowSpecType } from "./specTypes.js";
import { below } from "../schema/path.js";

/** Fields that are narrower than their C type; other fields without a mask match in full. */
const WIDTHS: Readonly<Record<string, number>> = { flow_label: 20, tunnel_id: 24 };
/** The bits of the IPv4 flags that a flow can match. */
const IPV4_FLAGS = 0x6n;

/** Numbers of the names in specs. */
export interface SpecObjects {
  counters: (name: string) => unknown;
  action: (name: string) => unknown;
}

/**
 * The spec of a document at `path`.
 * @throws EINVAL values that do not fit their fields, masks that miss a bit of the value
 */
export function specFrom(path: string, written: ScenarioFlowSpec, objects: SpecObjects): Spec {
  const spec: ScenarioFlowSpecObject = written === "drop" ? { drop: true } : written;
  const { inner = false, tag, drop, count, action: named } = spec;
  const type = typeOf(spec);
  if (type !== undefined) return matchSpec(`${path}.${type}`, SPEC_TYPES[type], inner, spec[type] ?? {});
  if (tag !== undefined) return action(IBV_FLOW_SPEC_ACTION_TAG, inner, (size) => ({ kind: "tag", size, tag_id: tag }));
  if (drop !== undefined) return action(IBV_FLOW_SPEC_ACTION_DROP, inner, (size) => ({ kind: "drop", size }));
  if (named !== undefined) {
    const object = objects.action(named);
    return action(IBV_FLOW_SPEC_ACTION_HANDLE, inner, (size) => ({ kind: "handle", size, action: object }));
  }
  const object = objects.counters(count ?? "");
  return action(IBV_FLOW_SPEC_ACTION_COUNT, inner, (size) => ({ kind: "count", size, counters: object }));
}

/** The specs for ibv_create_flow. */
export function flowRequest(path: string, flow: ScenarioFlow, objects: SpecObjects): FlowRequest {
  const { type = "normal", port = 1, priority = 0, flags = [] } = flow;
  const specs = (flow.specs ?? []).map((spec, i) => specFrom(below(`${path}.specs`, i), spec, objects));
  return {
    comp_mask: 0,
    type: TYPES[type],
    size: ATTR_SIZE + specs.reduce((sum, { size }) => sum + size, 0),
    priority,
    num_of_specs: specs.length,
    port,
    flags: flags.reduce((bits, flag) => bits | FLAGS[flag], 0),
    specs,
  };
}

const TYPES: Readonly<Record<ScenarioFlowType, number>> = {
  normal: IBV_FLOW_ATTR_NORMAL,
  all_default: IBV_FLOW_ATTR_ALL_DEFAULT,
  mc_default: IBV_FLOW_ATTR_MC_DEFAULT,
  sniffer: IBV_FLOW_ATTR_SNIFFER,
};

const FLAGS: Readonly<Record<ScenarioFlowFlag, number>> = {
  allow_loop_back: IBV_FLOW_ATTR_FLAGS_ALLOW_LOOP_BACK,
  dont_trap: IBV_FLOW_ATTR_FLAGS_DONT_TRAP,
  egress: IBV_FLOW_ATTR_FLAGS_EGRESS,
};

/**
 * Maps a path of the model to the flow in the document: `specs[1].val.dst_ip` becomes
 * `.specs[1].ipv4.dst_ip`.
 */
export function flowPlace(place: string, specs: readonly ScenarioFlowSpec[]): string {
  const [, number, rest] = /^specs\[(\d+)\](.*)$/.exec(place) ?? [];
  if (number === undefined || rest === undefined) return ATTR_PLACES[place] ?? place.replace(/^attr/, "");
  const spec = specs[Number(number)];
  const here = below(".specs", Number(number));
  if (spec === undefined || spec === "drop") return here;
  const filter = /^\.(?:val|mask)(\..*)?$/.exec(rest);
  if (filter !== null) return `${here}.${typeOf(spec) ?? ""}${filter[1] ?? ""}`;
  // A spec that cannot be inner, or that stands twice, is refused as a whole.
  return here + (ACTION_FIELDS[rest] ?? "");
}

const ATTR_PLACES: Readonly<Record<string, string>> = {
  qp: ".queue",
  "qp.qp_type": ".queue",
  "attr.num_of_specs": ".specs",
  device: "",
};
const ACTION_FIELDS: Readonly<Record<string, string>> = {
  ".tag_id": ".tag",
  ".counters": ".count",
  ".action": ".action",
};

function typeOf(spec: ScenarioFlowSpecObject): ScenarioFlowSpecType | undefined {
  return (Object.keys(SPEC_TYPES) as ScenarioFlowSpecType[]).find((type) => spec[type] !== undefined);
}

/** Actions have no level. */
function action(type: number, inner: boolean, make: (size: number) => Spec): Spec {
  if (inner) return { kind: "unknown", size: 0, type: type | IBV_FLOW_SPEC_INNER };
  return make(actionLayoutOf(type)?.size ?? 0);
}

function matchSpec(path: string, layout: SpecLayout, inner: boolean, filter: ScenarioFlowFilter): Spec {
  const val = new Uint8Array(layout.known);
  const mask = new Uint8Array(layout.known);
  for (const field of layout.fields) {
    const text = filter[field.name];
    if (text === undefined) continue;
    const form = formOf(path, field);
    const whole = field.name === "flags" ? IPV4_FLAGS : undefined;
    const bits = parseBits(`${path}.${field.name}`, form, text, whole);
    write(val, field, bits.value);
    write(mask, field, bits.mask);
  }
  return { kind: "match", layout, inner, size: layout.size, val, mask, more: false };
}

/** Messages name a field with its header: `eth.vlan_tag`. */
export function formOf(path: string, { name, size, kind }: FilterField): FieldForm {
  return { name: `${path.slice(path.lastIndexOf(".") + 1)}.${name}`, width: WIDTHS[name] ?? 8 * size, kind };
}

export function write(filter: Uint8Array, { at, size }: FilterField, value: bigint): void {
  for (let byte = 0; byte < size; byte++) filter[at + byte] = Number((value >> BigInt(8 * (size - 1 - byte))) & 0xffn);
}
