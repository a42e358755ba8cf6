/**
 * A scenario as a steering dump: the text that mlx5dv_dump_dr_domain writes of each domain of the device
 * that the exported program makes. Rules with actions that a dump does not hold are left out as a whole.
 */
import { VPORT_UPLINK } from "../../../abi/engine.js";
import { DEVICE_KEY_SIZE } from "../../../abi/key.js";
import { L2_TUNNEL_TO_L2 } from "../../../abi/reformat.js";
import { ACTION_TYPES, modifyColumns } from "../../../model/dump/actions.js";
import {
  MATCHER,
  MATCHER_MASK,
  PACKAGE,
  RULE,
  RULE_VALUE,
  writeDomainRecords,
  writeTableRecords,
} from "../../../model/dump/objects.js";
import { groupTexts } from "../../../model/dump/parameters.js";
import { hex, writeLine } from "../../../model/dump/record.js";
import { profileNamed } from "../../../model/profile/profiles.js";
import type { Scenario } from "../../../scenario/document.js";
import type { ExportFindings } from "../../writing/finding.js";
import type { Format } from "../../writing/format.js";
import { programOf } from "../../program/build.js";
import type { Program, ProgramAction, ProgramBytes, ProgramMatcher } from "../../program/program.js";

export const DUMP: Format = {
  title: "a steering dump, as mlx5dv_dump_dr_domain writes it",
  write: (scenario, findings) => {
    refuseWithoutRecords(scenario, findings);
    const { flows: _flows, flowCounters: _counters, ...direct } = scenario;
    return new Writer(direct, programOf(direct, findings), findings).text();
  },
};

/** Sections that have no records in a dump. */
function refuseWithoutRecords({ device = {}, queues = [], flows = [] }: Scenario, findings: ExportFindings): void {
  if ((device.ports ?? 1) > 1) findings.refuse("device.ports", "a dump does not contain the ports of a device");
  if (device.parser !== undefined) findings.refuse("device.parser", "a dump does not contain what the parser declares");
  for (const [i, { name, type = "raw_packet", port = 1 }] of queues.entries()) {
    if (type !== "raw_packet")
      findings.refuse(`queues[${i}].type`, "a dump does not contain the types of queues", name);
    if (port !== 1) findings.refuse(`queues[${i}].port`, "a dump does not contain the ports of queues", name);
  }
  for (const [i, { name }] of flows.entries()) {
    findings.refuse(`flows[${i}]`, "a dump has direct rules alone, and no flows", name ?? null);
  }
}

/** Why a dump does not hold an action, so that no rule can be made of it again; null if it does. */
function missingOf(action: ProgramAction): string | null {
  switch (action.kind) {
    case "modify_header":
      // The device's own words, if the hardware has them.
      return null;
    case "packet_reformat":
      return action.type === L2_TUNNEL_TO_L2 ? null : "a dump does not contain the headers that a reformat writes";
    case "dest_array":
      return "a dump does not contain the members of an array";
    case "dest_root_table":
      return "a dump does not contain the priority in the root table from which frames go on";
    case "dest_ib_port":
      return action.port === 1 ? null : "a dump has the uplink for each port";
    default:
      return null;
  }
}

class Writer {
  readonly #ids = new Map<object | string, string>();
  readonly #lines: string[] = [];
  readonly #write = (text: string): unknown => this.#lines.push(text);
  /** Indices of rules, by their matcher. */
  readonly #rules = new Map<number, Program["rules"][number][]>();
  /** The number of the first counter of each bulk. */
  readonly #counters: number[] = [];

  constructor(
    private readonly scenario: Scenario,
    private readonly program: Program,
    private readonly findings: ExportFindings,
  ) {
    let next = 1;
    for (const { bulkLog } of program.counters) {
      this.#counters.push(next);
      next += 2 ** bulkLog;
    }
    this.#groupRules();
  }

  text(): string {
    for (const [at, type] of this.program.domains.entries()) this.#domain(at, type);
    return this.#lines.join("");
  }

  #groupRules(): void {
    const told = new Set<string>();
    for (const rule of this.program.rules) {
      const missing = rule.actions.map((at) => this.#missing(this.#action(at), rule));
      const lacking = missing.findIndex((reason) => reason !== null);
      if (lacking < 0) {
        const list = this.#rules.get(rule.matcher);
        if (list === undefined) this.#rules.set(rule.matcher, [rule]);
        else list.push(rule);
      } else if (!told.has(rule.path)) {
        // A range is several rules of the program.
        told.add(rule.path);
        const name = ruleAt(this.scenario, rule.path) ?? rule.name;
        this.findings.refuse(`${rule.path}.actions[${lacking}]`, missing[lacking] ?? "", name);
      }
    }
  }

