/** The flow entries of a function, by stage. Flows join entries and leave them. */
import { changeActions, insertRule, valueOf } from "../../engine/rules.js";
import { refuse } from "../../errors.js";
import type { FunctionBase } from "../base/deviceBase.js";
import type { FlowCounts } from "./counts.js";
import { endOf, ENTRY_LIMIT, FlowEntry, queueOf, type EntryFlow, type EntryKind } from "./entry.js";
import type { FlowStage } from "../table/pipeline.js";
import { FlowMask, HashTable, isSameKey, KeyHash, MaskBits } from "./masks.js";
import { TablePipeline } from "../table/pipeline.js";
import type { KeyBits } from "./specMatch.js";

/** The entry that a flow would be on its own. */
export interface WantedEntry extends EntryKind {
  readonly bits: KeyBits;
}

/** The place of a flow: the entry that exists there, if any. */
export interface FoundPlace {
  readonly wanted: WantedEntry;
  /** Its mask, known to the stage or not. */
  readonly bits: MaskBits<FlowEntry>;
  /** The hash of its value at its slot. */
  readonly hash: number;
  readonly entry: FlowEntry | null;
}

const NO_RANGES: readonly never[] = Object.freeze([]);

export class FlowTables {
  private readonly _function: FunctionBase;
  private readonly _pipeline: TablePipeline;
  private readonly _hash = new KeyHash();
  private readonly _masks: Record<FlowStage, HashTable<MaskBits<FlowEntry>>> = {
    sniffers: new HashTable(),
    root: new HashTable(),
    defaults: new HashTable(),
    sentSniffers: new HashTable(),
    egress: new HashTable(),
    rdmaRx: new HashTable(),
    rdmaTx: new HashTable(),
    rdmaTransportRx: new HashTable(),
    rdmaTransportTx: new HashTable(),
    fdb: new HashTable(),
  };

  constructor(of: FunctionBase) {
    this._function = of;
    this._pipeline = of.part(TablePipeline);
  }

  /**
   * Finds the entries of a flow, for `enter`. Changes nothing.
   * @throws EEXIST another flow for the same frames acts otherwise; ENOMEM
   */
  find(flow: EntryFlow, wanted: readonly WantedEntry[]): FoundPlace[] {
    const found = wanted.map((one) => this._find(one));
    for (const place of found) if (place.entry !== null) checkAgreement(flow, place.entry, place.wanted);
    const { alive, most } = this._function.device.hardware.flows;
    if (alive >= most) {
      const hint = `limits.flows of createDevice is ${most}`;
      refuse({ code: "ENOMEM", reason: "no_memory", path: "qp", value: flow.qp, hint });
    }
    for (const { entry } of found) if (entry !== null) checkRoom(entry, flow);
    return found;
  }

  /** Adds a flow to its entries. @throws ENOMEM the flow is in none of them */
  enter(flow: EntryFlow, found: readonly FoundPlace[]): FlowEntry[] {
    // Every flow has an entry, nearly all have no other.
    const entered = [this._enter(flow, found[0]!)];
    try {
      for (let i = 1; i < found.length; i++) entered.push(this._enter(flow, found[i]!));
    } catch (error) {
      for (const entry of entered) this._leave(flow, entry);
      throw error;
    }
    this._function.device.hardware.flows.alive++;
    return entered;
  }

  /** Removes a flow from its entries. */
  leave(flow: EntryFlow, entries: readonly FlowEntry[]): void {
    for (const entry of entries) this._leave(flow, entry);
    this._function.device.hardware.flows.alive--;
  }

  /**
   * Rewrites the entries of a flow whose counters changed. @throws ENOMEM after `undo`, the entries
   * act as before
   */
  refresh(entries: readonly FlowEntry[], undo: () => void): void {
    for (const entry of entries) {
      if (this._change(entry)) continue;
      undo();
      for (const before of entries) this._change(before);
      this._function.device.allocated(0);
    }
  }

  private _find(wanted: WantedEntry): FoundPlace {
    const { stage, slot } = wanted;
    const { mask, value } = wanted.bits;
    const bits = this._maskOf(stage, mask) ?? new MaskBits<FlowEntry>(this._hash, mask);
    const hash = bits.entryHash(this._hash, slot, value);
    let entry = bits.entries.first(hash);
    while (entry !== null && !this._isEntry(entry, slot, value)) entry = entry.next;
    return { wanted, bits, hash, entry };
  }

  private _maskOf(stage: FlowStage, mask: Uint8Array): MaskBits<FlowEntry> | null {
    return MaskBits.find(this._masks[stage], this._hash, mask);
  }

  /** Whether an entry of the mask has this value at this slot. */
  private _isEntry({ place, handle }: FlowEntry, slot: number, value: Uint8Array): boolean {
    return place.slot === slot && isSameKey(valueOf(this._function.device.core, handle), value);
  }

  private _enter(flow: EntryFlow, found: FoundPlace): FlowEntry {
    const { entry } = found;
    if (entry === null) return this._insert(flow, found);
    entry.flows.push(flow);
    if (this._change(entry)) return entry;
    entry.flows.pop();
    return this._function.device.allocated(0) as never;
  }

  private _change(entry: FlowEntry): boolean {
    return changeActions(this._function.device.core, entry.handle, entry.record());
  }

