/** Why a frame ended as it did. */
import { isMade, isReceiver } from "../../../drivers/madeRules.js";
import { hashClauses } from "../../print/hashText.js";
import { wantsSwappedBytes } from "../../repair/mistakes/byteOrder.js";
import type { Answer, Case } from "../case.js";
import { distanceOf } from "../compare.js";
import type { Reason } from "../explanation.js";
import { nearestRules, type Candidate } from "../nearest.js";
import { drops, isCatchAll } from "../reasons/catchAll.js";
import { hashIn } from "../reasons/chance.js";
import { listText, ruleText } from "../reasons/describe.js";
import { arrivals, lossesOf } from "../reasons/end.js";
import { leadReasons } from "../reasons/reach.js";
import { linksOf } from "../links.js";
import { NOT_CONSIDERED, reasonsOf, type Judged } from "../reasons/match.js";
import { stateWriter } from "../reasons/writers.js";
import { isBefore, type RuleNode } from "../rules.js";
import { unlinkedRule } from "./unlinked.js";
import { viewOf, type Visit } from "../walked.js";

/** How many of the nearest rules explain a miss. */
export const MAX_NEAR = 3;
/** How many of the nearest rules are searched for swapped bytes. */
const MAX_SEARCHED = 32;

export function forEnd(at: Case): Answer {
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
    // The hash of a driver's own rule would hide why no rule of the text matched.
    const hash = got.length === 1 && !isLeft ? hashIn(steps) : undefined;
    const chosen = hash === undefined ? "" : `: ${hashClauses(hash).join("; ")}`;
    const sentence = isLeft
      ? `no rule took the frame but the driver's own: ${to} received it by ${by}`
      : `${to} got the frame by ${by}${chosen}`;
    const reasons = nearMisses(at, who === undefined ? walked.visits : left);
    const [lost] = lossesOf(at, steps);
    const copies = lost === undefined ? "" : `; a copy was lost: ${lost.sentence}`;
    return {
      reached: true,
      sentence: sentence + copies + nearText(reasons),
      reasons: [...(lost === undefined ? [] : [lost]), ...reasons],
    };
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

function nearText([near, ...more]: readonly Reason[]): string {
  if (near?.kind !== "not reached") return near === undefined ? "" : `; nearest: ${near.sentence}`;
  const cause = more.find(({ kind }) => kind !== "not reached");
  return `; ${near.sentence}${cause === undefined ? "" : `: ${cause.sentence}`}`;
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
  const unlinked = unlinkedRule(at, (node) => isOwn(node) && accepts(node));
  if (unlinked.length > 0) return unlinked;
  const nearest = nearestRules(at, MAX_SEARCHED, visits, (node) => isOwn(node) && accepts(node));
  if (nearest.length === 0) return unreachedMisses(at, visits, isOwn);
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

/** Where only rules of a driver are: why the nearest of them did not lead the frame on to the rules of the text. */
function unreachedMisses(at: Case, visits: readonly Visit[], isOwn: (node: RuleNode) => boolean): Reason[] {
  const { rules, walked } = at;
  const beyond = (node: RuleNode): RuleNode[] =>
    linksOf(walked.traced.core, walked.traced.actionsOf(node.stored)).flatMap(({ kind, to }) =>
      kind === "table" && walked.device.tables.has(to) ? rules.rulesOf(to).filter(isOwn) : [],
    );
  const leads = nearestRules(at, MAX_SEARCHED, visits, (node) => !isOwn(node) && !isReceiver(rules.refOf(node).name));
  const [targets] = leads.map(({ node }) => beyond(node)).filter((own) => own.length > 0);
  if (targets === undefined) return [];
  const [first, ...causes] = leadReasons(at, targets);
  if (first?.kind !== "not reached") return first === undefined ? [] : [first, ...causes];
  const names = [...new Map(targets.map((node) => [node.stored.id, rules.textOf(node)])).values()];
  const sentence = `${listText(names)} ${names.length === 1 ? "was" : "were"} never reached`;
  return [{ ...first, sentence }, ...causes];
}

/** Whether a frame fails what a rule matches of the result of a stateful action. */
function failsState({ walked, rules }: Case, { node, visit }: Candidate): boolean {
  const failing = rules.matchOf(node).filter((term) => distanceOf(term, viewOf(visit)) !== 0);
  return failing.some(({ term }) => stateWriter(walked, visit, term.field.name) !== null);
}

/** The rules of a table that would have matched after the one that took the frame. */
export function laterMatches({ rules }: Case, visit: Visit): Judged[] {
  if (visit.rule === 0) return [];
  const taker = rules.ruleAt(visit.table, visit.rule);
  return rules
    .rulesOf(visit.table)
    .filter((node) => isBefore(taker, node) && rules.scoreAt(node, visit, 1) === 0)
    .slice(0, MAX_NEAR)
    .map((node) => ({ node, score: 0, hit: null, visit }));
}
