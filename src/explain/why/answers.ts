/** The answer for each kind of target. */
import { isDevxFlowEntry } from "../../model/devx/kinds.js";
import { Op, VPORT_UPLINK } from "../../abi/engine.js";
import { RssQueuePair } from "../../model/queuePair/rssQueuePair.js";
import { QueuePair } from "../../model/queuePair/queuePair.js";
import type { InstalledRule } from "../../model/base/installed.js";
import { FlowEntry } from "../../model/flow/entry.js";
import { Rule } from "../../model/rule/rule.js";
import { RSS_MASK, RSS_QUEUES } from "../../abi/state.js";
import type { RuleRef, TableRef } from "../trace/trace.js";
import type { Answer, Case } from "./case.js";
import { isMade, isReceiver } from "../../drivers/madeRules.js";
import { drops, isCatchAll } from "./reasons/catchAll.js";
import { chanceReason } from "./reasons/chance.js";
import { functionText, listText, ruleText, tableText } from "./reasons/describe.js";
import { arrivals, hitsAfter, isDestination, lossesOf, refusalOf } from "./reasons/end.js";
import { circleOf } from "./circle.js";
import { circleSentence } from "./reasons/lost.js";
import type { Reason } from "./explanation.js";
import { distanceOf } from "./compare.js";
import { nearestRules, type Candidate } from "./nearest.js";
import { wantsSwappedBytes } from "../repair/mistakes/byteOrder.js";
import { functionReasons, leadReasons, tableReasons } from "./reasons/reach.js";
import { judge, NOT_CONSIDERED, reasonsOf, type Judged } from "./reasons/match.js";
import { isBefore, type RuleNode } from "./rules.js";
import type { FoundTarget } from "./targets.js";
import { stateWriter } from "./reasons/writers.js";
import { stepsAfter, viewOf, type Visit } from "./walked.js";

export function answerFor(at: Case, target: FoundTarget): Answer {
  switch (target.kind) {
    case "rule":
      return forRule(at, target);
    case "table":
      return forTable(at, target.address);
    case "queue":
      return forQueue(at, target);
    case "vport":
      return forVport(at, target.vport);
    case "end":
      return forEnd(at);
    case "twice":
      return forTwice(at);
  }
}

/** The rules of the core that objects have: several for both directions of the eSwitch, and for ALL_DEFAULT. */
export function nodesOf({ rules, walked }: Case, objects: readonly InstalledRule[]): RuleNode[] {
  const { device, traced } = walked;
  return objects.flatMap((one) => {
    if (one instanceof Rule || one instanceof FlowEntry) {
      const handles = one instanceof Rule ? [one.handle, one.secondHandle] : [one.handle];
      const { table } = one.classifier;
      return handles.flatMap((handle) => (handle === 0 ? [] : rules.ruleAt(table, handle)));
    }
    // Entries of flow tables, and host rules.
    const tables = isDevxFlowEntry(one) ? [one.table.classifier.table] : hostTables(device);
    return tables.flatMap((table) =>
      traced.rulesOf(table).flatMap(({ id, address }) => (id === one.id ? rules.ruleAt(table, address) : [])),
    );
  });
}

function hostTables({ tables }: Case["walked"]["device"]): number[] {
  return [...tables].flatMap(([table, { stage }]) => (stage === "host" ? table : []));
}

function forRule(at: Case, { objects, pending, name }: Extract<FoundTarget, { kind: "rule" }>): Answer {
  if (pending) {
    const sentence = `${name} waits for mlx5dv_dr_domain_sync of its domain`;
    return { reached: false, sentence, reasons: [{ kind: "state", sentence, object: "rule", name }] };
  }
  const nodes = nodesOf(at, objects);
  const judged = nodes.flatMap((node) => judge(at, node) ?? []).sort((a, b) => a.score - b.score);
  const hit = judged.find((one) => one.hit !== null);
  if (hit !== undefined) return afterHit(at, hit.hit as Visit, `${name} took the frame`);
  const [best] = judged;
  const reasons = best === undefined ? leadReasons(at, nodes) : reasonsOf(at, best);
  return unreached(at, reasons, `the frame never reached ${name}`);
}

