/**
 * ibv_create_counters(3), ibv_attach_counters_point_flow(3), ibv_read_counters(3). Bytes of the C structs:
 *
 *     | comp_mask 4 |                                ibv_counters_init_attr
 *     | counter_desc 4 | index 4 | comp_mask 4 |     ibv_counter_attach_attr
 */
import { refuse } from "../errors.js";
import type { Context } from "../model/base/context.js";
import type { Flow } from "../model/flow/flow.js";
import { Counters, type CounterAttachAttr, type CountersInitAttr } from "../model/flow/counters.js";
import { describe, unsigned } from "../checks.js";
import { living } from "../model/base/handle.js";

export type { CounterAttachAttr, Counters, CountersInitAttr } from "../model/flow/counters.js";

/** Counters for flows, without points. @throws EOPNOTSUPP `comp_mask` not 0 */
export function ibv_create_counters(context: Context, init_attr: CountersInitAttr | Uint8Array): Counters {
  const call = "ibv_create_counters";
  const attr = init_attr instanceof Uint8Array ? readInit(call, init_attr) : objectAt(call, "init_attr", init_attr);
  return new Counters(call, context, attr);
}

/** @throws EBUSY while a flow counts on them */
export function ibv_destroy_counters(counters: Counters): 0 {
  living("ibv_destroy_counters", "counters", counters, Counters).destroy("ibv_destroy_counters");
  return 0;
}

/**
 * Adds a point: packets or bytes at an index of the array that is read. With null for the flow the counters are not used
 * yet; with a living flow, which then counts on them.
 * @throws ENOTSUP what cannot be counted; EOPNOTSUPP `comp_mask` not 0; EBUSY without a flow, while one uses them; EINVAL a
 * flow that counts on others; ENOMEM
 */
export function ibv_attach_counters_point_flow(
  counters: Counters,
  counter_attach_attr: CounterAttachAttr | Uint8Array,
  flow: Flow | null,
): 0 {
  const call = "ibv_attach_counters_point_flow";
  living(call, "counters", counters, Counters);
  const path = "counter_attach_attr";
  const bytes = counter_attach_attr instanceof Uint8Array;
  counters.attach(
    call,
    bytes ? readAttach(call, counter_attach_attr) : objectAt(call, path, counter_attach_attr),
    flow,
  );
  return 0;
}

/**
 * Reads `ncounters` values (as many as the array has when undefined): each is what the points at its index add up to.
 * @throws EINVAL an array that is shorter than the highest index, flags that do not exist
 */
export function ibv_read_counters(
  counters: Counters,
  counters_value: BigUint64Array,
  ncounters: number | undefined,
  flags: number,
): 0 {
  const call = "ibv_read_counters";
  living(call, "counters", counters, Counters);
  if (!(counters_value instanceof BigUint64Array)) {
    throw new TypeError(`${call}: counters_value must be a BigUint64Array, not ${describe(counters_value)}`);
  }
  counters.readInto(call, counters_value, unsigned(call, "ncounters", ncounters ?? counters_value.length, 32), flags);
  return 0;
}

function readInit(call: string, bytes: Uint8Array): CountersInitAttr {
  return { comp_mask: words(call, "init_attr", bytes, 1).getUint32(0, true) };
}

function readAttach(call: string, bytes: Uint8Array): CounterAttachAttr {
  const view = words(call, "counter_attach_attr", bytes, 3);
  return {
    counter_desc: view.getUint32(0, true),
    index: view.getUint32(4, true),
    comp_mask: view.getUint32(8, true),
  };
}

function words(call: string, path: string, bytes: Uint8Array, count: number): DataView {
  if (bytes.length < 4 * count) {
    refuse({ code: "EINVAL", call, reason: "too_short", path, value: bytes, hint: `${4 * count} bytes` });
  }
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

function objectAt<T>(call: string, path: string, value: T): T {
  if (typeof value === "object" && value !== null) return value;
  throw new TypeError(`${call}: ${path} must be an object, not ${describe(value)}`);
}
