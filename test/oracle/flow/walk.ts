// Reference of flows, part 3: the path of one frame. Written from docs/flows.md: sniffers, NORMAL
// flows and DR root rules, host rules, default flows; for sending: sniffers, EGRESS flows,
// loopback, transmission.

import { type Entry, type Flow, FLAG, type FlowState, type RootRule, countersOf, delivers, qpsOf } from "./flows.js";
import { type Fields, type ReferenceRule, ruleMatches, termMatches } from "../walk/match.js";
import { type Action, type Table, walkReference } from "../walk/walk.js";

export interface FlowFrame {
  fields: Fields;
  port: number;
  wireLength: number;
}

export interface Arrival {
  qp: string;
  tag: number;
}

export interface FlowOutcome {
  verdict: "deliver" | "drop" | "miss" | "transmit";
  reason: string | null;
  /** The final tag of the frame itself; copies have their own. */
  tag: number | null;
  /** All recipients of the frame or of a copy, in order. */
  arrivals: Arrival[];
  /** Copies not made because the limit was reached. */
  refused: number;
  /** Hits in order: each flow of each entry that applies to the frame; rules by their ids. */
  rules: string[];
}

/** Limits of entries that a frame visits after the first, and of its destinations. */
const MAX_VISITS = 64;
const MAX_DESTINATIONS = 128;

interface Walk {
  state: FlowState;
  frame: FlowFrame;
  outcome: FlowOutcome;
  /**
   * Entries visited, and earlier destinations, in this direction: sending and the return to the
   * port count separately.
   */
  visits: number;
  before: number;
}

function begin(state: FlowState, frame: FlowFrame): Walk {
  const outcome: FlowOutcome = { verdict: "miss", reason: "no_rule", tag: null, arrivals: [], refused: 0, rules: [] };
  return { state, frame, outcome, visits: 0, before: 0 };
}

/** A frame received on a port. */
export function receiveReference(state: FlowState, frame: FlowFrame): FlowOutcome {
  const walk = begin(state, frame);
  sniff(walk);
  if (!normal(walk, null) && !host(walk)) defaults(walk);
  return walk.outcome;
}

/** A frame sent by a QP on the QP's port. `multicast`: the group bit of its destination is set. */
export function sendReference(state: FlowState, frame: FlowFrame, sender: string): FlowOutcome {
  const walk = begin(state, frame);
  const { outcome } = walk;
  sniff(walk);
  if (egress(walk)) return outcome;
  const multicast = ((frame.fields.get("outer.dmac") ?? 0n) & (1n << 40n)) !== 0n;
  Object.assign(walk, { visits: 0, before: outcome.arrivals.length });
  // SPEC: a frame that is dropped on return was not delivered, nor was one that left only copies:
  // it leaves by the port.
  const { tag } = outcome;
  const stays = normal(walk, sender) && outcome.verdict === "deliver" && !multicast;
  end(walk, stays ? "deliver" : "transmit", null);
  if (!stays) outcome.tag = tag;
  return outcome;
}

function end({ outcome }: Walk, verdict: FlowOutcome["verdict"], reason: string | null): true {
  outcome.verdict = verdict;
  outcome.reason = reason;
  return true;
}

/** Whether the limit allowed it. */
function arrive({ outcome, before }: Walk, qp: string, tag: number): boolean {
  const room = outcome.arrivals.length - before < MAX_DESTINATIONS;
  if (room) outcome.arrivals.push({ qp, tag });
  else outcome.refused++;
  return room;
}

/**
 * The frame itself has reached its destinations; it is dropped if the limit allowed none of them.
 */
function arrived(walk: Walk, some: boolean): true {
  return some ? end(walk, "deliver", null) : end(walk, "drop", "copy_limit");
}

function matches(entry: Entry, { fields, port }: FlowFrame): boolean {
  return entry.port === port && entry.terms.every((term) => termMatches(fields, term));
}

/**
 * The flows of an entry that apply to the frame count it and deliver it to their QPs; returns
 * whether one of them did.
 */
function apply(walk: Walk, entry: Entry, flows: readonly Flow[]): boolean {
  const { state, frame, outcome } = walk;
  outcome.rules.push(...flows.map(({ id }) => id));
  for (const name of countersOf(flows)) {
    const { packets, bytes } = state.counters.get(name) ?? { packets: 0n, bytes: 0n };
    state.counters.set(name, { packets: packets + 1n, bytes: bytes + BigInt(frame.wireLength) });
  }
  const goesOn = entry.stage === "sniffer" || (entry.dontTrap && !entry.drop);
  outcome.tag = goesOn ? null : entry.tag;
  if (!delivers(entry)) return false;
  return qpsOf(flows).filter((qp) => arrive(walk, qp, entry.tag ?? 0)).length > 0;
}

/** A copy to each sniffing QP; the frame continues as if there were none. */
function sniff(walk: Walk): void {
  for (const entry of walk.state.entries) {
    if (entry.stage === "sniffer" && matches(entry, walk.frame)) apply(walk, entry, entry.flows);
  }
}

