/** `repairsFor`: the smallest changes of frame and rule that let the frame come to the target. Each was tried. */
import { isPresent, readField } from "../../model/match/fields.js";
import { hexOf } from "../../base/hex.js";
import { valueText } from "../match/notation.js";
import { presenceWord, termsOf } from "../match/terms.js";
import type { FieldChange } from "../trace/trace.js";
import type { Repair, Standing } from "../why/explanation.js";
import type { RepairContext, RuleCandidate, TriedChange } from "./context.js";
import { Facts, named, parseBytes, type ParsedBytes } from "./facts.js";
import { byteChanges } from "./frame/byteChanges.js";
import { FrameDraft } from "./frame/draft.js";
import { matchingFrame } from "./frame/matching.js";
import { framesBeforeChanges } from "./frame/onTheWay.js";
import type { Finding } from "./finding.js";
import { inFlowFields } from "./flowFields.js";
import { isGuarded } from "./guarded.js";
import { recognized } from "./mistake.js";
import { changedRule, isEmptied } from "./ruleChange.js";
import { copyCandidates, lessOf, priorityCandidates, ruleCandidates } from "./ruleRepairs.js";
import { changeSentence, frameSentence } from "./sentences.js";

/** More repairs than these say less. */
const MAX_PER_RULE = 3;

/** Of no other frame, in place of a mistaken value, of others too, not known, and at the expense of others. */
const STANDINGS: readonly (Standing | null)[] = [null, "safe", "corrects", "widens", "undecided", "disables"];

/**
 * The smallest changes, each tried on the traced core: with it the frame comes to the target. Of the device first, then
 * corrections and safe changes of rules, then of the frame, then of rules what widens, is not known, or disables.
 */
export function repairsFor(context: RepairContext): Repair[] {
  const facts = new Facts(context);
  const found = recognized(facts)?.finding ?? null;
  if (context.stopped) return [];
  const device = deviceRepairs(facts, found);
  const frame = frameRepairs(facts, found);
  const ofRule = ruleRepairs(facts, found).flatMap((change): [TriedChange, Repair][] => {
    const repair = ruleRepair(context, change);
    return repair === null ? [] : [[change, repair]];
  });
  const order = ([, { standing }]: [TriedChange, Repair]): number => STANDINGS.indexOf(standing);
  ofRule.sort((a, b) => order(a) - order(b));
  const isFirst = ([{ corrects }, { standing }]: [TriedChange, Repair]): boolean =>
    standing === null ? corrects : FIRST.includes(standing);
  const first = ofRule.filter(isFirst).sort(([a], [b]) => Number(b.corrects) - Number(a.corrects));
  const others = ofRule.filter((one) => !isFirst(one));
  const repairs = [...device, ...first.map(([, one]) => one), ...frame, ...others.map(([, one]) => one)];
  return repairs.slice(0, MAX_PER_RULE + 1);
}

const FIRST: readonly Standing[] = ["safe", "corrects"];

/**
 * The port that carries VXLAN is registered, as the driver does for a VXLAN device; the rule asks for it where it asks for
 * another one.
 */
function deviceRepairs({ context }: Facts, found: Finding | null): Repair[] {
  const { device, trial, beyond, rule } = context;
  const port = found?.vxlanPort;
  if (port === undefined) return [];
  const { vxlanPorts } = device.parser;
  const ports = [...vxlanPorts, port];
  const [before, after] = [vxlanPorts, ports].map((list) => `[${list.join(", ")}]`) as [string, string];
  const fields = [{ field: VXLAN_PORTS, before, after }];
  const repair = { of: "device", frame: null, bytes: [], ...NO_STANDING } as const;
  const sentence = `Register UDP port ${port} in ${VXLAN_PORTS}.`;
  if (trial.vxlanPorts(ports)) return [{ ...repair, sentence, rule: null, fields }];
  for (const one of [rule, beyond]) {
    const asked = one === null ? undefined : termsOf(one).find(({ field }) => field.name === UDP_PORT);
    if (one === null || asked === undefined) continue;
    const changes = [{ field: UDP_PORT, before: asked.wanted, after: String(port) }];
    const change = changedRule(one, changes);
    if (change === null || !trial.vxlanPorts(ports, one, change)) continue;
    const both = `${sentence} ${changeSentence(one.ref, changes)}`;
    return [{ ...repair, sentence: both, rule: one.ref.name, fields: [...fields, ...changes] }];
  }
  return [];
}

const UDP_PORT = "outer.udp_dport";
const VXLAN_PORTS = "device.parser.vxlanPorts";

function ruleRepairs(facts: Facts, found: Finding | null): TriedChange[] {
  const { context } = facts;
  const rule = found?.rule ?? context.rule;
  // A rule may have a part of the correction already.
  const corrections = found?.changes?.filter(({ before, after }) => before !== after);
  const known: RuleCandidate[] = corrections === undefined || rule === null ? [] : [{ rule, changes: corrections }];
  const ranks = facts.failing.length === 0 ? [...priorityCandidates(facts), ...copyCandidates(facts)] : [];
  const changes: TriedChange[] = [];
  const tried = new Set<string>();
  const last = lessOf(facts);
  const [values = [], masks = []] = ruleCandidates(facts).map((one) => [one]);
  for (const candidate of [...known, ...ranks, ...values, ...masks, ...last]) {
    if (changes.length === MAX_PER_RULE || (changes.length > 0 && last.includes(candidate))) break;
    // The correction has the mask that was meant.
    if (masks.includes(candidate) && changes.some(({ corrects }) => corrects)) continue;
    // The rule of a connection follows from the queue pair.
    if (found?.unread === true && candidate.changes.some(({ after }) => after === null)) continue;
    if (candidate.rule.ref.kind === "connection" || isEmptied(candidate) || isGuarded(context, candidate.rule))
      continue;
    const text = JSON.stringify([candidate.rule.ref.id, candidate.changes]);
    if (tried.has(text)) continue;
    tried.add(text);
    const works = reaching(context, facts, candidate);
    if (works !== null) changes.push({ ...works, corrects: known.includes(candidate) });
  }
  return changes;
}

