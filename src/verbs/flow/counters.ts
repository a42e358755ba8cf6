/**
 * ibv_create_counters(3), ibv_attach_counters_point_flow(3), ibv_read_counters(3). Bytes of the C structs:
 *
 *     | comp_mask 4 |                                ibv_counters_init_attr
 *     | counter_desc 4 | index 4 | comp_mask 4 |     ibv_counter_attach_attr
 */
import { inCall, refuse } from "../../errors.js";
import type { Context } from "../../model/base/context.js";
import type { Flow } from "../../model/flow/flow.js";
import { Counters, type CounterAttachAttr, type CountersInitAttr } from "../../model/flow/counters.js";
import { objectArgument, unsigned, wrongType } from "../../base/checks.js";
import { living } from "../../model/base/handle.js";

export type { CounterAttachAttr, Counters, CountersInitAttr } from "../../model/flow/counters.js";

/**
 * Makes counters for flows, without points (ibv_create_counters(3)).
 * @param init_attr `comp_mask` 0, or the 4 bytes of the C struct
 * @throws EOPNOTSUPP if `comp_mask` is not 0
 */
export function ibv_create_counters(context: Context, init_attr: CountersInitAttr | Uint8Array): Counters {
  return inCall("ibv_create_counters", () => {
    const attr =
      init_attr instanceof Uint8Array ? readInit(init_attr) : objectArgument<CountersInitAttr>("init_attr", init_attr);
    return new Counters(context, attr);
  });
}

/**
 * Destroys counters (ibv_create_counters(3)).
 * @throws EBUSY if a flow counts on them
 */
export function ibv_destroy_counters(counters: Counters): 0 {
  return inCall("ibv_destroy_counters", () => {
    living("counters", counters, Counters).destroy();
    return 0;
  });
}

/**
 * Adds a point to counters: packets or bytes at an index of the array that `ibv_read_counters`
 * fills (ibv_attach_counters_point_flow(3)).
 * @param counter_attach_attr `counter_desc` (IBV_COUNTER_PACKETS, IBV_COUNTER_BYTES) and `index`,
 *   or the 12 bytes of the C struct
 * @param flow null before a flow uses the counters; or a living flow, which counts on them from now
 *   on
 * @throws ENOTSUP if the value cannot be counted
 * @throws EOPNOTSUPP if `comp_mask` is not 0
 * @throws EBUSY if `flow` is null and a flow uses the counters
 * @throws EINVAL if the flow counts on other counters
 * @throws ENOMEM if the device has no memory left
 */
export function ibv_attach_counters_point_flow(
  counters: Counters,
  counter_attach_attr: CounterAttachAttr | Uint8Array,
  flow: Flow | null,
): 0 {
  return inCall("ibv_attach_counters_point_flow", () => {
    living("counters", counters, Counters);
    const path = "counter_attach_attr";
    const bytes = counter_attach_attr instanceof Uint8Array;
    counters.attach(bytes ? readAttach(counter_attach_attr) : objectArgument(path, counter_attach_attr), flow);
    return 0;
  });
}

/**
 * Reads counters (ibv_read_counters(3)).
 * @param counters_value gets at each index the sum of the points there
 * @param ncounters values to read; as many as the array has if undefined
 * @param flags IBV_READ_COUNTERS_ATTR_*, or 0
 * @throws EINVAL if the array ends before the highest index, or a flag is unknown
 */
export function ibv_read_counters(
  counters: Counters,
  counters_value: BigUint64Array,
  ncounters: number | undefined,
  flags: number,
): 0 {
  return inCall("ibv_read_counters", () => {
    living("counters", counters, Counters);
    if (!(counters_value instanceof BigUint64Array)) {
      wrongType("counters_value", "a BigUint64Array", counters_value);
    }
    counters.readInto(counters_value, unsigned("ncounters", ncounters ?? counters_value.length, 32), flags);
    return 0;
  });
}

function readInit(bytes: Uint8Array): CountersInitAttr {
  return { comp_mask: words("init_attr", bytes, 1).getUint32(0, true) };
}

function readAttach(bytes: Uint8Array): CounterAttachAttr {
  const view = words("counter_attach_attr", bytes, 3);
  return {
    counter_desc: view.getUint32(0, true),
    index: view.getUint32(4, true),
    comp_mask: view.getUint32(8, true),
  };
}

function words(path: string, bytes: Uint8Array, count: number): DataView {
  if (bytes.length < 4 * count) {
    refuse({ code: "EINVAL", reason: "too_short", path, value: bytes, hint: `${4 * count} bytes` });
  }
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}
