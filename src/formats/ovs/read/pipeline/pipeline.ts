/**
 * Flows as rules. A lookup of a table is a jump; what a flow does after a lookup goes along with it: a
 * table that is looked up with other things left to do is another table of the scenario. So are lists
 * of actions that one rule cannot execute in their order, and actions that depend on the frame.
 */
import { madeName } from "../../../../drivers/madeRules.js";
import type { Draft } from "../../../reading/draft.js";
import type { Findings } from "../../../reading/findings.js";
import { MatchDraft } from "../../../rules/matchDraft.js";
import { pushRule } from "../../../rules/planner.js";
import { NotImported } from "../../../text/refusal.js";
import { Nodes, type Node } from "../nodes.js";
import type { Places } from "../places.js";
import { endpointName, type Ports } from "../bridge/ports.js";
import { tableTitle } from "../bridge/scope.js";
import { act, type Act, type Flow } from "../steps.js";
import { Asks, isOpen, productOf, taggedBy } from "./asks.js";
import { entryOf, hostFrames } from "./entry.js";
import { Execution, type Ways } from "./execution.js";
import { Metering } from "./metering.js";
import { Outputs } from "./outputs.js";
import { Report } from "./report.js";
import {
  START_OF_TEXT,
  branchKey,
  knownIn,
  tableKey,
  type Branch,
  type Context,
  type Known,
  type Source,
} from "./state.js";

const END = act({ kind: "end" });
const PRIORITIES = 65535;
/** Tables that a text may make: one that looks its tables up in a circle makes more. */
const MAX_TABLES = 20_000;
/** Rules that a text may make: these, and some for each flow. */
const MAX_RULES = 30_000;
const MAX_RULES_OF_FLOW = 4;

export class Pipeline implements Ways {
  readonly #report: Report;
  readonly #asks: Asks;
  readonly #execution: Execution;
  readonly #nodes = new Nodes();
  readonly #tables = new Map<string, string>();
  readonly #reached = new Set<string>();
  readonly #work: (() => void)[] = [];
  readonly #made = new Set<Flow>();
  readonly #lists = new Map<Flow, Node | null>();
  readonly #maxRules: number;
  #rules = 0;
  #steps = 0;

