/**
 * Writes the rules of a filter. tc executes actions one after the other, the device in an order of its
 * own: what comes too late for that order goes into a table after the rule, which has its frames alone.
 */
import { UDP_PORTS } from "../../../headers/announcers.js";
import type { ScenarioRuleAction } from "../../../scenario/action/definition.js";
import type { ScenarioRule } from "../../../scenario/rule/definition.js";
import type { Draft, Endpoint } from "../../reading/draft.js";
import type { Findings } from "../../reading/findings.js";
import { notImported } from "../../text/refusal.js";
import type { Output, Step, TunnelKey, Verdict } from "./actions/steps.js";
import type { Tunnel } from "./devices.js";
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

interface At {
  readonly table: string;
  readonly level: number;
  readonly priority: number;
  readonly name: string;
  readonly match: NonNullable<ScenarioRule["match"]>;
}

/** Actions of the device in the order in which it executes them. */
const STAGES = ["decap", "pop", "change", "push", "end"] as const;
type Stage = (typeof STAGES)[number];
/** The register that holds the colour of a meter. */
const COLOUR = 5;
type Reformat = Exclude<NonNullable<Exclude<ScenarioRuleAction, string>["reformat"]>, string>;

export class RuleWriter {
  readonly #draft: Draft;
  readonly #findings: Findings;
  readonly #counts = new Map<string, number>();

  constructor(draft: Draft, findings: Findings) {
    this.#draft = draft;
    this.#findings = findings;
  }

