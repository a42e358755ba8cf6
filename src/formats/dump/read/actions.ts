/** The actions of a dumped rule, as those of scenarios. */
import { VPORT_UPLINK } from "../../../abi/engine.js";
import type { ScenarioHeaderChangeObject } from "../../../scenario/action/changes.js";
import type { ScenarioRuleAction } from "../../../scenario/action/definition.js";
import { codesOf } from "../../../model/dump/headerChanges.js";
import { isEndpoint, NO_ENDPOINT } from "../../reading/draft.js";
import type { Element } from "../../reading/format.js";
import { actionWords, nextTable } from "./entryActions.js";
import { changesOf } from "./modify.js";
import { numberIn } from "./records.js";
import type { DumpDomain, DumpRule, DumpTable } from "./tree.js";

/** What actions refer to: names of objects that the scenario gets for them. */
export interface ActionNames {
  table(table: DumpTable): string;
  /** Queues, TIRs and counters are of the function whose domain names them. */
  queue(number: string, domain: DumpDomain): string;
  tir(address: string, domain: DumpDomain): string;
  counter(number: string, domain: DumpDomain): string;
}

type DumpAction = DumpRule["actions"][number];

/** The action, or why it is not imported. */
export type ImportedAction = ScenarioRuleAction | { readonly refused: string };

const refused = (reason: string): ImportedAction => ({ refused: reason });

/** The largest tag: 24 bits. */
const MAX_TAG = 0xffffff;

function tagOf(tag: number): ImportedAction {
  return tag >= 0 && tag <= MAX_TAG ? { tag } : refused("the tag of a frame has 24 bits");
}

function vportOf(vport: number): ImportedAction {
  if (vport === VPORT_UPLINK) return { vport: "uplink" };
  return isEndpoint({ vport }) ? { vport } : refused(NO_ENDPOINT);
}

/** Imports an action of a rule. */
export function actionOf(rule: DumpRule, action: DumpAction, names: ActionNames): ImportedAction {
  const [first = ""] = action.columns;
  const { domain } = rule.matcher.table;
  switch (action.record.type) {
    case 3402:
      return modified(rule, action);
    case 3403:
      return "drop";
    case 3404:
      return { queue: names.queue(first, domain) };
    case 3405:
      return jump(rule, action, names);
    case 3406:
      return { count: names.counter(first, domain) };
    case 3407:
      return tagOf(numberIn(first) ?? 0);
    case 3408:
      return vportOf(numberIn(first) ?? 0);
    case 3409:
      return { reformat: { type: "l2_tunnel_to_l2" } };
    case 3411:
      return { tir: names.tir(first, domain) };
    case 3412:
      return { push_vlan: vlanTag(numberIn(first) ?? 0) };
    case 3413:
      return "pop_vlan";
    case 3423:
      return "default_miss";
    default:
      return refused(MISSING.get(action.record.type)?.reason ?? "unknown action type");
  }
}

const HEADERS = "a dump does not contain the headers that an encapsulation adds";
const RATES = "a dump does not contain the rates of a meter";

/** What a dump does not contain of actions. */
const MISSING: ReadonlyMap<number, { readonly name: string; readonly reason: string }> = new Map([
  [3400, { name: "L2 encapsulation", reason: HEADERS }],
  [3401, { name: "L3 encapsulation", reason: HEADERS }],
  [
    3410,
    {
      name: "L3 decapsulation",
      reason: "a dump does not contain the Ethernet header that an L3 decapsulation puts in front",
    },
  ],
  [3414, { name: "meter", reason: RATES }],
  [3415, { name: "sampler", reason: "a dump does not contain the ratio of a sampler, nor what is done with samples" }],
  [3416, { name: "array", reason: "a dump does not contain the members of an array of destinations" }],
  [3417, { name: "first hit", reason: "a dump does not contain the state of a first-hit object" }],
  [3418, { name: "ASO meter", reason: RATES }],
  [3419, { name: "connection", reason: "a dump does not contain the state of a connection" }],
  [3424, { name: "root table", reason: "the rules of the root table are in the kernel, not in the dump" }],
]);

