/** Flows of a recording, and the flow actions that they name. */
import {
  FT_TYPES,
  type ScenarioDeviceFlow,
  type ScenarioDeviceFlowAction,
} from "../../../scenario/deviceFlow/definition.js";
import { flowTableOf } from "../../../model/flow/matcher.js";
import { FLOW_TABLE_TYPES, type FlowTableType } from "../../../model/table/flowTableTypes.js";
import { type Draft, isEndpoint, NO_ENDPOINT } from "../../reading/draft.js";
import type { Findings } from "../../reading/findings.js";
import { ABSENT, bytesIn, listIn, numberIn, textIn, type Call, type Recorded } from "./calls.js";
import { FLOW_ACTIONS } from "./flowActions.js";
import { flowOf } from "./flows.js";

interface Objects {
  at(address: string): Recorded | undefined;
  isTir(object: Recorded): boolean;
  /** What a flow asks for; null if its matcher is not in the scenario. */
  match(matcher: Recorded, call: Call): NonNullable<ScenarioDeviceFlow["match"]> | null;
}

export class RecordedFlows {
  constructor(
    private readonly draft: Draft,
    private readonly findings: Findings,
    private readonly objects: Objects,
  ) {}

  action(object: Recorded): void {
    const { call } = object;
    const { read, name } = FLOW_ACTIONS[call.name] as (typeof FLOW_ACTIONS)[string];
    const made = read(call);
    if ("refused" in made) {
      this.findings.refuse(call.place, call.text, made.refused);
      return;
    }
    object.name = this.draft.freeName("flowActions", name);
    this.draft.push("flowActions", { name: object.name, ...made });
  }

  /** `ibv_create_flow`. */
  verbs({ call }: Recorded): void {
    const queue = this.#nameAt(textIn(call, "qp"));
    const flow = flowOf(bytesIn(call, "flow"), {
      counters: (address) => this.#nameAt(address) ?? undefined,
      action: (address) => this.#nameAt(address) ?? undefined,
    });
    if (queue === null)
      this.findings.refuse(
        call.place,
        call.text,
        `its queue pair ${this.objects.at(textIn(call, "qp")) === undefined ? ABSENT : "is not in the scenario"}`,
      );
    else if (typeof flow === "string") this.findings.refuse(call.place, call.text, flow);
    else if (!isEndpoint({ port: flow.port ?? 1 })) this.findings.refuse(call.place, call.text, NO_ENDPOINT);
    else {
      this.draft.endpoint({ port: flow.port ?? 1 });
      this.draft.push("flows", { name: this.draft.freeName("flows", "flow"), queue, ...flow });
    }
  }

  /** `mlx5dv_create_flow`. */
  device({ call }: Recorded): void {
    const matcher = this.objects.at(textIn(call, "matcher"));
    const match = matcher === undefined ? null : this.objects.match(matcher, call);
    if (matcher === undefined || match === null) {
      const why = matcher === undefined ? ABSENT : "is not in the scenario";
      this.findings.refuse(call.place, call.text, `its matcher ${why}`);
      return;
    }
    const ft_type = FT_TYPES[FLOW_TABLE_TYPES.findIndex((one) => one === tableOf(matcher.call))];
    if (ft_type === undefined) {
      this.findings.refuse(call.place, call.text, `${numberIn(matcher.call, "ft_type")} is not a flow table type`);
      return;
    }
    const name = this.draft.freeName("deviceFlows", "device flow");
    const actions: ScenarioDeviceFlowAction[] = [];
    for (const one of listIn(call, "actions")) {
      const action = this.#deviceAction(one as Record<string, unknown>);
      if (typeof action === "object" && "refused" in action)
        this.findings.refuse(call.place, JSON.stringify(one), action.refused, name);
      else actions.push(action);
    }
    this.draft.push("deviceFlows", { name, ft_type, priority: numberIn(matcher.call, "priority"), match, actions });
  }

  /** An action of `struct mlx5dv_flow_action_attr`, by the numbers of `enum mlx5dv_flow_action_type`. */
  #deviceAction({
    type,
    tag_value: tag,
    object,
  }: Record<string, unknown>): ScenarioDeviceFlowAction | { readonly refused: string } {
    if (type === 1) return "drop";
    if (type === 4) return { tag: Number(tag) };
    if (type === 7) return "default_miss";
    const found = this.objects.at(String(object));
    const to = found?.name ?? null;
    if (found === undefined || to === null) return { refused: "the object that it names is not in the scenario" };
    if (type === 0) return { queue: to };
    if (type === 2) return { ibv_counter: to };
    if (type === 3) return { action: to };
    if (type === 5 && this.objects.isTir(found)) return { tir: to };
    return type === 6 ? { count: to } : { refused: "an action of this type is not imported" };
  }

  #nameAt(address: string): string | null {
    return this.objects.at(address)?.name ?? null;
  }
}

/** The table of a matcher's flows; undefined if its type is unknown. */
function tableOf(matcher: Call): FlowTableType | undefined {
  const number = (name: string): number => numberIn(matcher, name);
  return flowTableOf({ comp_mask: number("comp_mask"), flags: number("flags"), ft_type: number("ft_type") });
}
