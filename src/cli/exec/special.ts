/** Calls whose form in C is not that of the facades: what a program has in memory, and what the host adds. */
import { MessageWriter, type HandleName } from "../../calls/index.js";
import { inCall, refuse } from "../../errors.js";
import { Device } from "../../index.js";
import { ibv_get_device_guid, ibv_get_device_name, flowAttrFromBytes } from "../../verbs/index.js";
import type {
  AddressAttributes,
  CompletionQueue,
  Context,
  MemoryRegion,
  QueuePair,
  QueuePairChange,
  SharedReceiveQueue,
  WorkQueue,
} from "../../verbs/index.js";
import type { Queues } from "./queues.js";

/** The functions with C names. */
export type Facade = Readonly<Record<string, (...args: unknown[]) => unknown>>;

/** The session that a call belongs to. */
export interface Caller {
  readonly facade: Facade;
  readonly devices: readonly object[];
  readonly queues: Queues;
  anyObject(id: bigint): object | null;
}

export type SpecialCall = (session: Caller, args: readonly unknown[]) => unknown;

type Address = number | bigint;

/** Memory that a process may register at once, in bytes. */
const MAX_REGION = 2 ** 32;

export const SPECIAL: Readonly<Record<string, SpecialCall | undefined>> = {
  list_devices: ({ devices }) => {
    const writer = new MessageWriter();
    writer.u32(0);
    writer.u32(devices.length);
    for (const device of devices) {
      writer.text(ibv_get_device_name(device as Device).replaceAll("/", "_"));
      writer.wide(ibv_get_device_guid(device as Device));
    }
    return writer;
  },
  ibv_open_device: (session, [index]) => session.facade["ibv_open_device"]?.(deviceAt(session, index as number)),
  mlx5dv_open_device: (session, [index, attr]) =>
    session.facade["mlx5dv_open_device"]?.(deviceAt(session, index as number), attr),
  // 1: the objects on it go on calling through it, so the library keeps it.
  ibv_close_device: ({ facade }, [context]) => {
    const { users } = context as Context;
    facade["ibv_close_device"]?.(context);
    return users > 0 ? 1 : 0;
  },
  ibv_query_device_ex: ({ facade }, [context, comp_mask, attr]) =>
    facade["ibv_query_device_ex"]?.(context, { comp_mask }, attr),
  ibv_reg_mr: ({ facade, queues }, [pd, address, length, access, iova]) => {
    const size = Number(length);
    const bytes = regionBytes(size);
    const mr = facade["ibv_reg_mr_iova"]?.(pd, bytes, size, iova, access) as MemoryRegion;
    queues.regions.add(mr, { bytes, address: Number(address), iova: Number(mr.iova) });
    return mr;
  },
  ibv_create_cq: ({ facade, queues }, [context, cqe, channel, vector, ring, cookie]) =>
    queues.addCompletions(facade["ibv_create_cq"]?.(context, cqe, null, channel, vector) as CompletionQueue, {
      ring: ring as Address,
      cookie: cookie as Address,
    }),
  ibv_create_cq_ex: ({ facade, queues }, [context, attr, more, ring, cookie]) => {
    const cq =
      more === null ? facade["ibv_create_cq_ex"]?.(context, attr) : facade["mlx5dv_create_cq"]?.(context, attr, more);
    return queues.addCompletions(cq as CompletionQueue, { ring: ring as Address, cookie: cookie as Address });
  },
  ibv_resize_cq: ({ facade, queues }, [cq, cqe, ring]) => {
    const unread = queues.unreadOf(cq as CompletionQueue);
    if ((cqe as number) < unread) {
      const hint = `${unread} completions wait in it`;
      inCall("ibv_resize_cq", () => refuse({ code: "EINVAL", reason: "out_of_range", path: "cqe", value: cqe, hint }));
    }
    facade["ibv_resize_cq"]?.(cq, cqe);
    queues.moveRing(cq as CompletionQueue, ring as Address);
    return 0;
  },
  ibv_create_qp: ({ facade, queues }, [pd, attr, cookie]) =>
    queues.addPair(facade["ibv_create_qp"]?.(pd, attr) as QueuePair, cookie as Address),
  ibv_create_qp_ex: ({ facade, queues }, [context, attr, more, cookie]) => {
    const qp =
      more === null ? facade["ibv_create_qp_ex"]?.(context, attr) : facade["mlx5dv_create_qp"]?.(context, attr, more);
    return queues.addPair(qp as QueuePair, cookie as Address);
  },
  ibv_create_srq: ({ facade, queues }, [pd, attr, cookie]) =>
    queues.addShared(facade["ibv_create_srq"]?.(pd, attr) as SharedReceiveQueue, cookie as Address),
  ibv_create_srq_ex: ({ facade, queues }, [context, attr, cookie]) =>
    queues.addShared(facade["ibv_create_srq_ex"]?.(context, attr) as SharedReceiveQueue, cookie as Address),
  ibv_create_wq: ({ facade, queues }, [context, attr, cookie]) =>
    queues.addWorkQueue(facade["ibv_create_wq"]?.(context, attr) as WorkQueue, cookie as Address),
  ibv_modify_qp: (session, [qp, attr, mask]) => {
    const { ah_attr, ...rest } = given("attr", attr) as QueuePairChange & { ah_attr: AddressAttributes };
    return session.facade["ibv_modify_qp"]?.(qp, { ...rest, ah_attr: resolved(session, ah_attr) }, mask);
  },
  ibv_create_ah: (session, [pd, attr]) =>
    session.facade["ibv_create_ah"]?.(pd, resolved(session, given("attr", attr) as AddressAttributes)),
  ibv_create_flow: (session, [qp, bytes]) => {
    const attr = inCall("ibv_create_flow", () =>
      flowAttrFromBytes(given("flow_attr", bytes) as Uint8Array, (handle) => session.anyObject(handle)),
    );
    return session.facade["ibv_create_flow"]?.(qp, attr);
  },
  ibv_read_counters: ({ facade }, [counters, values, , flags]) => {
    const bytes = values as Uint8Array;
    const words = new BigUint64Array(bytes.buffer, bytes.byteOffset, bytes.length >> 3);
    return facade["ibv_read_counters"]?.(counters, words, words.length, flags);
  },
  ibv_create_flow_action_esp: ({ facade }, [context, attr, more]) =>
    more === null
      ? facade["ibv_create_flow_action_esp"]?.(context, attr)
      : facade["mlx5dv_create_flow_action_esp"]?.(context, attr, more),
  mlx5dv_dump_dr_domain: dump("mlx5dv_dump_dr_domain"),
  mlx5dv_dump_dr_table: dump("mlx5dv_dump_dr_table"),
  mlx5dv_dump_dr_matcher: dump("mlx5dv_dump_dr_matcher"),
  mlx5dv_dump_dr_rule: dump("mlx5dv_dump_dr_rule"),
};

