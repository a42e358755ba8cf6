/**
 * Reads the outcomes of a batch from the core and makes objects of them. Frames that used a receive
 * buffer go to their queue pairs at the same time.
 */
import { REGISTERS } from "../../abi/engine.js";
import {
  DEST_CHANGED,
  DEST_COPY,
  DEST_ETHERNET,
  DEST_PORT,
  DEST_RAW_IP,
  DEST_SWITCHED,
  Reason,
} from "../../abi/outcome.js";
import { ESP_BAD_ICV, ESP_GOOD } from "../../abi/esp.js";
import { espOf, type Batch } from "../../engine/batch.js";
import { LINK_TYPES } from "../../packet/capture/linkTypes.js";
import type { DeviceBase } from "../base/deviceBase.js";
import type { DomainType } from "../base/domainType.js";
import { HostQueue } from "../flow/hostRules.js";
import type { InstalledRule } from "../base/installed.js";
import { Flow } from "../flow/flow.js";
import {
  bareOutcome,
  reasonName,
  verdictName,
  destinationOf,
  type Destination,
  type DestinationRest,
  type HitRule,
  type MissedTable,
  type OpenOutcome,
  type Outcome,
  type PortDestination,
} from "./outcome.js";
import type { Port } from "../base/port/ports.js";
import type { QueuePair } from "../queuePair/queuePair.js";
import { SharedBytes } from "../../base/sharedBytes.js";
import type { Transport } from "../roce/transport.js";
import { WorkQueue } from "../queue/workQueue.js";

/** A frame that leaves by a port. It leaves once the core is idle. */
export interface EgressFrame {
  /** Its `outcome` is set when the frame has left. */
  readonly destination: { -readonly [K in keyof PortDestination]: PortDestination[K] };
  readonly port: Port;
  /** True when a rule of the eSwitch sent the frame to the port; false for the default route. */
  readonly switched: boolean;
  /** The index of the frame in its batch. */
  readonly index: number;
}

/** A packet for an RC or UC queue pair. The queue pair reads it once the core is idle. */
export interface PacketArrival {
  readonly transport: Transport;
  readonly frame: Uint8Array;
}

/**
 * Work that waits until the core is idle: first frames that leave by ports, then arrivals, then queues
 * that fail. Most frames have none, so the lists are made when they are needed.
 */
export class PendingWork {
  #egressFrames: EgressFrame[] | null = null;
  #arrivals: PacketArrival[] | null = null;
  #failures: { fail(): void }[] | null = null;

  get isEmpty(): boolean {
    return this.#egressFrames === null && this.#arrivals === null && this.#failures === null;
  }

  get egressFrames(): readonly EgressFrame[] {
    return this.#egressFrames ?? [];
  }

