/** Scatter and gather lists: where in registered memory the bytes of a work request lie. */
import { refuse } from "../../errors.js";
import type { MemoryRegion, ProtectionDomain } from "../base/context.js";
import { describe, unsigned } from "../../checks.js";
import { bounded } from "../base/limits.js";

/** `struct ibv_sge` */
export interface ScatterEntry {
  addr: Uint8Array;
  /** Bytes. @default all of `addr` */
  length?: number | undefined;
  lkey: number;
}

/** The fields that requests of both queues have. */
export interface WorkRequest {
  wr_id: bigint | number;
  sg_list: readonly ScatterEntry[];
  /** Entries that count. @default all of `sg_list` */
  num_sge?: number | undefined;
}

/** Where a list of work requests says which one was refused: what C has as `bad_wr`. */
export interface BadRequest<T> {
  wr?: T;
}

/** Does one request of a list after another, up to the first that is refused, which `bad` then names. */
export function postList<T extends { next?: T | null | undefined }>(
  first: T,
  bad: BadRequest<T> | undefined,
  post: (request: T) => void,
): void {
  for (let wr: T | null | undefined = first; wr; wr = wr.next) {
    try {
      post(wr);
    } catch (error) {
      if (bad !== undefined) bad.wr = wr;
      throw error;
    }
  }
}

/** The views that the entries of a request name, `most` at most; whether they are registered is not looked at. */
export function viewsOf(call: string, wr: WorkRequest, most: number): Uint8Array[] {
  const { sg_list } = wr;
  if (!Array.isArray(sg_list)) throw new TypeError(`${call}: wr.sg_list must be a list, not ${describe(sg_list)}`);
  const count = wr.num_sge ?? sg_list.length;
  bounded(call, "wr.num_sge", count, Math.min(most, sg_list.length));
  return sg_list.slice(0, count).map((entry: ScatterEntry, i) => viewOf(call, `wr.sg_list[${i}]`, entry));
}

function viewOf(call: string, path: string, entry: ScatterEntry): Uint8Array {
  const { addr, length } = entry;
  if (!(addr instanceof Uint8Array)) {
    throw new TypeError(`${call}: ${path}.addr must be a Uint8Array, not ${describe(addr)}`);
  }
  const size = unsigned(call, `${path}.length`, length ?? addr.length, 32);
  if (size > addr.length) outside(call, path, addr, `the view has ${addr.length} bytes`);
  return addr.subarray(0, size);
}

/** Refuses the first view that does not lie in the region of its lkey, or that the region does not allow. */
export function checkViews(
  call: string,
  pd: ProtectionDomain,
  wr: WorkRequest,
  views: readonly Uint8Array[],
  allows: (region: MemoryRegion, view: Uint8Array) => boolean,
  hint: string,
): void {
  for (const [i, view] of views.entries()) {
    const path = `wr.sg_list[${i}]`;
    const { addr, lkey } = wr.sg_list[i] as ScatterEntry;
    const region = pd.regions.get(lkey);
    if (region === undefined) {
      const known = "the lkey of a region of the queue pair's protection domain";
      refuse({ code: "EINVAL", call, reason: "bad_key", path: `${path}.lkey`, value: lkey, hint: known });
    }
    if (!allows(region, view)) outside(call, path, addr, hint);
  }
}

function outside(call: string, path: string, value: Uint8Array, hint: string): never {
  refuse({ code: "EINVAL", call, reason: "outside_memory_region", path: `${path}.addr`, value, hint });
}

export function lengthOf(views: readonly Uint8Array[]): number {
  return views.reduce((sum, { length }) => sum + length, 0);
}

/** Fills the views with the bytes, in order; gives how many it wrote. */
export function scatter(views: readonly Uint8Array[], bytes: Uint8Array): number {
  let at = 0;
  for (const view of views) {
    const part = bytes.subarray(at, at + view.length);
    view.set(part);
    at += part.length;
  }
  return at;
}
