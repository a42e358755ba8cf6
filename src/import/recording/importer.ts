/** A recording as a scenario: the objects that the program had before it destroyed them at its end. */
import { DEVICE_KEY_SIZE, GROUP_SIZE } from "../../abi/key.js";
import { FT_TYPES, type ScenarioDeviceFlowAction } from "../../scenario/deviceFlow/definition.js";
import type { ScenarioAsoData } from "../../scenario/state/definition.js";
import type { ScenarioMatcher, ScenarioRule } from "../../scenario/rule/definition.js";
import { type Draft, isEndpoint, NO_ENDPOINT } from "../draft.js";
import type { Findings } from "../findings.js";
import type { Importer } from "../format.js";
import { asksSamples, askedFields, valueText, type AskedField } from "../rules/deviceMatch.js";
import { bytesIn, listIn, numberIn, readCalls, textIn, type Call } from "./calls.js";
import { CALLS, ruleAction, type ActionNames, type RecordedAction } from "./elements.js";
import { flowOf } from "./flows.js";
import { asoCommand, GENERAL_OBJECT_OPCODE, type StatefulAction } from "./state.js";

const DOMAINS = ["nic_rx", "nic_tx", "fdb"] as const;

/** What an address stands for. */
export interface Recorded {
  readonly call: Call;
  /** Its name in the scenario, once it is made there. */
  name: string | null;
  destroyed: boolean;
  /** Why it is not what it was created as: a later call has changed it. */
  changed: string | null;
}

export class RecordingImport implements Importer {
  readonly #draft: Draft;
  readonly #findings: Findings;
  readonly #objects: Recorded[] = [];
  readonly #byAddress = new Map<string, Recorded>();
  /** Points of counters objects, by their address at that time. */
  readonly #points = new Map<Recorded, { index: number; counts: "packets" | "bytes" }[]>();
  readonly #asked = new Map<Recorded, readonly AskedField[]>();
  readonly #aso = new Map<Recorded, ScenarioAsoData>();
  readonly #shared = new Map<Call, string>();

  constructor(draft: Draft, findings: Findings) {
    this.#draft = draft;
    this.#findings = findings;
  }

  add(text: string): void {
    const calls: Call[] = [];
    for (const one of readCalls(text)) {
      if ("name" in one) calls.push(one);
      else this.#findings.assume(one.place, one.text, "no call of a recording: left out");
    }
    this.#objects.length = 0;
    this.#byAddress.clear();
    const last = calls.findLastIndex(({ name }) => !DESTROYS.test(name));
    const end = calls[last + 1];
    if (end !== undefined) {
      const reason = "the program destroys its objects at its end: the scenario has them";
      this.#findings.assume(end.place, end.text, reason);
    }
    for (const call of calls.slice(0, last + 1)) this.#see(call);
    for (const object of this.#objects) if (!object.destroyed) this.#make(object);
  }

  #see(call: Call): void {
    if (DESTROYS.test(call.name)) {
      const address = Object.values(call.values).find((value) => typeof value === "string" && value.startsWith("0x"));
      const object = this.#byAddress.get(String(address));
      if (object !== undefined && numberIn(call, "returns") === 0) object.destroyed = true;
      return;
    }
    const element = CALLS[call.name];
    if (CHANGES.has(call.name) && element !== undefined && "refused" in element) {
      if (numberIn(call, "returns") !== 0) return;
      this.#findings.refuse(call.place, call.text, element.refused);
      const object = this.#at(textIn(call, "action")) ?? this.#at(textIn(call, "devx_obj"));
      if (object !== undefined) object.changed = `${call.text}: ${element.refused}`;
      return;
    }
    if (call.name === "ibv_attach_counters_point_flow") {
      const counters = this.#at(textIn(call, "counters"));
      if (counters === undefined || numberIn(call, "returns") !== 0) return;
      const counts = numberIn(call, "counter_desc") === 0 ? ("packets" as const) : ("bytes" as const);
      const points = this.#points.get(counters) ?? [];
      points.push({ index: numberIn(call, "index"), counts });
      this.#points.set(counters, points);
      return;
    }
    const address = textIn(call, "returns");
    if (address === "") {
      const { errno } = call.values;
      const why = typeof errno === "number" ? ` with errno ${errno}` : "";
      this.#findings.assume(call.place, call.text, `the call failed${why}: it made nothing`);
      return;
    }
    const object: Recorded = { call, name: null, destroyed: false, changed: null };
    this.#objects.push(object);
    this.#byAddress.set(address, object);
  }

