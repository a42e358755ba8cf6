/** The answer for each kind of target. */
import { isDevxFlowEntry } from "../../../model/devx/kinds.js";
import { Op, VPORT_UPLINK } from "../../../abi/engine.js";
import { RssQueuePair } from "../../../model/queuePair/rssQueuePair.js";
import { QueuePair } from "../../../model/queuePair/queuePair.js";
import type { InstalledRule } from "../../../model/base/installed.js";
import { FlowEntry } from "../../../model/flow/entry.js";
import { Rule } from "../../../model/rule/rule.js";
import { RSS_MASK, RSS_QUEUES } from "../../../abi/state.js";
import type { RuleRef, TableRef } from "../../trace/trace.js";
import type { Answer, Case } from "../case.js";
import { isMade } from "../../../drivers/madeRules.js";
import { chanceReason } from "../reasons/chance.js";
import { functionText, listText, ruleText, tableText } from "../reasons/describe.js";
import { arrivals, isDestination, refusalOf } from "../reasons/end.js";
import type { Reason } from "../explanation.js";
import { functionReasons, leadReasons, tableReasons } from "../reasons/reach.js";
import { judge, reasonsOf } from "../reasons/match.js";
import type { RuleNode } from "../rules.js";
import type { FoundTarget } from "../targets.js";
import type { Visit } from "../walked.js";
import { afterHit, causeOf, leadText, unreached } from "./cause.js";
import { forEnd, laterMatches, MAX_NEAR } from "./ended.js";
import { forCounter, forTag } from "./written.js";

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
    case "tag":
      return forTag(at, target.tag);
    case "counter":
      return forCounter(at, target);
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
  const [chance] = leads.flatMap(({ rule, link }) => chanceReason(at, rule, link));
  // A flow may be several rules. The queues of a driver's own RSS are no choice of the text.
  const took = chance?.kind === "action" ? chance.rule : null;
  const others = rulesThere.filter((node) => took === null || !isSame(at.rules.refOf(node), took));
  const isDrivers = took !== null && isMade(took.name);
  const own = isDrivers ? others.filter((node) => !isMade(at.rules.refOf(node).name)) : [];
  const byChance = chance === undefined ? [] : [chance];
  const byRules = leadReasons(at, isDrivers ? own : others);
  const isChance = own.length === 0 && chance !== undefined;
  const reasons = isChance ? [...byChance, ...byRules] : [...byRules, ...byChance];
  // Chance decided: no mistake or repair is about the rules that did not take the frame.
  if (isChance) [at.focus, at.unreached] = [null, []];
  const shown = own.length > 0 ? own : rulesThere;
  const names = [...new Set(shown.map((node) => at.rules.textOf(node)))];
  // RSS itself says which rule distributes frames.
  const sentence =
    isChance && chance.kind === "action" && chance.action === "rss"
      ? chance.sentence
      : leadText(names, [`delivers to ${label}`, `deliver to ${label}`], causeOf(at, reasons));
  return { reached: false, sentence, reasons };
}

function isSame(a: RuleRef, b: RuleRef): boolean {
  return a.id === b.id || (a.kind === "flow" && b.kind === "flow" && a.name === b.name);
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
