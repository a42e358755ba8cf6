/** Flows of a living device, as a scenario writes them: those of verbs and those in device bytes. */
import { termsOf } from "../../explain/match/terms.js";
import type { Tracer } from "../../explain/trace/tracer.js";
import { Op } from "../../abi/engine.js";
import { FlowCounter } from "../../model/action/counter.js";
import { FlowAction } from "../../model/action/flowAction.js";
import { Counters } from "../../model/flow/counters.js";
import { DeviceFlow } from "../../model/flow/deviceFlow.js";
import { BulkCounter } from "../../model/flow/deviceFlowActions.js";
import type { Flow } from "../../model/flow/flow.js";
import type { Spec } from "../../model/match/flowSpec.js";
import { FLOW_TABLE_TYPES } from "../../model/table/flowTableTypes.js";
import { VerbsFlow } from "../../model/flow/verbsFlow.js";
import { QueuePair } from "../../model/queuePair/queuePair.js";
import { Tir } from "../../model/queuePair/tir.js";
import type { ScenarioFlowAction } from "../../scenario/action/definition.js";
import {
  FT_TYPES,
  type ScenarioDeviceFlow,
  type ScenarioDeviceFlowAction,
} from "../../scenario/deviceFlow/definition.js";
import type { ScenarioFlow, ScenarioFlowSpec } from "../../scenario/flow/definition.js";
import { writtenSpec } from "../../scenario/flow/specTypes.js";
import type { ExportFindings } from "../../formats/writing/finding.js";
import { flowActionOf, type ActionNames, type Refused } from "./actions.js";
import { DeviceNames } from "./names.js";

const TYPES = ["normal", "all_default", "mc_default", "sniffer"] as const;
const FLAGS = ["allow_loop_back", "dont_trap", "egress"] as const;
/** Fields that the device asks for by itself: a flow's table says its direction, and its matcher the port. */
const OF_THE_TABLE: ReadonlySet<string> = new Set(["ext.direction", "ext.port"]);
/** Device bytes cannot ask whether a header is there: the tables of RoCE do. */
const PRESENT = "any";

interface Names extends Pick<ActionNames, "queue" | "tir" | "counter"> {
  flow(flow: Flow): string;
  /** Whether keys of ESP actions are written. */
  readonly keys: boolean;
}

export class DeviceFlows {
  readonly #actionNames = new DeviceNames<FlowAction>();
  readonly counters = new DeviceNames<Counters>();
  readonly actions = new Map<string, ScenarioFlowAction>();
  readonly verbs: ScenarioFlow[] = [];
  readonly device: ScenarioDeviceFlow[] = [];

  constructor(
    private readonly tracer: Tracer,
    private readonly findings: ExportFindings,
    private readonly names: Names,
  ) {}

  add(flows: readonly unknown[]): void {
    for (const flow of flows) {
      if (flow instanceof VerbsFlow) this.#verbs(flow);
      else if (flow instanceof DeviceFlow) this.#device(flow);
      else this.findings.refuse("flows", "a flow of this kind is not exported");
    }
  }

  #verbs(flow: VerbsFlow): void {
    const name = this.names.flow(flow);
    const specs: ScenarioFlowSpec[] = [];
    for (const spec of flow.specs) {
      const written = this.#spec(spec);
      if (typeof written === "object" && "refused" in written) {
        this.findings.refuse("flows", written.refused, name);
        return;
      }
      specs.push(written);
    }
    const flags = FLAGS.filter((_, n) => ((flow.flags >>> n) & 1) === 1);
    const { type, port, priority, qp } = flow;
    this.verbs.push({
      name,
      queue: this.names.queue(qp),
      port,
      ...(type > 0 ? { type: TYPES[type] ?? "normal" } : {}),
      ...(priority === 0 ? {} : { priority }),
      ...(flags.length === 0 ? {} : { flags }),
      ...(specs.length === 0 ? {} : { specs }),
    });
  }

  #spec(spec: Spec): ScenarioFlowSpec | Refused {
    if (spec.kind === "match") return writtenSpec(spec);
    if (spec.kind === "drop") return "drop";
    if (spec.kind === "tag") return { tag: spec.tag_id };
    if (spec.kind === "count" && spec.counters instanceof Counters) return { count: this.counters.of(spec.counters) };
    return spec.kind === "handle" && spec.action instanceof FlowAction
      ? this.#flowAction(spec.action)
      : { refused: "what its spec holds is not exported" };
  }

  #device(flow: DeviceFlow): void {
    const name = this.names.flow(flow);
    const { matcher, context } = flow;
    const [entry] = flow.entries;
    const actions = this.#deviceActions(flow);
    if (entry === undefined || "refused" in actions) {
      this.findings.refuse("deviceFlows", "refused" in actions ? actions.refused : "it has no entry", name);
      return;
    }
    const { traced } = this.tracer;
    const terms = termsOf(traced.contentOf(traced.storedRule(entry.handle)));
    const match = matchOf(terms.filter(({ field, wanted }) => !OF_THE_TABLE.has(field.name) && wanted !== PRESENT));
    const ft_type = FT_TYPES[FLOW_TABLE_TYPES.indexOf(matcher.tableType)] ?? "nic_rx";
    const vport = context.function.vport;
    this.device.push({
      name,
      ft_type,
      ...(vport === 0 ? {} : { function: vport }),
      ...(matcher.tableType.transport ? { ib_port: matcher.port } : {}),
      ...(matcher.priority === 0 ? {} : { priority: matcher.priority }),
      ...(Object.keys(match).length === 0 ? {} : { match }),
      actions: actions.list,
    });
  }

  #deviceActions({
    entries,
    actions,
    counts,
    target,
    holds,
  }: DeviceFlow): { list: ScenarioDeviceFlowAction[] } | Refused {
    const list: ScenarioDeviceFlowAction[] = [];
    for (const action of actions) {
      const made = this.#flowAction(action);
      if ("refused" in made) return made;
      list.push(made);
    }
    const [entry] = entries;
    if (entry !== undefined && entry.tag !== null) list.push({ tag: entry.tag });
    if (counts instanceof Counters) list.push({ ibv_counter: this.counters.of(counts) });
    else if (counts instanceof BulkCounter && counts.holder instanceof FlowCounter) {
      const { holder, offset } = counts;
      list.push({ count: this.names.counter(holder), ...(offset === 0 ? {} : { offset }) });
    }
    if (entry?.drop === true) list.push("drop");
    else if (target?.op === Op.default_miss) list.push("default_miss");
    else if (target !== null) {
      const to = holds.find((one) => one instanceof QueuePair || one instanceof Tir);
      if (to instanceof QueuePair) list.push({ queue: this.names.queue(to) });
      else if (to instanceof Tir) list.push({ tir: this.names.tir(to) });
      else return { refused: "it leads to a flow table of device commands, which is not exported" };
    }
    return { list };
  }

  #flowAction(action: FlowAction): { action: string } | Refused {
    const written = flowActionOf(this.tracer.device, action, this.names.keys);
    if ("refused" in written) return written;
    const name = this.#actionNames.of(action);
    this.actions.set(name, { name, ...written });
    return { action: name };
  }
}

/** What a rule or a flow asks for. */
export function matchOf(terms: ReturnType<typeof termsOf>): NonNullable<ScenarioDeviceFlow["match"]> {
  return Object.fromEntries(terms.map(({ field, wanted }) => [field.name, wanted]));
}
