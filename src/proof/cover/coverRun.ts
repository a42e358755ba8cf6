/** Covers a device: a witness or a proof for each of its rules and tables. */
import type { LookupRecord } from "../../explain/trace/steps.js";
import type { RuleRef } from "../../explain/trace/trace.js";
import { functionText, listText, ruleText, tableText } from "../../explain/why/reasons/describe.js";
import type { RuleNode } from "../../explain/why/rules.js";
import { TablePipeline } from "../../model/table/pipeline.js";
import type { Coverage, Proof, RuleCoverage, TableCoverage, UnreachedCause } from "../answer.js";
import type { Edge } from "../path/graph.js";
import type { Prepared } from "../path/preparations.js";
import { listedHits, Search, type FindOptions, type Found, type Goal } from "../path/search.js";
import { witnessOf } from "../path/witness.js";
import type { World } from "../path/world.js";
import { exclusionOf } from "./exclusion.js";
import { Prover } from "./proofs.js";

/** Rules that lead to a table, of which all are judged for the cause why none reaches it. */
const MAX_LEADING = 8;

interface KnownFrame {
  readonly last: Prepared;
  readonly before: readonly Prepared[];
}

export class CoverRun {
  readonly world: World;
  readonly #search: Search;
  readonly #prover: Prover;
  /** A frame for each rule, by its address, and for each table. */
  readonly #hit = new Map<number, KnownFrame>();
  readonly #reached = new Map<number, KnownFrame>();
  readonly #dead = new Set<number>();
  readonly #covered = new Map<number, Coverage>();
  /** Tables whose leading rules are being judged: tables may lead to each other. */
  readonly #asked = new Set<number>();

  constructor(world: World) {
    this.world = world;
    this.#search = new Search(world);
    this.#prover = new Prover(world);
  }

  /** Tables, each after those that frames pass before it, as far as there is such an order. */
  tables(): number[] {
    const { graph } = this.world;
    const order = new Set(graph.entries.map(({ table }) => table));
    for (const table of order) for (const { to } of graph.edgesFrom(table)) order.add(to);
    for (const table of graph.tables) order.add(table);
    // Functions without rules share tables that nobody made.
    return [...order].filter((table) => this.world.tracer.device.tables.has(table));
  }

  /** The coverage of an object, which can be several rules of the core. */
  rule(nodes: readonly RuleNode[]): RuleCoverage {
    const { rules } = this.world;
    const [first] = nodes as [RuleNode];
    return { rule: rules.refOf(first), table: rules.tableRefOf(first.table), coverage: this.best(nodes) };
  }

  /** A witness if there is one; "none" if all are refuted. */
  best(nodes: readonly RuleNode[]): Coverage {
    let best: Coverage | null = null;
    for (const node of nodes) {
      const coverage = this.coverageOf(node);
      if (coverage.status === "witness") return coverage;
      if (best === null || coverage.status === "unknown") best = coverage;
    }
    return best ?? { status: "unknown", tried: "nothing: the rule is not in the core" };
  }

  coverageOf(rule: RuleNode): Coverage {
    const { address } = rule.stored;
    let coverage = this.#covered.get(address);
    if (coverage === undefined) this.#covered.set(address, (coverage = this.#cover(rule)));
    return coverage;
  }

