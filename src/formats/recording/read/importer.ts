/** A recording as a scenario: the objects that the program had before it destroyed them at its end. */
import { DEVICE_KEY_SIZE, GROUP_SIZE } from "../../../abi/key.js";
import type { ScenarioAsoData } from "../../../scenario/state/definition.js";
import type { ScenarioMatcher, ScenarioRule } from "../../../scenario/rule/definition.js";
import type { Draft } from "../../reading/draft.js";
import type { Findings } from "../../reading/findings.js";
import type { Importer } from "../../reading/format.js";
import { askedFields, ipv6Levels, undeclared, valueText } from "../../rules/deviceMatch.js";
import {
  ABSENT,
  bytesIn,
  listIn,
  numberIn,
  processesOf,
  textIn,
  type Call,
  type ProcessCalls,
  type Recorded,
  faultsIn,
} from "./calls.js";
import { DeviceObjects } from "./deviceObjects.js";
import { CALLS, ruleAction, type ActionNames, type RecordedAction } from "./elements.js";
import { FLOW_ACTIONS } from "./flowActions.js";
import { RecordedFlows } from "./recordedFlows.js";
import { RecordedQueues } from "./recordedQueues.js";
import type { StatefulAction } from "./state.js";

const DOMAINS = ["nic_rx", "nic_tx", "fdb"] as const;

export class RecordingImport implements Importer {
  readonly #objects: Recorded[] = [];
  /** Whether the calls of the process begin where it opens its devices. */
  #hasOpened = false;
  readonly #byAddress = new Map<string, Recorded>();
  /** Points of counters objects, by their address at that time. */
  readonly #points = new Map<Recorded, { index: number; counts: "packets" | "bytes" }[]>();
  /** Masks of matchers, without the groups that their criteria leave out. */
  readonly #masks = new Map<Recorded, Uint8Array>();
  /** The levels of IPv6 that rules of matchers ask for, in any order of theirs (`ipv6Levels`), and the matcher of each. */
  readonly #variants = new Map<Recorded, Map<string, string>>();
  readonly #devices: DeviceObjects;
  readonly #flows: RecordedFlows;
  readonly #queues: RecordedQueues;
  readonly #shared = new Map<Call, string>();
  /** The rules below the address of each matcher. */
  readonly #rulesOf = new Map<string, Recorded[]>();
  /** The name of the device that the scenario has: the first one with a rule or a flow. */
  #device: string | undefined;

