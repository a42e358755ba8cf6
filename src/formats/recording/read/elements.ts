/** The calls of a recording, and what happens to the actions that rules name. */
import { VPORT_UPLINK } from "../../../abi/engine.js";
import type { ScenarioArrayMember } from "../../../scenario/action/destinations.js";
import type { ScenarioRuleAction } from "../../../scenario/action/definition.js";
import type { ScenarioAsoData } from "../../../scenario/state/definition.js";
import { isEndpoint, NO_ENDPOINT } from "../../reading/draft.js";
import type { Element } from "../../reading/format.js";
import { bytesIn, listIn, numberIn, textIn, type Call } from "./calls.js";
import { FLOW_ACTIONS, reformat, type Refused } from "./flowActions.js";
import { asoAction, flowMeter, type StatefulAction } from "./state.js";

export type RecordedAction = ScenarioRuleAction;

export interface ActionNames {
  /** The name of the object at an address; null if the scenario does not have it. */
  object(address: string): string | null;
  call(address: string): Call | null;
  /** Whether the object at an address is a TIR. */
  isTir(address: string): boolean;
  /** The contents of the ASO objects at an address; null if there are none. */
  aso(address: string): ScenarioAsoData | null;
  /** The name of an action that the rules of a call share. */
  shared(call: Call, written: StatefulAction): string;
  vport(vport: number): void;
  port(port: number): void;
}

type Read = (call: Call, names: ActionNames) => RecordedAction | Refused;

const GONE: Refused = { refused: "the object that it leads to is not in the scenario" };

const named =
  (argument: string, make: (name: string, call: Call) => RecordedAction): Read =>
  (call, names) => {
    const name = names.object(textIn(call, argument));
    return name === null ? GONE : make(name, call);
  };

const ACTIONS: Readonly<Record<string, { readonly becomes: string; readonly read: Read } | Refused>> = {
  mlx5dv_dr_action_create_drop: { becomes: "drop", read: () => "drop" },
  mlx5dv_dr_action_create_default_miss: { becomes: "default miss", read: () => "default_miss" },
  mlx5dv_dr_action_create_pop_vlan: { becomes: "pop", read: () => "pop_vlan" },
  mlx5dv_dr_action_create_push_vlan: {
    becomes: "push",
    read: (call) => ({ push_vlan: vlanOf(bytesIn(call, "vlan_hdr")) }),
  },
  mlx5dv_dr_action_create_tag: { becomes: "tag", read: (call) => ({ tag: numberIn(call, "tag_value") & 0xffffff }) },
  mlx5dv_dr_action_create_dest_ibv_qp: { becomes: "queue", read: named("qp", (queue) => ({ queue })) },
  mlx5dv_dr_action_create_dest_table: { becomes: "table", read: named("table", (table) => ({ table })) },
  mlx5dv_dr_action_create_dest_root_table: {
    becomes: "root table at a priority",
    read: named("table", (table, call) => ({ table, priority: numberIn(call, "priority") })),
  },
  mlx5dv_dr_action_create_flow_counter: {
    becomes: "counter",
    read: named("obj", (count, call) => ({ count, offset: numberIn(call, "offset") })),
  },
  mlx5dv_dr_action_create_dest_vport: {
    becomes: "vport, or the uplink",
    read: (call, names) => {
      const vport = numberIn(call, "vport");
      if (vport === VPORT_UPLINK) return { vport: "uplink" };
      if (!isEndpoint({ vport })) return { refused: NO_ENDPOINT };
      names.vport(vport);
      return { vport };
    },
  },
  mlx5dv_dr_action_create_dest_ib_port: {
    becomes: "port",
    read: (call, names) => {
      const port = numberIn(call, "ib_port");
      if (!isEndpoint({ port })) return { refused: NO_ENDPOINT };
      names.port(port);
      return { port };
    },
  },
  mlx5dv_dr_action_create_packet_reformat: { becomes: "the same, with its bytes", read: reformat },
  mlx5dv_dr_action_create_modify_header: {
    becomes: "the same words of the device",
    read: (call) => ({ modify: textIn(call, "actions").match(/.{16}/g) ?? [] }),
  },
  mlx5dv_dr_action_create_dest_array: { becomes: "an array of destinations", read: array },
  mlx5dv_dr_action_create_dest_devx_tir: {
    becomes: "tir",
    read: (call, names) => {
      const tir = names.object(textIn(call, "obj"));
      return tir === null || !names.isTir(textIn(call, "obj")) ? GONE : { tir };
    },
  },
  mlx5dv_dr_action_create_aso: {
    becomes: "the same, on the ASO objects of a device command",
    read: (call, names) => {
      const [object, data] = [names.object(textIn(call, "obj")), names.aso(textIn(call, "obj"))];
      return object === null || data === null ? GONE : { aso: asoAction(call, object, data) };
    },
  },
  mlx5dv_dr_action_create_flow_meter: {
    becomes: "a shared flow meter with the same parameters",
    read: (call, names) => {
      const table = names.object(textIn(call, "next_table"));
      return table === null ? GONE : { action: names.shared(call, { flow_meter: flowMeter(call, table) }) };
    },
  },
  mlx5dv_dr_action_create_flow_sampler: {
    becomes: "a shared sampler; one that changes a register is refused",
    read: sampler,
  },
};

