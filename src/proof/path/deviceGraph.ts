/** The graph of the tables of a device, read from the copy that its tracer made. */
import { inCall } from "../../errors.js";
import { Op, VPORT_MANAGER } from "../../abi/engine.js";
import { IBV_QPS_RTS, IBV_QPT_RAW_PACKET } from "../../abi/verbs.js";
import type { Tracer } from "../../explain/trace/tracer.js";
import { RuleReader, type RuleNode } from "../../explain/why/rules.js";
import type { Device } from "../../model/device/device.js";
import { someOperation } from "../../model/action/operations.js";
import { QueuePair } from "../../model/queuePair/queuePair.js";
import { TablePipeline } from "../../model/table/pipeline.js";
import type { Edge, Entry, Graph } from "./graph.js";
import { TableRules } from "./tableRules.js";
import { Ways } from "./ways.js";

const GRAPHS = new WeakMap<Tracer, { readonly copy: number; readonly graph: Graph }>();

/**
 * The graph of a device as it is now. It is read when it is asked for, and valid until the device changes.
 * @throws ENOMEM when there is no memory for a copy of the device
 * @example
 *     const graph = graphOf(await openTracer(device));
 *     for (const { table } of graph.entries) console.log(graph.rulesOf(table).count);
 */
export function graphOf(tracer: Tracer): Graph {
  return inCall("graphOf", () => {
    tracer.refresh();
    const copy = tracer.traced.copies;
    let known = GRAPHS.get(tracer);
    if (known?.copy !== copy) GRAPHS.set(tracer, (known = { copy, graph: new DeviceGraph(tracer) }));
    return known.graph;
  });
}

class DeviceGraph implements Graph {
  readonly entries: readonly Entry[];
  readonly tables: readonly number[];
  readonly #tracer: Tracer;
  readonly #reader: RuleReader;
  readonly #ways: Ways;
  readonly #rules = new Map<number, TableRules>();
  readonly #from = new Map<number, readonly Edge[]>();
  #to: Map<number, Edge[]> | null = null;
  #hasLoops: boolean | null = null;

  constructor(tracer: Tracer) {
    const { device, traced } = tracer;
    this.#tracer = tracer;
    this.#reader = new RuleReader(tracer);
    this.#ways = new Ways(device, traced);
    this.entries = entriesOf(device, (table) => traced.tableAt(table));
    const { core } = traced;
    const words = core.functions >> 2;
    const first = core.u32.subarray(words, words + 1 + device.vports);
    this.tables = [...new Set([...device.tables.keys(), ...this.entries.map(({ table }) => table), ...first])];
  }

  rulesOf(table: number): TableRules {
    let rules = this.#rules.get(table);
    if (rules === undefined) this.#rules.set(table, (rules = new TableRules(this.#reader, table)));
    return rules;
  }

  edgesFrom(table: number): readonly Edge[] {
    let edges = this.#from.get(table);
    if (edges === undefined) this.#from.set(table, (edges = this.#readEdges(table)));
    return edges;
  }

  #readEdges(table: number): Edge[] {
    const { traced } = this.#tracer;
    const edges = this.#reader.rulesOf(table).flatMap((rule) => this.#ways.ofRule(rule, traced.actionsOf(rule.stored)));
    return [...edges, ...this.#ways.ofMisses(table)];
  }

  edgesTo(table: number): readonly Edge[] {
    if (this.#to === null) {
      this.#to = new Map();
      for (const edge of this.tables.flatMap((from) => this.edgesFrom(from))) {
        const known = this.#to.get(edge.to);
        if (known === undefined) this.#to.set(edge.to, [edge]);
        else known.push(edge);
      }
    }
    return this.#to.get(table) ?? [];
  }

  goesOn(rule: RuleNode): boolean {
    return this.#ops(rule).includes(Op.resume);
  }

  mayBePassedOver({ stored }: RuleNode, sender: QueuePair | null): boolean {
    const actions = this.#tracer.traced.actionsOf(stored);
    // A rule that names no queue applies to all senders, one that names queues to all others.
    return someOperation(
      actions,
      ({ exceptSender }, queue) => exceptSender === true && queue !== 0 && (sender?.handle ?? queue) === queue,
    );
  }

  isPassedOver(rule: RuleNode, sender: QueuePair): boolean {
    const { unicast, multicast } = sender.selfLoopback;
    if (unicast || multicast || !this.mayBePassedOver(rule, sender)) return false;
    return !someOperation(this.#tracer.traced.actionsOf(rule.stored), ({ operand, exceptSender }, queue) =>
      exceptSender === true ? queue !== sender.handle : operand === "queue" || operand === "rss",
    );
  }

  get hasLoops(): boolean {
    this.#hasLoops ??= this.tables.some((from) => this.edgesFrom(from).some(({ move }) => move === "loop"));
    return this.#hasLoops;
  }

  #ops({ stored }: RuleNode): number[] {
    return this.#tracer.traced.actionsOf(stored).filter((_, i) => i % 2 === 0);
  }
}

/** Ports, then the queue pairs that can send. */
function entriesOf(device: Device, tableAt: (table: number) => number): Entry[] {
  const { switched, received } = device.function(VPORT_MANAGER).part(TablePipeline);
  const table = tableAt(switched || received);
  const ports = Array.from({ length: device.ports }, (_, n): Entry => {
    return { source: { kind: "wire", port: n + 1 }, table, queue: null, transport: false };
  });
  const queues = [...device.queues.values()].filter((queue) => queue instanceof QueuePair);
  return [...ports, ...queues.filter(canSend).map((queue) => sentBy(queue, tableAt))];
}

function canSend({ isSink, state }: QueuePair): boolean {
  return isSink || state === IBV_QPS_RTS;
}

function sentBy(queue: QueuePair, tableAt: (table: number) => number): Entry {
  const { context, label, qp_type, attributes } = queue;
  const { vport } = context.function;
  const { sent, sentByTransports } = context.function.part(TablePipeline);
  const transport = qp_type !== IBV_QPT_RAW_PACKET;
  const source = { kind: "queue", queue: label, vport, port: attributes.port_num } as const;
  return { source, table: tableAt(transport ? sentByTransports : sent), queue, transport };
}
