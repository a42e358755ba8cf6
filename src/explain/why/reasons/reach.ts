/** Why a frame never came to a table, a queue or a vport: the rules that lead there, and why the frame took none of them. */
import { isDevxFlowTable } from "../../../model/devx/kinds.js";
import { VPORT_MANAGER } from "../../../abi/engine.js";
import type { StageName } from "../../../model/table/pipeline.js";
import { TablePipeline } from "../../../model/table/pipeline.js";
import type { RuleRef, TableRef, TraceSource } from "../../trace/trace.js";
import type { Case } from "../case.js";
import { functionText, listText, ruleText, tableText } from "./describe.js";
import { arrivals, lossesOf } from "./end.js";
import type { Reason } from "../explanation.js";
import type { Lead } from "../links.js";
import { judgeAll, reasonsOf, type Judged } from "./match.js";
import type { RuleNode } from "../rules.js";
import { stepsAfter, visitsOf, type Visit } from "../walked.js";

/** Leading rules whose own reasons are given. */
const MAX_LEADS = 3;

/** Leading rules that a reason lists. */
const MAX_LEADING = 100;

/** Tables that the search for the way to a table goes back through. */
const MAX_TABLES = 1000;

/** Why the frame did not reach a table that it has no lookup in. */
export function tableReasons(at: Case, table: number): Reason[] {
  return backFrom(at, table);
}

/** Why the frame took none of some rules that lead to the target, with the nearest first. */
export function leadReasons(at: Case, leads: readonly RuleNode[]): Reason[] {
  const judged = judgeAll(at, leads);
  if (judged.length > 0) return nearestOf(judged).flatMap((one) => takenReasons(at, one));
  at.unreached = leads;
  // None of their tables was reached: the one with the shortest way back.
  const ways = [...new Set(leads.map(({ table }) => table))]
    .slice(0, MAX_LEADS * 4)
    .map((table) => backFrom(at, table));
  return ways.sort((a, b) => a.length - b.length)[0] ?? [];
}

function nearestOf(judged: readonly Judged[]): Judged[] {
  return judged.toSorted((a, b) => a.score - b.score).slice(0, MAX_LEADS);
}

/** Why the frame did not hit a rule, or what became of it after it did. */
function takenReasons(at: Case, judged: Judged): Reason[] {
  if (judged.hit === null) return reasonsOf(at, judged);
  return lossesOf(at, stepsAfter(at.walked, judged.hit.step));
}

/**
 * Goes back from a table to tables that the frame came to, nearest first. Each table is looked at
 * once, so circles of tables end.
 */
function backFrom(at: Case, target: number): Reason[] {
  let ways: readonly (readonly number[])[] = [[target]];
  const seen = new Set([target]);
  let dead: readonly Reason[] | null = null;
  while (ways.length > 0 && seen.size < MAX_TABLES) {
    const next: (readonly number[])[] = [];
    for (const way of ways) {
      const table = way.at(-1) as number;
      const leads = leadsOf(at, table);
      const chain = way.map((one) => notReached(at, one));
      const entry = entryReasons(at, table);
      // The path of a domain says why; nothing else leads to its stages.
      if (entry !== null) return [...chain.slice(0, -1), ...entry];
      const judged = judgeAll(
        at,
        leads.map(({ rule }) => rule),
      );
      if (judged.length > 0) return [...chain, ...nearestOf(judged).flatMap((one) => takenReasons(at, one))];
      const missed = missReasons(at, table);
      if (missed !== null) return [...chain, ...missed];
      for (const before of new Set([...leads.map(({ rule }) => rule.table), ...missSources(at.walked, table)])) {
        if (seen.has(before)) continue;
        seen.add(before);
        next.push([...way, before]);
      }
      dead ??= leads.length === 0 ? chain : null;
    }
    ways = next;
  }
  return [...(dead ?? [notReached(at, target)])];
}

/** The rules that lead to a table. */
function leadsOf({ links }: Case, table: number): readonly Lead[] {
  return links.leadsTo("table", table);
}

function notReached(at: Case, address: number): Reason {
  const { rules } = at;
  const table = rules.tableRefOf(address);
  const leading = refsOf(
    at,
    leadsOf(at, address).map(({ rule }) => rule),
  );
  const names = leading.map(ruleText);
  const missing = missSources(at.walked, address).map((one) => tableText(rules.tableRefOf(one)));
  const text = tableText(table);
  const sentence = notReachedText(text, names, missing);
  return { kind: "not reached", sentence, table, leading: leading.slice(0, MAX_LEADING) };
}

