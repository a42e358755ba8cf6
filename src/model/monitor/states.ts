/**
 * Finds the changes that frames make to the state of connections, meters, first-hit flags and
 * replay windows. It compares the objects of the rules that a frame hit with what they were before.
 */
import { CONNECTION_STATE, ConnectionState, STATE_NUMBER, STATE_SHIFT, STATE_VALID } from "../../abi/connection.js";
import { METER_LAST } from "../../abi/state.js";
import type { Action } from "../action/action.js";
import type { AsoAction, FlowMeterAction } from "../action/asoActions.js";
import type { AsoObject } from "../action/asoObject.js";
import type { DeviceBase } from "../base/deviceBase.js";
import type { EspAction } from "../esp/action.js";
import type { FlowAction } from "../action/flowAction.js";
import type { HitRule } from "../traffic/outcome.js";

/** The colour of a meter's last frame. */
export type MeterColour = "red" | "yellow" | "green";
/** A state of a connection (docs/conntrack.md); `invalid` where software has not set it up. */
export type ConnectionStateName = keyof typeof ConnectionState | "invalid";

/** A change that a frame made. `unit` counts the units of a bulk; it is 0 where there is one. */
export type StateChange =
  | ({ readonly kind: "connection"; readonly object: AsoObject; readonly unit: number } & Change<ConnectionStateName>)
  | ({
      readonly kind: "meter";
      readonly object: AsoObject | FlowMeterAction;
      readonly unit: number;
    } & Change<MeterColour | null>)
  | ({ readonly kind: "first_hit"; readonly object: AsoObject; readonly unit: number } & Change<boolean>)
  /** The next sequence number, or the highest one that was authenticated. */
  | ({ readonly kind: "esp"; readonly object: EspAction; readonly unit: number } & Change<bigint>);

interface Change<T> {
  readonly from: T;
  readonly to: T;
}

/** COLOURS[METER_LAST of a meter] */
const COLOURS: readonly (MeterColour | null)[] = [null, "red", "yellow", "green"];

/** One state, and how to read it. */
interface Unit {
  readonly kind: StateChange["kind"];
  readonly object: object;
  readonly unit: number;
  readonly read: () => unknown;
  last: unknown;
}

export class StateWatch {
  readonly #device: DeviceBase;
  /** The units of each object that rules name. */
  readonly #units = new Map<object, Map<number, Unit>>();
  /** Whether rules may name units that are not in the map. */
  #stale = true;

  constructor(device: DeviceBase) {
    this.#device = device;
  }

  ruleAdded(): void {
    this.#stale = true;
  }

  /** Reads the states of units that rules name since the last call. */
  before(): void {
    if (!this.#stale) return;
    this.#stale = false;
    for (const rule of this.#device.installed) for (const action of actionsOf(rule)) this.#unitOf(action);
  }

  /** The changes since the last call, of the units that these rules name. */
  changes(rules: readonly HitRule[]): StateChange[] {
    const changes: StateChange[] = [];
    for (const rule of rules) {
      for (const action of actionsOf(rule)) {
        const one = this.#unitOf(action);
        if (one === null) continue;
        const { kind, object, unit, last: from } = one;
        const to = one.read();
        if (to === from) continue;
        one.last = to;
        changes.push({ kind, object, unit, from, to } as StateChange);
      }
    }
    return changes;
  }

  #unitOf(action: AnyAction): Unit | null {
    const found = unitOf(this.#device, action);
    if (found === null) return null;
    const { object, unit } = found;
    let units = this.#units.get(object);
    if (units === undefined) this.#units.set(object, (units = new Map<number, Unit>()));
    let known = units.get(unit);
    if (known === undefined) units.set(unit, (known = { ...found, last: found.read() }));
    return known;
  }
}

type AnyAction = Action | FlowAction;

/** The actions of a rule; of an entry those that its flows have in common. */
function actionsOf(rule: object): readonly AnyAction[] {
  return "actions" in rule ? (rule.actions as readonly AnyAction[]) : [];
}

/** The state that an action changes; null for most actions. The classes are not loaded for a device without rules. */
function unitOf({ core }: DeviceBase, action: AnyAction): Omit<Unit, "last"> | null {
  const byte = (address: number): number => core.u8[address] ?? 0;
  switch (action.kind) {
    case "ESP":
      return {
        kind: "esp",
        object: action,
        unit: 0,
        read: () => (action as FlowAction & Pick<EspAction, "state">).state.number,
      };
    case "flow_meter": {
      const { meter } = action as FlowMeterAction;
      return {
        kind: "meter",
        object: action,
        unit: 0,
        read: () => COLOURS[byte(meter + METER_LAST)],
      };
    }
    case "aso_ct":
    case "aso_flow_meter":
    case "aso_first_hit": {
      const { object, offset: unit } = action as AsoAction;
      const { address, bit } = object.unitAt(unit);
      if (object.kind === "first_hit")
        return { kind: "first_hit", object, unit, read: () => ((byte(address) >> bit) & 1) === 1 };
      return object.kind === "connection"
        ? { kind: "connection", object, unit, read: () => connectionState(byte(address + CONNECTION_STATE)) }
        : { kind: "meter", object, unit, read: () => COLOURS[byte(address + METER_LAST)] };
    }
    default:
      return null;
  }
}

function connectionState(byte: number): ConnectionStateName {
  if ((byte & STATE_VALID) === 0) return "invalid";
  return ConnectionState[(byte >> STATE_SHIFT) & STATE_NUMBER] as ConnectionStateName;
}