  constructor(
    private readonly draft: Draft,
    findings: Findings,
    private readonly ports: Ports,
    places: Places,
    private readonly source: Source,
  ) {
    const flows = [...source.tables.values()].reduce((sum, list) => sum + list.length, 0);
    this.#maxRules = MAX_RULES + MAX_RULES_OF_FLOW * flows;
    this.#report = new Report(draft, findings);
    this.#asks = new Asks(draft, ports, places, source.options);
    const metering = new Metering(draft, source.meters, places, this.#report);
    const outputs = new Outputs(draft, ports, places, this.#report, source);
    this.#execution = new Execution(this, this.#nodes, ports, places, outputs, metering, this.#report);
  }

  get isFull(): boolean {
    return this.#tables.size > MAX_TABLES || this.#rules > this.#maxRules;
  }

  run(): void {
    const { tables } = this.source;
    const [[first] = [undefined]] = tables.values();
    if (first !== undefined) this.draft.neededFor(first.origin);
    const root = this.draft.root("fdb");
    const to = entryOf(this, this.draft, this.ports, this.#report, this.source, this.#asks);
    this.draft.push("rules", { name: this.#report.free(madeName(`to ${to}`)), table: root, actions: [{ table: to }] });
    this.#drain();
    for (const table of tables.keys()) {
      if (!this.#reached.has(table)) this.table(table, undefined, hostFrames(this.ports), null);
      this.#drain();
    }
    for (const flows of tables.values()) {
      for (const flow of flows) {
        if (this.#made.has(flow)) continue;
        const asksTunnel = Object.values(flow.match.tunnel).some(({ value }) => value !== 0n);
        if (asksTunnel)
          this.#report.tell(flow.place, flow.text, "the text does not have the tunnel port that its frames come by");
        else this.#report.assume(flow.place, flow.text, "no frame reaches it: left out");
      }
    }
  }

  #drain(): void {
    for (let job = this.#work.pop(); job !== undefined; job = this.#work.pop()) {
      job();
      if (this.#rules < 2 * this.#maxRules) continue;
      this.#report.tell(START_OF_TEXT, "", `its flows make more than ${this.#rules} rules: the others are left out`);
      this.#work.length = 0;
    }
  }

  /** A job whose objects come from the flow that leads to it, unless they are of another flow. */
  #later(job: () => void): void {
    const { origin } = this.draft;
    this.#work.push(() => {
      this.draft.origin = origin;
      job();
    });
  }

  /** The table of the scenario for a table of the bridge, looked up as from a port, with what is left to do. */
  table(table: string, as: string | undefined, ctx: Context, rest: Node | null): string {
    const key = tableKey(table, as, ctx, rest);
    const found = this.#tables.get(key);
    if (found !== undefined) return found;
    const name = this.draft.freeName("tables", this.#report.numbered(tableTitle(table)));
    this.#tables.set(key, name);
    this.#reached.add(table);
    this.draft.push("tables", { name, domain: "fdb", level: 1 });
    this.#later(() => {
      const flows = this.source.tables.get(table) ?? [];
      const catches = flows.some(({ priority, match }) => priority === 0 && isOpen(match));
      const { origin } = this.draft;
      for (const flow of flows) this.#flow(flow, name, as, ctx, rest);
      this.draft.neededFor(origin);
      // Of rules of one priority the first one wins: this one is the last.
      if (!catches)
        this.#rule(name, madeName(`${name}: no flow`), PRIORITIES, new MatchDraft(), rest, ctx, knownIn(ctx));
    });
    return name;
  }

  #flow(flow: Flow, table: string, as: string | undefined, ctx: Context, rest: Node | null): void {
    const { match, place } = flow;
    this.draft.origin = flow.origin;
    try {
      const level = ctx.wrapped === undefined ? "outer" : "inner";
      const seen = as ?? ctx.inPort;
      const from = match.inPort === undefined ? undefined : this.#asks.inPort(match.inPort, seen, ctx, flow);
      if (from === null) return;
      for (const either of productOf(flow)) {
        const draft = new MatchDraft();
        if (from !== undefined) this.#asks.port(draft, from);
        if (!this.#asks.tunnel(draft, flow, ctx)) return;
        for (const ask of [...match.asks, ...either]) this.#asks.field(draft, ask, level, place);
        if (draft.contradicts) continue;
        const known = {
          ...knownIn(ctx),
          from: from === undefined ? ctx.from : endpointName(from),
          tagged: taggedBy([...match.asks, ...either]),
        };
        const { acts } = flow;
        let node: Node | null;
        if (rest === null) {
          node = this.#lists.get(flow) ?? this.#nodes.list(acts);
          this.#lists.set(flow, node);
        } else node = this.#nodes.list([...acts, ...(hasDecrement(acts) ? [END] : [])], rest);
        this.#made.add(flow);
        this.#rule(table, flow.name, PRIORITIES - flow.priority, draft, node, ctx, known, flow);
      }
      if (!this.#made.has(flow)) this.#report.assume(place, flow.text, "no frame matches it: left out");
      this.#made.add(flow);
    } catch (error) {
      if (!(error instanceof NotImported)) throw error;
      this.#made.add(flow);
      this.#report.tell(error.word.place, flow.text, error.reason);
    }
  }

  /** Adds a rule that does what a list says. */
  #rule(
    table: string,
    name: string,
    priority: number,
    match: MatchDraft,
    node: Node | null,
    ctx: Context,
    known: Known,
    flow?: Flow,
  ): void {
    this.#rules++;
    const called = this.#report.free(name);
    const { actions, missing } = this.#execution.actions(node, ctx, known, called, flow);
    pushRule(this.draft, {
      name: called,
      table,
      priority,
      match: match.toScenario(),
      actions,
      notImported: missing,
    });
  }

  /** A table whose rules go on with lists of acts, the first that matches. */
  branches(branches: readonly Branch[]): string {
    const key = branches.map(branchKey).join("&");
    const found = this.#tables.get(`then ${key}`);
    if (found !== undefined) return found;
    const name = this.draft.freeName("tables", `step ${++this.#steps}`);
    this.#tables.set(`then ${key}`, name);
    this.draft.push("tables", { name, domain: "fdb", level: 1 });
    // Flows that go on alike share the table: its rules are none of them.
    this.#later(() =>
      this.draft.whileNeeded(() => {
        for (const [n, { asks, node, ctx, known, label }] of branches.entries()) {
          const match = new MatchDraft();
          for (const { field, value, mask } of asks) match.ask(field, value, mask);
          this.#rule(name, madeName(label === "" ? name : `${name}: ${label}`), n, match, node, ctx, known);
        }
      }),
    );
    return name;
  }
}

function hasDecrement(acts: readonly Act[]): boolean {
  return acts.some(({ kind }) => kind === "dec_ttl");
}