function notReachedText(table: string, rules: readonly string[], missing: readonly string[]): string {
  if (rules.length > 0)
    return `the frame never reached ${table}: ${listText(rules)} ${rules.length === 1 ? "leads" : "lead"} there`;
  if (missing.length > 0) return `the frame never reached ${table}: unmatched frames of ${listText(missing)} go there`;
  return `no rule leads to ${table}, so the frame never reached it`;
}

/** Rules by name, each once: a rule of the eSwitch may be two of the core. */
export function refsOf({ rules }: Case, nodes: readonly RuleNode[]): RuleRef[] {
  const refs = new Map(nodes.map((node) => [node.stored.id, node]));
  return [...refs.values()].map((node) => rules.refOf(node));
}

/** The flow tables whose unmatched frames go to a table. */
export function missSources(walked: Case["walked"], address: number): number[] {
  const sources: number[] = [];
  for (const [table, { object }] of walked.device.tables) {
    if (isDevxFlowTable(object) && object.setting.missTable?.classifier.table === address) sources.push(table);
  }
  return sources;
}

/** The frame came to a table whose unmatched frames go on to this one, but hit a rule there. */
function missReasons(at: Case, address: number): Reason[] | null {
  for (const source of missSources(at.walked, address)) {
    const visit = visitsOf(at.walked, source).find(({ rule }) => rule !== 0);
    if (visit !== undefined) return [tookReason(visit, tableText(at.rules.tableRefOf(address)))];
  }
  return null;
}

/** A rule took the frame before it came to where unmatched frames go. */
function tookReason({ step }: Visit, to: string): Reason {
  const { table, rule: took } = step;
  const who = took === null ? "a rule" : ruleText(took);
  const sentence = `${who} of ${tableText(table)} took the frame, and frames reach ${to} only if no earlier rule takes them`;
  return { kind: "other domain", sentence, domain: table.domain, vport: table.vport, took };
}

/** Received stages, in their order (model/table/pipeline.ts). */
const RECEIVED: readonly StageName[] = [
  "sniffers",
  "rdmaRx",
  "rdmaTransportRx",
  "connected",
  "root",
  "host",
  "defaults",
];

/** Why a frame did not enter the stage of a domain; null for tables that rules alone lead to. */
function entryReasons(at: Case, address: number): Reason[] | null {
  const place = at.walked.device.tables.get(address);
  if (place === undefined || place.stage === null) return null;
  const stage = place.stage as StageName;
  if (stage === "fdb") return fdbReasons(at);
  if (!RECEIVED.includes(stage)) return sendReasons(at, place.vport, address);
  const earlier = takenEarlier(at, place.vport, address);
  return earlier ?? functionReasons(at, place.vport);
}

/** A rule of an earlier stage of the same path took the frame. */
function takenEarlier(at: Case, vport: number, address: number): Reason[] | null {
  const { walked, rules } = at;
  const { domain } = rules.tableRefOf(address);
  const visits = walked.visits.filter(({ step: { table } }) => table.vport === vport && table.domain === domain);
  const took = visits.findLast(({ rule, step }) => rule !== 0 && !step.passedOver);
  if (took !== undefined) return [tookReason(took, tableText(rules.tableRefOf(address)))];
  if (visits.length === 0) return null;
  const sentence = `the frame left the path of ${functionText(vport)} before ${tableText(rules.tableRefOf(address))}`;
  return [{ kind: "other domain", sentence, domain, vport, took: null }];
}

/** Only frames that a queue pair of the function sends enter its send path. */
function sendReasons(at: Case, vport: number, address: number): Reason[] {
  const { from } = at.walked.trace;
  if (from.kind === "queue" && from.vport === vport) {
    const earlier = takenEarlier(at, vport, address);
    if (earlier !== null) return earlier;
  }
  const came =
    from.kind === "wire"
      ? `the frame came from the wire on port ${from.port}`
      : `${from.queue} of ${functionText(from.vport)} sent the frame`;
  const sentence = `NIC_TX of ${functionText(vport)} sees only frames that its own queue pairs send, and ${came}`;
  return [{ kind: "other domain", sentence, domain: "nic_tx", vport, took: null }];
}

