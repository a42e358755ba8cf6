/** What detectors look at: a device, the rules of the core with their names, and where they lead. */
import { EXT_DIRECTION } from "../../abi/key.js";
import type { CoreSource } from "../../engine/load.js";
import type { RuleContent } from "../../engine/tracedCore.js";
import { openTracer, type TracedWalk, type Tracer } from "../../explain/trace/tracer.js";
import { LinkMap, linksOf, type Link } from "../../explain/why/links.js";
import { RuleReader, type RuleNode } from "../../explain/why/rules.js";
import type { Device } from "../../model/device/device.js";
import { FlowEntry } from "../../model/flow/entry.js";
import { Flow } from "../../model/flow/flow.js";
import { Table } from "../../model/table/domain.js";
import { Matcher } from "../../model/table/matcher.js";
import { isDevxFlowTable } from "../../model/devx/kinds.js";
import { TablePipeline, type StageName } from "../../model/table/pipeline.js";
import { Rule } from "../../model/rule/rule.js";
import type { FindingObject } from "../answer.js";
import { CoverRun } from "../cover/coverRun.js";
import { Overlaps } from "../path/overlaps.js";
import type { Prepared } from "../path/preparations.js";
import { World } from "../path/world.js";
import type { Found } from "./found.js";
import { called, installedObject } from "./objects.js";

export class LintContext {
  readonly device: Device;
  readonly tracer: Tracer;
  readonly rules: RuleReader;
  readonly links: LinkMap;
  /** Witnesses and proofs. */
  readonly cover: CoverRun;
  /** Queues that send frames, and so have a use without rules. */
  readonly senders: ReadonlySet<object>;
  /**
   * `searches` in a table that find no frame, `searchesPerRule` where that is more for all of its rules; `comparisons` of
   * two rules by the solver, for all tables. None depends on time: every run has the same findings.
   */
  limits = { searches: 20_000, searchesPerRule: 2, comparisons: 20_000 };
  /** What detectors have left open, one finding for each table and detector. */
  readonly undecided: Found[] = [];
  #reached: ReadonlySet<number> | undefined;
  #overlaps: readonly [table: number, overlaps: Overlaps] | undefined;

  private constructor(device: Device, tracer: Tracer, senders: ReadonlySet<object>) {
    this.device = device;
    this.senders = senders;
    this.tracer = tracer;
    this.rules = new RuleReader(tracer);
    this.links = new LinkMap(this.rules);
    this.cover = new CoverRun(new World(tracer));
  }

  /** @throws SteeringError ENOMEM: the device leaves no room for a copy */
  static async open(device: Device, senders: ReadonlySet<object>, core: CoreSource | undefined): Promise<LintContext> {
    const tracer = await openTracer(device, { core });
    tracer.refresh();
    return new LintContext(device, tracer, senders);
  }

  /** The addresses of all tables. */
  get tables(): Iterable<number> {
    return this.device.tables.keys();
  }

  /** The direct rules that are not destroyed. */
  *directRules(): Iterable<Rule> {
    for (const one of this.device.installed) if (one instanceof Rule && !one.destroyed) yield one;
  }

  /** The direct rules of the core with their matches; a rule of the FDB may have one for each direction. */
  *directMatches(): Iterable<{ readonly rule: Rule; readonly node: RuleNode } & RuleContent> {
    for (const table of this.tables) {
      for (const node of this.rules.rulesOf(table)) {
        const { object } = node;
        if (object instanceof Rule && object.handle === node.stored.address) {
          const content = this.rules.contentOf(node);
          const mask = content.mask.slice();
          // A rule with a record for each direction has the direction in its match.
          if (object.secondHandle !== 0) mask[EXT_DIRECTION] = 0;
          yield { rule: object, node, ...content, mask };
        }
      }
    }
  }

  /** The flows of the verbs and of mlx5dv_create_flow. */
  flows(): ReadonlySet<Flow> {
    const flows = new Set<Flow>();
    for (const one of this.device.installed) {
      if (one instanceof FlowEntry) for (const flow of one.flows) if (flow instanceof Flow) flows.add(flow);
    }
    return flows;
  }

  matchers(): ReadonlySet<Matcher> {
    const matchers = new Set<Matcher>();
    for (const { object, stage, vport } of this.device.tables.values()) {
      const classifier =
        object instanceof Table
          ? object.classifier
          : stage === null
            ? null
            : this.device
                .function(vport)
                .part(TablePipeline)
                .contentsOf(stage as StageName).classifier;
      for (const place of classifier?.places ?? []) if (place instanceof Matcher) matchers.add(place);
    }
    return matchers;
  }

  objectOf({ object }: RuleNode): FindingObject {
    return installedObject(object);
  }

  /** A table; the root tables of functions have no object of their own. */
  tableObject(table: number): FindingObject {
    const { object } = this.device.tables.get(table) ?? {};
    if (isDevxFlowTable(object)) return { kind: "flow table", name: object.name };
    return { kind: "table", name: this.rules.tableRefOf(table).table };
  }

  /** Of the table that was asked for last: the bitmaps of a large table take megabytes. */
  overlapsOf(table: number): Overlaps {
    if (this.#overlaps?.[0] !== table) this.#overlaps = [table, new Overlaps(this.cover.world.graph.rulesOf(table))];
    return this.#overlaps[1];
  }

  /** Notes what a detector does not decide. @param what a sentence about rules of the table */
  notDecided(table: number, what: string): void {
    const object = this.tableObject(table);
    this.undecided.push({ objects: [object], sentence: `${called(object)}: ${what}` });
  }

  /** The way of a frame that a search has found. */
  walk({ frame, entry, metadata }: Prepared): TracedWalk {
    const { device, tracer } = this;
    const time = device.now();
    if (entry.queue === null || entry.source.kind === "wire") return tracer.walk(entry.source.port, frame, { time });
    return tracer.walkSent(entry.queue, frame, { time, metadata });
  }

  /** Where a rule of the core leads. */
  linksOf({ stored }: RuleNode): Link[] {
    const { traced } = this.tracer;
    return linksOf(traced.core, traced.actionsOf(stored));
  }

  /** The tables that root tables lead to, themselves included, whatever the rules on the way match. */
  reachedTables(): ReadonlySet<number> {
    return (this.#reached ??= this.#reach());
  }

  #reach(): Set<number> {
    const { device } = this;
    const reached = new Set<number>();
    const pending = [...device.tables].filter(([, { stage }]) => stage !== null).map(([table]) => table);
    for (let table = pending.pop(); table !== undefined; table = pending.pop()) {
      if (reached.has(table)) continue;
      reached.add(table);
      for (const rule of this.rules.rulesOf(table)) {
        for (const { kind, to } of this.linksOf(rule)) if (kind === "table") pending.push(to);
      }
      const { object } = device.tables.get(table) ?? {};
      const next = missTableOf(object);
      if (next !== null) pending.push(next);
    }
    return reached;
  }
}

/** The table of frames that no entry of a flow table takes; null for another table. */
function missTableOf(object: object | null | undefined): number | null {
  return isDevxFlowTable(object) ? (object.setting.missTable?.classifier.table ?? null) : null;
}