/** Every call that the recorder writes. */
export const CALLS: Readonly<Record<string, Element>> = {
  ibv_open_device: { becomes: "the device of what is made with its context" },
  mlx5dv_open_device: { becomes: "the same" },
  ibv_create_qp: { becomes: "a queue with the number of the queue pair" },
  ibv_create_qp_ex: { becomes: "the same" },
  mlx5dv_create_qp: { becomes: "the same" },
  ibv_create_wq: { becomes: "a queue with the number of the work queue" },
  ibv_create_rwq_ind_table: { becomes: "an indirection table; queue pairs with it have RSS" },
  ibv_create_counters: { becomes: "a counters object" },
  ibv_attach_counters_point_flow: { becomes: "a point of it" },
  ibv_create_flow: { becomes: "a flow" },
  mlx5dv_devx_obj_create: {
    becomes:
      "ALLOC_FLOW_COUNTER: a counter; CREATE_RQ: a queue; CREATE_RQT, CREATE_TIR: the same; CREATE_GENERAL_OBJECT: ASO objects as they are created; other device commands are refused by number",
  },
  mlx5dv_dr_action_modify_aso: { refused: "rules have the parameters with which their action was created" },
  mlx5dv_dr_action_modify_flow_meter: { refused: "meters have the parameters with which they were created" },
  mlx5dv_dr_aso_other_domain_link: { refused: "connections belong to the domain of their first rule" },
  mlx5dv_dr_domain_create: { becomes: "the domain of tables" },
  mlx5dv_dr_table_create: { becomes: "a table" },
  mlx5dv_dr_matcher_create: { becomes: "a matcher" },
  mlx5dv_dr_rule_create: { becomes: "a rule" },
  mlx5dv_create_flow_matcher: { becomes: "mask and priority of flows in device bytes" },
  mlx5dv_create_flow: {
    becomes: "a flow in device bytes; device objects in it that are no TIRs or counters are refused",
  },
  ...Object.fromEntries(Object.entries(FLOW_ACTIONS).map(([name, { becomes }]) => [name, { becomes }])),
  ibv_modify_flow_action_esp: { refused: "ESP actions have the parameters with which they were created" },
  "the destroy calls": { becomes: "the object is gone, unless they end the program" },
  ...Object.fromEntries(
    Object.entries(ACTIONS).map(([name, one]) => [name, "refused" in one ? one : { becomes: one.becomes }]),
  ),
};

/** The action that a call made. */
export function ruleAction(call: Call, names: ActionNames): RecordedAction | Refused {
  const found = ACTIONS[call.name];
  if (found === undefined) return { refused: `${call.name} creates no known action` };
  return "refused" in found ? found : found.read(call, names);
}

function vlanOf(bytes: Uint8Array): NonNullable<Extract<ScenarioRuleAction, { push_vlan?: unknown }>["push_vlan"]> {
  const [high = 0, low = 0, tci = 0, rest = 0] = bytes;
  const vlan = { pcp: tci >> 5, dei: ((tci >> 4) & 1) === 1, vid: (tci & 0xf) * 256 + rest };
  return high * 256 + low === 0x88a8 ? { tpid: "0x88a8", ...vlan } : vlan;
}

function sampler(call: Call, names: ActionNames): RecordedAction | Refused {
  const default_next_table = names.object(textIn(call, "default_next_table"));
  if (default_next_table === null) return GONE;
  if (bytesIn(call, "action").some((byte) => byte !== 0))
    return { refused: "the change of a register that a sampler makes is not imported" };
  const sample_actions: RecordedAction[] = [];
  for (const address of listIn(call, "sample_actions")) {
    const of = names.call(String(address));
    const made = of === null ? GONE : ruleAction(of, names);
    if (typeof made === "object" && "refused" in made) return made;
    sample_actions.push(made);
  }
  const flow_sampler = { sample_ratio: numberIn(call, "sample_ratio"), default_next_table, sample_actions };
  return { action: names.shared(call, { flow_sampler: flow_sampler as NonNullable<StatefulAction["flow_sampler"]> }) };
}

function array(call: Call, names: ActionNames): RecordedAction | Refused {
  const members: ScenarioArrayMember[] = [];
  for (const one of listIn(call, "dests")) {
    const { dest = "", reformat: first } = one as { dest?: string; reformat?: string };
    const of = names.call(dest);
    const made = of === null ? GONE : ruleAction(of, names);
    if (typeof made === "object" && "refused" in made) return made;
    const before = first === undefined ? null : names.call(first);
    const both = before === null ? undefined : ruleAction(before, names);
    if (typeof both === "object" && "reformat" in both && typeof made === "object") {
      members.push({ ...made, reformat: both.reformat });
    } else if (first === undefined) members.push(made as ScenarioArrayMember);
    else return { refused: "what encapsulates a copy is not in the recording" };
  }
  return { array: members };
}
