/**
 * The C bytes of a flow (x86-64, little-endian) and its objects, either way: `struct ibv_flow_attr`, then its specs back
 * to back, each as long as its `size` says.
 *
 *     | comp_mask 4 | type 4 | size 2 | priority 2 | num_of_specs 1 | port 1 | 0 2 | flags 4 |   ibv_flow_attr
 *     | type 4 | size 2 | val ... mask ... |                                                     ETH, TCP, UDP
 *     | type 4 | size 2 | 0 2 | val ... | mask ... |                                             the other specs
 *     | type 4 | size 2 | 0 2 | tag_id 4, or a pointer 8, or nothing |                           actions
 *
 * A pointer is the handle number of the object, which the caller knows how to have.
 */
import { IBV_FLOW_SPEC_INNER } from "../../abi/verbs.js";
import { inCall, refuse } from "../../errors.js";
import { formatIpv4, formatIpv6, formatMac } from "../../packet/addresses.js";
import type { FieldKind } from "../../model/match/fields.js";
import {
  ACTION_LAYOUTS,
  actionLayoutOf,
  ATTR_SIZE,
  copyOf,
  filterNumber,
  layoutOf,
  maskAt,
  sharedMask,
  type ActionSpec,
  type FlowRequest,
  type MatchSpec,
  type Spec,
  type SpecLayout,
} from "../../model/match/flowSpec.js";
import { checkSpecs } from "../../model/flow/checks.js";
import { wrongType } from "../../base/checks.js";
import { readFlowAttr, specPath, type FlowAttr, type FlowFilter, type FlowSpec } from "./attr.js";

/** The handle number of an object that an action spec names; it stands where C has the pointer. */
export type HandleOf = (object: object) => bigint | number;
/** The object of a handle number; null or undefined where none has it. */
export type ObjectOf = (handle: bigint) => object | null | undefined;

/** Type and size; a spec of this size alone can be stepped over. */
const HEADER = 8;
const POINTER = 8;

/**
 * The C bytes (x86-64) of a flow: `struct ibv_flow_attr` and its specs, back to back.
 * @param handleOf gives the number that stands for the pointer to an action or to counters
 * @throws TypeError, EINVAL if the objects are malformed, a spec type is unknown, or `num_of_specs`
 *   is wrong
 */
export function flowAttrBytes(attr: FlowAttr, handleOf: HandleOf): Uint8Array {
  return inCall("flowAttrBytes", () => {
    const flow = readFlowAttr(attr);
    checkSpecs(flow.specs);
    if (flow.num_of_specs !== flow.specs.length) {
      const hint = `there are ${flow.specs.length}`;
      const value = flow.num_of_specs;
      refuse({ code: "EINVAL", reason: "spec_count", path: "attr.num_of_specs", value, hint });
    }
    const bytes = new Uint8Array(flow.specs.reduce((sum, spec) => sum + spec.size, ATTR_SIZE));
    const view = new DataView(bytes.buffer);
    view.setUint32(0, flow.comp_mask, true);
    view.setUint32(4, flow.type, true);
    view.setUint16(8, flow.size, true);
    view.setUint16(10, flow.priority, true);
    view.setUint8(12, flow.num_of_specs);
    view.setUint8(13, flow.port);
    view.setUint32(16, flow.flags, true);
    let at = ATTR_SIZE;
    for (const [i, spec] of flow.specs.entries()) {
      view.setUint32(at, typeOf(spec), true);
      view.setUint16(at + 4, spec.size, true);
      if (spec.kind === "match") {
        bytes.set(spec.val, at + spec.layout.val);
        bytes.set(spec.mask, at + (maskAt(spec.layout, spec.size) as number));
      } else writeAction(`specs[${i}]`, view, at + HEADER, spec, handleOf);
      at += spec.size;
    }
    return bytes;
  });
}

/**
 * A flow from its C bytes, with all fields of all specs; addresses are text. Bytes after the last
 * spec are ignored.
 * @param objectOf gives the object of the number that stands for a pointer
 * @throws EINVAL if the bytes are no flow, a type is unknown, or a number has no object
 * @throws EOPNOTSUPP if a filter is longer than this version of the library knows
 */
export function flowAttrFromBytes(bytes: Uint8Array, objectOf: ObjectOf): FlowAttr {
  return inCall("flowAttrFromBytes", () => {
    const flow = readFlowBytes(bytes, objectOf);
    checkSpecs(flow.specs);
    return { ...flow, specs: flow.specs.map(specObject) };
  });
}

