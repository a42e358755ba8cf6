/**
 * Flow entries: identical flows share one rule of the core, which delivers to the queue of each
 * (docs/flows.md, "What a flow does"). The actions of the rule follow from the flows of the entry
 * and from the tag of the first.
 */
import { Op } from "../../abi/engine.js";
import type { Classifier, Placed } from "../table/classifier.js";
import type { FrameTarget } from "../base/target.js";
import type { FlowCounts } from "./counts.js";
import type { FlowAction, FlowActionStep } from "../action/flowAction.js";
import type { QueuePair } from "../queuePair/queuePair.js";
import type { FlowMask } from "./masks.js";
import type { FlowStage } from "../table/pipeline.js";

/** The most queues, and the most counters objects, of an entry. */
export const ENTRY_LIMIT = 60;

/** What identifies an entry, and what it does besides delivering. */
export interface EntryKind {
  readonly stage: FlowStage;
  /** The slot of its rank. */
  readonly slot: number;
  /** Whether the frame continues after the slot. */
  readonly dontTrap: boolean;
  /** Whether its actions run in the order of sent frames. */
  readonly sends: boolean;
  readonly drop: boolean;
  readonly tag: number | null;
  /** Changes of the frame, the same for all its flows. */
  readonly actions: readonly FlowAction[];
}

/** A flow as its entry needs it. */
export interface EntryFlow {
  readonly name: string;
  /** The queue pair that it was made on; null for a flow of none. */
  readonly qp: QueuePair | null;
  /** Where its frames go; null where it drops them, or does not say. */
  readonly target: FrameTarget | null;
  /** What counts its frames. */
  readonly counts: FlowCounts | null;
  /** Whether it takes frames that its own queue pair has sent. */
  readonly loopsBack: boolean;
  /** The argument that says what it does, for refusals. */
  readonly does: string;
}

/** Stages that do not end the domain: unmatched frames continue to the next stages. */
const PASSING: ReadonlySet<FlowStage> = new Set(["rdmaRx", "rdmaTx", "rdmaTransportRx", "rdmaTransportTx"]);

/** How a queue or an RSS record gets frames that end there. */
const DELIVERIES = { always: Op.queue, fromOthers: Op.queue_from_others, rss: Op.rss } as const;
/** The same for frames that go on. */
const COPIES = { always: Op.copy_queue, fromOthers: Op.copy_from_others, rss: Op.copy_rss } as const;

export class FlowEntry implements Placed, EntryKind {
  readonly id: number;
  readonly stage: FlowStage;
  readonly slot: number;
  readonly dontTrap: boolean;
  readonly sends: boolean;
  readonly drop: boolean;
  readonly tag: number | null;
  readonly actions: readonly FlowAction[];
  readonly classifier: Classifier;
  readonly place: FlowMask<FlowEntry>;
  /** The hash of its value and slot, among those of its mask. */
  readonly hash: number;
  next: FlowEntry | null = null;
  readonly flows: EntryFlow[];
  sequence: number;
  handle = 0;

  constructor(
    id: number,
    kind: EntryKind,
    classifier: Classifier,
    place: FlowMask<FlowEntry>,
    hash: number,
    first: EntryFlow,
  ) {
    this.id = id;
    this.stage = kind.stage;
    this.slot = kind.slot;
    this.dontTrap = kind.dontTrap;
    this.sends = kind.sends;
    this.drop = kind.drop;
    this.tag = kind.tag;
    this.actions = kind.actions;
    this.classifier = classifier;
    this.place = place;
    this.hash = hash;
    this.flows = [first];
    this.sequence = classifier.nextSequence();
  }

  /** The flows that take a frame. A flow of the sender takes it only where it allows loopback. */
  flowsFor(sender: QueuePair | null): EntryFlow[] {
    return this.flows.filter(({ qp, loopsBack }) => qp !== sender || loopsBack);
  }

  /** The queues that get its frames, by handle. */
  get queues(): number[] {
    const queues: number[] = [];
    for (const flow of this.flows) {
      const queue = queueOf(flow);
      if (queue !== null && !queues.includes(queue)) queues.push(queue);
    }
    return queues;
  }

  /** Where its frames continue besides its queues; null for nowhere. */
  get end(): FrameTarget | null {
    for (const flow of this.flows) {
      const end = endOf(flow);
      if (end !== null) return end;
    }
    return null;
  }

