/** Finds the objects of a rule whose state lies at an address of the core, and their names. */
import { isDevxFlowEntry } from "../../model/devx/kinds.js";
import { isEspAction } from "../../model/flow/kinds.js";
import { CONNECTION_SIZE } from "../../abi/connection.js";
import { COUNTER_SIZE, METER_SIZE } from "../../abi/state.js";
import { StateKind } from "../../abi/trace.js";
import { ESP_SIZE, ESP_WINDOW, ESP_WINDOW_WORDS } from "../../abi/esp.js";
import type { Core } from "../../engine/core.js";
import { Action } from "../../model/action/action.js";
import { FlowMeterAction } from "../../model/action/asoActions.js";
import { AsoObject } from "../../model/action/asoObject.js";
import { FlowCounter } from "../../model/action/counter.js";
import type { InstalledRule } from "../../model/base/installed.js";
import { FlowEntry } from "../../model/flow/entry.js";
import { Rule } from "../../model/rule/rule.js";

type Namer = (core: Core, of: InstalledRule, address: number) => string;

/** Names of objects by the kind of their state; queues, completion queues and reasons are no objects of a rule. */
const NAMERS = {
  [StateKind.counter]: (_, of, address) => counterName(of, address),
  [StateKind.meter]: (_, of, address) => unitName(of, address),
  [StateKind.first_hit]: (_, of, address) => unitName(of, address),
  [StateKind.connection]: (_, of, address) => unitName(of, address),
  [StateKind.esp]: associationName,
  [StateKind.replay_window]: associationName,
  [StateKind.queue]: null,
  [StateKind.completion_queue]: null,
  [StateKind.reason]: null,
} as const satisfies Readonly<Record<StateKind, Namer | null>>;

/** The name of the object with state at an address; "" where no object of the rule has it. */
export function stateName(core: Core, kind: number, address: number, of: InstalledRule): string {
  return (NAMERS as Readonly<Record<number, Namer | null>>)[kind]?.(core, of, address) ?? "";
}

function counterName(of: InstalledRule, address: number): string {
  if (of instanceof FlowEntry) {
    const counts = of.flows.find((flow) => flow.counts?.address === address)?.counts;
    return counts?.holder instanceof FlowCounter ? bulkName(counts.holder, address) : (counts?.name ?? "");
  }
  for (const { holds } of actionsOf(of)) {
    for (const one of holds) {
      const name = one instanceof FlowCounter ? bulkName(one, address) : "";
      if (name !== "") return name;
    }
  }
  return "";
}

function bulkName({ handle, name, size }: FlowCounter, address: number): string {
  const place = (address - handle) / COUNTER_SIZE;
  return place >= 0 && place < size ? unitOf(name, place, size) : "";
}

/** A meter, a connection or a byte of flags. */
function unitName(of: InstalledRule, address: number): string {
  for (const action of actionsOf(of)) {
    if (action instanceof FlowMeterAction && action.meter === address) return action.name;
    for (const one of action.holds) {
      if (!(one instanceof AsoObject)) continue;
      const offset = offsetAt(one, address);
      if (offset >= 0 && offset < one.size) return unitOf(one.name, offset, one.size);
    }
  }
  return "";
}

/** The offset of the unit at an address; of flags the first one of a byte. */
function offsetAt(object: AsoObject, address: number): number {
  const at = address - object.unitAt(0).address;
  if (object.kind === "first_hit") return 8 * at;
  return Math.floor(at / (object.kind === "flow_meter" ? METER_SIZE : CONNECTION_SIZE));
}

/** The name of one of several units of an object. */
export function unitOf(name: string, place: number, size: number): string {
  return size === 1 ? name : `${name}[${place}]`;
}

function associationName({ u32 }: Core, of: InstalledRule, address: number): string {
  if (!(of instanceof FlowEntry)) return "";
  const found = of.actions.find((action) => {
    if (!isEspAction(action)) return false;
    if (isWithin(address, action.operand, ESP_SIZE)) return true;
    const window = u32[(action.operand + ESP_WINDOW) >> 2] as number;
    const words = u32[(action.operand + ESP_WINDOW_WORDS) >> 2] as number;
    return isWithin(address, window, 8 * (words + 1));
  });
  return found?.name ?? "";
}

function isWithin(address: number, from: number, bytes: number): boolean {
  return address >= from && address < from + bytes;
}

/** The actions of a rule, and those of its arrays and samplers. */
export function* actionsOf(one: InstalledRule): Iterable<Action> {
  if (!(one instanceof Rule) && !isDevxFlowEntry(one)) return;
  const rules = one instanceof Rule ? (one.entry?.rules ?? [one]) : [one];
  for (const { actions } of rules) for (const action of actions) yield* withInner(action);
}

function* withInner(action: Action): Iterable<Action> {
  yield action;
  for (const one of action.holds) if (one instanceof Action) yield* withInner(one);
}