  #at(address: string): Recorded | undefined {
    const found = this.#byAddress.get(address);
    return found?.destroyed === true ? undefined : found;
  }

  /** Makes what stands in lists of the scenario; actions are written where rules use them. */
  #make(object: Recorded): void {
    const { call } = object;
    if (/^(ibv|mlx5dv)_create_qp(_ex)?$/.test(call.name)) {
      object.name = this.#draft.queue(`qp ${numberIn(call, "qp_num")}`);
    } else if (call.name === "mlx5dv_devx_obj_create") this.#device(object);
    else if (call.name === "ibv_create_counters") {
      const name = this.#draft.freeName("flowCounters", "counters");
      this.#draft.push("flowCounters", { name, points: this.#points.get(object) ?? [] });
      object.name = name;
    } else if (call.name === "mlx5dv_dr_table_create") this.#table(object);
    else if (call.name === "mlx5dv_dr_matcher_create") this.#matcher(object);
    else if (call.name === "mlx5dv_dr_rule_create") this.#rule(object);
    else if (call.name === "ibv_create_flow") this.#flow(object);
    else if (call.name === "mlx5dv_create_flow_matcher") this.#askedOf(object);
    else if (call.name === "mlx5dv_create_flow") this.#deviceFlow(object);
    else if (!Object.hasOwn(CALLS, call.name)) {
      this.#findings.refuse(call.place, call.text, `the importer does not know ${call.name}`);
    }
  }

  #device(object: Recorded): void {
    const { call } = object;
    const command = bytesIn(call, "in");
    const opcode = (command[0] ?? 0) * 256 + (command[1] ?? 0);
    if (opcode === ALLOC_FLOW_COUNTER) this.#counter(object, command);
    else if (opcode === GENERAL_OBJECT_OPCODE) this.#asoObjects(object, command);
    else this.#findings.refuse(call.place, call.text, `the device command 0x${opcode.toString(16)} is not imported`);
  }

  #asoObjects(object: Recorded, command: Uint8Array): void {
    const { call } = object;
    const made = asoCommand(command);
    if (typeof made === "number") {
      this.#findings.refuse(call.place, call.text, `a general object of type 0x${made.toString(16)} is not imported`);
      return;
    }
    const name = this.#draft.freeName("asoObjects", `${Object.keys(made.data)[0] ?? ""} objects`);
    const { log_obj_range, data } = made;
    this.#draft.push("asoObjects", { name, ...(log_obj_range === 0 ? {} : { log_obj_range }), ...data });
    this.#aso.set(object, data);
    object.name = name;
    const reason = "what work requests write into ASO objects is not recorded: they are as they were created";
    this.#findings.assume(call.place, call.text, reason);
  }

  /** flow_counter_bulk selects 128 counters, 256 and so on. */
  #counter(object: Recorded, command: Uint8Array): void {
    const bulk = command[12] ?? 0;
    const name = this.#draft.freeName("counters", "counter");
    this.#draft.push("counters", { name, ...(bulk === 0 ? {} : { flow_counter_bulk_log_size: bulkLog(bulk) }) });
    object.name = name;
  }

  #table(object: Recorded): void {
    const { call } = object;
    const type = DOMAINS[numberIn(this.#at(textIn(call, "domain"))?.call ?? call, "type")];
    if (type === undefined || this.#at(textIn(call, "domain")) === undefined) {
      this.#findings.refuse(call.place, call.text, "its domain is not in the recording");
      return;
    }
    const level = numberIn(call, "level");
    object.name = this.#draft.freeName("tables", level === 0 ? `${type} root` : `${type} level ${level}`);
    this.#draft.push("tables", { name: object.name, domain: type, level });
  }

  #askedOf(object: Recorded): readonly AskedField[] | null {
    const { call } = object;
    const mask = new Uint8Array(DEVICE_KEY_SIZE);
    const criteria = numberIn(call, "match_criteria_enable");
    bytesIn(call, "mask").forEach((byte, at) => {
      if (at < mask.length && ((criteria >> Math.floor(at / GROUP_SIZE)) & 1) === 1) mask[at] = byte;
    });
    if (asksSamples(mask)) {
      this.#findings.refuse(call.place, call.text, "it asks for a programmable sample, whose place is not recorded");
      return null;
    }
    const asked = askedFields(mask);
    this.#asked.set(object, asked);
    return asked;
  }

  #matcher(object: Recorded): void {
    const { call } = object;
    const table = this.#at(textIn(call, "table"))?.name ?? null;
    if (table === null) {
      this.#findings.refuse(call.place, call.text, "its table is not in the recording");
      return;
    }
    const asked = this.#askedOf(object);
    if (asked === null) return;
    const name = this.#draft.freeName("matchers", "matcher");
    const mask = Object.fromEntries(asked.map(({ field, maskText }) => [field.name, maskText]));
    const matcher: ScenarioMatcher = { name, table, priority: numberIn(call, "priority"), mask };
    this.#draft.push("matchers", matcher);
    object.name = name;
  }

  #rule(object: Recorded): void {
    const { call } = object;
    const matcher = this.#at(textIn(call, "matcher"));
    if (matcher === undefined || matcher.name === null) {
      this.#findings.refuse(call.place, call.text, "its matcher is not in the scenario");
      return;
    }
    const name = this.#draft.freeName("rules", "rule");
    const missing: string[] = [];
    const actions: RecordedAction[] = [];
    for (const address of listIn(call, "actions")) {
      const action = this.#at(String(address));
      const made =
        action === undefined ? { refused: "it is not in the recording" } : ruleAction(action.call, this.#names);
      if (typeof made === "string" || !("refused" in made)) actions.push(made);
      else {
        const text = action?.call.text ?? String(address);
        this.#findings.refuse(action?.call.place ?? call.place, text, made.refused, name);
        missing.push(`${text}: ${made.refused}`);
      }
      const changed = action?.changed ?? this.#at(action === undefined ? "" : textIn(action.call, "obj"))?.changed;
      if (typeof changed === "string") missing.push(changed);
    }
    const rule: ScenarioRule = {
      ...{ name, matcher: matcher.name, match: this.#match(matcher, call), actions },
      ...(missing.length === 0 ? {} : { notImported: missing }),
    };
    this.#draft.push("rules", rule);
  }

  #match(matcher: Recorded, call: Call): NonNullable<ScenarioRule["match"]> {
    const value = new Uint8Array(DEVICE_KEY_SIZE);
    value.set(bytesIn(call, "value").subarray(0, value.length));
    const asked = this.#asked.get(matcher) ?? [];
    return Object.fromEntries(asked.map((field) => [field.field.name, valueText(field, value)]));
  }

  readonly #names = {
    object: (address: string): string | null => this.#at(address)?.name ?? null,
    call: (address: string): Call | null => this.#at(address)?.call ?? null,
    aso: (address: string): ScenarioAsoData | null => {
      const object = this.#at(address);
      return object === undefined ? null : (this.#aso.get(object) ?? null);
    },
    shared: (call: Call, written: StatefulAction): string => {
      const known = this.#shared.get(call);
      if (known !== undefined) return known;
      const name = this.#draft.freeName("actions", Object.keys(written)[0] ?? "");
      this.#draft.push("actions", { name, ...written });
      this.#shared.set(call, name);
      return name;
    },
    vport: (vport: number): void => void this.#draft.endpoint({ vport }),
    port: (port: number): void => void this.#draft.endpoint({ port }),
  };

  #flow(object: Recorded): void {
    const { call } = object;
    const queue = this.#at(textIn(call, "qp"))?.name ?? null;
    const flow = flowOf(bytesIn(call, "flow"), { counters: (address) => this.#at(address)?.name ?? undefined });
    if (queue === null) this.#findings.refuse(call.place, call.text, "its queue pair is not in the recording");
    else if (typeof flow === "string") this.#findings.refuse(call.place, call.text, flow);
    else if (!isEndpoint({ port: flow.port ?? 1 })) this.#findings.refuse(call.place, call.text, NO_ENDPOINT);
    else {
      this.#draft.endpoint({ port: flow.port ?? 1 });
      this.#draft.push("flows", { name: this.#draft.freeName("flows", "flow"), queue, ...flow });
    }
  }

  #deviceFlow(object: Recorded): void {
    const { call } = object;
    const matcher = this.#at(textIn(call, "matcher"));
    if (matcher === undefined || !this.#asked.has(matcher)) {
      this.#findings.refuse(call.place, call.text, "its matcher is not in the scenario");
      return;
    }
    const name = this.#draft.freeName("deviceFlows", "device flow");
    const actions: ScenarioDeviceFlowAction[] = [];
    for (const one of listIn(call, "actions")) {
      const action = flowAction(one as Record<string, unknown>, this.#names);
      if (action !== null) actions.push(action);
      else this.#findings.refuse(call.place, JSON.stringify(one), "an action of this type is not imported", name);
    }
    const ft_type = FT_TYPES[numberIn(matcher.call, "ft_type")] ?? "nic_rx";
    const priority = numberIn(matcher.call, "priority");
    this.#draft.push("deviceFlows", { name, ft_type, priority, match: this.#match(matcher, call), actions });
  }
}

/** An action of `struct mlx5dv_flow_action_attr`, by the numbers of `enum mlx5dv_flow_action_type`. */
function flowAction(
  { type, tag_value: tag, object }: Record<string, unknown>,
  names: ActionNames,
): ScenarioDeviceFlowAction | null {
  if (type === 1) return "drop";
  if (type === 4) return { tag: Number(tag) };
  if (type === 7) return "default_miss";
  const to = names.object(String(object));
  if (to === null) return null;
  if (type === 0) return { queue: to };
  if (type === 2) return { ibv_counter: to };
  return type === 6 ? { count: to } : null;
}

const ALLOC_FLOW_COUNTER = 0x939;
/** Calls that change an object and make none. */
const CHANGES: ReadonlySet<string> = new Set([
  "mlx5dv_dr_action_modify_aso",
  "mlx5dv_dr_action_modify_flow_meter",
  "mlx5dv_dr_aso_other_domain_link",
]);
const DESTROYS = /_destroy(_|$)|_destroy_/;

/** The first bit of flow_counter_bulk stands for 128 counters. */
function bulkLog(bulk: number): number {
  return 7 + 31 - Math.clz32(bulk & -bulk);
}
