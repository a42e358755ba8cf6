/** Contexts of hardware steering as a scenario: their tables, and a rule for each chain of entries. */
import { VPORT_UPLINK } from "../../../../abi/engine.js";
import type { ScenarioRuleAction } from "../../../../scenario/action/definition.js";
import type { ScenarioTable } from "../../../../scenario/rule/definition.js";
import type { Draft } from "../../../reading/draft.js";
import type { Findings } from "../../../reading/findings.js";
import { counterName, actionsOf, destinationOf, type HardwareNames } from "./actions.js";
import { actionWordsOf, counterOf, definerOf, hitOf, refusedFormat, type HardwareEntry } from "./entry.js";
import { Reader } from "./match.js";
import type { HardwareContext, HardwareMatcher, HardwareTable, HardwareTree } from "./tree.js";

type Domain = NonNullable<ScenarioTable["domain"]>;

/** The domains of table types; the program for the kernel's eSwitch numbers it as the one for user space does. */
const DOMAINS: ReadonlyMap<number, Domain> = new Map([
  [0, "nic_rx"],
  [1, "nic_tx"],
  [2, "fdb"],
  [5, "fdb"],
]);
const ROOT = 0;
const LAST = 65535;
/** Entries of a chain: a device's rule has fewer. */
const MAX_ENTRIES = 64;
/** `ext.direction` of frames from the wire, and from functions. */
const DIRECTIONS = [1, 2];

type Side = 0 | 1;

/** A rule of the dump: what its entries ask and do, and the sides of the eSwitch that have it. */
interface Chain {
  readonly first: HardwareEntry;
  readonly actions: readonly ScenarioRuleAction[];
  readonly missing: readonly string[];
  readonly matches: ReturnType<Reader["read"]>;
  readonly sides: Set<Side>;
}

export class HardwareImport implements HardwareNames {
  readonly #names = new Map<string, string>();
  readonly #readers = new Map<string, Reader>();
  readonly #jumped = new Set<string>();
  #tables: readonly HardwareTable[] = [];

  constructor(
    private readonly draft: Draft,
    private readonly findings: Findings,
  ) {}

  add({ contexts, misplaced }: HardwareTree): void {
    for (const { record, reason } of misplaced) this.findings.refuse(record, record.text, reason);
    for (const context of contexts) this.#context(context);
  }

  table({ tables }: HardwareContext, number: number): string | undefined {
    const found = tables.find((one) => one.number === number && one.level !== ROOT);
    const name = found && this.#names.get(found.id);
    if (name !== undefined) this.#jumped.add(name);
    return name;
  }

  tir(id: string): string {
    const name = `tir ${id}`;
    return this.draft.once("tirs", { name, queue: this.draft.queue(name) });
  }

  #context(context: HardwareContext): void {
    this.#tables = context.tables.filter((table) => this.#addTable(table));
    this.#readers.clear();
    for (const table of this.#tables) {
      for (const matcher of table.matchers) this.#matcher(matcher);
      this.#miss(table);
    }
    for (const domain of new Set(this.#tables.map(domainOf))) {
      if (domain !== undefined) this.#enter(domain);
    }
  }