/** The reasons are those why the target was not reached; the first says it. */
function unreached(at: Case, reasons: readonly Reason[], otherwise: string): Answer {
  return { reached: false, sentence: causeOf(at, reasons) ?? otherwise, reasons };
}

/** Why the target was not reached; a frame that went in a circle reached no end for that reason. */
function causeOf({ walked: { trace } }: Case, reasons: readonly Reason[]): string | undefined {
  const answer = answerOf(reasons);
  if (trace.outcome.reason !== "hop_limit") return answer;
  const circle = circleSentence(circleOf(trace.steps));
  return answer === undefined ? circle : `${circle}; ${answer}`;
}

/** The last reason of a chain of tables that were not reached is the cause. */
function answerOf(reasons: readonly Reason[]): string | undefined {
  const [first] = reasons;
  const cause = reasons.find(({ kind }) => kind !== "not reached");
  if (first === undefined || first === cause) return first?.sentence;
  if (cause !== undefined) return `${first.sentence}, and ${cause.sentence}`;
  const last = reasons.at(-1);
  return last === undefined || last === first ? first.sentence : `${last.sentence}; ${first.sentence}`;
}

/** The frame came to the target: what became of it then. */
function afterHit(at: Case, { step }: Visit, sentence: string): Answer {
  const after = stepsAfter(at.walked, step);
  const got = arrivals(after).map(({ to }) => to);
  if (got.length > 0) return { reached: true, sentence: `${sentence}, and ${listText(got)} got it`, reasons: [] };
  const reasons = lossesOf(at, after);
  const later = hitsAfter(after).map(ruleText);
  const then = later.length === 0 ? "" : `, then ${listText(later)} did`;
  const [why] = reasons;
  return {
    reached: true,
    sentence: `${sentence}${then}${why === undefined ? "" : `; then it was lost: ${why.sentence}`}`,
    reasons,
  };
}

function forTable(at: Case, address: number): Answer {
  const { walked, rules } = at;
  const visit = walked.visits.find(({ table }) => table === address);
  const name = tableText(rules.tableRefOf(address));
  if (visit === undefined) return unreached(at, tableReasons(at, address), `the frame never reached ${name}`);
  const { rule } = visit.step;
  return afterHit(
    at,
    visit,
    `the frame reached ${name}${rule === null ? ", where no rule matched" : `, where ${ruleText(rule)} took it`}`,
  );
}

/** The queues of the core that stand for a queue of the model: those of RSS have several. */
function handlesOf({ walked: { traced } }: Case, { queue }: Extract<FoundTarget, { kind: "queue" }>): number[] {
  if (!(queue instanceof QueuePair) || !(queue instanceof RssQueuePair)) return [(queue as { handle: number }).handle];
  const { op, operand } = queue.target;
  if (op !== Op.rss) return [operand];
  const word = (address: number): number => traced.core.u32[address >> 2] as number;
  return Array.from({ length: word(operand + RSS_MASK) + 1 }, (_, n) => word(word(operand + RSS_QUEUES) + 4 * n));
}

