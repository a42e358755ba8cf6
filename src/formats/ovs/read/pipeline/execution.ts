/** Lists of acts as the actions of rules: what one rule cannot do in the order of the list goes to a table after it. */
import { NotImported } from "../../../text/refusal.js";
import { actsOf, asSet, intoSet, type Node, type Nodes } from "../nodes.js";
import type { Places } from "../places.js";
import type { Ports } from "../bridge/ports.js";
import { FlowSegment } from "../segment.js";
import { act, type Act, type Flow } from "../steps.js";
import { type Ask } from "../../fields.js";
import type { Metering } from "./metering.js";
import type { Outputs } from "./outputs.js";
import type { Report } from "./report.js";
import { START_OF_TEXT, type Branch, type Context, type Known } from "./state.js";

/** Tables that rules lead to. */
export interface Ways {
  /** The table of the scenario for a table of the bridge, looked up as from a port, with what is left to do. */
  table(table: string, as: string | undefined, ctx: Context, rest: Node | null): string;
  /** A table whose rules go on with lists of acts, the first that matches. */
  branches(branches: readonly Branch[]): string;
  /** Whether there are so many tables that the text must look them up in a circle. */
  readonly isFull: boolean;
}

export interface Made {
  readonly actions: ReturnType<FlowSegment["ending"]>;
  readonly missing: string[];
}
const ENDLESS = "the tables resubmit to each other endlessly";
/** Acts that may be left to do at a lookup: a text that looks its tables up in a circle makes more. */
const MAX_LEFT = 256;

export class Execution {
  constructor(
    private readonly ways: Ways,
    private readonly nodes: Nodes,
    private readonly ports: Ports,
    private readonly places: Places,
    private readonly outputs: Outputs,
    private readonly metering: Metering,
    private readonly report: Report,
  ) {}

