/** Actions of living rules, as a scenario writes them. */
import { COUNTER_SIZE } from "../../abi/state.js";
import { VPORT_UPLINK } from "../../abi/engine.js";
import { REFORMAT_DATA, REFORMAT_LENGTH } from "../../abi/reformat.js";
import { hexOf } from "../../base/hex.js";
import { Action } from "../../model/action/action.js";
import { AsoAction } from "../../model/action/asoActions.js";
import { FlowCounter } from "../../model/action/counter.js";
import type { Device } from "../../model/device/device.js";
import { ModifyHeaderAction, PacketReformatAction, type FlowAction } from "../../model/action/flowAction.js";
import { EspAction } from "../../model/esp/action.js";
import { QueuePair } from "../../model/queuePair/queuePair.js";
import { Tir } from "../../model/queuePair/tir.js";
import { trappingSlot } from "../../model/table/classifier.js";
import { Table } from "../../model/table/domain.js";
import type {
  ScenarioAction,
  ScenarioFlowAction,
  ScenarioRuleAction,
  ScenarioVlanTag,
} from "../../scenario/action/definition.js";
import { REFORMAT_TYPES, type ScenarioArrayMember } from "../../scenario/action/destinations.js";
import type { ScenarioAsoAction } from "../../scenario/state/definition.js";
import { espOf, type Refused } from "./esp.js";
import { meterOf, samplingOf } from "./stateful.js";

export interface ActionNames {
  queue(queue: QueuePair): string;
  tir(tir: Tir): string;
  table(table: Table): string;
  counter(counter: FlowCounter): string;
  aso(action: AsoAction): ScenarioAsoAction;
  /** An action with a state, which its rules share: the scenario has it once. */
  shared(action: Action, written: SharedAction): string;
}

export type { Refused };

/** What an action of the scenario does, under its name. */
export type SharedAction = Omit<ScenarioAction, "name">;

/** The action, or why a scenario does not get it. */
export function actionOf(device: Device, action: Action, names: ActionNames): ScenarioRuleAction | Refused {
  const { kind, operand } = action;
  switch (kind) {
    case "drop":
    case "default_miss":
    case "pop_vlan":
      return kind;
    case "tag":
      return { tag: operand };
    case "push_vlan":
      return { push_vlan: vlanOf(operand) };
    case "dest_ibv_qp":
      return { queue: names.queue(held(action, QueuePair)) };
    case "dest_table":
      return { table: names.table(held(action, Table)) };
    case "dest_root_table":
      return { table: names.table(held(action, Table)), priority: priorityAt(device, operand) };
    case "flow_counter": {
      const counter = held(action, FlowCounter);
      return { count: names.counter(counter), offset: (operand - counter.handle) / COUNTER_SIZE };
    }
    case "dest_vport":
      return { vport: operand === VPORT_UPLINK ? "uplink" : operand };
    case "dest_ib_port":
      return { port: operand };
    case "packet_reformat":
      return { reformat: reformatAt(device, action) };
    case "modify_header":
      return { modify: wordsOf(action.words ?? new Uint8Array()) };
    case "dest_array":
      return arrayOf(device, action, names);
    case "dest_devx_tir":
      return { tir: names.tir(held(action, Tir)) };
    case "flow_meter":
      return {
        action: names.shared(action, { flow_meter: meterOf(device, action, names.table(held(action, Table))) }),
      };
    case "flow_sampler":
      return samplerOf(device, action, names);
    case "aso_first_hit":
    case "aso_flow_meter":
    case "aso_ct":
      if (!(action instanceof AsoAction)) throw new Error(`the action ${action.name} has no ASO object`);
      return { aso: names.aso(action) };
  }
}

/** The members of an array; an encapsulation follows its destination. */
function arrayOf(device: Device, { holds }: Action, names: ActionNames): ScenarioRuleAction | Refused {
  const members: ScenarioArrayMember[] = [];
  for (const one of holds.filter((other) => other instanceof Action)) {
    const made = actionOf(device, one, names);
    if (typeof made === "object" && "refused" in made) return made;
    if (typeof made === "object" && made.reformat !== undefined) {
      members.push({ ...(members.pop() as object), reformat: made.reformat });
    } else members.push(made as ScenarioArrayMember);
  }
  return { array: members };
}

function samplerOf(device: Device, action: Action, names: ActionNames): ScenarioRuleAction | Refused {
  const { ratio, changes } = samplingOf(device, action);
  if (changes) return { refused: "the register that a sampler writes is not exported" };
  const samples: ScenarioRuleAction[] = [];
  for (const one of action.holds.filter((other) => other instanceof Action)) {
    const made = actionOf(device, one, names);
    if (typeof made === "object" && "refused" in made) return made;
    samples.push(made);
  }
  const default_next_table = names.table(held(action, Table));
  const sample_actions = samples as NonNullable<SharedAction["flow_sampler"]>["sample_actions"];
  return {
    action: names.shared(action, { flow_sampler: { sample_ratio: ratio, default_next_table, sample_actions } }),
  };
}

function held<T>(action: Action, kind: { readonly prototype: T }): T {
  const isKind = (one: unknown): one is T =>
    Object.prototype.isPrototypeOf.call(kind.prototype as object, one as object);
  const found = action.holds.find(isKind);
  if (found === undefined) throw new Error(`the action ${action.name} does not hold what it leads to`);
  return found as T;
}

/** TPID and TCI. */
function vlanOf(header: number): ScenarioVlanTag {
  const tpid = header >>> 16 === 0x88a8 ? ("0x88a8" as const) : ("0x8100" as const);
  return { tpid, pcp: (header >>> 13) & 7, dei: ((header >>> 12) & 1) === 1, vid: header & 0xfff };
}

/** | table | the slot before that of the priority | */
function priorityAt({ core }: Device, record: number): number {
  return ((core.u32[(record >> 2) + 1] as number) + 1 - trappingSlot(0)) / 2;
}

/** A flow action, or why a scenario does not get it. @param keys whether the keys of ESP are written */
export function flowActionOf(
  device: Device,
  action: FlowAction,
  keys: boolean,
): Omit<ScenarioFlowAction, "name"> | Refused {
  if (action instanceof ModifyHeaderAction) return { modify: wordsOf(action.words) };
  if (action instanceof PacketReformatAction) return { reformat: reformatAt(device, action) };
  if (!(action instanceof EspAction)) return { refused: `a flow action of kind ${action.kind}` };
  return keys
    ? espOf(action)
    : { refused: "the key of its ESP action is a secret: scenarioOf writes it with keys: true" };
}

/** The words of header changes. */
function wordsOf(bytes: Uint8Array): string[] {
  return hexOf(bytes).match(/.{16}/g) ?? [];
}

function reformatAt(
  { core }: Device,
  { operand, reformatType }: { readonly operand: number; readonly reformatType: number | null },
): NonNullable<Extract<ScenarioRuleAction, { reformat?: unknown }>["reformat"]> {
  const type = REFORMAT_TYPES[reformatType ?? 0] ?? "l2_tunnel_to_l2";
  const length =
    (core.u8[operand + REFORMAT_LENGTH] as number) + 256 * (core.u8[operand + REFORMAT_LENGTH + 1] as number);
  const data = core.u8.slice(operand + REFORMAT_DATA, operand + REFORMAT_DATA + length);
  return { type, ...(length === 0 ? {} : { data: hexOf(data) }) };
}
