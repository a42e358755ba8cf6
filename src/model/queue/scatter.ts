/** Scatter/gather lists: the parts of registered memory that a work request names. */
import { refuse } from "../../errors.js";
import type { MemoryRegion, ProtectionDomain } from "../base/context.js";
import { checkArray, checkObject, unsigned, wrongType } from "../../base/checks.js";
import { bounded } from "../base/limits.js";

/** `struct ibv_sge` */
export interface ScatterEntry {
  addr: Uint8Array;
  /** Bytes. @default the length of `addr` */
  length?: number | undefined;
  lkey: number;
}

/** The fields that send and receive requests have in common. */
export interface WorkRequest {
  wr_id: bigint | number;
  sg_list: readonly ScatterEntry[];
  /** The number of entries to use. @default the length of `sg_list` */
  num_sge?: number | undefined;
}

/** Gets the request of a list that was refused: `bad_wr` in C. */
export interface BadRequest<T> {
  wr?: T;
}

/** Posts the requests of a list up to the first that is refused, and stores that one in `bad`. */
export function postList<T extends { next?: T | null | undefined }>(
  first: T,
  bad: BadRequest<T> | null | undefined,
  post: (request: T) => void,
): void {
  if (bad !== undefined && bad !== null) checkObject("bad_wr", bad);
  for (let wr: T | null | undefined = first; wr; wr = wr.next) {
    try {
      post(wr);
    } catch (error) {
      if (bad !== undefined && bad !== null) bad.wr = wr;
      throw error;
    }
  }
}

/**
 * The memory views of a request, `most` at most. Registration is checked elsewhere (`checkViews`).
 */
export function viewsOf(wr: WorkRequest, most: number): Uint8Array[] {
  // A null list with a count of 0, as in C.
  const sg_list = wr.sg_list ?? [];
  checkArray("wr.sg_list", sg_list);
  const count = wr.num_sge ?? sg_list.length;
  bounded("wr.num_sge", count, Math.min(most, sg_list.length));
  return sg_list.slice(0, count).map((entry: ScatterEntry, i) => viewOf(`wr.sg_list[${i}]`, entry));
}

function viewOf(path: string, entry: ScatterEntry): Uint8Array {
  if (typeof entry !== "object" || entry === null) wrongType(path, "an object", entry);
  const { addr, length } = entry;
  if (!(addr instanceof Uint8Array)) wrongType(`${path}.addr`, "a Uint8Array", addr);
  const size = unsigned(`${path}.length`, length ?? addr.length, 32);
  if (size > addr.length) outside(path, addr, `the view has ${addr.length} bytes`);
  return addr.subarray(0, size);
}

/**
 * Refuses the first view that lies outside the region of its lkey, or that the region does not
 * allow. @returns the regions of the views @throws EINVAL
 */
export function checkViews(
  pd: ProtectionDomain,
  wr: WorkRequest,
  views: readonly Uint8Array[],
  allows: (region: MemoryRegion, view: Uint8Array) => boolean,
  hint: string,
): MemoryRegion[] {
  return views.map((view, i) => {
    const path = `wr.sg_list[${i}]`;
    const { addr, lkey } = wr.sg_list[i] as ScatterEntry;
    const region = pd.regions.get(lkey);
    if (region === undefined) {
      const known = "use the lkey of a region on the protection domain of the queue";
      refuse({ code: "EINVAL", reason: "bad_key", path: `${path}.lkey`, value: lkey, hint: known });
    }
    if (!allows(region, view)) outside(path, addr, hint);
    return region;
  });
}

function outside(path: string, value: Uint8Array, hint: string): never {
  refuse({ code: "EINVAL", reason: "outside_memory_region", path: `${path}.addr`, value, hint });
}

export function lengthOf(views: readonly Uint8Array[]): number {
  return views.reduce((sum, { length }) => sum + length, 0);
}

/** Writes the bytes to the views in order; returns the number of bytes written. */
export function scatter(views: readonly Uint8Array[], bytes: Uint8Array): number {
  let at = 0;
  for (const view of views) {
    const part = bytes.subarray(at, at + view.length);
    view.set(part);
    at += part.length;
  }
  return at;
}