/** Every frame from the wire and every sent frame enters the FDB, unless a rule of the send path takes it. */
function fdbReasons(at: Case): Reason[] {
  const { from, steps } = at.walked.trace;
  const vport = from.kind === "queue" ? from.vport : VPORT_MANAGER;
  const losses = lossesOf(at, steps);
  if (from.kind === "queue" && losses.length > 0) return losses;
  const sentence = "the frame did not enter the FDB";
  return [{ kind: "other domain", sentence, domain: "fdb", vport, took: null }];
}

/** Why the frame was not given to a function. */
export function functionReasons(at: Case, vport: number): Reason[] {
  const { walked, links } = at;
  const table: TableRef = { domain: "nic_rx", vport, table: "root" };
  const leads = links.leadsTo("vport", vport).map(({ rule }) => rule);
  const judged = judgeAll(at, leads);
  const who = functionText(vport);
  if (judged.length > 0) return [...nearestOf(judged).flatMap((one) => takenReasons(at, one)), ...switched(at)];
  if (leads.length > 0) {
    const names = refsOf(at, leads).map(ruleText);
    const sentence = `the frame never reached ${who}: ${listText(names)} ${names.length === 1 ? "leads" : "lead"} there`;
    return [{ kind: "not reached", sentence, table, leading: refsOf(at, leads) }, ...leadReasons(at, leads)];
  }
  const fdb = walked.device.function(VPORT_MANAGER).part(TablePipeline).switched;
  const took =
    fdb === 0 ? undefined : walked.visits.findLast(({ step, rule }) => step.table.domain === "fdb" && rule !== 0);
  if (vport !== VPORT_MANAGER) {
    const went = took === undefined ? `without one ${defaultWay(walked.trace.from)}` : fdbTookText(at, took);
    const sentence = `no rule of the FDB sends frames to ${who}; ${went}`;
    return [{ kind: "not reached", sentence, table, leading: [] }];
  }
  if (took !== undefined) return [fdbTook(at, took, who)];
  const from = walked.trace.from;
  const sentence =
    from.kind === "wire"
      ? `the frame did not reach ${who}`
      : `the frame was sent by ${functionText(from.vport)} and left through a port: frames to ${who} come from the wire, from VFs, or are looped back`;
  return [{ kind: "other domain", sentence, domain: "fdb", vport, took: null }];
}

/** Where frames go that no rule of the FDB takes. */
function defaultWay(from: TraceSource): string {
  if (from.kind === "wire") return "frames from the wire go to the PF";
  return from.vport === VPORT_MANAGER ? "frames of the PF leave through their port" : "frames of VFs go to the PF";
}

/** Where the frame went from the FDB, if no rule took it. */
function switched({ walked }: Case): Reason[] {
  const last = walked.visits.findLast(({ step }) => step.table.domain === "fdb");
  if (last === undefined || last.rule !== 0) return [];
  const to = walked.visits.some(({ step: { table } }) => table.domain === "nic_rx" && table.vport === VPORT_MANAGER);
  const sentence = `no rule of the FDB took the frame, so it ${to ? "went to the PF" : "left through its port"}`;
  return [{ kind: "other domain", sentence, domain: "fdb", vport: VPORT_MANAGER, took: null }];
}

/** `rule "out" of the root table of the FDB took the frame, which left through port:2` */
function fdbTookText(at: Case, { step }: Visit): string {
  const { table, rule: took } = step;
  const name = took === null ? "a rule" : ruleText(took);
  const after = stepsAfter(at.walked, step);
  const given = after.find((one) => one.kind === "move" && one.cause === "vport");
  const left = arrivals(after).map(({ to }) => to.replace(/^port:/, "port "));
  const to =
    given?.kind === "move"
      ? ` and gave it to ${functionText(given.to.vport)}`
      : left.length === 0
        ? ""
        : ` and sent it to ${listText(left)}`;
  return `${name} of ${tableText(table)} took the frame${to}`;
}

function fdbTook(at: Case, visit: Visit, who: string): Reason {
  const { table, rule: took } = visit.step;
  const sentence = `${fdbTookText(at, visit)}; ${who} gets the frames that no rule of the FDB sends elsewhere`;
  return { kind: "other domain", sentence, domain: "fdb", vport: table.vport, took };
}
