/**
 * Opened devices (contexts), protection domains and memory regions: ibv_open_device(3),
 * ibv_alloc_pd(3), ibv_reg_mr(3).
 */
import { IBV_ACCESS_LOCAL_WRITE } from "../../abi/verbs.js";
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

  /** @internal `ibv_close_device`. */
  close(): void {
    retire("context", this, "destroy what was made on it first");
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

export class MemoryRegion extends Handle {
  readonly pd: ProtectionDomain;
  readonly bytes: Uint8Array;
  readonly access: number;
  readonly lkey: number;
  readonly rkey: number;
  /** @internal Where the bytes are a copy of memory elsewhere: brings a part here, or takes it there. */
  backing: { load(at: number, length: number): void; store(at: number, length: number): void } | null = null;

  /** @internal */
  constructor(pd: ProtectionDomain, bytes: Uint8Array, length: number | undefined, access: number) {
    living("pd", pd, ProtectionDomain);
    checkBytes("addr", bytes);
    const size = length ?? bytes.length;
    if (!Number.isInteger(size) || size < 0 || size > bytes.length) {
      const hint = `0 to ${bytes.length}`;
      refuse({ code: "EINVAL", reason: "out_of_range", path: "length", value: size, hint });
    }
    const { inventory } = pd.device.hardware;
    inventory.checkRoom(pd.device, "mr");
    super(pd.device, `mr${pd.device.nextNumber("mr")}`);
    this.pd = pd;
    this.bytes = bytes.subarray(0, size);
    this.access = access;
    this.lkey = pd.device.nextNumber("lkey") + 1;
    this.rkey = this.lkey;
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

  /** @internal `ibv_dereg_mr`. */
  dereg(): void {
    retire("mr", this, "");
    this.device.hardware.inventory.remove("mr");
    this.pd.regions.delete(this.lkey);
    this.pd.users--;
  }
}
