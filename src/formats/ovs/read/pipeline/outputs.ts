/** Where flows send frames: ports, tunnels, back, the buckets of groups. */
import { VPORT_UPLINK } from "../../../../abi/engine.js";
import type { Draft } from "../../../reading/draft.js";
import type { Node } from "../nodes.js";
import { endpointName, type Ports } from "../bridge/ports.js";
import type { Member, FlowSegment } from "../segment.js";
import { act, type Act } from "../steps.js";
import { encapsulation, portOf } from "../tunnels.js";
import type { Places } from "../places.js";
import type { Report } from "./report.js";
import { isCircular } from "../groups.js";
import type { Branch, Context, Group, Known, Source } from "./state.js";

const NO_TYPE =
  "the flow sets fields of a tunnel, and the text does not say whether the port is one: add what ovs-vsctl show prints";
const WIRE = "a frame from the wire cannot leave through it again";

export class Outputs {
  readonly #circular = new Map<string, boolean>();

  constructor(
    private readonly draft: Draft,
    private readonly ports: Ports,
    private readonly places: Places,
    private readonly report: Report,
    private readonly source: Source,
  ) {}

  /** The member of a list of destinations that an output is, or undefined if the frame does not go there. */
  to(
    one: Extract<Act, { kind: "output" }>,
    ctx: Context,
    known: Known,
    segment: FlowSegment,
    rule: string,
  ): Member | undefined {
    const refuse = (reason: string): Member | undefined =>
      this.report.lacks(segment, rule, one.place, one.bare === true ? one.port : `output:${one.port}`, reason);
    if (one.port === "NONE" || one.port === "ANY") return undefined;
    if (one.hairpin !== true && ctx.inPort !== undefined && this.ports.same(one.port, ctx.inPort)) return undefined;
    const target = this.ports.target(one.port);
    if ("refused" in target) return refuse(target.refused);
    const fromWire = this.#isFromWire(ctx, known);
    if ("tunnel" in target) {
      if (fromWire)
        return refuse("a frame from the wire cannot leave through it again: the tunnel leads over the uplink");
      const port = portOf(target.tunnel, (number) => this.report.registerVxlan(target.tunnel, number));
      if (typeof port === "string") return refuse(port);
      const made = encapsulation(target.tunnel, ctx.values, this.source.neighbors, this.source.options);
      if (typeof made === "string") return refuse(made);
      for (const open of made.open)
        this.report.assume(one.place, `output:${one.port}`, `the text does not say ${open}`);
      const { headers } = made;
      return { port: 1, reformat: { type: "l2_to_l2_tunnel", headers: headers as never } };
    }
    if (!("endpoint" in target)) return undefined;
    const { endpoint, isOpen } = target;
    if (isOpen === true && Object.keys(ctx.values).length > 0) return refuse(NO_TYPE);
    const isBack = known.from === endpointName(endpoint) && ctx.inPort === undefined;
    if ("vport" in endpoint) return isBack && one.hairpin !== true ? undefined : endpoint;
    if (isBack && one.hairpin === true) return refuse(WIRE);
    if (fromWire && ctx.inPort !== undefined && this.draft.ports === 1) return refuse(WIRE);
    return endpoint;
  }

  /**
   * What an output to a patch port does: a copy reaches the other bridge. Null: nothing, the frame has come by it;
   * undefined: it is no output to a patch port.
   */
  crossing(one: Extract<Act, { kind: "output" | "in_port" }>, ctx: Context): Act | null | undefined {
    const word = one.kind === "output" ? one.port : (ctx.inPort ?? "");
    const target = this.ports.target(word);
    if (!("patch" in target)) return undefined;
    const isBack = ctx.inPort !== undefined && this.ports.same(word, ctx.inPort);
    if (one.kind === "output" && one.hairpin !== true && isBack) return null;
    const { bridge, peer } = target.patch;
    const changes = this.places.written.map((field) => ({
      kind: "set" as const,
      field,
      value: 0n,
      mask: 0xffffffffn,
    }));
    const list = [
      act({ kind: "clear" }),
      ...(changes.length === 0 ? [] : [act({ kind: "change", changes })]),
      act({ kind: "enter", table: this.ports.firstTable(bridge), port: peer }),
    ];
    return act({ kind: "clones", lists: [list] });
  }

  /** The context of frames whose tunnel the flows of its port see; undefined if the port is no tunnel. */
  popped(
    { port, place }: Extract<Act, { kind: "tunnel_pop" }>,
    ctx: Context,
    segment: FlowSegment,
    rule: string,
  ): Context | undefined {
    const target = this.ports.target(port);
    if ("tunnel" in target && segment.isEmpty && ctx.wrapped === undefined)
      return { ...ctx, inPort: target.tunnel.name, wrapped: target.tunnel };
    const reason =
      "tunnel" in target ? "the frame is changed before" : `the text does not say that port ${port} is a tunnel`;
    this.report.lacks(segment, rule, place, `tnl_pop(${port})`, reason);
    return undefined;
  }

  /** The context of frames that reach a bridge by a patch port: nothing is left of the bridge before. */
  entered(port: string, { from, notFrom }: Known): Context {
    const wires = this.ports.wires;
    const isVport = from?.startsWith("vport") === true;
    return {
      inPort: port,
      wrapped: undefined,
      values: {},
      set: null,
      from: isVport ? undefined : from,
      notFrom: isVport ? wires : notFrom.filter((name) => wires.includes(name)),
    };
  }

