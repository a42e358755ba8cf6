/**
 * Finds the changes that frames make to the state of connections, meters, first-hit flags and
 * replay windows. It compares the objects of the rules that a frame hit with what they were before.
 */
import { CONNECTION_STATE, ConnectionState, STATE_NUMBER, STATE_SHIFT, STATE_VALID } from "../../abi/connection.js";
import { METER_LAST } from "../../abi/state.js";
import type { Core } from "../../engine/core.js";
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

type Reader = (core: Core, action: AnyAction) => Omit<Unit, "last">;

/** The state that an action of a kind changes; null for none. */
const READERS: Readonly<Record<AnyAction["kind"], Reader | null>> = {
  ESP: (_, action) => {
    const read = (): bigint => (action as FlowAction & Pick<EspAction, "state">).state.number;
    return { kind: "esp", object: action, unit: 0, read };
  },
  flow_meter: (core, action) => {
    const { meter } = action as FlowMeterAction;
    return { kind: "meter", object: action, unit: 0, read: () => colourAt(core, meter) };
  },
  aso_flow_meter: (core, action) => {
    const { object, unit, address } = asoUnit(action);
    return { kind: "meter", object, unit, read: () => colourAt(core, address) };
  },
  aso_first_hit: (core, action) => {
    const { object, unit, address, bit } = asoUnit(action);
    return { kind: "first_hit", object, unit, read: () => ((byteAt(core, address) >> bit) & 1) === 1 };
  },
  aso_ct: (core, action) => {
    const { object, unit, address } = asoUnit(action);
    const read = (): ConnectionStateName => connectionState(byteAt(core, address + CONNECTION_STATE));
    return { kind: "connection", object, unit, read };
  },
  // Counters have no state that decides about later frames.
  flow_counter: null,
  flow_sampler: null,
  drop: null,
  default_miss: null,
  tag: null,
  dest_ibv_qp: null,
  dest_devx_tir: null,
  dest_table: null,
  dest_root_table: null,
  dest_vport: null,
  dest_ib_port: null,
  dest_array: null,
  packet_reformat: null,
  modify_header: null,
  pop_vlan: null,
  push_vlan: null,
  "modify header": null,
  "packet reformat": null,
  L2_TUNNEL_TO_L2: null,
};

/** The state that an action changes; null for most actions. The classes are not loaded for a device without rules. */
function unitOf({ core }: DeviceBase, action: AnyAction): Omit<Unit, "last"> | null {
  return READERS[action.kind]?.(core, action) ?? null;
}

function colourAt(core: Core, meter: number): MeterColour | null | undefined {
  return COLOURS[byteAt(core, meter + METER_LAST)];
}

function byteAt({ u8 }: Core, address: number): number {
  return u8[address] ?? 0;
}

function asoUnit(action: AnyAction): { object: AsoObject; unit: number; address: number; bit: number } {
  const { object, offset: unit } = action as AsoAction;
  return { object, unit, ...object.unitAt(unit) };
}

function connectionState(byte: number): ConnectionStateName {
  if ((byte & STATE_VALID) === 0) return "invalid";
  return ConnectionState[(byte >> STATE_SHIFT) & STATE_NUMBER] as ConnectionStateName;
}
