/** A recording as a scenario: the objects that the program had before it destroyed them at its end. */
import { DEVICE_KEY_SIZE, GROUP_SIZE } from "../../../abi/key.js";
import type { ScenarioAsoData } from "../../../scenario/state/definition.js";
import type { ScenarioMatcher, ScenarioRule } from "../../../scenario/rule/definition.js";
import type { Draft } from "../../reading/draft.js";
import type { Findings } from "../../reading/findings.js";
import type { Importer } from "../../reading/format.js";
import { asksSamples, askedFields, valueText, type AskedField } from "../../rules/deviceMatch.js";
import { bytesIn, listIn, numberIn, readCalls, textIn, type Call, type Recorded } from "./calls.js";
import { DeviceObjects } from "./deviceObjects.js";
import { CALLS, ruleAction, type ActionNames, type RecordedAction } from "./elements.js";
import { FLOW_ACTIONS } from "./flowActions.js";
import { RecordedFlows } from "./recordedFlows.js";
import type { StatefulAction } from "./state.js";

const DOMAINS = ["nic_rx", "nic_tx", "fdb"] as const;

export class RecordingImport implements Importer {
  readonly #objects: Recorded[] = [];
  readonly #byAddress = new Map<string, Recorded>();
  /** Points of counters objects, by their address at that time. */
  readonly #points = new Map<Recorded, { index: number; counts: "packets" | "bytes" }[]>();
  readonly #asked = new Map<Recorded, readonly AskedField[]>();
  readonly #devices: DeviceObjects;
  readonly #flows: RecordedFlows;
  readonly #shared = new Map<Call, string>();