  #cover(rule: RuleNode): Coverage {
    const { address } = rule.stored;
    const known = this.#hit.get(address);
    if (known !== undefined) return witnessed(known);
    const leads = this.world.graph.edgesTo(rule.table).length > 0;
    const early = leads ? this.#prover.atTable(rule) : null;
    const coverage =
      early === null
        ? this.#judge(this.find({ table: rule.table, rule }), rule)
        : { status: "none" as const, proof: early };
    if (coverage.status === "none") this.#dead.add(address);
    return coverage;
  }

  #judge(found: Found, rule: RuleNode): Coverage {
    if (found.kind === "frame") return witnessed(found);
    if (found.kind === "unknown") return { status: "unknown", tried: found.tried };
    // A search knows the sender of each frame: those that pass over the rules before it pass over this one, too.
    const proof =
      this.#prover.atTable(rule, { whole: true }) ??
      (this.world.graph.hasLoops ? this.#prover.atTable(rule, { whole: true, looped: false }) : null);
    return { status: "none", proof: proof ?? this.#unreached(rule.table, rule) };
  }

  /** Looks for a frame that comes to a goal. */
  find(goal: Goal, options: FindOptions = {}): Found {
    const found = this.#search.find(goal, { isDead: (rule) => this.#dead.has(rule.stored.address), ...options });
    if (found.kind === "frame") this.#note(found, found.lookups);
    return found;
  }

  /** A frame that was found shows every rule and table on its way. */
  #note({ last, before }: KnownFrame, lookups: readonly LookupRecord[]): void {
    for (const { table } of lookups) if (!this.#reached.has(table)) this.#reached.set(table, { last, before });
    for (const { rule } of listedHits(lookups)) if (!this.#hit.has(rule)) this.#hit.set(rule, { last, before });
  }

  /** @param rule whose match the frames may be excluded by; left out for any frame */
  #unreached(table: number, rule?: RuleNode): Proof {
    const { graph, rules } = this.world;
    const ref = rules.tableRefOf(table);
    const edges = graph.edgesTo(table);
    const text = tableText(ref);
    const isEntry = graph.entries.some((entry) => entry.table === table);
    const unreached = (cause: UnreachedCause, sentence: string): Proof => ({
      kind: "unreached",
      sentence,
      table: ref,
      cause,
    });
    if (edges.length === 0 && !isEntry) {
      if (!this.#isSent(table)) return unreached("no rule leads there", `no rule leads to ${text}`);
      const sentence = `no queue pair of ${functionText(ref.vport)} can send, and NIC_TX gets nothing else`;
      return unreached("no queue sends", sentence);
    }
    const nodes = new Map(edges.flatMap(({ rule }) => (rule === null ? [] : [[rule.stored.id, rule] as const])));
    const leading = [...nodes.values()].map((rule) => rules.refOf(rule));
    const cause = isEntry ? null : this.#deadLead(table, edges);
    if (cause !== null) {
      const [lead, is] = leading.length === 1 ? ["leads", "is"] : ["lead", "are"];
      const sentence = `${listText(leading.map(ruleText))} ${lead} to ${text}, and ${is} never hit: ${cause.sentence}`;
      return unreached("leading rules are never hit", sentence);
    }
    const from = leading.length === 0 ? "" : `, from ${listText(leading.map(ruleText))},`;
    const why = rule === undefined ? null : exclusionOf(this.world, rule);
    if (rule !== undefined && why === null) {
      const covered = this.#coveredThere(rule);
      if (covered !== null) return covered;
    }
    const cannot = why?.text ?? "do not hit it: they do not match it, or rules before it take them";
    const isReached = rule === undefined || why !== null || this.table(table).coverage.status !== "none";
    return {
      kind: "cannot match",
      sentence: isReached ? `the frames that reach ${text}${from} ${cannot}` : `no frame takes a path to ${text}`,
      table: ref,
      leading,
      terms: why?.terms ?? [],
      held: why?.held ?? [],
    };
  }

  /** Which rules before a rule take all of its frames that reach its table; null where that is not known. */
  #coveredThere(rule: RuleNode): Proof | null {
    const { origins, rules } = this.world;
    const proofs = origins
      .statesAt(rule.table)
      .map((reaching) => this.#prover.atTable(rule, { whole: true, reaching }));
    const by = new Map<number, RuleRef>();
    for (const proof of proofs) {
      if (proof?.kind !== "covered") return null;
      for (const one of proof.by) by.set(one.id, one);
    }
    if (by.size === 0) return null;
    const all = [...by.values()].sort((a, b) => a.id - b.id);
    const take = all.length === 1 ? "takes" : "take";
    const sentence = `${listText(all.map(ruleText))} ${take} all its frames that reach ${tableText(rules.tableRefOf(rule.table))}`;
    return { kind: "covered", sentence, by: all };
  }

  /** Why the first of the rules that lead to a table is never hit, where all of them are; null where that is not known. */
  #deadLead(table: number, edges: readonly Edge[]): Proof | null {
    if (edges.length > MAX_LEADING || this.#asked.has(table)) return null;
    this.#asked.add(table);
    const proofs = edges.map(({ rule }) => {
      const coverage = rule === null ? null : this.coverageOf(rule);
      return coverage?.status === "none" ? coverage.proof : null;
    });
    this.#asked.delete(table);
    return proofs.includes(null) ? null : (proofs[0] ?? null);
  }

  /** Whether a table is the first one of frames that queues send. */
  #isSent(table: number): boolean {
    const { device, traced } = this.world.tracer;
    return Array.from({ length: device.vports + 1 }, (_, vport) => device.function(vport).part(TablePipeline)).some(
      ({ sent, sentByTransports }) => [sent, sentByTransports].some((one) => traced.tableAt(one) === table),
    );
  }

  /** Whether frames come to a table. */
  table(table: number): TableCoverage {
    const ref = this.world.rules.tableRefOf(table);
    const known = this.#reached.get(table);
    if (known !== undefined) return { table: ref, coverage: witnessed(known) };
    const found = this.find({ table, rule: undefined });
    if (found.kind === "frame") return { table: ref, coverage: witnessed(found) };
    if (found.kind === "unknown") return { table: ref, coverage: { status: "unknown", tried: found.tried } };
    const proof = this.#unreached(table);
    const sentence = proof.kind === "cannot match" ? "no frame takes a path that leads there" : proof.sentence;
    return { table: ref, coverage: { status: "none", proof: { ...proof, sentence } } };
  }
}

function witnessed(found: KnownFrame): Coverage {
  return { status: "witness", witness: witnessOf(found) };
}