function forQueue(at: Case, target: Extract<FoundTarget, { kind: "queue" }>): Answer {
  const { walked, links } = at;
  const { label } = target;
  const handles = handlesOf(at, target);
  const labels = labelsOf(at, target);
  const steps = walked.trace.steps.filter(isDestination).filter(({ to }) => labels.has(to));
  const got = steps.find(({ refused }) => refused === null);
  if (got !== undefined)
    return { reached: true, sentence: `${label} got the frame${got.copy ? " as a copy" : ""}`, reasons: [] };
  const [refusal] = steps.flatMap((step) => refusalOf(at, step));
  if (refusal !== undefined) {
    return { reached: true, sentence: `a rule gave the frame to ${label}: ${refusal.sentence}`, reasons: [refusal] };
  }
  const leads = [...new Set(handles)].flatMap((handle) => links.leadsTo("queue", handle));
  const rulesThere = [...new Map(leads.map(({ rule }) => [rule.stored.address, rule])).values()];
  if (rulesThere.length === 0) {
    const sentence = `no rule delivers to ${label}`;
    const vport = queueVport(target);
    const end = forEnd(at);
    const none: Reason = { kind: "not reached", sentence, table: rootOf(vport), leading: [] };
    return { reached: false, sentence: `${sentence}; ${end.sentence}`, reasons: [none, ...end.reasons] };
  }
  const [chance] = leads.flatMap((lead) => chanceReason(at, lead));
  // A flow may be several rules. The queues of a driver's own RSS are no choice of the text.
  const took = chance?.kind === "action" ? chance.rule : null;
  const others = rulesThere.filter((node) => took === null || !isSame(at.rules.refOf(node), took));
  const own = took !== null && isMade(took.name) ? others.filter((node) => !isMade(at.rules.refOf(node).name)) : [];
  const byChance = chance === undefined ? [] : [chance];
  const byRules = leadReasons(at, own.length > 0 ? own : others);
  const isChance = own.length === 0 && chance !== undefined;
  const reasons = isChance ? [...byChance, ...byRules] : [...byRules, ...byChance];
  // Chance decided: no mistake or repair is about the rules that did not take the frame.
  if (isChance) [at.focus, at.unreached] = [null, []];
  const shown = own.length > 0 ? own : rulesThere;
  const names = [...new Map(shown.map((node) => [node.stored.id, at.rules.textOf(node)])).values()];
  return { reached: false, sentence: deliversText(names, label, causeOf(at, reasons)), reasons };
}

function isSame(a: RuleRef, b: RuleRef): boolean {
  return a.id === b.id || (a.kind === "flow" && b.kind === "flow" && a.name === b.name);
}

/** `rule "web", which delivers to qp:web, does not match: ...` */
function deliversText(names: readonly string[], label: string, cause: string | undefined): string {
  const [name = ""] = names;
  if (names.length === 1 && cause?.startsWith(`${name} does not match`) === true)
    return `${name}, which delivers to ${label},${cause.slice(name.length)}`;
  const who = `${listText(names)} ${names.length === 1 ? "delivers" : "deliver"} to ${label}`;
  return cause === undefined ? who : `${who}; ${cause}`;
}

function queueVport({ queue }: Extract<FoundTarget, { kind: "queue" }>): number {
  return "context" in queue ? queue.context.function.vport : 0;
}

function rootOf(vport: number): TableRef {
  return { domain: "nic_rx", vport, table: "root" };
}

function forVport(at: Case, vport: number): Answer {
  const { walked } = at;
  if (vport === VPORT_UPLINK) return forPorts(at);
  const visit = walked.visits.find(({ step: { table } }) => table.vport === vport && table.domain === "nic_rx");
  const who = functionText(vport);
  if (visit === undefined) return unreached(at, functionReasons(at, vport), `the frame never reached ${who}`);
  const { rule } = visit.step;
  return afterHit(
    at,
    visit,
    `the frame reached ${who}${rule === null ? "" : `, where ${ruleText(rule)} took it first`}`,
  );
}

/** Whether the frame left through a port. */
function forPorts(at: Case): Answer {
  const { walked, links } = at;
  const left = arrivals(walked.trace.steps).filter(({ to }) => to.startsWith("port:"));
  if (left.length > 0)
    return { reached: true, sentence: `the frame left through ${listText(left.map(({ to }) => to))}`, reasons: [] };
  const ports = Array.from({ length: walked.device.ports }, (_, i) => links.leadsTo("port", i + 1)).flat();
  const leads = [...links.leadsTo("vport", VPORT_UPLINK), ...ports].map(({ rule }) => rule);
  if (leads.length > 0) return unreached(at, leadReasons(at, leads), "the frame left through no port");
  const sentence = "no rule of the FDB sends frames out of a port";
  return {
    reached: false,
    sentence,
    reasons: [{ kind: "not reached", sentence, table: { ...rootOf(0), domain: "fdb" }, leading: [] }],
  };
}

/** The names of the queues that a target stands for, as in outcomes. */
export function labelsOf(at: Case, target: FoundTarget): ReadonlySet<string | undefined> {
  if (target.kind !== "queue") return new Set();
  const { queues } = at.walked.device;
  return new Set([target.label, ...handlesOf(at, target).map((handle) => queues.get(handle)?.label)]);
}

/** How many of the nearest rules explain a miss. */
const MAX_NEAR = 3;
/** How many of the nearest rules are searched for swapped bytes. */
const MAX_SEARCHED = 32;