  constructor(
    private readonly draft: Draft,
    private readonly findings: Findings,
  ) {
    this.#devices = new DeviceObjects(draft, findings);
    this.#flows = new RecordedFlows(draft, findings, {
      at: (address) => this.#at(address),
      isTir: (object) => this.#devices.tirs.has(object),
      match: (matcher, call) => (this.#asked.has(matcher) ? this.#match(matcher, call) : null),
    });
  }

  add(text: string): void {
    const calls: Call[] = [];
    for (const one of readCalls(text)) {
      if ("name" in one) calls.push(one);
      else this.findings.assume(one.place, one.text, "no call of a recording: left out");
    }
    this.#objects.length = 0;
    this.#byAddress.clear();
    this.#devices.clear();
    const last = calls.findLastIndex(({ name }) => !DESTROYS.test(name));
    const end = calls[last + 1];
    if (end !== undefined) {
      const reason = "the program destroys its objects at its end: the scenario has them";
      this.findings.assume(end.place, end.text, reason);
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
      this.findings.refuse(call.place, call.text, element.refused);
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
      this.findings.assume(call.place, call.text, `the call failed${why}: it made nothing`);
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
      object.name = this.draft.queue(`qp ${numberIn(call, "qp_num")}`);
      this.#devices.receives(object, numberIn(call, "qp_num"));
    } else if (call.name === "ibv_create_wq") this.#devices.queue(object, numberIn(call, "wq_num"));
    else if (FLOW_ACTIONS[call.name] !== undefined) this.#flows.action(object);
    else if (call.name === "mlx5dv_devx_obj_create") this.#devices.make(object);
    else if (call.name === "ibv_create_counters") {
      const name = this.draft.freeName("flowCounters", "counters");
      this.draft.push("flowCounters", { name, points: this.#points.get(object) ?? [] });
      object.name = name;
    } else if (call.name === "mlx5dv_dr_table_create") this.#table(object);
    else if (call.name === "mlx5dv_dr_matcher_create") this.#matcher(object);
    else if (call.name === "mlx5dv_dr_rule_create") this.#rule(object);
    else if (call.name === "ibv_create_flow") this.#flows.verbs(object);
    else if (call.name === "mlx5dv_create_flow_matcher") this.#askedOf(object);
    else if (call.name === "mlx5dv_create_flow") this.#flows.device(object);
    else if (!Object.hasOwn(CALLS, call.name)) {
      this.findings.refuse(call.place, call.text, `the importer does not know ${call.name}`);
    }
  }

  #table(object: Recorded): void {
    const { call } = object;
    const type = DOMAINS[numberIn(this.#at(textIn(call, "domain"))?.call ?? call, "type")];
    if (type === undefined || this.#at(textIn(call, "domain")) === undefined) {
      this.findings.refuse(call.place, call.text, "its domain is not in the recording");
      return;
    }
    const level = numberIn(call, "level");
    object.name = this.draft.freeName("tables", level === 0 ? `${type} root` : `${type} level ${level}`);
    this.draft.push("tables", { name: object.name, domain: type, level });
  }

  #askedOf(object: Recorded): readonly AskedField[] | null {
    const { call } = object;
    const mask = new Uint8Array(DEVICE_KEY_SIZE);
    const criteria = numberIn(call, "match_criteria_enable");
    bytesIn(call, "mask").forEach((byte, at) => {
      if (at < mask.length && ((criteria >> Math.floor(at / GROUP_SIZE)) & 1) === 1) mask[at] = byte;
    });
    if (asksSamples(mask)) {
      this.findings.refuse(call.place, call.text, "it asks for a programmable sample, whose place is not recorded");
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
      this.findings.refuse(call.place, call.text, "its table is not in the recording");
      return;
    }
    const asked = this.#askedOf(object);
    if (asked === null) return;
    const name = this.draft.freeName("matchers", "matcher");
    const mask = Object.fromEntries(asked.map(({ field, maskText }) => [field.name, maskText]));
    const matcher: ScenarioMatcher = { name, table, priority: numberIn(call, "priority"), mask };
    this.draft.push("matchers", matcher);
    object.name = name;
  }

  #rule(object: Recorded): void {
    const { call } = object;
    const matcher = this.#at(textIn(call, "matcher"));
    if (matcher === undefined || matcher.name === null) {
      this.findings.refuse(call.place, call.text, "its matcher is not in the scenario");
      return;
    }
    const name = this.draft.freeName("rules", "rule");
    const missing: string[] = [];
    const actions: RecordedAction[] = [];
    for (const address of listIn(call, "actions")) {
      const action = this.#at(String(address));
      const made =
        action === undefined ? { refused: "it is not in the recording" } : ruleAction(action.call, this.#names);
      if (typeof made === "string" || !("refused" in made)) actions.push(made);
      else {
        const text = action?.call.text ?? String(address);
        this.findings.refuse(action?.call.place ?? call.place, text, made.refused, name);
        missing.push(`${text}: ${made.refused}`);
      }
      const changed = action?.changed ?? this.#at(action === undefined ? "" : textIn(action.call, "obj"))?.changed;
      if (typeof changed === "string") missing.push(changed);
    }
    const rule: ScenarioRule = {
      name,
      matcher: matcher.name,
      match: this.#match(matcher, call),
      actions,
      ...(missing.length === 0 ? {} : { notImported: missing }),
    };
    this.draft.push("rules", rule);
  }

  #match(matcher: Recorded, call: Call): NonNullable<ScenarioRule["match"]> {
    const value = new Uint8Array(DEVICE_KEY_SIZE);
    value.set(bytesIn(call, "value").subarray(0, value.length));
    const asked = this.#asked.get(matcher) ?? [];
    return Object.fromEntries(asked.map((field) => [field.field.name, valueText(field, value)]));
  }

  readonly #names: ActionNames = {
    object: (address: string): string | null => this.#at(address)?.name ?? null,
    call: (address: string): Call | null => this.#at(address)?.call ?? null,
    isTir: (address: string): boolean => {
      const object = this.#at(address);
      return object !== undefined && this.#devices.tirs.has(object);
    },
    aso: (address: string): ScenarioAsoData | null => {
      const object = this.#at(address);
      return object === undefined ? null : (this.#devices.aso.get(object) ?? null);
    },
    shared: (call: Call, written: StatefulAction): string => {
      const known = this.#shared.get(call);
      if (known !== undefined) return known;
      const name = this.draft.freeName("actions", Object.keys(written)[0] ?? "");
      this.draft.push("actions", { name, ...written });
      this.#shared.set(call, name);
      return name;
    },
    vport: (vport: number): void => void this.draft.endpoint({ vport }),
    port: (port: number): void => void this.draft.endpoint({ port }),
  };
}

/** Calls that change an object and make none. */
const CHANGES: ReadonlySet<string> = new Set([
  "mlx5dv_dr_action_modify_aso",
  "mlx5dv_dr_action_modify_flow_meter",
  "mlx5dv_dr_aso_other_domain_link",
  "ibv_modify_flow_action_esp",
]);
const DESTROYS = /_destroy(_|$)|_destroy_/;