  /** A name that no rule has. */
  nameOf(base: string): string {
    const count = (this.#counts.get(base) ?? 0) + 1;
    this.#counts.set(base, count);
    return this.#draft.freeName("rules", count === 1 ? base : `${base} ${count}`);
  }

  /** @throws NotImported */
  write(at: At, filter: Filter, ways: Ways): void {
    const { steps, notImported: missing } = filter;
    const decap = ways.onTunnel && steps.some(leaves);
    if (ways.onTunnel && !decap) this.#checkInside(steps, filter);
    const actions: ScenarioRuleAction[] = decap ? [{ reformat: { type: "l2_tunnel_to_l2" } }] : [];
    const job = new Job(this.#draft, this.#findings, ways, ways.onTunnel && !decap ? "inner" : "outer", filter, decap);
    job.rule(at, actions, steps, missing);
    for (const write of job.written) write();
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

/** The rules of one filter: they are written when all of them are known to be possible. */
class Job {
  readonly written: (() => void)[] = [];
  #tables = 0;

  constructor(
    private readonly draft: Draft,
    private readonly findings: Findings,
    private readonly ways: Ways,
    private readonly level: "outer" | "inner",
    private readonly filter: Filter,
    private readonly decapped: boolean,
  ) {}

  /** Writes a rule with these actions and the steps that fit, and a table for the rest. */
  rule(at: At, actions: ScenarioRuleAction[], steps: readonly Step[], missing: readonly string[] = []): void {
    let stage: Stage = "decap";
    let done = false;
    for (let n = 0; n < steps.length && !done; n++) {
      const step = steps[n] as Step;
      const rest = steps.slice(n + 1);
      const wanted = stageOf(step);
      if (STAGES.indexOf(wanted) < STAGES.indexOf(stage)) {
        actions.push({ table: this.#then(at, steps.slice(n)) });
        done = true;
        continue;
      }
      stage = wanted;
      done = this.#step(step, rest, at, actions);
    }
    if (!done) actions.push(this.#end({ kind: "pass" }));
    const { table, priority, name, match } = at;
    this.written.push(() => {
      this.draft.push("rules", {
        name,
        table,
        priority,
        match,
        actions: withJoinedChanges(actions),
        ...(missing.length === 0 ? {} : { notImported: [...missing] }),
      });
    });
  }

  /** @returns whether the step ends the rule */
  #step(step: Step, rest: readonly Step[], at: At, actions: ScenarioRuleAction[]): boolean {
    switch (step.kind) {
      case "change":
        actions.push({ modify: modifyOf(step.changes, this.level) });
        return false;
      case "pop":
        actions.push("pop_vlan");
        return false;
      case "push": {
        const { vid, pcp, tpid } = step;
        actions.push({ push_vlan: { ...(tpid === "0x8100" ? {} : { tpid }), ...(pcp === 0 ? {} : { pcp }), vid } });
        return false;
      }
      case "end":
        actions.push(...this.#ends(step.verdict));
        return true;
      case "mirror":
        actions.push(...this.#mirrors(step, rest, at));
        return true;
      case "sample":
        actions.push({
          flow_sampler: {
            sample_ratio: step.ratio,
            default_next_table: this.#then(at, rest),
            sample_actions: [{ vport: 0 }],
          },
        });
        return true;
      case "police":
        actions.push({ flow_meter: { next_table: this.#metered(step, rest, at), reg_c_index: COLOUR, ...step.meter } });
        return true;
    }
  }

  #ends(verdict: Verdict): ScenarioRuleAction[] {
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
  #mirrors(first: Step & { kind: "mirror" }, rest: readonly Step[], at: At): ScenarioRuleAction[] {
    const members: Member[] = [this.#member(first.to)];
    let n = 0;
    for (; n < rest.length; n++) {
      const step = rest[n] as Step;
      if (step.kind !== "mirror") break;
      members.push(this.#member(step.to));
    }
    const after = rest[n];
    if (after === undefined) members.push(this.#asMember({ kind: "pass" }));
    else if (after.kind !== "end") members.push({ to: { table: this.#then(at, rest.slice(n)) } });
    else if (after.verdict.kind !== "drop") members.push(this.#asMember(after.verdict));
    const [only] = members;
    if (members.length === 1 && only !== undefined) return actionsOf(only);
    return [
      { array: members.map(({ to, reformat }) => (reformat === undefined ? to : { ...(to as object), reformat })) },
    ];
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
    const { src, dst, id = tunnel.key, tos = 0, ttl, port = tunnel.port, word } = key;
    const known = UDP_PORTS[tunnel.kind] ?? 0;
    if (port !== known) notImported(word, `the device knows ${tunnel.kind} at UDP port ${known}, not ${port}`);
    this.findings.assume(
      word.place,
      "tunnel_key",
      "the MAC addresses of the neighbour are not said: 02:00:00:00:00:01 to 02:00:00:00:00:02, by the uplink",
    );
    const hops = ttl === undefined || ttl === 0 ? 64 : ttl;
    const service = tos === 0 ? {} : { dscp: tos >> 2, ecn: tos & 3 };
    const ip = src.includes(":")
      ? { header: "ipv6" as const, source: src, destination: dst, ...service, hop_limit: hops }
      : { header: "ipv4" as const, source: src, destination: dst, ...service, ttl: hops };
    const udp = { header: "udp" as const, destination_port: port, checksum: 0 };
    const inside = {
      vxlan: [udp, { header: "vxlan" as const, vni: id ?? 0 }],
      geneve: [udp, { header: "geneve" as const, vni: id ?? 0, protocol_type: "0x6558" }],
      gre: [{ header: "gre" as const, protocol_type: "0x6558", ...(id === undefined ? {} : { key: id }) }],
    }[tunnel.kind];
    const headers = [{ header: "ethernet" as const }, ip, ...inside];
    return { type: "l2_to_l2_tunnel", headers };
  }

  /** A table for the steps that are left. */
  #then(at: At, steps: readonly Step[]): string {
    const { name, level } = this.#table(at, "then");
    this.rule({ table: name, level, priority: 0, name, match: {} }, [], steps);
    return name;
  }

  /** A table for what a meter leads to: red frames exceed the rate. */
  #metered(step: Step & { kind: "police" }, rest: readonly Step[], at: At): string {
    const { name, level } = this.#table(at, "metered");
    const stepsOf = (verdict: Verdict): readonly Step[] =>
      verdict.kind === "pipe" ? rest : [{ kind: "end", verdict }];
    const red = { [`misc2.metadata_reg_c_${COLOUR}`]: 0 };
    this.rule({ table: name, level, priority: 0, name: `${name}: exceeds`, match: red }, [], stepsOf(step.exceed));
    this.rule({ table: name, level, priority: 1, name: `${name}: conforms`, match: {} }, [], stepsOf(step.conform));
    return name;
  }

  #table(at: At, what: string): { name: string; level: number } {
    const number = this.#tables++;
    const name = this.draft.freeName("tables", `${at.name} ${what}${number === 0 ? "" : ` ${number + 1}`}`);
    const level = at.level + 1;
    this.written.push(() => {
      this.draft.push("tables", { name, domain: "fdb", level });
    });
    return { name, level };
  }
}

type Target =
  { readonly vport: number | "uplink" } | { readonly port: number } | { readonly table: string } | "default_miss";

/** A copy of the frame, and what is put in front of it. */
interface Member {
  readonly to: Target;
  readonly reformat?: Reformat;
}

function actionsOf({ to, reformat }: Member): ScenarioRuleAction[] {
  return reformat === undefined ? [to] : [{ reformat }, to];
}

function stageOf({ kind }: Step): Stage {
  return kind === "pop" || kind === "change" || kind === "push" ? kind : "end";
}

function destinationOf(endpoint: Endpoint): { vport: number } | { port: number } {
  return "vport" in endpoint ? { vport: endpoint.vport } : { port: endpoint.port };
}

/** One list of changes in place of several. */
function withJoinedChanges(actions: readonly ScenarioRuleAction[]): ScenarioRuleAction[] {
  const list: ScenarioRuleAction[] = [];
  for (const action of actions) {
    const last = list.at(-1);
    const isBoth =
      typeof last === "object" &&
      typeof action === "object" &&
      last.modify !== undefined &&
      action.modify !== undefined;
    if (isBoth) list[list.length - 1] = { modify: [...(last.modify ?? []), ...(action.modify ?? [])] };
    else list.push(action);
  }
  return list;
}
