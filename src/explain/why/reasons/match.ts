/** Why a frame that came to the table of a rule did not hit it. */
import { EXT_PRESENT_INNER, EXT_PRESENT_TUNNEL } from "../../../abi/key.js";
import { fieldNamed } from "../../../model/match/fields.js";
import type { Device } from "../../../model/device/device.js";
import { differencesOf } from "../differences.js";
import { distanceOf, type CompiledMatch } from "../compare.js";
import { listText, ruleText, tableText } from "./describe.js";
import type { RuleRef } from "../../trace/trace.js";
import type { Difference, Reason } from "../explanation.js";
import type { Case } from "../case.js";
import { isBefore, isConsidered, type RuleNode } from "../rules.js";
import { factsAt, viewOf, visitsOf, type Visit } from "../walked.js";
import { spoiler, type Spoiled } from "./changes.js";
import { madeBy, registerNote, stateWriter } from "./writers.js";

/** What became of a rule at the lookups in its table. */
export interface Judged {
  readonly node: RuleNode;
  /** How near the frame came: as `scoreOf` says; 0 if it matched. */
  readonly score: number;
  /** The lookup that hit it; null without one. */
  readonly hit: Visit | null;
  /** The lookup at which the frame came nearest. */
  readonly visit: Visit;
}

/** Judges a rule by the lookup at which the frame came nearest; null if no lookup was in its table. */
export function judge({ walked, rules }: Case, node: RuleNode): Judged | null {
  const visits = visitsOf(walked, node.table);
  const hit = visits.find(({ rule, step }) => rule === node.stored.address && !step.passedOver);
  if (hit !== undefined) return { node, score: 0, hit, visit: hit };
  let [best, visit]: [number, Visit | undefined] = [Infinity, undefined];
  for (const one of visits) {
    const score = isConsidered(node, one) ? rules.scoreAt(node, one, best) : passedScore(rules.scoreAt(node, one, 1));
    if (score < best) [best, visit] = [score, one];
  }
  return visit === undefined ? null : { node, score: best, hit: null, visit };
}

/** With more rules than this, only those near to the frame are judged. */
const MANY = 512;

/** Judges rules whose tables had lookups: all of them, or of many those that the core lists as near, and those that were hit. */
export function judgeAll(at: Case, nodes: readonly RuleNode[]): Judged[] {
  const judged = (nodes.length <= MANY ? nodes : nearTo(at, nodes)).flatMap((node) => judge(at, node) ?? []);
  // A rule of the eSwitch is one of the core for each direction: what counts is the one that the frame came nearest to.
  const best = new Map<number, Judged>();
  for (const one of judged) {
    const known = best.get(one.node.stored.id);
    if (known === undefined || rankOf(one) < rankOf(known)) best.set(one.node.stored.id, one);
  }
  return [...best.values()];
}

function rankOf({ hit, score }: Judged): number {
  return hit === null ? score : -1;
}

function nearTo({ walked: { traced, visits } }: Case, nodes: readonly RuleNode[]): RuleNode[] {
  const byAddress = new Map(nodes.map((node) => [node.stored.address, node]));
  const near = new Set<RuleNode>(nodes.slice(0, MANY >> 3));
  for (const { table, rule, key } of visits) {
    const listed = traced.nearestOf(table, key, MANY).map(({ address }) => address);
    for (const address of [rule, ...listed]) {
      const node = byAddress.get(address);
      if (node !== undefined) near.add(node);
    }
  }
  return [...near];
}

/** More than any sum of failing fields. */
export const NOT_CONSIDERED = 2 ** 50;

/** A lookup that would have hit the rule, had it not begun after it: nearer than any lookup that fails a field. */
const BEGAN_AFTER = 0.5;

function passedScore(score: number): number {
  return score === 0 ? BEGAN_AFTER : NOT_CONSIDERED;
}

/** The reasons why a rule was not hit: the first says it, the others why. */
export function reasonsOf(at: Case, judged: Judged): Reason[] {
  const { node, score, visit } = judged;
  at.focus ??= { node, visit };
  if (score === NOT_CONSIDERED || score === BEGAN_AFTER) return [belowPriority(at, judged)];
  if (score === 0) {
    const isOwn = visit.rule === node.stored.address;
    if (isOwn) return [ownFrame(at, judged)];
    const made = madeBy(at, visit);
    return [earlierRule(at, judged, made), ...made];
  }
  return noMatch(at, judged);
}

/** The frame came to the table from a later priority on. */
function belowPriority({ rules }: Case, { node, visit, score }: Judged): Reason {
  const rule = rules.refOf(node);
  const from = visit.step.fromPriority ?? 0;
  const sentence = `the frame reached ${tableText(visit.step.table)} at priority ${from}, and ${rules.textOf(node)} has priority ${rule.priority}${score === BEGAN_AFTER ? ": it would match there" : ""}`;
  return { kind: "not reached", sentence, table: visit.step.table, leading: [] };
}

/** The rule does not apply to the frames of its own queue pair. */
function ownFrame({ rules }: Case, { node, visit }: Judged): Reason {
  const { domain, vport } = visit.step.table;
  const rule = ruleText(rules.refOf(node));
  const sentence = `${rule} matches, but its own queue pair sent the frame: a flow takes looped-back frames of its own queue pair with IBV_FLOW_ATTR_FLAGS_ALLOW_LOOP_BACK only`;
  return { kind: "other domain", sentence, domain, vport, took: null };
}

