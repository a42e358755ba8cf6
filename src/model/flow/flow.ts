/**
 * Flows (`struct ibv_flow`): verbs flows (verbsFlow.ts) and flows of mlx5dv_create_flow
 * (deviceFlow.ts). docs/flows.md says what they mean together.
 */
import { inCall, refuse } from "../../errors.js";
import type { Hits } from "../base/hitCounts.js";
import type { Context } from "../base/context.js";
import type { FrameTarget } from "../base/target.js";
import type { FlowCounts } from "./counts.js";
import type { FlowAction } from "../action/flowAction.js";
import type { EntryFlow, FlowEntry } from "./entry.js";
import { checkCountersRoom, FlowTables, type WantedEntry } from "./entries.js";
import { checkAlive, Handle } from "../base/handle.js";
import type { QueuePair } from "../queuePair/queuePair.js";

/** The parts of a flow. */
export interface FlowParts {
  readonly name?: string | undefined;
  readonly counts: FlowCounts | null;
  readonly actions: readonly FlowAction[];
  /** Objects that it uses besides counts and actions. They cannot be destroyed before it. */
  readonly holds: readonly Handle[];
}

export abstract class Flow extends Handle implements EntryFlow {
  readonly comp_mask = 0;
  readonly context: Context;
  /** `ibv_flow.handle` */
  readonly handle: number;
  /** Changes of its frames, in the caller's order. */
  readonly actions: readonly FlowAction[];
  /** The queue pair that it was made on; null for a flow of none. */
  abstract readonly qp: QueuePair | null;
  /** Where its frames go; null where it drops them or names no destination. */
  abstract readonly target: FrameTarget | null;
  private readonly _holds: readonly Handle[];
  private _counts: FlowCounts | null;
  private _entries: readonly FlowEntry[] = [];

  protected constructor(context: Context, { name, counts, actions, holds }: FlowParts) {
    // The number is taken once the flow exists.
    const number = context.device.nextNumber("flow", 0);
    super(context.device, name ?? null);
    this.handle = number + 1;
    this.context = context;
    this.actions = actions;
    this._counts = counts;
    this._holds = holds;
  }

  /** The counts of its frames. */
  get counts(): FlowCounts | null {
    return this._counts;
  }

  /** Objects that it uses besides counts and actions. */
  get holds(): readonly Handle[] {
    return this._holds;
  }

  /** The entries that it shares with identical flows. */
  get entries(): readonly FlowEntry[] {
    return this._entries;
  }

  protected override get ownName(): string {
    return `flow${this.handle - 1}`;
  }

  /** The argument that says what it does, for refusals. */
  abstract get does(): string;

  /** Whether it takes frames that its own queue pair has sent. */
  abstract get loopsBack(): boolean;

  private get _tables(): FlowTables {
    return this.context.function.part(FlowTables);
  }

  /**
   * Packets and bytes that hit the flow, from the moment that they are counted (docs/metrics.md).
   * Identical flows are one rule of the device and count together.
   * @throws SteeringError EINVAL: they are not counted
   */
  hits(): Hits {
    return inCall("flow.hits", () => this.device.hitsOf(this._entries));
  }

  /** Joins its entries. @throws EEXIST, ENOMEM nothing has changed */
  protected enter(wanted: readonly WantedEntry[]): void {
    const found = this._tables.find(this, wanted);
    const counts = this._counts;
    const fresh = counts !== null && counts.address === 0;
    counts?.bind();
    try {
      this._entries = this._tables.enter(this, found);
    } catch (error) {
      if (fresh) counts.unbind();
      throw error;
    }
    this.device.nextNumber("flow");
    for (const one of this._holds) one.users++;
    for (const one of this.actions) one.users++;
    if (counts !== null) counts.holder.users++;
    this.device.observer?.ruleAdded(this);
  }

  /** @internal Counts on `counts` from now on. @throws EINVAL it counts on others; ENOMEM */
  countOn(counts: FlowCounts): void {
    if (this._counts === counts) return;
    const path = "flow";
    if (counts.holder.device !== this.device) {
      refuse({ code: "EINVAL", reason: "other_device", path, value: this });
    }
    if (this._counts !== null) {
      const hint = `it counts on ${this._counts.name}`;
      refuse({ code: "EINVAL", reason: "in_use", path, value: this, hint });
    }
    for (const entry of this._entries) checkCountersRoom(entry, counts);
    const fresh = counts.address === 0;
    counts.bind();
    this._counts = counts;
    this._tables.refresh(this._entries, () => {
      this._counts = null;
      if (fresh) counts.unbind();
    });
    counts.holder.users++;
  }

  /** @internal Destroys it for a call of the facades. */
  destroy(): void {
    checkAlive("flow", this);
    this.destroyed = true;
    this._tables.leave(this, this._entries);
    for (const one of this._holds) one.users--;
    for (const one of this.actions) one.users--;
    if (this._counts !== null) this._counts.holder.users--;
    this.device.observer?.ruleRemoved(this);
  }
}
