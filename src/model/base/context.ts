/**
 * Opened devices (contexts), protection domains and memory regions: ibv_open_device(3),
 * ibv_alloc_pd(3), ibv_reg_mr(3).
 */
import { IBV_ACCESS_LOCAL_WRITE } from "../../abi/verbs.js";
import {
  IBV_ACCESS_FLUSH_GLOBAL,
  IBV_ACCESS_FLUSH_PERSISTENT,
  IBV_ACCESS_HUGETLB,
  IBV_ACCESS_MW_BIND,
  IBV_ACCESS_ON_DEMAND,
  IBV_ACCESS_OPTIONAL_RANGE,
  IBV_ACCESS_REMOTE_ATOMIC,
  IBV_ACCESS_REMOTE_READ,
  IBV_ACCESS_REMOTE_WRITE,
  IBV_ACCESS_ZERO_BASED,
} from "../../abi/verbsConstants.js";
import { refuse } from "../../errors.js";
import { functionFrom, type DeviceBase, type FunctionBase } from "./deviceBase.js";
import { checkBytes, unsigned } from "../../base/checks.js";
import { Handle, living, retire } from "./handle.js";
import { AsyncEvents } from "./asyncEvents.js";
import { destroyedError } from "./time/eventQueue.js";
import { NumberedObjects } from "./numbered.js";

export class Context extends Handle {
  /** Completion vectors: one, which signals no thread. */
  readonly num_comp_vectors = 1;

  /** Whether the program may steer frames: CAP_NET_RAW. */
  readonly capNetRaw: boolean;
  /** The function that owns its queue pairs, domains and flows. */
  readonly function: FunctionBase;
  /** The objects that device commands made on it. */
  readonly numbered = new NumberedObjects();
  /**
   * Its asynchronous events (ibv_get_async_event(3)); `asyncEvents.next()` is a promise of the next
   * one.
   */
  readonly asyncEvents = new AsyncEvents();

  /** @internal `of` is the device (its PF) or a function; C has an entry of the device list here. */
  constructor(of: DeviceBase | FunctionBase, capNetRaw = true) {
    const owner = functionFrom("device", of);
    const { device } = owner;
    if (device.closed) refuse({ code: "EINVAL", reason: "object_destroyed", path: "device", value: device });
    super(device, `${owner.name}/context${device.nextNumber("context")}`);
    this.function = owner;
    this.capNetRaw = capNetRaw;
    device.users++;
  }

  /** @internal @throws EINVAL there is no such completion vector */
  checkVector(path: string, vector: number): void {
    if (unsigned(path, vector, 31) < this.num_comp_vectors) return;
    refuse({ code: "EINVAL", reason: "out_of_range", path, value: vector, hint: "num_comp_vectors is 1" });
  }

  /** @internal `ibv_close_device`. Objects that were made on it live on (ibv_open_device(3): Notes). */
  close(): void {
    this.destroyed = true;
    this.device.resources.delete(this);
    this.asyncEvents.close(destroyedError("ibv_close_device", "context", this));
    this.device.users--;
  }
}

export class ProtectionDomain extends Handle {
  readonly context: Context;
  readonly regions = new Map<number, MemoryRegion>();

  /** @internal */
  constructor(context: Context) {
    const { device } = living("context", context, Context);
    const { inventory } = device.hardware;
    inventory.checkRoom(device, "pd");
    super(device, `pd${device.nextNumber("pd")}`);
    this.context = context;
    inventory.add("pd");
    context.users++;
  }

  /** @internal `ibv_dealloc_pd`. */
  dealloc(): void {
    retire("pd", this, "destroy its queue pairs, memory regions and address handles first");
    this.device.hardware.inventory.remove("pd");
    this.context.users--;
  }
}

/** The operations of a peer on memory, which regions and queue pairs allow. */
export const REMOTE_ACCESS = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
/** Those that write. */
const REMOTE_WRITES = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
const HAS = IBV_ACCESS_LOCAL_WRITE | REMOTE_ACCESS | IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED | IBV_ACCESS_HUGETLB;
const LACKS = IBV_ACCESS_ON_DEMAND | IBV_ACCESS_FLUSH_GLOBAL | IBV_ACCESS_FLUSH_PERSISTENT;
const PAGE = 4096;