  /** Whether the frame came by the uplink. */
  #isFromWire(ctx: Context, known: Known): boolean {
    if (known.from !== undefined) return known.from.startsWith("port");
    return ctx.inPort !== undefined && !known.notFrom.includes("port 1");
  }

  back(
    one: Extract<Act, { kind: "in_port" }>,
    ctx: Context,
    known: Known,
    segment: FlowSegment,
    rule: string,
  ): Member | undefined {
    const [kind, number] = known.from?.split(" ") ?? [];
    if (kind === "vport" && ctx.inPort === undefined) return { vport: Number(number) };
    this.report.lacks(segment, rule, one.place, "IN_PORT", WIRE);
    return undefined;
  }

  encap(one: Extract<Act, { kind: "encap" }>, segment: FlowSegment, rule: string): void {
    const target = this.ports.target(one.port);
    if ("endpoint" in target)
      segment.output({ ...target.endpoint, reformat: { type: "l2_to_l2_tunnel", data: one.data } });
    else {
      const reason = `port ${one.port} leads nowhere`;
      this.report.lacks(segment, rule, one.place, "tnl_push", reason);
    }
  }

  /** Rules by the port that a frame came from, where an output depends on that: none goes back there. */
  guard(node: Node, ctx: Context, known: Known): Branch[] | undefined {
    if (known.from !== undefined) return undefined;
    if (ctx.inPort !== undefined) return this.#guardWire(node, ctx, known);
    const first = node.act;
    // The first output may need no answer; those after it ask later, if they are reached.
    if (first.kind === "output") {
      if (first.hairpin === true) return undefined;
      const target = this.ports.target(first.port);
      if (
        !("endpoint" in target) ||
        !("vport" in target.endpoint) ||
        known.notFrom.includes(endpointName(target.endpoint))
      )
        return undefined;
    }
    const vports = new Map<string, number>();
    for (let at: Node | null = node; at !== null && at.act.kind !== "lookup"; at = at.next) {
      const one = at.act;
      if (one.kind === "in_port") for (const vport of this.ports.vports()) vports.set(`vport ${vport}`, vport);
      if (one.kind !== "output" || one.hairpin === true) continue;
      const target = this.ports.target(one.port);
      if ("endpoint" in target && "vport" in target.endpoint)
        vports.set(endpointName(target.endpoint), target.endpoint.vport);
    }
    const open = [...vports].filter(([name]) => !known.notFrom.includes(name));
    if (open.length === 0) return undefined;
    const from = (name: string, vport: number): Branch => ({
      node,
      ctx,
      label: `from ${name}`,
      asks: [{ field: "misc.source_port", value: BigInt(vport), mask: 0xffffn }],
      known: { ...known, from: name },
    });
    const others = { ...known, notFrom: [...known.notFrom, ...open.map(([name]) => name)].sort() };
    return [
      ...open.map(([name, vport]) => from(name, vport)),
      { asks: [], node, ctx, known: others, label: "from others" },
    ];
  }

  /** The same where flows have changed the port that they see: only the wire gets nothing back then. */
  #guardWire(node: Node, ctx: Context, known: Known): Branch[] | undefined {
    const one = node.act;
    if (one.kind !== "output" || known.notFrom.includes("port 1")) return undefined;
    if (this.ports.tunnels().some(({ name }) => name === ctx.inPort)) return undefined;
    const target = this.ports.target(one.port);
    if ("endpoint" in target && "vport" in target.endpoint) return undefined;
    const wire = { field: "misc.source_port", value: BigInt(VPORT_UPLINK), mask: 0xffffn };
    return [
      { asks: [wire], node, ctx, known: { ...known, from: "port 1" }, label: "from the uplink" },
      { asks: [], node, ctx, known: { ...known, notFrom: [...known.notFrom, "port 1"].sort() }, label: "from others" },
    ];
  }

  buckets(one: Extract<Act, { kind: "group" }>, rule: string, segment: FlowSegment): readonly (readonly Act[])[] {
    const group = this.source.groups.get(one.id);
    const reason = this.#isCircular(one.id) ? CIRCULAR : reasonAgainst(group);
    if (reason === CIRCULAR) {
      this.report.lacks(segment, rule, one.place, `group:${one.id}`, reason);
      return [];
    }
    if (group?.type === "ff" || group?.type === "fast_failover") {
      this.report.assume(group.place, `group:${one.id}`, "the port of its first bucket is alive");
      return group.buckets.slice(0, 1);
    }
    if (group !== undefined && reason === undefined) return group.buckets;
    this.report.lacks(segment, rule, one.place, `group:${one.id}`, reason ?? "");
    return [];
  }

  #isCircular(id: string): boolean {
    const known = this.#circular.get(id) ?? isCircular(id, this.source.groups);
    this.#circular.set(id, known);
    return known;
  }
}

const CIRCULAR = "its buckets lead to it again";

function reasonAgainst(group: Group | undefined): string | undefined {
  if (group === undefined) return "the text does not define this group";
  const { type, buckets } = group;
  if (type === "all" || type === "indirect" || buckets.length <= 1) return undefined;
  return type === "select" ? "Open vSwitch chooses a bucket by a hash of its own" : `groups of type ${type}`;
}
