/** What became of a frame after a lookup, or at its end: delivered, lost, and why. */
import type { ReasonName, VerdictName } from "../../../model/traffic/outcome.js";
import { noInnerPacket } from "../absent/tunnels.js";
import { has, INNER_LEVEL } from "../absent/facts.js";
import { PRESENT_ETH } from "../../../abi/key.js";
import { fieldNamed, isPresent, readField } from "../../../model/match/fields.js";
import { QueuePair } from "../../../model/queuePair/queuePair.js";
import { STATE_NAMES } from "../../../model/queue/states.js";
import { WorkQueue } from "../../../model/queue/workQueue.js";
import { valueText } from "../../match/notation.js";
import type {
  DestinationStep,
  EndStep,
  FailedCheck,
  LookupStep,
  RuleRef,
  TableRef,
  TraceStep,
} from "../../trace/trace.js";
import type { Case } from "../case.js";
import { functionText, ruleText, tableText } from "./describe.js";
import type { Reason } from "../explanation.js";
import { circleOf } from "../circle.js";
import { lostText, type LostAt } from "./lost.js";
import { factsAt, isAction, isEnd, stepsAfter, stepsBefore, type Visit } from "../walked.js";
import { madeBy } from "./writers.js";

export function isDestination(step: TraceStep): step is DestinationStep {
  return step.kind === "destination";
}

/** The destinations of some steps that took the frame. */
export function arrivals(steps: readonly TraceStep[]): DestinationStep[] {
  return steps.filter(isDestination).filter(({ refused }) => refused === null);
}

/** Why the branches of some steps were lost, the worst first; empty if none ended without a destination. */
export function lossesOf(at: Case, steps: readonly TraceStep[]): Reason[] {
  const refused = steps.filter(isDestination).filter(({ refused: why }) => why !== null);
  if (refused.length > 0) return refused.flatMap((step) => refusalOf(at, step));
  return steps
    .filter(isEnd)
    .filter(({ verdict }) => verdict === "drop" || verdict === "miss")
    .flatMap((end) => lossOf(at, end));
}

/** A queue refused the frame. */
export function refusalOf(at: Case, step: DestinationStep): Reason[] {
  const visit = lastVisit(at, step);
  return visit === null ? [] : [lost(at, "drop", step.refused, visit.step.table, visit, step.to)];
}

/** The end of a branch: what ended it, and the state because of which a rule dropped it. */
export function lossOf(at: Case, end: EndStep): Reason[] {
  const visit = lastVisit(at, end);
  const why = lost(at, end.verdict, end.reason, end.table, visit, null);
  const made = end.reason === "drop_action" && visit !== null ? madeBy(at, visit) : [];
  const [cause] = made;
  return cause === undefined ? [why] : [{ ...why, sentence: `${why.sentence}: ${cause.sentence}` }, ...made];
}

function lost(
  at: Case,
  verdict: VerdictName,
  reason: ReasonName | null,
  table: TableRef,
  visit: Visit | null,
  queue: string | null,
): Reason {
  const rule = visit?.step.rule ?? null;
  const ofEsp = visit !== null && reason?.startsWith("esp_") === true;
  const failed = !ofEsp ? [] : stepsAfter(at.walked, visit.step).flatMap(failedEsp);
  const sentence = lostText(verdict, reason, {
    table: tableText(table),
    rule: rule === null ? null : ruleText(rule),
    circle: circleOf(at.walked.trace.steps),
    queue,
    state: queue === null ? null : stateOfQueue(at, queue),
    esp: visit === null ? null : espOf(visit),
    failed,
    port: at.walked.trace.from.port,
    length: visit?.bytes.length ?? at.walked.trace.frame.length,
    noInner: visit === null ? null : noInner(at, visit),
    owner: functionText(table.vport),
    defaults: hasDefaults(at, table.vport),
  });
  const why: Reason = { kind: "lost", sentence, verdict, reason, at: table };
  return failed.length === 0 ? why : { ...why, failed };
}

function failedEsp(step: TraceStep): readonly FailedCheck[] {
  return isAction(step) && step.action === "esp" ? (step.failed ?? []) : [];
}

/** The state of a queue, by its name in outcomes. */
function stateOfQueue({ walked }: Case, label: string): string | null {
  const queue = [...walked.device.queues.values()].find((one) => one.label === label);
  if (queue instanceof QueuePair) return STATE_NAMES[queue.state] ?? null;
  return queue instanceof WorkQueue ? (["RESET", "RDY", "ERR"][queue.state] ?? null) : null;
}

/** The numbers of the ESP header: of the outer packet, or of the packet inside. */
function espOf({ key }: Visit): LostAt["esp"] {
  for (const level of ["outer", "inner"]) {
    const [spi, sequence] = [fieldNamed(`misc.${level}_esp_spi`), fieldNamed(`ext.${level}_esp_seq`)];
    if (spi === undefined || sequence === undefined || !isPresent(key, spi)) continue;
    return { spi: valueText(spi, readField(key, spi)), sequence: readField(key, sequence) };
  }
  return null;
}

function noInner({ walked }: Case, visit: Visit): string | null {
  const facts = factsAt(walked, visit);
  if (!has(facts, INNER_LEVEL, -1)) return noInnerPacket(facts);
  return has(facts, INNER_LEVEL, PRESENT_ETH) ? null : "the inner packet has no Ethernet header";
}

/** Whether a function has default flows. */
function hasDefaults({ walked }: Case, vport: number): boolean {
  return [...walked.device.tables.values()].some((place) => place.stage === "defaults" && place.vport === vport);
}

/** The last lookup before a step that hit a rule; the last one at all if none did. */
export function lastVisit({ walked }: Case, step: TraceStep): Visit | null {
  const before = new Set(stepsBefore(walked, step));
  const visits = walked.visits.filter((visit) => before.has(visit.step));
  return visits.findLast(({ rule, step: lookup }) => rule !== 0 && !lookup.passedOver) ?? visits.at(-1) ?? null;
}

/** The rules that the frame hit after a lookup, on its branch and those forked from it. */
export function hitsAfter(steps: readonly TraceStep[]): RuleRef[] {
  return steps
    .filter((step): step is LookupStep => step.kind === "lookup")
    .flatMap(({ rule, passedOver }) => (rule === null || passedOver ? [] : rule));
}