  actions(list: Node | null, start: Context, knownFirst: Known, rule: string, flow?: Flow): Made {
    const segment = new FlowSegment();
    let ctx = start;
    let known = knownFirst;
    let node = list;
    const done = (table?: string): Made => ({ actions: segment.ending(table), missing: segment.missing });
    for (;;) {
      if (node === null) {
        const { set } = ctx;
        if (set === null) return done();
        ctx = { ...ctx, set: null };
        node = this.nodes.list(asSet(actsOf(set)));
        continue;
      }
      const one: Act = node.act;
      if (segment.isFull) return done(this.ways.branches([{ asks: [], node, ctx, known, label: "" }]));
      if (ctx.wrapped !== undefined && !KEEPS_HEADERS.has(one.kind)) {
        segment.decapsulate();
        ctx = { ...ctx, wrapped: undefined };
      }
      switch (one.kind) {
        case "end":
        case "conjunction":
          break;
        case "exit":
          return done();
        case "clear":
          ctx = { ...ctx, set: null };
          break;
        case "write":
          ctx = { ...ctx, set: this.nodes.list(intoSet(actsOf(ctx.set), one.acts)) };
          break;
        case "tunnel":
          ctx = { ...ctx, values: { ...ctx.values, ...one.values } };
          break;
        case "set_in_port":
          ctx = { ...ctx, inPort: this.ports.canonical(one.port) };
          break;
        case "refused": {
          this.report.lacks(segment, rule, one.place, one.text, one.reason);
          break;
        }
        case "change": {
          const changed = this.#change(one, segment, node, ctx, known, rule, flow);
          if (changed !== undefined) return done(changed);
          break;
        }
        case "push_vlan":
          if (!segment.push(one.tpid, one.vid, one.pcp)) return done(this.#step(node, ctx, known));
          known = { ...known, tagged: true };
          break;
        case "pop_vlan":
          if (!segment.pop()) return done(this.#step(node, ctx, known));
          known = { ...known, tagged: undefined };
          break;
        case "set_vlan": {
          const { vid, pcp } = one;
          if (known.tagged === undefined) return done(this.#byTag(node, ctx, known));
          node = this.nodes.one(known.tagged ? tagChange(vid, pcp) : pushOf(vid ?? 0, pcp ?? 0), node.next);
          continue;
        }
        case "dec_ttl":
          return done(this.#byTtl(node, one.type, ctx, known));
        case "decap":
          segment.decapsulate();
          break;
        case "tunnel_pop": {
          const popped = this.outputs.popped(one, ctx, segment, rule);
          if (popped === undefined) break;
          return done(this.ways.table("0", undefined, popped, null));
        }
        case "enter":
          return done(this.ways.table(one.table, undefined, this.outputs.entered(one.port, known), null));
        case "lookup": {
          if (node.length + (ctx.set?.length ?? 0) > MAX_LEFT || this.ways.isFull) {
            this.report.lacks(segment, rule, flow?.place ?? START_OF_TEXT, `resubmit(,${one.table})`, ENDLESS);
            break;
          }
          const as = one.inPort === undefined ? undefined : this.ports.canonical(one.inPort);
          const from = node.next === null || !goesBack(node.next) ? undefined : known.from;
          return done(this.ways.table(one.table, as, { ...ctx, from: from ?? ctx.from }, node.next));
        }
        case "meter": {
          if (!segment.isEmpty) return done(this.#step(node, ctx, known));
          const red = this.metering.add(one, segment, rule);
          if (red === undefined) break;
          return done(this.#byColour(red, node, ctx, known));
        }
        case "group":
        case "clones": {
          const lists = one.kind === "group" ? this.outputs.buckets(one, rule, segment) : one.lists;
          const isGroup = one.kind === "group";
          // A clone executes the actions that are written so far, at its end; a bucket does not.
          const set = isGroup ? null : ctx.set;
          const [only] = lists;
          const goesOn = node.next !== null || ctx.set !== null;
          if (
            set === null &&
            lists.length > 0 &&
            lists.every((acts) => acts.length === 1 && acts[0]?.kind === "output")
          ) {
            node = this.nodes.list(lists.flat(), node.next);
            continue;
          }
          if (lists.length === 1 && only !== undefined && !goesOn) {
            node = this.nodes.list(isGroup ? asSet(only) : only);
            continue;
          }
          for (const acts of lists) {
            const copy = this.nodes.list(isGroup ? asSet(acts) : acts);
            if (copy !== null || set !== null) segment.output({ table: this.#step(copy, { ...ctx, set }, known) });
          }
          break;
        }
        case "in_port":
        case "output": {
          const crossing = this.outputs.crossing(one, ctx);
          if (crossing !== undefined) {
            node = crossing === null ? node.next : this.nodes.one(crossing, node.next);
            continue;
          }
          const guard = this.outputs.guard(node, ctx, known);
          if (guard !== undefined) return done(this.ways.branches(guard));
          const member =
            one.kind === "output"
              ? this.outputs.to(one, ctx, known, segment, rule)
              : this.outputs.back(one, ctx, known, segment, rule);
          if (member !== undefined) segment.output(member);
          break;
        }
        case "encap":
          this.outputs.encap(one, segment, rule);
          break;
      }
      node = node.next;
    }
  }

  /** @returns the table that goes on with the change, if this rule cannot do it */
  #change(
    one: Extract<Act, { kind: "change" }>,
    segment: FlowSegment,
    node: Node,
    ctx: Context,
    known: Known,
    rule: string,
    flow?: Flow,
  ): string | undefined {
    for (const [n, change] of one.changes.entries()) {
      try {
        const place = flow?.place ?? START_OF_TEXT;
        const field = this.places.field(change.field, "outer", place);
        const source = change.kind === "copy" ? this.places.field(change.from, "outer", place) : undefined;
        if (segment.change(change, field, source)) continue;
      } catch (error) {
        if (!(error instanceof NotImported)) throw error;
        this.report.lacks(segment, rule, error.word.place, change.field, error.reason);
        continue;
      }
      const left = n === 0 ? node : this.nodes.one(act({ kind: "change", changes: one.changes.slice(n) }), node.next);
      return this.#step(left, ctx, known);
    }
    return undefined;
  }

  #byTag(node: Node, ctx: Context, known: Known): string {
    const branch = (tagged: boolean, asks: readonly Ask[], label: string): Branch => ({
      asks,
      node,
      ctx,
      known: { ...known, tagged },
      label,
    });
    return this.ways.branches([
      branch(true, [{ field: "outer.first_vid", value: 0n, mask: 0n }], "with a tag"),
      branch(false, [], "without a tag"),
    ]);
  }

  #byTtl(node: Node, type: number | undefined, ctx: Context, known: Known): string {
    let end = node.next;
    while (end !== null && end.act.kind !== "end") end = end.next;
    const decrement = act({ kind: "change", changes: [{ kind: "add", field: "outer.ip_ttl_hoplimit", by: -1 }] });
    return this.ways.branches([
      {
        asks: [{ field: "outer.ip_ttl_hoplimit", value: 0n, mask: 0xfen }],
        node: end,
        ctx,
        known,
        label: "TTL 0 or 1",
      },
      // Some devices have a field for each IP version.
      {
        asks: type === undefined ? [] : [{ field: "outer.ethertype", value: BigInt(type), mask: 0xffffn }],
        node: this.nodes.one(decrement, node.next),
        ctx,
        known,
        label: "TTL",
      },
    ]);
  }

  /** Red frames end: nothing that is left to do is done. */
  #byColour(red: Ask, node: Node, ctx: Context, known: Known): string {
    return this.ways.branches([
      { asks: [red], node: null, ctx: { ...ctx, set: null }, known, label: "exceeds the rate" },
      { asks: [], node: node.next, ctx, known, label: "within the rate" },
    ]);
  }

  #step(node: Node | null, ctx: Context, known: Known): string {
    return this.ways.branches([{ asks: [], node, ctx, known, label: "" }]);
  }
}

/** Acts that do not look at the frame: headers of a tunnel can stay in front of it. */
const KEEPS_HEADERS: ReadonlySet<Act["kind"]> = new Set(["lookup", "end", "write", "clear", "exit", "refused"]);

function goesBack(list: Node): boolean {
  for (let node: Node | null = list; node !== null; node = node.next) if (node.act.kind === "in_port") return true;
  return false;
}

function tagChange(vid: number | undefined, pcp: number | undefined): Act {
  return act({
    kind: "change",
    changes: [
      ...(vid === undefined
        ? []
        : [{ kind: "set" as const, field: "outer.first_vid", value: BigInt(vid), mask: 0xfffn }]),
      ...(pcp === undefined ? [] : [{ kind: "set" as const, field: "outer.first_prio", value: BigInt(pcp), mask: 7n }]),
    ],
  });
}

function pushOf(vid: number, pcp: number): Act {
  return act({ kind: "push_vlan", tpid: 0x8100, vid, pcp });
}
