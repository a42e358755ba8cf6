/**
 * Writes the rules of a filter. tc executes actions one after the other, the device in an order of its
 * own: what comes too late for that order goes into a table after the rule, which has its frames alone.
 */
import type { Draft, Endpoint } from "../../reading/draft.js";
import type { Findings } from "../../reading/findings.js";
import {
  goesOn,
  type Fork,
  type ImportRule,
  type ListAction,
  type RuleAction,
  type RuleBody,
} from "../../rules/importRule.js";
import { writeRule } from "../../rules/planner.js";
import { notImported } from "../../text/refusal.js";
import type { Output, Step, TunnelKey, Verdict } from "./actions/steps.js";
import { checkPort, type Tunnel } from "./devices.js";
import { tableOf, type Filter } from "./filter.js";
import { modifyOf } from "./pedit.js";

/** Where frames go that leave the filters of a device. */
export interface Ways {
  readonly owner: string;
  /** The table of frames that pass; undefined: they go to the PF. */
  readonly pass: string | undefined;
  readonly onTunnel: boolean;
  /** The table of the filters after those of this priority. */
  readonly next: string | undefined;
}

/** The register that holds the colour of a meter. */
const COLOUR = 5;
type Reformat = Exclude<NonNullable<Exclude<RuleAction, string>["reformat"]>, string>;

export class RuleWriter {
  readonly #counts = new Map<string, number>();

  constructor(
    private readonly draft: Draft,
    private readonly findings: Findings,
  ) {}

  /** A name that no rule has. */
  nameOf(base: string): string {
    const count = (this.#counts.get(base) ?? 0) + 1;
    this.#counts.set(base, count);
    return this.draft.freeName("rules", count === 1 ? base : `${base} ${count}`);
  }

  /** @throws NotImported */
  write(at: Omit<ImportRule, keyof RuleBody | "notImported">, filter: Filter, ways: Ways): void {
    const { steps, notImported: missing } = filter;
    const decap = ways.onTunnel && steps.some(leaves);
    if (ways.onTunnel && !decap) this.#checkInside(steps, filter);
    const reader = new BodyReader(
      this.draft,
      this.findings,
      ways,
      ways.onTunnel && !decap ? "inner" : "outer",
      filter,
      decap,
    );
    const { actions, end } = reader.body(steps);
    const first: ListAction[] = decap ? [{ kind: "decap", action: { reformat: { type: "l2_tunnel_to_l2" } } }] : [];
    const rule = { ...at, notImported: missing, actions: [...first, ...actions], end };
    writeRule(rule, {
      leavesFirst: true,
      tableName: (name, label, number) => `${name} ${label}${number === 0 ? "" : ` ${number + 1}`}`,
      table: (wanted, level) => {
        const name = this.draft.freeName("tables", wanted);
        return this.draft.once("tables", { name, domain: "fdb", level });
      },
      rule: ({ name, table, priority, match, actions: done, notImported: lacks }) => {
        const rest = lacks.length === 0 ? {} : { notImported: [...lacks] };
        this.draft.push("rules", { name, table, priority, match, actions: [...done], ...rest });
      },
    });
  }

  #checkInside(steps: readonly Step[], { place }: Filter): void {
    const tags = steps.find(({ kind }) => kind === "push" || kind === "pop");
    if (tags === undefined) return;
    notImported({ text: `vlan ${tags.kind}`, place }, "inside a tunnel the device does not add or remove tags");
  }
}

/** Whether a frame leaves the device by one of these steps. */
function leaves(step: Step): boolean {
  const verdicts = step.kind === "end" ? [step.verdict] : step.kind === "police" ? [step.exceed, step.conform] : [];
  return step.kind === "mirror" || verdicts.some(({ kind }) => kind === "redirect");
}

/** Reads the steps of one filter. */
class BodyReader {
  constructor(
    private readonly draft: Draft,
    private readonly findings: Findings,
    private readonly ways: Ways,
    private readonly level: "outer" | "inner",
    private readonly filter: Filter,
    private readonly decapped: boolean,
  ) {}

