/**
 * The direct rules of a scenario as a steering dump, in the records of `mlx5dv_dump_dr_domain` (src/model/dump/dump.ts).
 * Numbers of objects are their places in the program.
 */
import { DEVICE_KEY_SIZE } from "../../abi/key.js";
import { L2_TUNNEL_TO_L2 } from "../../abi/reformat.js";
import { VPORT_UPLINK } from "../../abi/engine.js";
import { profileNamed } from "../../model/profile/profiles.js";
import { ACTION_RECORDS, REFORMAT_RECORDS } from "../../model/dump/actions.js";
import { TABLE_TYPES, writeDomainRecords } from "../../model/dump/domainRecords.js";
import { groupTexts } from "../../model/dump/parameters.js";
import { hex, RECORD, writeLine } from "../../model/dump/record.js";
import type { Scenario } from "../../scenario/document.js";
import type { ExportFindings } from "../finding.js";
import type { Format } from "../format.js";
import { programOf } from "../program/build.js";
import type { Program, ProgramAction, ProgramBytes, ProgramMatcher } from "../program/program.js";

export const DUMP: Format = {
  title: "a steering dump, as mlx5dv_dump_dr_domain writes it",
  write: (scenario, findings) => new Writer(scenario, findings).text(),
};

/** What dumps lack of actions, by kind. */
const LACKS: Readonly<Partial<Record<ProgramAction["kind"], string>>> = {
  packet_reformat: "a dump does not have the headers that a reformat puts in front",
  modify_header: "a dump of this steering format does not have the header changes",
  dest_array: "a dump does not have the members of an array of destinations",
  dest_root_table: "a dump does not have the priority at which a root table is entered",
};

const NOWHERE = hex(0);
/** In `ibv_query_device`, of a device that is not there. */
const NO_FIRMWARE = "0.0.0";
const DEFAULT_NAME = "flowsteer0";
/** Each kind of objects has numbers of its own. */
const FIRST = { domain: 0x10, table: 0x1000, matcher: 0x10_0000, action: 0x1000_0000, rule: 0x2000_0000 } as const;

function idOf(kind: keyof typeof FIRST, at: number): string {
  return hex(FIRST[kind] + at);
}

class Writer {
  readonly #scenario: Scenario;
  readonly #program: Program;
  readonly #findings: ExportFindings;
  readonly #lines: string[] = [];
  readonly #rules: readonly number[][];

  constructor(scenario: Scenario, findings: ExportFindings) {
    this.#scenario = scenario;
    this.#findings = findings;
    this.#program = programOf(scenario, findings);
    this.#rules = this.#program.matchers.map(() => []);
    this.#program.rules.forEach(({ matcher }, n) => this.#rules[matcher]?.push(n));
  }

  text(): string {
    for (const { name } of this.#program.flows) {
      this.#findings.refuse("flows", "a dump has direct rules, not flows of the verbs", name);
    }
    for (const [at, type] of this.#program.domains.entries()) {
      const { name = DEFAULT_NAME, vports = 0, profile = "manual" } = this.#scenario.device ?? {};
      const settings = (this.#scenario.domains ?? []).find((one) => one.domain === type);
      writeDomainRecords(this.#write, {
        ...{ id: idOf("domain", at), type, vport: 0, deviceName: name, firmware: NO_FIRMWARE, vfs: vports },
        ...{ rootOnly: false, reclaims: settings?.reclaim === true },
        allowsDuplicates: settings?.duplicates !== false,
        steeringFormat: profileNamed(profile).steeringFormat,
      });
      this.#tables(at);
    }
    return this.#lines.join("");
  }