/** Reads a flow from C bytes. @throws EINVAL bytes that end too early, sizes that hold no spec, handles of no object */
export function readFlowBytes(bytes: Uint8Array, objectOf: ObjectOf): FlowRequest {
  if (!(bytes instanceof Uint8Array)) {
    wrongType("attr", "an object or a Uint8Array", bytes);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  need("attr", bytes, 0, ATTR_SIZE);
  const num_of_specs = view.getUint8(12);
  const specs: Spec[] = [];
  let at = ATTR_SIZE;
  for (let i = 0; i < num_of_specs; i++) {
    const path = specPath(i);
    need(path, bytes, at, HEADER);
    const size = view.getUint16(at + 4, true);
    specs.push(readSpec(path, bytes, view, at, size, objectOf));
    at += size;
  }
  return {
    comp_mask: view.getUint32(0, true),
    type: view.getUint32(4, true),
    size: view.getUint16(8, true),
    priority: view.getUint16(10, true),
    num_of_specs,
    port: view.getUint8(13),
    flags: view.getUint32(16, true),
    specs,
  };
}

/** Reads a flow as the verbs take it: objects, or C bytes. */
export function readFlow(attr: FlowAttr | Uint8Array, objectOf: ObjectOf): FlowRequest {
  return attr instanceof Uint8Array ? readFlowBytes(attr, objectOf) : readFlowAttr(attr);
}

function readSpec(path: string, bytes: Uint8Array, view: DataView, at: number, size: number, objectOf: ObjectOf): Spec {
  const type = view.getUint32(at, true);
  const layout = layoutOf(type);
  if (layout !== undefined) {
    const mask = maskAt(layout, size);
    if (mask === undefined) badSize(path, size, layout.name, layout.size);
    need(path, bytes, at, size);
    return matchSpec(layout, (type & IBV_FLOW_SPEC_INNER) !== 0, bytes, at, size, mask);
  }
  const action = actionLayoutOf(type);
  const least = action?.size ?? HEADER;
  if (size < least) badSize(path, size, action?.name ?? "a spec's header", least);
  need(path, bytes, at, size);
  switch (action?.kind) {
    case "tag":
      return { kind: "tag", size, tag_id: view.getUint32(at + HEADER, true) };
    case "drop":
      return { kind: "drop", size };
    case "handle":
      return { kind: "handle", size, action: objectAt(`${path}.action`, view, at + HEADER, objectOf) };
    case "count":
      return { kind: "count", size, counters: objectAt(`${path}.counters`, view, at + HEADER, objectOf) };
    case undefined:
      return { kind: "unknown", size, type };
  }
}

/** `struct ibv_flow_spec_*`: where it grows, both filters are the larger, and what is new of them is at their ends. */
function matchSpec(
  layout: SpecLayout,
  inner: boolean,
  bytes: Uint8Array,
  at: number,
  size: number,
  maskAt: number,
): MatchSpec {
  const { known, val, grows } = layout;
  const end = Math.min(grows ? 2 * maskAt - val : maskAt + known, size);
  let more = false;
  for (let byte = maskAt + known; byte < end; byte++) more ||= bytes[at + byte] !== 0;
  return {
    kind: "match",
    layout,
    inner,
    size,
    val: copyOf(bytes, at + val, known),
    mask: sharedMask(layout, bytes, at + maskAt),
    more,
  };
}

function objectAt(path: string, view: DataView, at: number, objectOf: ObjectOf): object {
  const handle = view.getBigUint64(at, true);
  const object = objectOf(handle);
  if (object !== null && object !== undefined) return object;
  const hint = "no object has this handle";
  return refuse({ code: "EINVAL", reason: "bad_object", path, value: `0x${handle.toString(16)}`, hint });
}

function writeAction(path: string, view: DataView, at: number, spec: ActionSpec, handleOf: HandleOf): void {
  if (spec.kind === "tag") view.setUint32(at, spec.tag_id, true);
  else if (spec.kind === "handle" || spec.kind === "count") {
    const [field, object] = spec.kind === "handle" ? ["action", spec.action] : ["counters", spec.counters];
    const handle = BigInt(handleOf(object as object));
    if (handle !== BigInt.asUintN(8 * POINTER, handle)) {
      const hint = "a handle has 64 bits";
      refuse({ code: "EINVAL", reason: "out_of_range", path: `${path}.${field}`, value: handle, hint });
    }
    view.setBigUint64(at, handle, true);
  }
}

function typeOf(spec: Spec): number {
  if (spec.kind === "match") return spec.layout.type | (spec.inner ? IBV_FLOW_SPEC_INNER : 0);
  if (spec.kind === "unknown") return spec.type;
  return ACTION_LAYOUTS.find(({ kind }) => kind === spec.kind)?.type ?? 0;
}

function specObject(spec: Spec): FlowSpec {
  const { kind, size } = spec;
  const type = typeOf(spec);
  switch (kind) {
    case "match":
      return { type, size, val: filterObject(spec.layout, spec.val), mask: filterObject(spec.layout, spec.mask) };
    case "tag":
      return { type, size, tag_id: spec.tag_id };
    case "handle":
      return { type, size, action: spec.action as object };
    case "count":
      return { type, size, counters: spec.counters as object };
    case "drop":
    case "unknown":
      return { type, size };
  }
}

const FORMATS: Readonly<Record<FieldKind, (value: bigint) => string | number>> = {
  mac: formatMac,
  ipv4: formatIpv4,
  ipv6: formatIpv6,
  number: Number,
};

/** The fields of a filter by name; addresses are text. */
export function filterObject({ fields }: SpecLayout, filter: Uint8Array): FlowFilter {
  return Object.fromEntries(fields.map((field) => [field.name, FORMATS[field.kind](filterNumber(filter, field))]));
}

function need(path: string, bytes: Uint8Array, at: number, size: number): void {
  if (at + size <= bytes.length) return;
  const hint = `bytes ${at} to ${at + size}, of ${bytes.length}`;
  refuse({ code: "EINVAL", reason: "too_short", path, hint });
}

function badSize(path: string, size: number, name: string, sizeof: number): never {
  const hint = `sizeof ${name} is ${sizeof}`;
  refuse({ code: "EINVAL", reason: "bad_spec_size", path: `${path}.size`, value: size, hint });
}
