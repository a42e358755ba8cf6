/** `struct ibv_flow_attr` and its specs, on x86-64, as a flow of a scenario. */
import { IBV_FLOW_SPEC_INNER } from "../../../abi/verbs.js";
import { ACTION_LAYOUTS, ATTR_SIZE, layoutOf, maskAt } from "../../../model/match/flowSpec.js";
import type { ScenarioFlow, ScenarioFlowSpec } from "../../../scenario/flow/definition.js";
import { writtenSpec } from "../../../scenario/flow/specTypes.js";

const TYPES = ["normal", "all_default", "mc_default", "sniffer"] as const;
const FLAGS = ["allow_loop_back", "dont_trap", "egress"] as const;

/** What specs refer to, by address. */
export interface FlowObjects {
  readonly counters: (address: string) => string | undefined;
  readonly action: (address: string) => string | undefined;
}

/** The flow without its queue and name, or why it is not imported. */
export function flowOf(bytes: Uint8Array, objects: FlowObjects): Omit<ScenarioFlow, "queue"> | string {
  if (bytes.length < ATTR_SIZE) return `the recording has ${bytes.length} bytes of it`;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const type = TYPES[view.getUint32(4, true)];
  if (type === undefined) return `${view.getUint32(4, true)} is not a flow type`;
  const bits = view.getUint32(16, true);
  const specs: ScenarioFlowSpec[] = [];
  let at = ATTR_SIZE;
  for (let left = bytes[12] ?? 0; left > 0; left--) {
    const size = at + 8 <= bytes.length ? view.getUint16(at + 4, true) : 0;
    if (size < 8 || at + size > bytes.length) return "the recording does not contain all of its specs";
    const spec = specOf(bytes.subarray(at, at + size), view.getUint32(at, true), objects);
    if (typeof spec === "object" && "refused" in spec) return spec.refused;
    specs.push(spec);
    at += size;
  }
  const flags = FLAGS.filter((_, n) => ((bits >>> n) & 1) === 1);
  return {
    ...(type === "normal" ? {} : { type }),
    port: bytes[13] ?? 1,
    priority: view.getUint16(10, true),
    ...(flags.length === 0 ? {} : { flags }),
    ...(specs.length === 0 ? {} : { specs }),
  };
}

function specOf(
  bytes: Uint8Array,
  type: number,
  { counters, action: actionAt }: FlowObjects,
): ScenarioFlowSpec | { readonly refused: string } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const kind = ACTION_LAYOUTS.find((one) => one.type === type)?.kind;
  if (kind === "drop") return "drop";
  if (kind === "tag") return { tag: view.getUint32(8, true) };
  const address = kind === "count" || kind === "handle" ? `0x${view.getBigUint64(8, true).toString(16)}` : "";
  if (kind === "count") {
    const count = counters(address);
    return count === undefined ? { refused: `no counters object has the address ${address}` } : { count };
  }
  if (kind === "handle") {
    const action = actionAt(address);
    return action === undefined ? { refused: `no flow action has the address ${address}` } : { action };
  }
  const layout = layoutOf(type);
  if (layout === undefined) return { refused: `0x${type.toString(16)} is not a known spec type` };
  const mask = maskAt(layout, bytes.length);
  if (mask === undefined) return { refused: `a spec of type 0x${type.toString(16)} has ${bytes.length} bytes` };
  const inner = (type & IBV_FLOW_SPEC_INNER) !== 0;
  return writtenSpec({ layout, inner, val: bytes.subarray(layout.val), mask: bytes.subarray(mask) });
}
