/** What repairs and known mistakes are found from: a frame, the rule that it did not come to, and a way to try changes. */
import type { FieldRange } from "../../engine/rules.js";
import type { RuleContent, StoredRule } from "../../engine/tracedCore.js";
import type { InstalledRule } from "../../model/base/installed.js";
import type { Device } from "../../model/device/device.js";
import type { FrameOptions } from "../../model/traffic/input.js";
import type { FieldChange, LookupStep, RuleRef, TableRef, Trace } from "../trace/trace.js";
import type { Reason, Repair, Target } from "../why/explanation.js";

/** A rule of the core, with the object of the model that made it. Mask and value are whole keys, presence included. */
export interface RuleInTable extends RuleContent {
  readonly ref: RuleRef;
  readonly table: TableRef;
  readonly object: InstalledRule;
  /** Its place in the copy of the traced core: the address of its table, its address and its rank. */
  readonly inCore: { readonly table: number; readonly stored: StoredRule };
}

/** A change of a rule; what is left out stays. */
export interface RuleChange {
  readonly mask?: Uint8Array;
  readonly value?: Uint8Array;
  readonly ranges?: readonly FieldRange[];
  readonly priority?: number;
  /** The flow gets DONT_TRAP. */
  readonly dontTrap?: true;
}

/** A change of one rule in the notation of scenario files, to be tried. */
export interface RuleCandidate {
  readonly rule: RuleInTable;
  readonly changes: readonly FieldChange[];
}

/** A change of a rule that was tried, and that lets the frame of the context come to the target. */
export interface TriedChange extends RuleCandidate {
  /** Whether it corrects a known mistake: the frames that only the mistaken value matched are not missed. */
  readonly corrects: boolean;
}

/**
 * Says what a change that was tried does to other frames; null where a rule would get no frame any more. It may leave the
 * copy of the traced core to be made again.
 */
export type Judge = (
  context: RepairContext,
  change: TriedChange,
) => Pick<Repair, "standing" | "others" | "witness"> | null;

/** Tries changes on the traced core. Each trial leaves device and copy as they were. */
export interface Trial {
  /** Whether this frame, in place of the frame of the context, comes to the target. */
  frame(frame: Uint8Array): boolean;
  /** Whether the frame of the context comes to the target once `rule` is changed. */
  rule(rule: RuleInTable, change: RuleChange): boolean;
  /** Whether it does once the device reads VXLAN at these UDP ports, and a rule is changed where one is given. */
  vxlanPorts(ports: readonly number[], rule?: RuleInTable, change?: RuleChange): boolean;
}

export interface RepairContext {
  readonly device: Device;
  readonly target: Target;
  /** Whether the frame came to the target and was lost afterwards. */
  readonly reached: boolean;
  readonly reasons: readonly Reason[];
  /** The frame as it came in. */
  readonly frame: Uint8Array;
  /** Its link type and wire length. */
  readonly options: FrameOptions;
  readonly trace: Trace;
  /**
   * The rule that the frame should hit: the target, the rule that leads to it, or without such a
   * rule the nearest one. Null if there is none.
   */
  readonly rule: RuleInTable | null;
  /** The rule that `rule` would lead the frame to; null where `rule` is the last one. */
  readonly beyond: RuleInTable | null;
  /**
   * The key of the frame at the table of the rule, or at the table where it ended if it never came
   * there; presence included, every field filled.
   */
  readonly key: Uint8Array;
  /** The frame at that table, after the changes of earlier rules. */
  readonly frameThere: Uint8Array;
  /** The lookup in that table; null without a trace. */
  readonly lookup: LookupStep | null;
  /** The earlier rule of the same table that took the frame; null without one. */
  readonly taker: RuleInTable | null;
  readonly trial: Trial;
  /** Whether a stateful action of the device writes its result into a register C. */
  readonly holdsState: (register: number) => boolean;
  /** Whether a meter, a connection or a flag stopped the frame before the rule: another match would let it pass. */
  readonly stopped: boolean;
  /** Null where standings are not asked for. */
  readonly judge: Judge | null;
}