  constructor(
    private readonly draft: Draft,
    private readonly findings: Findings,
  ) {
    this.#devices = new DeviceObjects(draft, findings);
    this.#flows = new RecordedFlows(draft, findings, {
      at: (address) => this.#at(address),
      isTir: (object) => this.#devices.tirs.has(object),
      match: (matcher, call) => (this.#masks.has(matcher) ? this.#match(matcher, call) : null),
    });
    this.#queues = new RecordedQueues(draft, findings, this.#devices, (address) => this.#at(address));
  }

  add(text: string): void {
    processesOf(text).forEach((process, n) => {
      const { head } = process;
      if (n > 0 && head !== null)
        this.findings.assume(
          head.place,
          head.text,
          "another process: its rules are added to those of the other processes",
        );
      this.#process(process);
    });
  }

  #process({ calls, others }: ProcessCalls): void {
    for (const { place, text } of others) this.findings.assume(place, text, "not a recorded call: ignored");
    this.#objects.length = 0;
    this.#byAddress.clear();
    this.#hasOpened = false;
    this.#devices.clear();
    for (const call of calls)
      for (const [does, text, reason] of faultsIn(call)) this.findings[does](call.place, text, reason);
    const last = calls.findLastIndex(({ name }) => !DESTROYS.test(name));
    for (const call of calls.slice(0, last + 1)) this.#see(call);
    this.#end(calls.slice(last + 1));
    const living = this.#objects.filter(({ destroyed }) => !destroyed);
    this.#device ??= living.find(({ call, device }) => STEERS.has(call.name) && device !== undefined)?.device;
    this.#queues.prepare(living);
    this.#rulesOf.clear();
    for (const rule of living) {
      if (rule.call.name !== "mlx5dv_dr_rule_create") continue;
      const matcher = textIn(rule.call, "matcher");
      const rules = this.#rulesOf.get(matcher);
      if (rules === undefined) this.#rulesOf.set(matcher, [rule]);
      else rules.push(rule);
    }
    for (const object of living) if (this.#isOnDevice(object)) this.#make(object);
  }

  /** Destroy calls at the end. Unless rules outlive them, they are the end of the program, and the objects stay. */
  #end(calls: readonly Call[]): void {
    const [first] = calls;
    if (first === undefined) return;
    const gone = new Set(calls.filter(isDone).map(destroyedBy));
    const outlives = ({ call, destroyed }: Recorded): boolean =>
      STEERS.has(call.name) && !destroyed && !gone.has(textIn(call, "returns"));
    if (this.#objects.some(outlives)) calls.forEach((call) => this.#see(call));
    else {
      const reason = "the program destroys its objects when it ends: the scenario keeps them";
      this.findings.assume(first.place, first.text, reason);
      calls.forEach((call) => this.#destroyed(call));
    }
  }

  /** The object that a destroy call names. */
  #destroyed(call: Call): Recorded | undefined {
    const object = this.#byAddress.get(destroyedBy(call));
    if (object === undefined) this.findings.assume(call.place, call.text, `what it destroys ${ABSENT}`);
    return object;
  }

  /** A scenario has one device: what steers frames on another is refused. */
  #isOnDevice({ call, device }: Recorded): boolean {
    if (device === undefined || this.#device === undefined || device === this.#device) return true;
    const reason = `it is on the device ${device}, and the scenario has the device ${this.#device}`;
    if (STEERS.has(call.name)) this.findings.refuse(call.place, call.text, reason);
    else this.findings.assume(call.place, call.text, `${reason}: left out`);
    return false;
  }

  #see(call: Call): void {
    if (DESTROYS.test(call.name)) {
      const object = this.#destroyed(call);
      if (object !== undefined && isDone(call)) object.destroyed = true;
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
      this.findings.assume(call.place, call.text, `the call failed${why}: it created nothing`);
      return;
    }
    const owner = OWNERS.find((argument) => this.#at(textIn(call, argument))?.device !== undefined);
    for (const argument of ["context", "domain"]) {
      const of = call.values[argument];
      const isKnown = argument === "domain" || this.#hasOpened;
      if (typeof of === "string" && isKnown && this.#at(of) === undefined)
        this.findings.assume(call.place, call.text, `its ${argument} ${ABSENT}`);
    }
    const device = OPENS.has(call.name) ? textIn(call, "device") : this.#at(textIn(call, owner ?? ""))?.device;
    const object: Recorded = { call, name: null, destroyed: false, changed: null, device };
    this.#hasOpened ||= OPENS.has(call.name);
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
    this.draft.comesFrom(call.place, call.text);
    if (this.#queues.make(object)) return;
    if (FLOW_ACTIONS[call.name] !== undefined) this.#flows.action(object);
    else if (call.name === "mlx5dv_devx_obj_create") this.#devices.make(object);
    else if (call.name === "ibv_create_counters") {
      const name = this.draft.freeName("flowCounters", "counters");
      this.draft.push("flowCounters", { name, points: this.#points.get(object) ?? [] });
      object.name = name;
    } else if (call.name === "mlx5dv_dr_table_create") this.#table(object);
    else if (call.name === "mlx5dv_dr_matcher_create")
      this.#matcher(object, this.#rulesOf.get(textIn(call, "returns")) ?? []);
    else if (call.name === "mlx5dv_dr_rule_create") this.#rule(object);
    else if (call.name === "ibv_create_flow") this.#flows.verbs(object);
    else if (call.name === "mlx5dv_create_flow_matcher") this.#mask(object);
    else if (call.name === "mlx5dv_create_flow") this.#flows.device(object);
    else if (!Object.hasOwn(CALLS, call.name)) {
      this.findings.refuse(call.place, call.text, `the importer does not know ${call.name}`);
    }
  }

  #table(object: Recorded): void {
    const { call } = object;
    const type = DOMAINS[numberIn(this.#at(textIn(call, "domain"))?.call ?? call, "type")];
    if (type === undefined || this.#at(textIn(call, "domain")) === undefined) {
      this.findings.refuse(call.place, call.text, `its domain ${ABSENT}`);
      return;
    }
    const level = numberIn(call, "level");
    object.name = this.draft.freeName("tables", level === 0 ? `${type} root` : `${type} level ${level}`);
    this.draft.push("tables", { name: object.name, domain: type, level });
  }

  #mask(object: Recorded): Uint8Array | null {
    const { call } = object;
    const mask = new Uint8Array(DEVICE_KEY_SIZE);
    const criteria = numberIn(call, "match_criteria_enable");
    bytesIn(call, "mask").forEach((byte, at) => {
      if (at < mask.length && ((criteria >> Math.floor(at / GROUP_SIZE)) & 1) === 1) mask[at] = byte;
    });
    const reason = undeclared(mask, this.draft.hasGeneveOption);
    if (reason !== null) {
      this.findings.refuse(call.place, call.text, reason);
      return null;
    }
    this.#masks.set(object, mask);
    return mask;
  }

  /** A matcher, or two: the rules that ask for IPv6 in the bits that IPv4 addresses have too are apart. */
  #matcher(object: Recorded, rules: readonly Recorded[]): void {
    const { call } = object;
    const table = this.#at(textIn(call, "table"))?.name ?? null;
    if (table === null) {
      this.findings.refuse(call.place, call.text, `its table ${ABSENT}`);
      return;
    }
    const asked = this.#mask(object);
    if (asked === null) return;
    const variants = new Map<string, string>();
    this.#variants.set(object, variants);
    const levels = rules.map((rule) => ipv6Levels(asked, valueIn(rule.call)));
    for (const ipv6 of levels.length === 0 ? [[]] : levels) {
      if (variants.has(ipv6.join(" "))) continue;
      const name = this.draft.freeName("matchers", "matcher");
      const mask = Object.fromEntries(askedFields(asked, ipv6).map(({ field, maskText }) => [field.name, maskText]));
      const matcher: ScenarioMatcher = { name, table, priority: numberIn(call, "priority"), mask };
      this.draft.push("matchers", matcher);
      variants.set(ipv6.join(" "), name);
      object.name = name;
    }
  }

  #rule(object: Recorded): void {
    const { call } = object;
    const matcher = this.#at(textIn(call, "matcher"));
    if (matcher === undefined || matcher.name === null) {
      this.findings.refuse(
        call.place,
        call.text,
        `its matcher ${matcher === undefined ? ABSENT : "is not in the scenario"}`,
      );
      return;
    }
    const name = this.draft.freeName("rules", "rule");
    const missing: string[] = [];
    const actions: RecordedAction[] = [];
    for (const address of listIn(call, "actions")) {
      const action = this.#at(String(address));
      const made = action === undefined ? { refused: `it ${ABSENT}` } : ruleAction(action.call, this.#names);
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
      matcher: this.#variants.get(matcher)?.get(this.#levels(matcher, call).join(" ")) ?? matcher.name,
      match: this.#match(matcher, call),
      actions,
      ...(missing.length === 0 ? {} : { notImported: missing }),
    };
    this.draft.push("rules", rule);
  }

  #match(matcher: Recorded, call: Call): NonNullable<ScenarioRule["match"]> {
    const value = valueIn(call);
    const asked = askedFields(this.#masks.get(matcher) ?? NOTHING, this.#levels(matcher, call));
    return Object.fromEntries(asked.map((field) => [field.field.name, valueText(field, value)]));
  }

  #levels(matcher: Recorded, call: Call): readonly string[] {
    return ipv6Levels(this.#masks.get(matcher) ?? NOTHING, valueIn(call));
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
const DESTROYS =
  /^(?:ibv_destroy_(?:flow|counters|wq|rwq_ind_table|flow_action|qp)|mlx5dv_(?:destroy_flow_matcher|devx_obj_destroy|dr_(?:domain|table|matcher|rule|action)_destroy))$/;
const OPENS: ReadonlySet<string> = new Set(["ibv_open_device", "mlx5dv_open_device"]);
/** Calls that make what steers frames. */
const STEERS: ReadonlySet<string> = new Set(["mlx5dv_dr_rule_create", "ibv_create_flow", "mlx5dv_create_flow"]);
/** Arguments whose device is that of the object which is made. */
const OWNERS = ["context", "matcher", "table", "domain", "qp"] as const;

const NOTHING = new Uint8Array(DEVICE_KEY_SIZE);

function valueIn(call: Call): Uint8Array {
  const value = new Uint8Array(DEVICE_KEY_SIZE);
  value.set(bytesIn(call, "value").subarray(0, value.length));
  return value;
}

function isDone(call: Call): boolean {
  return numberIn(call, "returns") === 0;
}

/** The address of the object that a destroy call names. */
function destroyedBy({ values }: Call): string {
  return String(Object.values(values).find((value) => typeof value === "string" && value.startsWith("0x")));
}
