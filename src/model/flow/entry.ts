/**
 * Flow entries: identical flows share one rule of the core, which delivers to the queue of each
 * (docs/flows.md, "What a flow does"). The actions of the rule follow from the flows of the entry
 * and from the tag of the first.
 */
import { Op } from "../../abi/engine.js";
import type { Classifier, Place, Placed } from "../table/classifier.js";
import type { FrameTarget } from "../base/target.js";
import type { FlowCounts } from "./counts.js";
import type { FlowAction, FlowActionStep } from "./action.js";
import type { QueuePair } from "../queue/queuePair.js";
import type { StageName } from "../table/pipeline.js";

/** The stages of the table pipeline that hold flows (model/table/pipeline.ts). */
export type FlowStage = Exclude<StageName, "host" | "connected">;

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

/** The entries of one mask and one slot. The mask ranks by the age of its oldest entry. */
export class FlowMask implements Place {
  readonly slot: number;
  /** The key in the table of masks. */
  readonly key: string;
  readonly entries = new Map<string, FlowEntry>();
  order = 0;
  /** The words of a key that the mask covers. */
  private readonly _words: readonly number[];

  constructor(slot: number, key: string, mask: Uint8Array) {
    this.slot = slot;
    this.key = key;
    const words = wordsOf(mask);
    this._words = Array.from(words.keys()).filter((word) => words[word] !== 0);
  }

  /** The key of a mask at a slot: its words that are not zero. */
  static keyOf(slot: number, mask: Uint8Array): string {
    const words = wordsOf(mask);
    const codes = [slot & 0xffff, slot >>> 16];
    for (let word = 0; word < words.length; word++) {
      const bits = words[word] as number;
      if (bits !== 0) codes.push(word, bits & 0xffff, bits >>> 16);
    }
    return String.fromCharCode(...codes);
  }

  /** The key of a value under this mask. */
  valueKey(value: Uint8Array): string {
    const words = wordsOf(value);
    const codes: number[] = [];
    for (const word of this._words) {
      const bits = words[word] as number;
      codes.push(bits & 0xffff, bits >>> 16);
    }
    return String.fromCharCode(...codes);
  }
}

/** A key as 32-bit words in the machine's byte order. */
function wordsOf(key: Uint8Array): Uint32Array {
  return new Uint32Array(key.buffer, key.byteOffset, key.length / 4);
}

/** Stages that do not end the domain: unmatched frames continue to the next stages. */
const PASSING: ReadonlySet<FlowStage> = new Set(["rdmaRx", "rdmaTx", "rdmaTransportRx", "rdmaTransportTx"]);

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
  readonly place: FlowMask;
  readonly valueKey: string;
  readonly flows: EntryFlow[];
  sequence: number;
  handle = 0;

  constructor(
    id: number,
    kind: EntryKind,
    classifier: Classifier,
    place: FlowMask,
    valueKey: string,
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
    this.valueKey = valueKey;
    this.flows = [first];
    this.sequence = classifier.nextSequence();
  }

  /** The flows that take a frame. A flow of the sender takes it only where it allows loopback. */
  flowsFor(sender: QueuePair | null): EntryFlow[] {
    return this.flows.filter(({ qp, loopsBack }) => qp !== sender || loopsBack);
  }

  /** The queues that get its frames, by handle. */
  get queues(): Set<number> {
    return new Set(this.flows.flatMap((flow) => queueOf(flow) ?? []));
  }

  /** Where its frames continue besides its queues; null for nowhere. */
  get end(): FrameTarget | null {
    return this.flows.map(endOf).find((end) => end !== null) ?? null;
  }

  /** The addresses of its counts. */
  get counters(): Set<number> {
    return new Set(this.flows.flatMap(({ counts }) => (counts === null || counts.address === 0 ? [] : counts.address)));
  }

  /**
   * Operations and operands, alternating, in execution order (docs/rules.md, "Actions"). A list for
   * fewer flows is never longer, so a flow can leave when memory is full: from two flows on, each
   * counter has room for the sender that it ignores.
   */
  record(): number[] {
    const record: number[] = [];
    const decrypts = this.actions.some(({ step }) => step === "decrypt");
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
    else if (!this.drop) this._deliver(record, sniffs);
    if (sniffs) record.push(Op.pass, 0);
    else if (!this.drop) this._goOn(record);
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

  private _deliver(record: number[], sniffs: boolean): void {
    const copies = sniffs || this.dontTrap || this.end !== null;
    const [always, fromOthers, rss] = copies
      ? [Op.copy_queue, Op.copy_from_others, Op.copy_rss]
      : [Op.queue, Op.queue_from_others, Op.rss];
    for (const queue of this.queues) {
      const own = this.flows.filter((flow) => queueOf(flow) === queue);
      // Flows of RDMA tables belong to no queue pair and take frames of every sender; a queue pair
      // with RSS sends none.
      const loops = this.stage !== "root" || own.some(({ loopsBack }) => loopsBack);
      record.push(own[0]?.target?.op === Op.rss ? rss : loops ? always : fromOthers, queue);
    }
  }

  /** Where a frame continues that does not end here. */
  private _goOn(record: number[]): void {
    const { end, stage } = this;
    if (this.dontTrap) record.push(Op.resume, 0);
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