const BECOMES: Readonly<Record<string, string>> = {
  "3402 header changes":
    "changes, where the dump has them: steering formats 1 and 2 with patterns (driver 46 and later), format 1 with a single change; else refused",
  "3403 drop": "drop",
  "3404 queue": "a queue with the number of the device",
  "3405 jump": "a jump to the table; before driver 30 found by the address in the entry",
  "3406 counter": "a counter with the number of the device",
  "3407 tag": "a tag",
  "3408 vport": "the vport, or the uplink",
  "3409 decapsulation": "`l2_tunnel_to_l2`",
  "3411 TIR": "a TIR with one queue",
  "3412, 3413 VLAN": "push and pop",
  "3423 default miss": "default miss",
};

/** The actions on the page of the format. */
export const ACTION_ELEMENTS: Readonly<Record<string, Element>> = {
  ...Object.fromEntries(Object.entries(BECOMES).map(([name, becomes]) => [name, { becomes }])),
  ...Object.fromEntries([...MISSING].map(([type, { name, reason }]) => [`${type} ${name}`, { refused: reason }])),
};

function vlanTag(header: number): NonNullable<Extract<ScenarioRuleAction, { push_vlan?: unknown }>["push_vlan"]> {
  const tpid = Math.floor(header / 0x10000);
  return {
    ...(tpid === 0x88a8 ? { tpid: "0x88a8" as const } : {}),
    pcp: (header >>> 13) & 7,
    dei: ((header >>> 12) & 1) === 1,
    vid: header & 0xfff,
  };
}

const ROOT_RECORD = "a rule jumps to the root table by a record of its own (3424)";

/** The table of the column; before driver 30 of the address in the last entry. */
function jump({ matcher, entries }: DumpRule, { columns }: DumpAction, names: ActionNames): ImportedAction {
  const { domain } = matcher.table;
  const [, id] = columns;
  const last = entries.at(-1);
  const table =
    domain.tables.find((one) => one.id === id) ??
    (last && domain.tables.find(({ starts }) => starts.includes(nextTable(last))));
  if (table === undefined) return refused("the table that it jumps to is not in the dump");
  if (table.level === 0) {
    const known = table.matchers.length > 0;
    return refused(known ? ROOT_RECORD : "the rules of the root table are in the kernel, not in the dump");
  }
  return { table: names.table(table) };
}

/**
 * The changes stand in the record (driver 46 and later, where the device has patterns), or in the
 * rule's entries if there is one alone.
 */
function modified(rule: DumpRule, { columns }: DumpAction): ImportedAction {
  const { format } = rule.matcher.table.domain;
  const [, inline, , , , ...words] = columns;
  const isFirst = isFormat1(rule.matcher.table.domain, rule);
  const codes = isFirst ? "first" : codesOf(format);
  if (codes === undefined)
    return refused(
      format === null || format === 0
        ? "a dump of a ConnectX-5 does not have the header changes"
        : `header changes of steering format ${format} are not known`,
    );
  const given = words.length > 0 ? words : inline === "1" && isFirst ? inlineWords(rule) : [];
  if (given.length === 0)
    return refused("the dump does not contain the header changes: the device keeps no patterns of them");
  const changes: readonly ScenarioHeaderChangeObject[] | string = changesOf(given, codes);
  if (typeof changes === "string") return refused(changes);
  return changes.length === 0 ? refused("it changes nothing") : { modify: [...changes] };
}

function isFormat1({ format }: DumpDomain, { entries }: DumpRule): boolean {
  return format === 1 || (format === null && entries[0]?.later === true);
}

const COPY = 5;
const ADD = 7;

/** The header change that stands in the entries of a rule. */
function inlineWords({ entries }: DumpRule): string[] {
  const side = entries[0]?.side;
  for (const entry of entries) {
    if (entry.side !== side) continue;
    const found = actionWords(entry).find(({ id }) => id >= COPY && id <= ADD);
    if (found !== undefined) return [found.hex];
  }
  return [];
}