  /** Passes packets to connected queue pairs, and lets queues fail. */
  arrive(): void {
    for (const { transport, frame } of this.#arrivals ?? []) transport.arrive(frame);
    for (const queue of this.#failures ?? []) queue.fail();
  }

  addEgressFrame(frame: EgressFrame): void {
    (this.#egressFrames ??= []).push(frame);
  }

  addArrival(arrival: PacketArrival): void {
    (this.#arrivals ??= []).push(arrival);
  }

  addFailure(queue: { fail(): void }): void {
    (this.#failures ??= []).push(queue);
  }
}

/** Names of the metadata registers, by number. */
export const REGISTER_NAMES = ["C0", "C1", "C2", "C3", "C4", "C5", "C6", "C7", "A", "B"] as const;

const ETHERNET = { linkType: LINK_TYPES.ETHERNET };
const RAW_IP = { linkType: LINK_TYPES.RAW };
const NONE: number = Reason.none;
const NO_RULE: number = Reason.no_rule;
const TABLE_MISS: number = Reason.table_miss;
const TOO_SHORT: number = Reason.receive_buffer_too_short;

export class OutcomeReader {
  readonly #device: DeviceBase;
  /** The batch whose outcome records are read. */
  readonly batch: Batch;
  /** Functions without tables, by vport. */
  readonly #withoutTables: (readonly MissedTable[])[] = [];
  readonly #copies: boolean;
  readonly #delivers: boolean;
  readonly #changed = new SharedBytes();

  /** @param delivers false for a dry run, whose frames do not arrive in receive buffers */
  constructor(device: DeviceBase, batch: Batch, delivers = true) {
    this.#device = device;
    this.#delivers = delivers;
    this.#copies = device.copyFrames;
    this.batch = batch;
  }

  /**
   * Reads the outcome of frame `i` of the batch.
   * @param frame its input bytes; null when they were not kept
   * @param sender the queue pair that sent the frame, for frames that are looped back; else null
   * @param pendingWork gets the frames that leave by ports and the packets for connected queue pairs
   */
  read(i: number, frame: Uint8Array | null, sender: QueuePair | null, pendingWork: PendingWork): Outcome {
    const batch = this.batch;
    const words = batch.core.u32;
    const tag = batch.tag(i, words);
    const reason = batch.reason(i, words);
    const outcome = bareOutcome(verdictName(batch.verdict(i, words)), reasonName(reason), tag < 0 ? null : tag);
    const written = batch.written(i, words);
    if (written !== 0) outcome.registers = this.#registers(i, written);
    if (reason === NO_RULE || reason === TABLE_MISS) outcome.missed = this.#missed(i);
    const hits = batch.hits(i, words);
    if (hits > 0) outcome.rules = this.#rulesHit(i, hits, words, sender);
    const destinations = batch.destinations(i, words);
    let at = batch.firstDestination(i);
    for (let n = 0; n < destinations; n++) {
      // The memory of the core may have moved: what takes a frame may call the device.
      if (n > 0) at = batch.nextDestination(at);
      const flags = batch.flagsOf(at);
      const destination =
        (flags & DEST_PORT) === 0
          ? this.#arrive(at, flags, frame, pendingWork)
          : this.#egress(i, at, flags, frame, pendingWork);
      if (destination !== null) list(outcome, (flags & DEST_COPY) === 0 ? "to" : "copies", destination);
    }
    return outcome;
  }

  /** Passes the bytes to a queue; null when the queue refused them. */
  #arrive(at: number, flags: number, input: Uint8Array | null, pendingWork: PendingWork): Destination | null {
    const batch = this.batch;
    const words = batch.core.u32;
    const object = this.#device.queues.get(batch.queueOf(at, words)) as QueuePair | WorkQueue | HostQueue;
    const status = batch.statusOf(at, words);
    const taken = status === NONE;
    const tag = batch.tagOf(at, words);
    if (this.#delivers && !object.isSink && object.takesFrames && (taken || status === TOO_SHORT)) {
      if (!object.arrive(batch.arrivalAt(at), tag)) pendingWork.addFailure(object);
    }
    if (!taken) return null;
    const frame = this.#frameAt(at, flags, input);
    if ("transport" in object && object.transport !== null)
      pendingWork.addArrival({ transport: object.transport, frame });
    const marks = markedBy(flags);
    if (object instanceof HostQueue) return destinationOf("host", object.label, null, frame, tag, marks);
    return object instanceof WorkQueue
      ? destinationOf("wq", object.label, object, frame, tag, marks)
      : destinationOf("qp", object.label, object, frame, tag, marks);
  }

  #egress(index: number, at: number, flags: number, input: Uint8Array | null, pendingWork: PendingWork): Destination {
    const batch = this.batch;
    const port = this.#device.hardware.ports[batch.queueOf(at) - 1] as Port;
    const frame = this.#frameAt(at, flags, input);
    // A tag stays in its device.
    const destination = destinationOf("port", port.label, null, frame, 0, { outcome: null, ...markedBy(flags) });
    pendingWork.addEgressFrame({
      destination,
      port,
      switched: (flags & DEST_SWITCHED) !== 0,
      index,
    });
    return destination;
  }

  /** The bytes that a destination gets: the input where they are equal and not to be copied. */
  #frameAt(at: number, flags: number, input: Uint8Array | null): Uint8Array {
    const shared = input !== null && (flags & DEST_CHANGED) === 0 && !this.#copies;
    if (shared) return input;
    const { batch } = this;
    if (this.#copies) return batch.frameAt(at).slice();
    return this.#changed.copy(batch.core.u8, batch.addressOf(at), batch.lengthAt(at));
  }

  #missed(i: number): readonly MissedTable[] {
    const last = this.#missedAt(this.batch.missed(i));
    const fdb = this.batch.missedFdb(i);
    return fdb === 0 ? last : [...this.#missedAt(fdb), ...last];
  }

  /** A list of one table, the same for each frame that missed it. */
  #missedAt(place: number): readonly MissedTable[] {
    const known = this.#device.tables.get(place);
    if (known !== undefined) return (known.missed ??= missedList(known.domain, known.vport, known.object?.name));
    return (this.#withoutTables[place - 1] ??= missedList("nic_rx", place - 1, undefined));
  }

  #registers(i: number, written: number): Record<string, number> {
    const registers: Record<string, number> = {};
    for (let n = 0; n < REGISTERS; n++) {
      if (((written >>> n) & 1) !== 0) registers[REGISTER_NAMES[n] as string] = this.batch.register(i, n);
    }
    return registers;
  }

  #rulesHit(i: number, hits: number, words: Uint32Array, sender: QueuePair | null): readonly HitRule[] {
    const { installed } = this.#device;
    const first = rulesHit(installed.at(this.batch.hit(i, 0, words)), sender);
    if (hits === 1) return first;
    const rules = [...first];
    for (let n = 1; n < hits; n++) rules.push(...rulesHit(installed.at(this.batch.hit(i, n, words)), sender));
    return rules;
  }
}

function missedList(domain: DomainType, vport: number, table = "root"): readonly MissedTable[] {
  return Object.freeze([Object.freeze({ domain, vport, table })]);
}

/** The rules that an outcome lists for an installed rule; `sender` as in `read`. */
export function rulesHit(one: InstalledRule, sender: QueuePair | null): readonly HitRule[] {
  if (one.flowsFor === undefined)
    return one.entry === undefined || one.entry === null ? [one as HitRule] : ([...one.entry.rules] as HitRule[]);
  return one.flowsFor(sender).filter((flow) => flow instanceof Flow);
}

/** The link type, where rules changed it, and the ESP fault; null for most frames. */
function markedBy(flags: number): DestinationRest | null {
  const link = (flags & DEST_ETHERNET) !== 0 ? ETHERNET : (flags & DEST_RAW_IP) !== 0 ? RAW_IP : null;
  const esp = espOf(flags);
  return esp === ESP_GOOD ? link : { ...link, espFault: esp === ESP_BAD_ICV ? "icv" : "trailer" };
}

function list(outcome: OpenOutcome, where: "to" | "copies", destination: Destination): void {
  if (outcome[where].length === 0) outcome[where] = [destination];
  else (outcome[where] as Destination[]).push(destination);
}