  readonly #write = (line: string): void => {
    this.#lines.push(line);
  };

  #tables(domain: number): void {
    const type = this.#program.domains[domain] ?? "nic_rx";
    for (const [at, { domain: of, level }] of this.#program.tables.entries()) {
      if (of !== domain) continue;
      const id = idOf("table", at);
      writeLine(this.#write, RECORD.table, id, idOf("domain", domain), TABLE_TYPES[type], level);
      if (level > 0 && type !== "nic_tx") writeLine(this.#write, RECORD.tableReceives, id, id);
      if (level > 0 && type !== "nic_rx") writeLine(this.#write, RECORD.tableSends, id, id);
      for (const matcher of this.#matchersOf(at, level === 0)) this.#matcher(matcher);
    }
  }

  /** In the order of lookups: among equal priorities the newer matcher first, in root tables the older one. */
  #matchersOf(table: number, isRoot: boolean): number[] {
    const { matchers } = this.#program;
    const own = [...matchers.keys()].filter((at) => matchers[at]?.table === table);
    const priority = (at: number): number => matchers[at]?.priority ?? 0;
    return (isRoot ? own : own.reverse()).sort((a, b) => priority(a) - priority(b));
  }

  #matcher(at: number): void {
    const matcher = this.#program.matchers[at] as ProgramMatcher;
    const id = idOf("matcher", at);
    writeLine(this.#write, RECORD.matcher, id, idOf("table", matcher.table), matcher.priority);
    writeLine(this.#write, RECORD.mask, id, ...groupsOf(matcher.mask, matcher));
    for (const rule of this.#rules[at] ?? []) this.#rule(rule, matcher, id);
  }

  #rule(at: number, matcher: ProgramMatcher, matcherId: string): void {
    const { name, value, actions } = this.#program.rules[at] as Program["rules"][number];
    const id = idOf("rule", at);
    writeLine(this.#write, RECORD.rule, id, matcherId);
    writeLine(this.#write, RECORD.ruleValue, id, ...groupsOf(value, matcher));
    for (const one of actions) {
      const action = this.#program.actions[one] as ProgramAction;
      const lacks =
        action.kind === "packet_reformat" && action.type === L2_TUNNEL_TO_L2 ? undefined : LACKS[action.kind];
      if (lacks !== undefined) this.#findings.refuse("rules", `${lacks}: ${action.comment}`, name);
      writeLine(this.#write, recordType(action), idOf("action", one), id, ...this.#columns(action, one));
    }
  }

  #columns(action: ProgramAction, at: number): string[] {
    const own = idOf("action", at);
    switch (action.kind) {
      case "drop":
      case "default_miss":
      case "pop_vlan":
        return [];
      case "tag":
        return [hex(action.tag)];
      case "dest_ibv_qp":
        return [hex(action.queue + 1)];
      case "dest_table":
        return [idOf("table", action.table), idOf("table", action.table)];
      case "dest_root_table":
        return [idOf("table", action.table)];
      case "flow_counter":
        return [hex(this.#firstNumber(action.counter) + action.offset)];
      case "dest_vport":
        return [hex(action.vport)];
      case "dest_ib_port":
        return [hex(VPORT_UPLINK)];
      case "push_vlan":
        return [hex(action.header)];
      case "packet_reformat":
        return action.type === L2_TUNNEL_TO_L2 ? [] : [own];
      case "modify_header":
        return [own, "0", ...Array<string>(3).fill(NOWHERE)];
      case "dest_array":
        return [own, NOWHERE, NOWHERE];
    }
  }

  /** Each counter of a bulk has a number. */
  #firstNumber(counter: number): number {
    const before = this.#program.counters.slice(0, counter);
    return 1 + before.reduce((sum, { bulkLog }) => sum + 2 ** bulkLog, 0);
  }
}

function recordType(action: ProgramAction): number {
  if (action.kind !== "packet_reformat") return ACTION_RECORDS[action.kind];
  return REFORMAT_RECORDS[action.type] as number;
}

function groupsOf({ bytes }: ProgramBytes, { criteria }: ProgramMatcher): string[] {
  const key = new Uint8Array(DEVICE_KEY_SIZE);
  key.set(bytes);
  return groupTexts(key, criteria);
}