/** The candidate, or the candidate at a priority of its own, if the frame then comes to the target. */
function reaching(context: RepairContext, facts: Facts, candidate: RuleCandidate): RuleCandidate | null {
  if (comes(context, candidate)) return candidate;
  if (candidate.rule !== context.rule || context.taker === null) return null;
  const [rank] = priorityCandidates(facts).filter(({ rule }) => rule === candidate.rule);
  if (rank === undefined) return null;
  const both = { rule: candidate.rule, changes: [...candidate.changes, ...rank.changes] };
  return comes(context, both) ? both : null;
}

function comes({ trial }: RepairContext, { rule, changes }: RuleCandidate): boolean {
  const change = changedRule(rule, changes);
  return change !== null && trial.rule(rule, change);
}

const NO_STANDING = { standing: null, others: null, witness: null } as const;

function ruleRepair(context: RepairContext, change: TriedChange): Repair | null {
  const { rule, changes } = change;
  const verdict = context.judge === null ? NO_STANDING : context.judge(context, change);
  if (verdict === null) return null;
  return {
    of: "rule",
    sentence: changeSentence(rule.ref, inFlowFields(rule, changes)),
    frame: null,
    bytes: [],
    rule: rule.ref.name,
    fields: changes,
    ...verdict,
  };
}

function frameRepairs(facts: Facts, found: Finding | null): Repair[] {
  const { context } = facts;
  const { device, rule, frame, options } = context;
  if (rule === null || facts.failing.length === 0) return [];
  const from = parseBytes(device, frame, options);
  for (const changed of candidateFrames(facts, from)) {
    if (!context.trial.frame(changed.bytes)) continue;
    const repair = frameRepair(facts, from, changed);
    return found?.unread === true || hasSameHeaders(from, changed) || changesValues(facts, repair, from, changed)
      ? [repair]
      : [];
  }
  return [];
}

/** Whether a repair changes values in place that the rule asks for, and none that say which headers follow in the packet. */
function changesValues({ failing }: Facts, { fields }: Repair, from: ParsedBytes, changed: ParsedBytes): boolean {
  const isValue = ({ field, before, after }: FieldChange): boolean =>
    before !== null &&
    after !== null &&
    failing.some(({ name }) => name === field) &&
    !/\.(ethertype|ip_version|ip_protocol)$/.test(field);
  return from.bytes.length === changed.bytes.length && fields.every(isValue);
}

/** Whether a frame has the headers of another one, except for VLAN tags: otherwise it is another packet. */
function hasSameHeaders(a: ParsedBytes, b: ParsedBytes): boolean {
  const chain = ({ parsed }: ParsedBytes): string =>
    parsed.headers.flatMap(({ header, level }) => (header === "vlan" ? [] : `${level} ${header}`)).join();
  return chain(a) === chain(b);
}

function* candidateFrames(facts: Facts, from: ParsedBytes): Iterable<ParsedBytes> {
  const { context } = facts;
  if (context.rule === null) return;
  if (hexOf(context.frame) !== hexOf(context.frameThere)) yield* framesBeforeChanges(facts, from);
  if (facts.failing.some(({ field }) => field.ofWay)) return;
  const matching = matchingFrame(context, context.rule, from);
  if (matching !== null && matching !== from) yield matching;
}

/** Fields that say which headers follow: a change of them is worth a word. */
const ANNOUNCING = ["outer.udp_dport", "outer.ethertype", "outer.ip_protocol"] as const;

function frameRepair(facts: Facts, from: ParsedBytes, changed: ParsedBytes): Repair {
  const names = new Set(facts.failing.map(({ name }) => name));
  const read = onPortOf(facts, from, changed);
  const fields: FieldChange[] = [];
  for (const name of [...names, ...ANNOUNCING] as (typeof ANNOUNCING)[number][]) {
    const before = textIn((ANNOUNCING as readonly string[]).includes(name) ? from : read, name);
    const after = textIn(changed, name);
    if (before === after || (!names.has(name) && before === null)) continue;
    if (!fields.some(({ field }) => field === name)) fields.push({ field: name, before, after });
  }
  return {
    of: "frame",
    sentence: frameSentence(fields),
    frame: hexOf(changed.bytes),
    bytes: byteChanges(from.bytes, changed.bytes),
    rule: null,
    fields,
    ...NO_STANDING,
  };
}

/** The frame as the device reads it at the UDP port of the changed one: it may have the headers that the device did not read. */
function onPortOf({ context }: Facts, from: ParsedBytes, changed: ParsedBytes): ParsedBytes {
  const port = textIn(changed, "outer.udp_dport");
  const draft = FrameDraft.of(from);
  const udp = draft.find("outer", ["udp"]);
  if (port === null || udp === undefined || textIn(from, "outer.udp_dport") === port) return from;
  udp.fields["destination_port"] = Number(port);
  const bytes = draft.build();
  return bytes === null ? from : parseBytes(context.device, bytes, context.options);
}

function textIn({ key }: ParsedBytes, name: (typeof ANNOUNCING)[number]): string | null {
  const field = named(name);
  if (field.here !== null && (presenceWord(key, field.here.word) & field.here.bit) === 0) return null;
  return isPresent(key, field) ? valueText(field, readField(key, field)) : null;
}