  /** The addresses of its counts. */
  get counters(): number[] {
    const counters: number[] = [];
    for (const { counts } of this.flows) {
      if (counts !== null && counts.address !== 0 && !counters.includes(counts.address)) counters.push(counts.address);
    }
    return counters;
  }

  /**
   * Operations and operands, alternating, in execution order (docs/rules.md, "Actions"). A list for
   * fewer flows is never longer, so a flow can leave when memory is full: from two flows on, each
   * counter has room for the sender that it ignores. `dontTrap`: what it would be with that flag.
   */
  record(dontTrap = this.dontTrap): number[] {
    const record: number[] = [];
    const decrypts = this.actions.length > 0 && this.actions.some(({ step }) => step === "decrypt");
    // Counts matched frames, whether or not they can be decrypted.
    if (decrypts) this._count(record);
    this._rewrite(record, "decrypt");
    this._rewrite(record, "decap");
    if (this.tag !== null) record.push(Op.tag, this.tag);
    // A rule of an earlier stage may have set a tag before the frame missed.
    else if (this.stage === "defaults") record.push(Op.untag, 0);
    if (this.sends) this._count(record);
    this._rewrite(record, "modify");
    if (!this.sends && !decrypts) this._count(record);
    this._rewrite(record, "encap");
    this._rewrite(record, "encrypt");
    const sniffs = this.stage === "sniffers" || this.stage === "sentSniffers";
    // MODEL: the DROP of a sniffer drops only the sniffer's own copy.
    if (this.drop && !sniffs) record.push(Op.drop, soleOwner(this.flows)?.handle ?? 0);
    else if (!this.drop) this._deliver(record, sniffs || dontTrap);
    if (sniffs) record.push(Op.pass, 0);
    else if (!this.drop) this._goOn(record, dontTrap);
    return record;
  }

  private _rewrite(record: number[], step: FlowActionStep): void {
    for (const action of this.actions) if (action.step === step) record.push(action.op, action.operand);
  }

  private _count(record: number[]): void {
    const several = this.stage === "root" && this.flows.length > 1;
    for (const one of this.counters) {
      const owner = several ? soleOwner(this.flows.filter(({ counts }) => counts?.address === one)) : null;
      if (several) record.push(owner === null ? Op.none : Op.not_for, owner?.handle ?? 0);
      record.push(Op.count, one);
    }
  }

  private _deliver(record: number[], copies: boolean): void {
    const does = copies || this.end !== null ? COPIES : DELIVERIES;
    for (let i = 0; i < this.flows.length; i++) {
      const queue = queueOf(this.flows[i]!);
      if (queue === null || this._isBefore(i, queue)) continue;
      // Flows of RDMA tables belong to no queue pair and take frames of every sender; a queue pair
      // with RSS sends none.
      let loops = this.stage !== "root";
      let rss = false;
      for (const flow of this.flows) {
        if (queueOf(flow) !== queue) continue;
        loops ||= flow.loopsBack;
        rss = flow.target?.op === Op.rss;
      }
      record.push(rss ? does.rss : loops ? does.always : does.fromOthers, queue);
    }
  }

  /** Whether a flow before the i-th delivers to this queue. */
  private _isBefore(i: number, queue: number): boolean {
    for (let before = 0; before < i; before++) if (queueOf(this.flows[before]!) === queue) return true;
    return false;
  }

  /** Where a frame continues that does not end here. */
  private _goOn(record: number[], dontTrap: boolean): void {
    const { end, stage } = this;
    if (dontTrap) record.push(Op.resume, 0);
    // The next stage takes every frame that RDMA tables do not keep.
    else if (PASSING.has(stage) && (end?.op === Op.default_miss || (end === null && this.sends))) {
      record.push(Op.pass, 0);
    } else if (end !== null) record.push(end.op, end.operand);
  }
}

/** The queue, or the RSS record, that a flow delivers to, by handle; null for none. */
export function queueOf({ target }: EntryFlow): number | null {
  return target !== null && isQueue(target) ? target.operand : null;
}

/** The destination of a flow besides queues. */
export function endOf({ target }: EntryFlow): FrameTarget | null {
  return target === null || isQueue(target) ? null : target;
}

function isQueue({ op }: FrameTarget): boolean {
  return op === Op.queue || op === Op.rss;
}

/** The queue pair that made all these flows, where none of them takes its own frames; else null. */
function soleOwner(flows: readonly EntryFlow[]): QueuePair | null {
  const owner = flows[0]?.qp ?? null;
  return flows.every(({ qp, loopsBack }) => qp === owner && !loopsBack) ? owner : null;
}