  /** @returns whether the scenario has it */
  #addTable(table: HardwareTable): boolean {
    const { record, level, id, type, matchers } = table;
    const domain = DOMAINS.get(type);
    if (level === ROOT) {
      for (const one of matchers)
        this.#refuse(one.record, "the rules of root tables are in the kernel, not in the dump");
      return false;
    }
    if (domain === undefined) {
      this.#refuse(record, `a table of type ${type}: imported are 0 (NIC RX), 1 (NIC TX), 2 and 5 (FDB)`);
      return false;
    }
    const plain = `${domain} level ${level}`;
    const name = this.draft.has("tables", plain) ? this.draft.freeName("tables", `${plain} ${id}`) : plain;
    this.#names.set(id, name);
    this.draft.push("tables", { name, description: id, domain, level });
    return true;
  }

  #matcher(matcher: HardwareMatcher): void {
    const { table, owners, record } = matcher;
    const { context } = table;
    if (!context.hasEntries) {
      this.#refuse(
        record,
        "the driver's dump does not have the rules of hardware steering; the public steering dump tool adds them (4930)",
      );
      return;
    }
    const isFdb = domainOf(table) === "fdb" && table.type === 2;
    const sides: readonly Side[] = isFdb ? [0, 1] : [0];
    const chains = new Map<string, Chain>();
    for (const side of sides) {
      for (const entry of context.entries.get(owners[side]) ?? []) this.#chain(entry, side, context, matcher, chains);
    }
    for (const chain of chains.values()) this.#rules(chain, matcher, isFdb);
  }

  /** Reads an entry and those after it. Both sides of an eSwitch have most rules. */
  #chain(
    first: HardwareEntry,
    side: Side,
    context: HardwareContext,
    { id, owners }: HardwareMatcher,
    chains: Map<string, Chain>,
  ): void {
    const { actions, missing, refusals } = this.#actionsOf(first, context, owners);
    const matches = this.#matchesOf(first, context);
    const asked = typeof matches === "string" ? matches : JSON.stringify(matches.map((one) => one.toScenario()));
    const key = `${asked} ${JSON.stringify(actions)} ${missing.join()}`;
    const known = chains.get(key);
    if (known !== undefined && !known.sides.has(side)) {
      known.sides.add(side);
      return;
    }
    for (const [text, reason] of refusals) this.#refuseRule(first, text, reason, ruleName(first, id));
    chains.set(known === undefined ? key : `${key} ${first.address}`, {
      first,
      actions,
      missing,
      matches,
      sides: new Set([side]),
    });
  }

  #matchesOf(entry: HardwareEntry, context: HardwareContext): Chain["matches"] {
    const refused = refusedFormat(entry);
    if (refused !== null) return refused;
    const number = definerOf(entry);
    const definer = context.definers.get(number);
    if (definer === undefined) return `its definer ${number} is not in the dump`;
    const key = `${context.record.line} ${number}`;
    let reader = this.#readers.get(key);
    if (reader === undefined) this.#readers.set(key, (reader = new Reader(context, definer)));
    return reader.read(entry);
  }

  #actionsOf(
    first: HardwareEntry,
    context: HardwareContext,
    owners: readonly string[],
  ): Pick<Chain, "actions" | "missing"> & { readonly refusals: readonly (readonly [string, string])[] } {
    const actions: ScenarioRuleAction[] = [];
    const refusals: [text: string, reason: string][] = [];
    const take = (text: string, action: ScenarioRuleAction | null | { readonly refused: string }): void => {
      if (action === null) return;
      if (typeof action === "object" && "refused" in action) refusals.push([text, action.refused]);
      else actions.push(action);
    };
    let entry = first;
    for (let n = 0; ; n++) {
      const counter = counterOf(entry);
      if (counter !== 0) actions.push({ count: counterName(counter) });
      for (const { text, action } of actionsOf(actionWordsOf(entry), context)) take(text, action);
      const hit = hitOf(entry);
      const next = context.byAddress.get(hit);
      if (next !== undefined && !owners.includes(next.owner) && n < MAX_ENTRIES) {
        entry = next;
        continue;
      }
      const at = `0x${hit.toString(16)}`;
      const to = context.destinations.get(hit);
      take(
        at,
        to === undefined
          ? { refused: "the dump does not say where this address leads" }
          : destinationOf(to, context, this),
      );
      break;
    }
    for (const one of actions) this.#use(one);
    return { actions: merged(actions), missing: refusals.map(([text, reason]) => `${text}: ${reason}`), refusals };
  }

  #rules(
    { first, matches, actions, missing, sides }: Chain,
    { id, table, priority }: HardwareMatcher,
    isFdb: boolean,
  ): void {
    const called = ruleName(first, id);
    this.draft.comesFrom(first.record, `entry ${hex(first.address)}`);
    if (typeof matches === "string") {
      this.#refuseRule(first, `entry ${hex(first.address)}`, matches, called);
      return;
    }
    for (const [n, match] of matches.entries()) {
      const [side] = sides;
      if (isFdb && sides.size === 1) match.ask("ext.direction", DIRECTIONS[side ?? 0] as number);
      const asked = match.toScenario();
      this.draft.push("rules", {
        name: this.draft.freeName("rules", n === 0 ? called : `${called} (${n + 1})`),
        table: this.#names.get(table.id) as string,
        priority: Math.min(priority, LAST - 1),
        ...(Object.keys(asked).length === 0 ? {} : { match: asked }),
        actions: [...actions],
        ...(missing.length === 0 ? {} : { notImported: [...missing] }),
      });
    }
  }

  /** Frames that match nothing go to another table, where the program has said so. */
  #miss({ id, miss, context }: HardwareTable): void {
    if (miss === null) return;
    const to = this.#names.get(miss);
    const table = this.#names.get(id) as string;
    if (to === undefined) {
      const of = context.tables.find((one) => one.id === id);
      if (of !== undefined)
        this.#refuse(of.record, `the table ${miss} of frames that match nothing is not in the dump`);
      return;
    }
    this.#jumped.add(to);
    this.draft.push("rules", { name: `${table}: no rule`, table, priority: LAST, actions: [{ table: to }] });
  }

  /** The rules of root tables are in the kernel: frames go to the first table that no rule leads to. */
  #enter(domain: Domain): void {
    const tables = this.#tables
      .filter((table) => domainOf(table) === domain && table.matchers.length > 0)
      .toSorted((a, b) => a.level - b.level);
    const first = tables.find(({ id }) => !this.#jumped.has(this.#names.get(id) ?? "")) ?? tables[0];
    const root = `${domain} root`;
    if (first === undefined || this.draft.has("tables", root)) return;
    const to = this.#names.get(first.id) as string;
    this.draft.push("tables", { name: root, domain, level: 0 });
    this.draft.push("rules", { name: `${root} to ${to}`, table: root, actions: [{ table: to }] });
    const { record } = first;
    const reason = `the rules of the root table are in the kernel, not in the dump: all frames go from "${root}" to "${to}"`;
    this.findings.assume(record, record.text, reason);
  }

  /** Notes what an action names, so that the scenario has it. */
  #use(action: ScenarioRuleAction): void {
    if (typeof action !== "object") return;
    if (typeof action.count === "string") this.draft.counter(action.count);
    if (typeof action.vport === "number" && action.vport !== VPORT_UPLINK) this.draft.endpoint({ vport: action.vport });
  }

  #refuse(record: HardwareMatcher["record"], reason: string): void {
    this.findings.refuse(record, record.text, reason);
  }

  #refuseRule({ record }: HardwareEntry, text: string, reason: string, rule: string): void {
    this.findings.refuse(record, text, reason, rule);
  }
}

const hex = (address: number): string => `0x${address.toString(16)}`;
const ruleName = ({ address }: HardwareEntry, matcher: string): string => `${hex(address)} of ${matcher}`;
const domainOf = ({ type }: HardwareTable): Domain | undefined => DOMAINS.get(type);

/** Changes one after the other are one action. */
function merged(actions: readonly ScenarioRuleAction[]): ScenarioRuleAction[] {
  const all: ScenarioRuleAction[] = [];
  for (const action of actions) {
    const before = all.at(-1);
    if (isModify(action) && isModify(before)) all[all.length - 1] = { modify: [...before.modify, ...action.modify] };
    else all.push(action);
  }
  return all;
}

type Modify = { modify: NonNullable<Extract<ScenarioRuleAction, object>["modify"]> };

function isModify(action: ScenarioRuleAction | undefined): action is Modify & ScenarioRuleAction {
  return typeof action === "object" && action.modify !== undefined;
}