  /** @throws NotImported */
  body(steps: readonly Step[]): RuleBody {
    const actions: ListAction[] = [];
    for (const [n, step] of steps.entries()) {
      if (step.kind === "change") actions.push({ kind: "modify", changes: modifyOf(step.changes, this.level) });
      else if (step.kind === "pop") actions.push({ kind: "pop", action: "pop_vlan" });
      else if (step.kind === "push") {
        const { vid, pcp, tpid } = step;
        const tag = { ...(tpid === "0x8100" ? {} : { tpid }), ...(pcp === 0 ? {} : { pcp }), vid };
        actions.push({ kind: "push", action: { push_vlan: tag } });
      } else return { actions, end: this.#endOf(step, steps.slice(n + 1)) };
    }
    return { actions, end: [this.#end({ kind: "pass" })] };
  }

  #endOf(step: Exclude<Step, { kind: "change" | "pop" | "push" }>, rest: readonly Step[]): RuleBody["end"] {
    switch (step.kind) {
      case "end":
        return this.#ends(step.verdict);
      case "mirror":
        return this.#mirrors(step, rest);
      case "sample": {
        const { ratio } = step;
        const leads = (next: string): RuleAction => ({
          flow_sampler: { sample_ratio: ratio, default_next_table: next, sample_actions: [{ vport: 0 }] },
        });
        return { ...goesOn(this.body(rest)), leads };
      }
      case "police":
        return this.#metered(step, rest);
    }
  }

  #ends(verdict: Verdict): RuleAction[] {
    return verdict.kind === "redirect" ? actionsOf(this.#member(verdict.to)) : [this.#end(verdict)];
  }

  #end(verdict: Exclude<Verdict, { kind: "redirect" }>): Target | "drop" {
    const { pass, next, owner } = this.ways;
    switch (verdict.kind) {
      case "drop":
        return "drop";
      case "pass":
      case "pipe":
        return pass === undefined || this.decapped ? "default_miss" : { table: pass };
      case "trap":
        return { vport: 0 };
      case "goto":
      case "reclassify": {
        const chain = verdict.kind === "goto" ? verdict.chain : 0;
        if (!this.decapped) return { table: tableOf(owner, chain) };
        const word = { text: `goto chain ${chain}`, place: this.filter.place };
        return notImported(word, "after a mirror of a tunnel device filters could not match the tunnel any more");
      }
      case "continue":
        return next === undefined ? this.#end({ kind: "pass" }) : { table: next };
    }
  }

  /** Mirrors, and what comes after them: members of one array. */
  #mirrors(first: Step & { kind: "mirror" }, rest: readonly Step[]): RuleBody["end"] {
    const members: Member[] = [this.#member(first.to)];
    let n = 0;
    for (; n < rest.length; n++) {
      const step = rest[n] as Step;
      if (step.kind !== "mirror") break;
      members.push(this.#member(step.to));
    }
    const after = rest[n];
    if (after === undefined) members.push(this.#asMember({ kind: "pass" }));
    else if (after.kind !== "end") {
      const leads = (table: string): RuleAction => arrayOf([...members, { to: { table } }]);
      return { ...goesOn(this.body(rest.slice(n))), leads };
    } else if (after.verdict.kind !== "drop") members.push(this.#asMember(after.verdict));
    const [only] = members;
    return members.length === 1 && only !== undefined ? actionsOf(only) : [arrayOf(members)];
  }

  #asMember(verdict: Verdict): Member {
    return verdict.kind === "redirect" ? this.#member(verdict.to) : { to: this.#end(verdict) as Target };
  }

  #member(to: Output): Member {
    if ("endpoint" in to) return { to: destinationOf(to.endpoint) };
    return { to: { vport: "uplink" }, reformat: this.#encap(to.tunnel, to.key) };
  }

  /** The headers that a tunnel device puts in front. */
  #encap(tunnel: Tunnel, key: TunnelKey): Reformat {
    const { src, dst, id = tunnel.key, tos = 0, ttl, group = 0, port = tunnel.port, word } = key;
    checkPort(this.draft, this.findings, word, tunnel, port);
    if (group !== 0 && tunnel.kind !== "vxlan") notImported(word, "only VXLAN has a group");
    this.findings.assume(
      word.place,
      "tunnel_key",
      "the neighbour's MAC addresses are not given; assumed: 02:00:00:00:00:01 to 02:00:00:00:00:02, by the uplink",
    );
    const hops = ttl === undefined || ttl === 0 ? 64 : ttl;
    const service = tos === 0 ? {} : { dscp: tos >> 2, ecn: tos & 3 };
    const ip = src.includes(":")
      ? { header: "ipv6" as const, source: src, destination: dst, ...service, hop_limit: hops }
      : { header: "ipv4" as const, source: src, destination: dst, ...service, ttl: hops };
    const udp = { header: "udp" as const, destination_port: port, checksum: 0 };
    const inside = {
      vxlan: [udp, { header: "vxlan" as const, ...groupOf(group), vni: id ?? 0 }],
      geneve: [udp, { header: "geneve" as const, vni: id ?? 0, protocol_type: "0x6558" }],
      gre: [{ header: "gre" as const, protocol_type: "0x6558", ...(id === undefined ? {} : { key: id }) }],
    }[tunnel.kind];
    const headers = [{ header: "ethernet" as const }, ip, ...inside];
    return { type: "l2_to_l2_tunnel", headers };
  }

  /** A table for what a meter leads to: red frames exceed the rate. */
  #metered({ meter, exceed, conform }: Step & { kind: "police" }, rest: readonly Step[]): Fork {
    const after = (verdict: Verdict): RuleBody =>
      this.body(verdict.kind === "pipe" ? rest : [{ kind: "end", verdict }]);
    return {
      leads: (table) => ({ flow_meter: { next_table: table, reg_c_index: COLOUR, ...meter } }),
      label: "metered",
      rules: [
        { suffix: ": exceeds", match: { [`misc2.metadata_reg_c_${COLOUR}`]: 0 }, priority: 0, ...after(exceed) },
        { suffix: ": conforms", match: {}, priority: 1, ...after(conform) },
      ],
    };
  }
}

/** A group of 0 is not written: `vxlan_build_gbp_hdr` (drivers/net/vxlan). */
function groupOf(group: number): { readonly flags?: number; readonly reserved?: number } {
  return group === 0 ? {} : { flags: VXLAN_G | VXLAN_I, reserved: group };
}

/** draft-smith-vxlan-group-policy, 2.1; RFC 7348, 5. */
const [VXLAN_G, VXLAN_I] = [0x80, 0x08];

type Target =
  { readonly vport: number | "uplink" } | { readonly port: number } | { readonly table: string } | "default_miss";

/** A copy of the frame, and what is put in front of it. */
interface Member {
  readonly to: Target;
  readonly reformat?: Reformat;
}

function actionsOf({ to, reformat }: Member): RuleAction[] {
  return reformat === undefined ? [to] : [{ reformat }, to];
}

function arrayOf(members: readonly Member[]): RuleAction {
  return { array: members.map(({ to, reformat }) => (reformat === undefined ? to : { ...(to as object), reformat })) };
}

function destinationOf(endpoint: Endpoint): { vport: number } | { port: number } {
  return "vport" in endpoint ? { vport: endpoint.vport } : { port: endpoint.port };
}