function forEnd(at: Case): Answer {
  const { walked } = at;
  const { outcome, steps } = walked.trace;
  const got = arrivals(steps).filter(({ copy }) => !copy);
  if (outcome.verdict !== "drop" && outcome.verdict !== "miss") {
    const hits = walked.visits.filter(({ rule, step }) => rule !== 0 && !step.passedOver);
    const rules = hits.flatMap(({ step: { rule } }) => rule ?? []);
    const receiver = rules.find(({ name }) => isReceiver(name));
    const left = receiver === undefined ? [] : unclaimed(at);
    // A rule for all frames of the text may have passed it on.
    const passed = left.findLast(({ step: { rule } }) => rule !== null && !isMade(rule.name))?.step.rule;
    const isLeft = left.length > 0 && passed === undefined;
    const own = isLeft ? receiver : (passed ?? rules.findLast(({ name }) => !isMade(name)));
    const who = own ?? rules.at(-1);
    const to = listText(got.map((one) => one.to));
    const by = who === undefined ? "default" : ruleText(who);
    const sentence = isLeft
      ? `no rule took the frame but the driver's own: ${to} received it by ${by}`
      : `${to} got the frame by ${by}`;
    const reasons = nearMisses(at, left);
    return { reached: true, sentence: sentence + nearText(reasons), reasons };
  }
  const losses = lossesOf(at, steps).sort(
    (a, b) => Number(isMain(b, outcome.reason)) - Number(isMain(a, outcome.reason)),
  );
  const misses = lostMisses(at);
  const shadowed = outcome.reason === "drop_action" ? shadowedBy(at) : [];
  const [why] = losses;
  const sentence = `${why?.sentence ?? "the frame was lost"}${nearText(misses)}${shadowedText(shadowed)}`;
  return { reached: false, sentence, reasons: [...losses.slice(0, 2), ...misses, ...shadowed] };
}

/**
 * The lookups at which no rule but a driver's took a frame, after the last at which one did; that may have led it to their
 * table. Lookups that led it on to other tables of the driver are not among them.
 */
function unclaimed({ walked: { traced, visits } }: Case): readonly Visit[] {
  const last = visits.findLastIndex(
    ({ table, rule, step }) =>
      rule !== 0 && !step.passedOver && !isMade(step.rule?.name) && !isCatchAll(traced, table, rule),
  );
  const domain = visits[last]?.step.table.domain;
  return visits
    .slice(last + 1)
    .filter(({ step }) => domain === undefined || step.table.domain === domain)
    .filter(({ rule, step: { rule: by } }) => rule === 0 || !isMade(by?.name) || isReceiver(by?.name));
}

function nearText([near]: readonly Reason[]): string {
  return near === undefined ? "" : `; nearest: ${near.sentence}`;
}

/** Why the nearest rules did not take a lost frame: where none did, or one that takes what others leave. */
function lostMisses(at: Case): Reason[] {
  const { walked, rules } = at;
  const { reason } = walked.trace.outcome;
  const missed = walked.visits.filter(({ rule }) => rule === 0);
  if (reason === "no_rule" || reason === "table_miss") return nearMisses(at, missed);
  const hits = walked.visits.filter(({ rule, step }) => rule !== 0 && !step.passedOver);
  const last = hits.at(-1);
  if (reason !== "drop_action" || last === undefined || !isCatchAll(walked.traced, last.table, last.rule)) return [];
  const left = hits.filter(({ table, rule }) => isCatchAll(walked.traced, table, rule));
  return nearMisses(at, [...missed, ...left], (node) => !drops(rules.contentOf(node)));
}

/** The rules that would match where a rule dropped the frame, without those that take all others, or drop too. */
function shadowedBy(at: Case): Reason[] {
  const { walked, rules, focus } = at;
  const last = walked.visits.findLast(({ rule, step }) => rule !== 0 && !step.passedOver);
  if (last === undefined || isMade(last.step.rule?.name)) return [];
  const others = laterMatches(at, last).filter(
    ({ node }) =>
      !isMade(rules.refOf(node).name) &&
      !drops(rules.contentOf(node)) &&
      !isCatchAll(walked.traced, node.table, node.stored.address),
  );
  const reasons = others.flatMap((one) => reasonsOf(at, one).slice(0, 1));
  // Whether the drop is meant is not known: no repair is about these rules.
  at.focus = focus;
  return reasons;
}

