/** Actions of rules as dump records: | type | id | id of the rule | columns of the kind |. */
import { COUNTER_SIZE } from "../../abi/state.js";
import { VPORT_UPLINK } from "../../abi/engine.js";
import { L2_TO_L2_TUNNEL, L2_TO_L3_TUNNEL, L2_TUNNEL_TO_L2, L3_TUNNEL_TO_L2 } from "../../abi/reformat.js";
import type { Action, ActionKind } from "../action/action.js";
import { AsoObject } from "../action/asoObject.js";
import { FlowCounter } from "../action/counter.js";
import { codesOf, hardwareWords, type AskedBytes } from "./headerChanges.js";
import { hex, idOf, writeLine, type Write } from "./record.js";
import { Table } from "../table/domain.js";
import type { Handle } from "../base/handle.js";
import { QueuePair } from "../queuePair/queuePair.js";
import type { Rule } from "../rule/rule.js";
import { Tir } from "../queuePair/tir.js";

export const ACTION_TYPES: Readonly<Record<Exclude<ActionKind, "packet_reformat">, number>> = {
  modify_header: 3402,
  drop: 3403,
  dest_ibv_qp: 3404,
  dest_table: 3405,
  flow_counter: 3406,
  tag: 3407,
  dest_vport: 3408,
  // The kind that the library writes for the uplink.
  dest_ib_port: 3408,
  dest_devx_tir: 3411,
  push_vlan: 3412,
  pop_vlan: 3413,
  flow_meter: 3414,
  flow_sampler: 3415,
  dest_array: 3416,
  aso_first_hit: 3417,
  aso_flow_meter: 3418,
  aso_ct: 3419,
  default_miss: 3423,
  dest_root_table: 3424,
};

const REFORMATS: Readonly<Record<number, number>> = {
  [L2_TO_L2_TUNNEL]: 3400,
  [L2_TO_L3_TUNNEL]: 3401,
  [L2_TUNNEL_TO_L2]: 3409,
  [L3_TUNNEL_TO_L2]: 3410,
};

/** @param asked what the rule asks for; null if it waits for a sync, or its matcher is open */
export function writeAction(write: Write, rule: Rule, action: Action, asked: AskedBytes | null): void {
  const { kind, reformatType } = action;
  const type = kind === "packet_reformat" ? REFORMATS[reformatType ?? L2_TUNNEL_TO_L2] : ACTION_TYPES[kind];
  const { device } = rule;
  writeLine(write, type as number, idOf(device, action), idOf(device, rule), ...details(rule, action, asked));
}

const NOWHERE = hex(0);

/** MODEL: an object without a device number has its number of the dump. */
function details({ device }: Rule, action: Action, asked: AskedBytes | null): readonly string[] {
  const { kind, operand, reformatType } = action;
  const own = idOf(device, action);
  switch (kind) {
    case "dest_ibv_qp":
      return [hex(held(action, QueuePair).qp_num)];
    case "dest_devx_tir":
      // A device writes its steering address here.
      return [hex(held(action, Tir).id)];
    case "dest_table": {
      const table = idOf(device, held(action, Table));
      return [table, table];
    }
    case "dest_root_table":
      return [idOf(device, held(action, Table))];
    case "flow_counter": {
      const { id, handle } = held(action, FlowCounter);
      return [hex(id + (operand - handle) / COUNTER_SIZE)];
    }
    case "tag":
    case "dest_vport":
    case "push_vlan":
      return [hex(operand)];
    case "dest_ib_port":
      return [hex(VPORT_UPLINK)];
    case "packet_reformat":
      return reformatType === L2_TUNNEL_TO_L2 ? [] : [own];
    case "modify_header":
      return modifyColumns(own, action.words ?? new Uint8Array(), device.profile.steeringFormat, asked);
    case "flow_meter":
      return [idOf(device, held(action, Table)), own, NOWHERE, NOWHERE];
    case "flow_sampler":
      return [idOf(device, held(action, Table)), NOWHERE, own, NOWHERE, NOWHERE];
    case "dest_array":
      return [own, NOWHERE, NOWHERE];
    case "aso_first_hit":
    case "aso_flow_meter":
    case "aso_ct":
      return [hex(held(action, AsoObject).id)];
    case "drop":
    case "default_miss":
    case "pop_vlan":
      return [];
  }
}

/** Header changes: | program | 0: not in the entry | changes | pattern | arguments | a word each |, without words if there are none. */
export function modifyColumns(
  own: string,
  words: Uint8Array,
  steeringFormat: number,
  asked: AskedBytes | null,
): readonly string[] {
  const codes = codesOf(steeringFormat);
  const made = codes === undefined ? null : hardwareWords(words, codes, asked);
  if (made === null) return [own, "0", NOWHERE, NOWHERE, NOWHERE];
  return [own, "0", hex(made.length), own, own, ...made.map((word) => `0x${word}`)];
}

/** The first object of a class that the action holds; its kind always holds one. */
function held<T extends Handle>({ holds }: Action, type: { readonly prototype: T }): T {
  return holds.find((one) => one instanceof (type as never)) as unknown as T;
}