function earlierRule({ walked, rules }: Case, { node, visit }: Judged, [made]: readonly Reason[]): Reason {
  const rule = rules.refOf(node);
  const taker = rules.ruleAt(node.table, visit.rule);
  const by = rules.refOf(taker);
  const why = isBefore(taker, node) ? rankText(rule, by, visit, walked.device) : "";
  const cause = made === undefined ? "" : `: ${made.sentence}`;
  const sentence = `${rules.textOf(taker)} took the frame first${why}${cause}; ${rules.textOf(node)} would match too`;
  return { kind: "earlier rule", sentence, rule, by, wouldMatch: true };
}

/** By which part of its rank one rule comes before another. */
function rankText(rule: RuleRef, by: RuleRef, { step }: Visit, { profile }: Device): string {
  if (rule.kind === "entry") return `, by its lower index (${by.priority} before ${rule.priority})`;
  const isLast = ({ kind, priority }: RuleRef): boolean => kind === "flow" && priority > profile.flows.lastPriority;
  if (isLast(by)) return " by its older mask: both match multicast only and come after all other flows";
  if (isLast(rule)) return `: ${ruleText(rule)} matches multicast only and comes after all other flows`;
  if (by.priority !== rule.priority) return `, by its lower priority number (${by.priority} before ${rule.priority})`;
  if (rule.matcher === by.matcher && rule.matcher !== null) return ", because it is the older rule of the same matcher";
  const newer = step.table.table !== "root" && rule.matcher !== null;
  return newer
    ? `, at the same priority ${rule.priority} by its newer matcher`
    : `, at the same priority ${rule.priority} by its older mask or age`;
}

function noMatch(at: Case, { node, visit }: Judged): Reason[] {
  const { walked, rules } = at;
  const match = rules.matchOf(node);
  const differences = differencesOf(match, factsAt(walked, visit)).map((one) => withRegister(at, visit, one));
  const changed = spoilers(at, visit, match);
  const sentence = `${rules.textOf(node)} does not match: ${causeText(differences, changed)}`;
  return [
    { kind: "no match", sentence, rule: rules.refOf(node), table: visit.step.table, differences },
    ...changed.map(({ reason }) => reason),
  ];
}

/** The changes on the way because of which terms do not match, each once; those of state are notes of the register. */
function spoilers({ walked }: Case, visit: Visit, match: CompiledMatch): Spoiled[] {
  const found = match.flatMap((term) => {
    if (distanceOf(term, viewOf(visit)) === 0 || stateWriter(walked, visit, term.term.field.name) !== null) return [];
    return spoiler(walked, visit, term) ?? [];
  });
  return [...new Map(found.map((one) => [one.reason.sentence, one])).values()];
}

/** The differences, and the change on the way that made them: where it removed a header, that is the difference. */
function causeText(differences: readonly Difference[], spoiled: readonly Spoiled[]): string {
  // The version of an address follows from it.
  const changed = spoiled.find(({ field }) => !field.endsWith(".ip_version")) ?? spoiled[0];
  if (changed === undefined) return differencesText(differences);
  const { reason, gone } = changed;
  const first = differences.find(({ field }) => field === changed.field);
  if (gone === null || first === undefined) return `${differencesText(differences)}: ${reason.sentence}`;
  const others = differences.filter(({ field, found }) => found !== null && !gone.includes(field));
  const more =
    others.length === 0
      ? ""
      : `; ${listText(others.map(({ field }) => field))} ${verb(others, "differs", "differ")} too`;
  return `it expects ${first.field} ${first.wanted}, and ${reason.sentence}${more}`;
}

function withRegister({ walked }: Case, visit: Visit, one: Difference): Difference {
  if (one.found === null) return one;
  const note = registerNote(walked, visit, one.field, one.found);
  return note === null ? one : { ...one, note };
}

/** The differences in one line: the first in full, the others by name. Of several absent fields the cause comes first. */
export function differencesText(differences: readonly Difference[]): string {
  const [first] = differences;
  if (first === undefined) return "nothing differs";
  const missing = first.absent === null ? [] : differences.filter((one) => isMissingWith(one, first));
  const others = differences.filter((one) => one !== first && !missing.includes(one)).map(({ field }) => field);
  const fields = listText(missing.map(({ field }) => field));
  const text = missing.length > 1 ? `${first.absent}; ${fields} are absent` : differenceText(first);
  return others.length === 0 ? text : `${text}; ${listText(others)} ${verb(others, "differs", "differ")} too`;
}

function verb(list: readonly unknown[], one: string, many: string): string {
  return list.length === 1 ? one : many;
}

/** Whether a field is absent for the same reason as another one: without a tunnel there is no packet inside. */
function isMissingWith(one: Difference, first: Difference): boolean {
  const inTunnel = fieldNamed(first.field)?.here?.word === EXT_PRESENT_TUNNEL;
  const inner = fieldNamed(one.field)?.here?.word === EXT_PRESENT_INNER;
  return one.absent === first.absent || (one.absent !== null && inTunnel && inner);
}

/** "outer.tcp_dport is 80, not 443". */
export function differenceText({ field, wanted, found, absent, note }: Difference): string {
  if (found === null) return `${field}: ${absent ?? "the header is absent"}`;
  const not = wanted.includes("-") && !/[\s/]/.test(wanted) ? `not in ${wanted}` : `not ${wanted}`;
  return `${field} is ${found}, ${not}${note === null ? "" : ` (${note})`}`;
}