  #missing(action: ProgramAction, rule: Program["rules"][number]): string | null {
    if (action.kind !== "modify_header") return missingOf(action);
    return this.#modified(action, rule, "").length > MODIFY_COLUMNS ? null : NO_WORDS;
  }

  /** The columns of header changes. */
  #modified(
    action: Extract<ProgramAction, { kind: "modify_header" }>,
    rule: Program["rules"][number],
    own: string,
  ): readonly string[] {
    const bytes = new Uint8Array(8 * action.words.length);
    const view = new DataView(bytes.buffer);
    for (const [n, word] of action.words.entries()) view.setBigUint64(8 * n, word);
    const mask = keyOf((this.program.matchers[rule.matcher] as ProgramMatcher).mask.bytes);
    const format = profileNamed(this.scenario.device?.profile ?? "manual").steeringFormat;
    return modifyColumns(own, bytes, format, { mask, value: keyOf(rule.value.bytes) });
  }

  #action(at: number): ProgramAction {
    return this.program.actions[at] as ProgramAction;
  }

  /** Numbers in the order in which the text first names the objects, as the device gives them. */
  #id(object: object | string): string {
    let id = this.#ids.get(object);
    if (id === undefined) this.#ids.set(object, (id = hex(this.#ids.size + 1)));
    return id;
  }

  #domain(at: number, type: Program["domains"][number]): void {
    const { device = {}, domains = [] } = this.scenario;
    const own = domains.find((one) => one.domain === type && (one.function ?? 0) === 0);
    const id = this.#id(`domain ${at}`);
    writeDomainRecords(this.#write, {
      id,
      type,
      vport: 0,
      name: device.name ?? "flowsteer0",
      managesSwitch: true,
      vports: device.vports ?? 0,
      rootOnly: false,
      reclaims: false,
      allowsDuplicates: own?.duplicates ?? true,
      firmware: PACKAGE,
      steeringFormat: profileNamed(device.profile ?? "manual").steeringFormat,
    });
    for (const [n, table] of this.program.tables.entries()) {
      if (table.domain !== at) continue;
      const own = this.#id(table);
      const anchor = table.level === 0 ? null : this.#id(`anchor ${n}`);
      writeTableRecords(this.#write, own, id, type, table.level, anchor);
      for (const [index, matcher] of this.#matchersOf(n, table.level === 0)) this.#matcher(index, matcher, own);
    }
  }

  /** In the order of lookups: among equal priorities the newest first, in root tables the oldest. */
  #matchersOf(table: number, isRoot: boolean): (readonly [number, ProgramMatcher])[] {
    const own = [...this.program.matchers.entries()].filter(([, matcher]) => matcher.table === table);
    return (isRoot ? own : own.toReversed()).toSorted(([, a], [, b]) => a.priority - b.priority);
  }

  #matcher(index: number, matcher: ProgramMatcher, table: string): void {
    const id = this.#id(matcher);
    const groups = ({ bytes }: ProgramBytes): string[] => groupTexts(keyOf(bytes), matcher.criteria);
    writeLine(this.#write, MATCHER, id, table, matcher.priority);
    writeLine(this.#write, MATCHER_MASK, id, ...groups(matcher.mask));
    for (const rule of this.#rules.get(index) ?? []) {
      const ruleId = this.#id(rule);
      writeLine(this.#write, RULE, ruleId, id);
      writeLine(this.#write, RULE_VALUE, ruleId, ...groups(rule.value));
      for (const at of rule.actions) this.#writeAction(this.#action(at), ruleId, rule);
    }
  }

  #writeAction(action: ProgramAction, ruleId: string, rule: Program["rules"][number]): void {
    // Rules hold no reformat but the one that drops the outer headers of a tunnel.
    const type = action.kind === "packet_reformat" ? DECAPSULATION : ACTION_TYPES[action.kind];
    const own = this.#id(action);
    const details = action.kind === "modify_header" ? this.#modified(action, rule, own) : this.#details(action);
    writeLine(this.#write, type, own, ruleId, ...details);
  }

  #details(action: ProgramAction): readonly string[] {
    switch (action.kind) {
      case "dest_ibv_qp":
        return [hex(action.queue + 1)];
      case "dest_table": {
        const table = this.#id(this.program.tables[action.table] as object);
        return [table, table];
      }
      case "flow_counter":
        return [hex((this.#counters[action.counter] ?? 0) + action.offset)];
      case "tag":
        return [hex(action.tag)];
      case "dest_vport":
        return [hex(action.vport)];
      case "push_vlan":
        return [hex(action.header)];
      case "dest_ib_port":
        return [hex(VPORT_UPLINK)];
      default:
        return [];
    }
  }
}

const DECAPSULATION = 3409;
/** Columns of header changes before their words. */
const MODIFY_COLUMNS = 5;
const NO_WORDS =
  "a dump has header changes in the hardware's words, from ConnectX-6 Dx on: of outer fields, ports where the rule asks for TCP or UDP, TTL where it asks for IPv4";

function keyOf(bytes: Uint8Array): Uint8Array {
  const key = new Uint8Array(DEVICE_KEY_SIZE);
  key.set(bytes.subarray(0, DEVICE_KEY_SIZE));
  return key;
}

/** The name of the rule at `rules[n]`. */
function ruleAt({ rules = [] }: Scenario, path: string): string | undefined {
  return rules[Number(/\d+/.exec(path)?.[0])]?.name;
}