  private _insert(flow: EntryFlow, { wanted, bits: found, hash }: FoundPlace): FlowEntry {
    const { stage, slot } = wanted;
    const { device } = this._function;
    const pipeline = this._pipeline;
    const { installed, core } = device;
    const classifier = pipeline.open(stage);
    // The other half of ALL_DEFAULT may have made the mask.
    const bits = (found.slots.size === 0 ? this._maskOf(stage, found.mask.key) : null) ?? found;
    const known = bits.slots.get(slot);
    const mask = known ?? new FlowMask(slot, bits);
    if (known === undefined && !classifier.add(mask)) {
      pipeline.close(stage);
      const hint = "65536 masks and matchers of one table";
      refuse({ code: "ENOMEM", reason: "no_memory", path: flow.does, hint });
    }
    const id = installed.nextId;
    const entry = new FlowEntry(id, wanted, classifier, mask, hash, flow);
    entry.handle = insertRule(core, classifier.table, {
      id,
      rankHigh: classifier.rankHigh(mask),
      rankLow: classifier.rankLow(mask, entry.sequence),
      mask: bits.mask,
      value: wanted.bits.value,
      ranges: NO_RANGES,
      actions: entry.record(),
    });
    if (entry.handle === 0) {
      if (known === undefined) classifier.remove(mask);
      pipeline.close(stage);
      this._function.device.allocated(0);
    }
    if (known === undefined) {
      if (bits.slots.size === 0) this._masks[stage].add(bits);
      bits.slots.set(slot, mask);
    }
    mask.entries++;
    bits.entries.add(entry);
    installed.add(entry);
    pipeline.added(stage);
    return entry;
  }

  private _leave(flow: EntryFlow, entry: FlowEntry): void {
    const { flows } = entry;
    if (flows.length === 1) flows.pop();
    else flows.splice(flows.indexOf(flow), 1);
    if (flows.length > 0) {
      // The list is not longer than before, so this cannot fail.
      this._change(entry);
      return;
    }
    const { place, classifier, stage } = entry;
    const { device } = this._function;
    const pipeline = this._pipeline;
    const { installed, core } = device;
    core.exports.removeRule(entry.handle);
    installed.remove(entry);
    const { bits } = place;
    bits.entries.remove(entry);
    if (--place.entries === 0) {
      bits.slots.delete(place.slot);
      if (bits.slots.size === 0) this._masks[stage].remove(bits);
      classifier.remove(place);
    }
    pipeline.removed(stage);
  }
}

/** SPEC: what identical flows must have in common. A flow without a tag joins any. */
function checkAgreement(flow: EntryFlow, entry: FlowEntry, wanted: WantedEntry): void {
  const { drop, tag, actions } = wanted;
  const path = flow.does;
  const cite = "docs/flows.md, identical flows";
  if (entry.drop !== drop) {
    const hint = `${entry.flows[0]?.name} asks for the same frames and ${entry.drop ? "drops" : "does not drop"} them`;
    refuse({ code: "EEXIST", reason: "conflicting_flow", path, hint, cite });
  }
  if (tag !== null && tag !== (entry.tag ?? 0)) {
    const has = entry.tag === null ? "has no tag" : `has the tag ${entry.tag}`;
    const hint = `${entry.flows[0]?.name} asks for the same frames and ${has}`;
    refuse({ code: "EEXIST", reason: "conflicting_flow", path, value: `tag ${tag}`, hint, cite });
  }
  if (actions.length !== entry.actions.length || actions.some((action, i) => action !== entry.actions[i])) {
    const does = entry.actions.map(({ name }) => name).join(", ") || "changes nothing";
    const hint = `${entry.flows[0]?.name} asks for the same frames and names other flow actions (${does})`;
    refuse({ code: "EEXIST", reason: "conflicting_flow", path, hint, cite });
  }
  const [there, end] = [entry.end, endOf(flow)];
  // MODEL: an entry has one destination besides its queues.
  if (there !== null && end !== null && (there.op !== end.op || there.operand !== end.operand)) {
    const hint = `${entry.flows[0]?.name} asks for the same frames, which go on to another place`;
    refuse({ code: "EEXIST", reason: "conflicting_flow", path, hint, cite });
  }
}

function checkRoom(entry: FlowEntry, flow: EntryFlow): void {
  const { queues } = entry;
  const queue = queueOf(flow);
  if (!entry.drop && queue !== null && !queues.includes(queue) && queues.length === ENTRY_LIMIT) {
    const hint = `${ENTRY_LIMIT} queues get these frames already`;
    refuse({ code: "ENOMEM", reason: "no_memory", path: "qp", value: flow.qp, hint });
  }
  if (flow.counts !== null) checkCountersRoom(entry, flow.counts);
}

/** @throws ENOMEM an entry has as many counters as it can hold */
export function checkCountersRoom(entry: FlowEntry, one: FlowCounts): void {
  const { counters } = entry;
  if (counters.includes(one.address) || counters.length < ENTRY_LIMIT) return;
  const hint = `${ENTRY_LIMIT} counters objects count these frames already`;
  refuse({ code: "ENOMEM", reason: "no_memory", path: "counters", value: one.holder, hint });
}