function shadowedText(shadowed: readonly Reason[]): string {
  const names = shadowed.flatMap((one) => (one.kind === "earlier rule" ? ruleText(one.rule) : []));
  return names.length === 0
    ? ""
    : `; ${listText(names)} would match too, and ${names.length === 1 ? "comes" : "come"} later`;
}

function isMain(one: Reason, reason: string | null): boolean {
  return one.kind === "lost" && one.reason === reason;
}

/** Why the nearest rules of some lookups did not match; the rules of a driver are not in the text. */
function nearMisses(at: Case, visits: readonly Visit[], accepts: (node: RuleNode) => boolean = () => true): Reason[] {
  const isOwn = (node: RuleNode): boolean => !isMade(at.rules.refOf(node).name);
  const nearest = nearestRules(at, MAX_SEARCHED, visits, (node) => isOwn(node) && accepts(node));
  // Swapped bytes differ in many bits, and say more than a rule that is nearer by chance.
  const swapped = nearest.findIndex(({ node, visit }) => wantsSwappedBytes(at.rules.contentOf(node), visit.key));
  if (swapped > 0) nearest.unshift(...nearest.splice(swapped, 1));
  const [first] = nearest;
  const reasons = nearest.slice(0, MAX_NEAR).flatMap((near): Reason[] => {
    const judged: Judged = { ...near, hit: null };
    return near.score === NOT_CONSIDERED ? [] : reasonsOf(at, judged);
  });
  // Another match would let frames pass that a meter, a connection or a flag stopped.
  if (first !== undefined && failsState(at, first)) at.focus = null;
  return reasons;
}

/** Whether a frame fails what a rule matches of the result of a stateful action. */
function failsState({ walked, rules }: Case, { node, visit }: Candidate): boolean {
  const failing = rules.matchOf(node).filter((term) => distanceOf(term, viewOf(visit)) !== 0);
  return failing.some(({ term }) => stateWriter(walked, visit, term.field.name) !== null);
}

function forTwice(at: Case): Answer {
  const { walked } = at;
  const got = arrivals(walked.trace.steps);
  const names = got.map(({ to }) => to);
  if (got.length > 1)
    return { reached: true, sentence: `the frame was delivered ${got.length} times: ${listText(names)}`, reasons: [] };
  if (got.length === 0) {
    const { sentence, reasons } = forEnd(at);
    return { reached: false, sentence: `the frame was not delivered at all: ${sentence}`, reasons };
  }
  const lost = walked.trace.steps.find((step) => step.kind === "destination" && step.refused !== null);
  if (lost?.kind === "destination") {
    const sentence = `the frame was delivered once, to ${names[0] ?? ""}: ${lost.to} refused its copy (${String(lost.refused).replaceAll("_", " ")})`;
    return { reached: false, sentence, reasons: [] };
  }
  const others = walked.visits.flatMap((visit) => laterMatches(at, visit));
  const reasons = others.slice(0, MAX_NEAR).map((one) => reasonsOf(at, one)[0] as Reason);
  const took = walked.visits.findLast(({ rule, step }) => rule !== 0 && !step.passedOver);
  const who = took?.step.rule ?? null;
  const end =
    who === null
      ? ""
      : `: ${ruleText(who)} ended its path, and only DONT_TRAP flows, sniffers, arrays and samplers copy frames`;
  const more = others.length === 0 ? `${end}; no other rule of its tables matches it` : end;
  return { reached: false, sentence: `the frame was delivered once, to ${names[0] ?? ""}${more}`, reasons };
}

/** The rules of a table that would have matched after the one that took the frame. */
function laterMatches({ rules }: Case, visit: Visit): Judged[] {
  if (visit.rule === 0) return [];
  const taker = rules.ruleAt(visit.table, visit.rule);
  return rules
    .rulesOf(visit.table)
    .filter((node) => isBefore(taker, node) && rules.scoreAt(node, visit, 1) === 0)
    .slice(0, MAX_NEAR)
    .map((node) => ({ node, score: 0, hit: null, visit }));
}