/** A call that posts requests to a queue: `| number of the queue 4 | length 4 | requests |`. */
interface Post {
  readonly queue: HandleName;
  readonly requests: (queues: Queues, queue: object, bytes: Uint8Array) => void;
}

export const POSTS: Readonly<Record<string, Post | undefined>> = {
  post_send: { queue: "ibv_qp", requests: (queues, qp, bytes) => queues.postSend(qp as QueuePair, bytes) },
  post_recv: {
    queue: "ibv_qp",
    requests: (queues, qp, bytes) => queues.postReceive("ibv_post_recv", qp as QueuePair, bytes),
  },
  post_srq_recv: {
    queue: "ibv_srq",
    requests: (queues, srq, bytes) => queues.postReceive("ibv_post_srq_recv", srq as SharedReceiveQueue, bytes),
  },
  post_wq_recv: {
    queue: "ibv_wq",
    requests: (queues, wq, bytes) => queues.postReceive("ibv_post_wq_recv", wq as WorkQueue, bytes),
  },
};

/** @throws SteeringError EINVAL: it is a null pointer */
function given(path: string, value: unknown): unknown {
  return value ?? refuse({ code: "EINVAL", reason: "bad_object", path, hint: "not a null pointer" });
}

/** @throws SteeringError ENOMEM: the host has no room for a copy of this size */
function regionBytes(size: number): Uint8Array {
  try {
    if (size <= MAX_REGION) return new Uint8Array(size);
  } catch {
    // The address space is full.
  }
  const hint = `at most ${MAX_REGION} bytes here`;
  return refuse({ code: "ENOMEM", reason: "out_of_range", path: "length", value: size, hint });
}

function deviceAt({ devices }: Caller, index: number): object {
  const found = devices[index];
  if (found !== undefined) return found;
  return refuse({ code: "EINVAL", reason: "no_entry", path: "device", value: index });
}

function dump(call: string): SpecialCall {
  return ({ facade }, [object]) => {
    let text = "";
    facade[call]?.((more: string) => (text += more), object);
    return text;
  };
}

/** An address with the MAC that a kernel finds in its neighbour table: here among the ports of the host's devices. */
function resolved({ devices }: Caller, attr: AddressAttributes): AddressAttributes {
  const dgid = (attr.grh.dgid as { readonly raw?: Uint8Array } | undefined)?.raw;
  if (dgid === undefined) return attr;
  for (const device of devices) {
    if (!(device instanceof Device)) continue;
    for (const { gids, mac } of device.hardware.ports)
      if (gids.some((gid) => gid.every((byte, i) => byte === dgid[i]))) return { ...attr, dmac: mac };
  }
  return attr;
}
