/**
 * Matchers (mlx5dv_dr(3): Matcher). A matcher decides which rules are legal and how they rank; the
 * core does not know it.
 */
import { RuleMask } from "../../engine/ruleMask.js";
import { mistyped, refuse } from "../../errors.js";
import { trappingSlot, type Place } from "./classifier.js";
import { DeviceMask } from "../match/deviceMask.js";
import type { DeviceBytes } from "../match/parameterBytes.js";
import { Table } from "./domain.js";
import { unsigned } from "../../base/checks.js";
import type { DeviceBase } from "../base/deviceBase.js";
import { Handle, living, retire } from "../base/handle.js";
import type { Direction } from "./directions.js";
import { settle, type Insertion } from "./pendingRules.js";
import { maskOf, type MatchFields } from "../match/match.js";
import type { TableRules } from "../profile/profile.js";
import { checkMask, checkTakesRules, tableRules } from "../match/matcherChecks.js";

/** A checked action list, and the actions in the form of the core. */
export interface ListedActions {
  /** The directions that it was checked for. */
  readonly directions: readonly Direction[];
  readonly actions: readonly Handle<DeviceBase | null>[];
  readonly record: readonly number[];
  readonly other: Insertion["other"];
}

export class Matcher extends Handle implements Place {
  readonly table: Table;
  readonly priority: number;
  readonly slot: number;
  readonly criteria: number;
  /**
   * The mask of all its rules; null for an open matcher, whose rules have masks of their own
   * (scenario files).
   */
  readonly mask: Uint8Array | null;
  /** The same mask, where it came as device bytes. */
  readonly deviceMask: DeviceMask | null;
  /** The checks of the profile for its mask and its rules. */
  readonly rules: TableRules;
  /** Order among the matchers of its table (classifier.ts). */
  order = 0;
  /** Rules that it reserves memory for. */
  private _room = 0;
  private _ruleMask: RuleMask | null = null;
  /** Whether rules of it can be made: checked with the first one. */
  private _takesRules = false;
  private _lastActions: ListedActions | null = null;

  constructor(table: Table, priority: number, criteria: number, mask: Uint8Array | DeviceMask | null, name: string) {
    super(table.device, name);
    this.table = table;
    this.priority = priority;
    this.slot = trappingSlot(priority);
    this.criteria = criteria;
    this.deviceMask = mask instanceof DeviceMask ? mask : null;
    this.mask = mask instanceof DeviceMask ? mask.mask : mask;
    this.rules = tableRules(table);
  }

  /** mlx5dv_dr_matcher_create: a mask in device bytes. */
  static create(table: Table, priority: number, criteria: number, mask: DeviceBytes): Matcher {
    living("table", table, Table);
    unsigned("priority", priority, 16);
    unsigned("match_criteria_enable", criteria, 8);
    return add(table, priority, criteria, new DeviceMask("mask", table, criteria, mask));
  }

  /**
   * A matcher over named fields, each with a mask. Without `mask` its rules have masks of their
   * own.
   */
  static named(table: Table, priority: number, mask: MatchFields | undefined, name: string): Matcher {
    living("table", table, Table);
    unsigned("priority", priority, 16);
    const whole = mask === undefined ? null : maskOf("mask", mask);
    if (whole !== null) checkMask(table, whole);
    return add(table, priority, 0, whole, name);
  }

  /** @throws EINVAL, EOPNOTSUPP no rule of this matcher can be made */
  checkTakesRules(): void {
    if (this._takesRules) return;
    checkTakesRules(this.table, this.priority, this.criteria);
    this._takesRules = true;
  }

  /** @internal The last checked action list of a rule; null for none. */
  get lastActions(): ListedActions | null {
    return this._lastActions;
  }

  set lastActions(list: ListedActions | null) {
    this._lastActions = list;
  }

  /** @internal The mask as the core knows it. The matcher has one. */
  get ruleMask(): RuleMask {
    return (this._ruleMask ??= new RuleMask(this.mask as Uint8Array));
  }

  /**
   * The key for a rule's value in device bytes. It is valid until the next call
   * (model/match/deviceMask.ts).
   */
  keyOf(value: DeviceBytes): Uint8Array {
    const { deviceMask } = this;
    if (deviceMask === null) mistyped(`the matcher ${this.name} takes named fields only`);
    return deviceMask.keyOf("value", value);
  }

  /**
   * Reserves room in the table for so many rules of this matcher, in place of its earlier
   * reservation. `stays`: keep the room when rules go. @throws ENOMEM
   */
  reserve(rules: number, stays: boolean): void {
    const { classifier, domain } = this.table;
    const kept = stays ? rules : 0;
    if (!classifier.makeRoom(rules - this._room, kept - this._room)) this.device.allocated(0);
    const less = kept < this._room;
    this._room = kept;
    if (less && kept === rules && domain.reclaims) this.device.core.exports.trimTable(classifier.table);
  }

  destroy(): void {
    settle(this);
    retire("matcher", this, "destroy its rules first");
    if (this._room > 0) this.reserve(0, false);
    this.table.classifier.remove(this);
    this.table.users--;
  }
}

function add(
  table: Table,
  priority: number,
  criteria: number,
  mask: Uint8Array | DeviceMask | null,
  name?: string,
): Matcher {
  const matcher = new Matcher(table, priority, criteria, mask, name ?? `matcher${table.device.nextNumber("matcher")}`);
  if (!table.classifier.add(matcher)) {
    refuse({ code: "ENOMEM", reason: "no_memory", path: "table", value: table, hint: "65536 matchers a table" });
  }
  table.users++;
  return matcher;
}