type Candidate = { entry: Entry; flows: Flow[]; rule?: undefined } | { rule: RootRule; entry?: undefined };

/** Rank of a candidate: DONT_TRAP flows before the others of their priority. */
function slotOf({ entry, rule }: Candidate): number {
  return 2 * (entry ?? rule).priority + (entry?.dontTrap ? 0 : 1);
}

/** By priority, DONT_TRAP first; then age of the mask, then age of the rule. */
function before(a: Candidate, b: Candidate): number {
  const maskOf = ({ entry, rule }: Candidate): number => entry?.mask.made ?? rule?.matcher ?? 0;
  const madeOf = ({ entry, rule }: Candidate): number => (entry ?? rule).made;
  return slotOf(a) - slotOf(b) || maskOf(a) - maskOf(b) || madeOf(a) - madeOf(b);
}

/**
 * The matching candidates of a stage, in order. `sender`: the frame is looped back, and flows of
 * the sending QP match only with ALLOW_LOOP_BACK.
 */
function candidates({ state, frame }: Walk, stage: "normal" | "egress", sender: string | null): Candidate[] {
  const answers = (flow: Flow): boolean => flow.qp !== sender || (flow.flags & FLAG.ALLOW_LOOP_BACK) !== 0;
  const list: Candidate[] = state.entries
    .filter((entry) => entry.stage === stage && matches(entry, frame))
    .map((entry) => ({ entry, flows: entry.flows.filter(answers) }))
    .filter(({ flows }) => flows.length > 0);
  const rules = stage === "normal" ? state.rootRules : [];
  for (const rule of rules) if (ruleMatches(frame.fields, { ...rule, rank: 0n })) list.push({ rule });
  return list.sort(before);
}

/** Visits the entries until one ends the path of the frame; false if none does. */
function through(
  walk: Walk,
  stage: "normal" | "egress",
  sender: string | null,
  last: (one: Candidate, some: boolean) => boolean,
): boolean {
  let slot = -1;
  for (;;) {
    const next = candidates(walk, stage, sender).find((one) => slotOf(one) > slot);
    if (!next) return false;
    if (walk.visits++ > MAX_VISITS) return end(walk, "drop", "hop_limit");
    const { entry } = next;
    if (!entry) return last(next, false);
    const some = apply(walk, entry, next.flows);
    if (entry.drop) return end(walk, "drop", "drop_action");
    if (!entry.dontTrap) return last(next, some);
    slot = slotOf(next);
  }
}

/** NORMAL flows and DR root rules. True if the path of the frame ends here. */
function normal(walk: Walk, sender: string | null): boolean {
  return through(walk, "normal", sender, ({ rule }, some) => (rule ? root(walk, rule) : arrived(walk, some)));
}

/** True if a flow drops the frame. */
function egress(walk: Walk): boolean {
  return through(walk, "egress", null, () => false);
}

/** A DR root rule, and the tables after it. */
function root(walk: Walk, rule: RootRule): boolean {
  return tables(walk, { ...rule, rank: 0n }, walk.state.tables);
}

/** Result of a rule and the tables after it; false if they pass the frame to the next stage. */
function tables(walk: Walk, rule: ReferenceRule<Action>, others: ReadonlyMap<string, Table>): boolean {
  const { state, frame, outcome } = walk;
  const all = new Map([["", { level: 0, rules: [rule] }], ...others]);
  const jumped = Math.max(walk.visits - 1, 0);
  const { verdict, reason, to, tag, rules } = walkReference(
    all,
    frame.fields,
    frame.wireLength,
    state.counters,
    jumped,
  );
  outcome.rules.push(...rules);
  const some = to.filter((qp) => arrive(walk, qp, tag ?? 0)).length > 0;
  outcome.tag = tag;
  if (verdict === "deliver") return arrived(walk, some);
  if (verdict !== "miss") return end(walk, verdict, reason);
  // The reason of the miss is kept if no later stage takes the frame.
  outcome.reason = reason;
  return false;
}

const APPLICATIONS = ["ethtool", "tc", "nic"];

/**
 * Rules of the host's applications: one application after another, each by priority, then by age.
 */
function host(walk: Walk): boolean {
  const { state, frame } = walk;
  const place = (name: string): number => APPLICATIONS.indexOf(name);
  const rule = state.hostRules
    .filter((one) => ruleMatches(frame.fields, { ...one, ranges: [], rank: 0n }))
    .sort((a, b) => place(a.application) - place(b.application) || a.priority - b.priority || a.made - b.made)[0];
  return rule ? tables(walk, { ...rule, ranges: [], rank: 0n }, new Map()) : false;
}

/** ALL_DEFAULT and MC_DEFAULT. */
function defaults(walk: Walk): void {
  const entry = walk.state.entries.find((one) => one.stage === "default" && matches(one, walk.frame));
  if (!entry) return;
  const some = apply(walk, entry, entry.flows);
  if (entry.drop) end(walk, "drop", "drop_action");
  else arrived(walk, some);
}