/** Checks the access flags of a region. Optional ones that the device lacks are ignored. */
function checkAccess(access: number): void {
  const bad = (code: "EINVAL" | "EOPNOTSUPP", hint: string): never =>
    refuse({ code, reason: "bad_access_flags", path: "access", value: access, hint, cite: "ibv_reg_mr" });
  const flags = unsigned("access", access, 32) & ~IBV_ACCESS_OPTIONAL_RANGE;
  if ((flags & ~(HAS | LACKS)) !== 0) bad("EINVAL", "use bits IBV_ACCESS_*");
  if ((flags & LACKS) !== 0) bad("EOPNOTSUPP", "the device has no ON_DEMAND, FLUSH_GLOBAL and FLUSH_PERSISTENT");
  if ((flags & REMOTE_WRITES) !== 0 && (flags & IBV_ACCESS_LOCAL_WRITE) === 0) {
    bad("EINVAL", "REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE");
  }
}

/** The memory of another process, of which a region has a copy. */
export interface MemoryElsewhere {
  /** Brings a part up to date, which a peer reads. */
  load(at: number, length: number): void;
  /** A peer changes a part before the call ends that brought its request. */
  changes(at: number, length: number): void;
}

export class MemoryRegion extends Handle {
  readonly pd: ProtectionDomain;
  readonly bytes: Uint8Array;
  /**
   * The address of its first byte, as peers name it. MODEL: memory here has no addresses; unless
   * `ibv_reg_mr_iova` gives one, it is the next free page of the device, and 0 with
   * IBV_ACCESS_ZERO_BASED.
   */
  readonly iova: bigint;
  readonly access: number;
  readonly lkey: number;
  readonly rkey: number;
  /** @internal Null unless the bytes are a copy of memory elsewhere. */
  backing: MemoryElsewhere | null = null;

  /** @internal */
  constructor(pd: ProtectionDomain, bytes: Uint8Array, length: number | undefined, access: number, iova?: bigint) {
    living("pd", pd, ProtectionDomain);
    checkBytes("addr", bytes);
    checkAccess(access);
    const size = length ?? bytes.length;
    if (!Number.isInteger(size) || size < 0 || size > bytes.length) {
      const hint = `0 to ${bytes.length}`;
      refuse({ code: "EINVAL", reason: "out_of_range", path: "length", value: size, hint });
    }
    if (iova !== undefined && iova + BigInt(size) > 2n ** 64n) {
      const hint = "the region ends at 2^64 at the latest";
      refuse({ code: "EINVAL", reason: "out_of_range", path: "iova", value: iova, hint });
    }
    const { inventory } = pd.device.hardware;
    inventory.checkRoom(pd.device, "mr");
    super(pd.device, `mr${pd.device.nextNumber("mr")}`);
    this.pd = pd;
    this.bytes = bytes.subarray(0, size);
    this.access = access;
    this.lkey = pd.device.nextNumber("lkey") + 1;
    this.rkey = this.lkey;
    const given = (access & IBV_ACCESS_ZERO_BASED) === 0 ? iova : 0n;
    this.iova = given ?? BigInt((pd.device.nextNumber("page", Math.ceil(size / PAGE) || 1) + 1) * PAGE);
    pd.regions.set(this.lkey, this);
    inventory.add("mr");
    pd.users++;
  }

  /** Whether the device may write all of `view`: the memory that a receive writes. */
  takes(view: Uint8Array): boolean {
    return (this.access & IBV_ACCESS_LOCAL_WRITE) !== 0 && this.holds(view);
  }

  /** Whether all of `view` lies in the region: the memory that a send reads. */
  holds(view: Uint8Array): boolean {
    return (
      view.buffer === this.bytes.buffer &&
      view.byteOffset >= this.bytes.byteOffset &&
      view.byteOffset + view.length <= this.bytes.byteOffset + this.bytes.length
    );
  }

  /** The bytes that a peer names; null where the region does not allow `access` to all of them. */
  remote(address: bigint, length: number, access: number): Uint8Array | null {
    const at = address - this.iova;
    if ((this.access & access) !== access || at < 0n || at + BigInt(length) > BigInt(this.bytes.length)) return null;
    if ((access & IBV_ACCESS_REMOTE_WRITE) === 0) this.backing?.load(Number(at), length);
    if ((access & IBV_ACCESS_REMOTE_READ) === 0) this.backing?.changes(Number(at), length);
    return this.bytes.subarray(Number(at), Number(at) + length);
  }

  /** @internal `ibv_dereg_mr`. */
  dereg(): void {
    retire("mr", this, "");
    this.device.hardware.inventory.remove("mr");
    this.pd.regions.delete(this.lkey);
    this.pd.users--;
  }
}
