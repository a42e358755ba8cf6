/**
 * What a repair of a rule does to other frames: the device is compared with its copy in which the rule is changed. The paths
 * of a frame part only where it hits the changed rule, no longer matches it, or matches two rules that have changed places.
 */
import type { Judge, RepairContext, TriedChange } from "../../explain/repair/context.js";
import { inFlowFields } from "../../explain/repair/flowFields.js";
import { isOfMatch, PRIORITY } from "../../explain/repair/ruleChange.js";
import { capital } from "../../explain/repair/sentences.js";
import type { Trace } from "../../explain/trace/trace.js";
import type { Tracer } from "../../explain/trace/tracer.js";
import { listText } from "../../explain/why/reasons/describe.js";
import { isBefore, type RuleNode } from "../../explain/why/rules.js";
import { Search } from "../path/search.js";
import { witnessOf } from "../path/witness.js";
import { World } from "../path/world.js";
import { affected, type FoundFrame } from "./affected.js";
import { correctionText, isReplacement } from "./correction.js";
import { changeCopy, partsOf, type Part } from "./changedCopy.js";
import { joining, leaving, nodesOf, partnerOf, type Question } from "./questions.js";

type Verdict = NonNullable<ReturnType<Judge>>;

/** Rules of a device that is compared. */
const MAX_RULES = 20_000;
/** Work for one question, as `FindOptions` counts it. */
const MAX_WORK = 200;

const UNDECIDED: Verdict = { standing: "undecided", others: "What else would match was not decided.", witness: null };

/** Judges repairs of the rules of a device. */
export function judgeOn(tracer: Tracer): Judge {
  const { device, traced } = tracer;
  let kept: { copies: number; readonly world: World | null } | null = null;
  return (context, change) => {
    tracer.refresh();
    // Between the changes that are judged, the copy is that of the same device.
    if (kept?.copies !== traced.copies) {
      const rules = [...device.tables.keys()].reduce((sum, table) => sum + traced.ruleCount(table), 0);
      kept = { copies: traced.copies, world: rules > MAX_RULES ? null : new World(tracer) };
    }
    const verdict = kept.world === null ? UNDECIDED : judged(kept.world, context, change);
    kept.copies = traced.copies;
    return verdict;
  };
}

/** A frame that may be affected, with its trace after the change. */
interface Seen {
  readonly found: FoundFrame;
  readonly frames: string;
  readonly after: Trace;
}

/** The answer to questions: a frame, or "none" with proof. */
type Answer<T> = T | "none" | "unknown";

function judged(old: World, context: RepairContext, change: TriedChange): Verdict | null {
  const { tracer } = old;
  const parts = partsOf(tracer, change);
  if (parts === null) return UNDECIDED;
  const asked = ask(old, change.changes.some(isOfMatch) ? leaving(change, parts) : []);
  // Read before the copy changes.
  const origins = leadBack(old, parts) ? undefined : old.origins;
  const seen = inCopy(tracer, parts, (nodes) => {
    const world = new World(tracer, origins);
    const questions = joining(world, context, change, parts, nodes);
    const joined = questions === null ? "unknown" : ask(world, questions);
    const starved = starvedBy(world, context, change, parts, nodes);
    return { starved, left: withTrace(world, asked), joined: withTrace(world, joined) };
  });
  if (seen === null) return UNDECIDED;
  const { starved, left, joined } = seen;
  if (typeof starved === "object") return null;
  if (isReplacement(change, parts) && (left !== "none" || joined !== "none")) return correction(change, left);
  // What widens takes all that it took.
  if (typeof left === "object") {
    if (!change.corrects) return verdictOf(old, left, "disables");
    return joined === "none" || change.changes.every(isOfMatch) ? correction(change, left) : UNDECIDED;
  }
  if (typeof joined === "object" && left === "none") return verdictOf(old, joined, "widens");
  if ([starved, left, joined].includes("unknown")) return UNDECIDED;
  return { standing: "safe", others: `Safe: only ${aboutText(change)}.`, witness: null };
}

/** The rule matches what was meant in place of what was written. */
function correction(change: TriedChange, left: Answer<Seen>): Verdict {
  const others = correctionText(change);
  return { standing: "corrects", others, witness: typeof left === "object" ? witnessOf(left.found) : null };
}

/** The frames that a safe change is about. */
function aboutText({ rule, changes }: TriedChange): string {
  const fields = inFlowFields(rule, changes.filter(isOfMatch)).map(({ field }) => field);
  return fields.length === 0
    ? "frames that both rules match are affected"
    : `frames with the ${listText(fields)} of this one are affected`;
}

function verdictOf(old: World, { found, frames, after }: Seen, standing: "widens" | "disables"): Verdict {
  const one = affected(old, found, after, frames);
  return one === null
    ? UNDECIDED
    : { standing, others: `${capital(standing)}: ${one.sentence}.`, witness: one.witness };
}

/** Whether frames come from a changed rule to its table again: then the change may be one of what comes there. */
function leadBack({ graph }: World, parts: readonly Part[]): boolean {
  return parts.some(({ node }) => {
    const own = graph.edgesFrom(node.table).filter(({ rule }) => rule?.stored.id === node.stored.id);
    const tables = new Set(own.map(({ to }) => to));
    for (const table of tables) for (const { to } of graph.edgesFrom(table)) tables.add(to);
    return tables.has(node.table);
  });
}

/** Works on the copy of the device with the changed rules; the copy is as before afterwards. Null if memory is full. */
function inCopy<T>(tracer: Tracer, parts: readonly Part[], work: (nodes: readonly RuleNode[]) => T): T | null {
  try {
    const nodes = changeCopy(tracer, parts);
    return nodes === null ? null : work(nodes);
  } finally {
    tracer.traced.spoil();
    tracer.refresh();
  }
}

/** The first frame that answers one of the questions. */
function ask(world: World, questions: readonly Question[]): Answer<Omit<Seen, "after">> {
  const search = new Search(world);
  let answer: "none" | "unknown" = "none";
  for (const { table, rule, also, not, frames } of questions) {
    const found = search.find({ table, rule }, { also, not, maxWork: MAX_WORK });
    if (found.kind === "frame") return { found, frames };
    if (found.kind === "unknown") answer = "unknown";
  }
  return answer;
}

function withTrace(world: World, answer: Answer<Omit<Seen, "after">>): Answer<Seen> {
  if (typeof answer === "string") return answer;
  const { last, before } = answer.found;
  return { ...answer, after: world.walk(last, before).trace };
}

/** A rule that no frame hits after a change of priorities: the one that now comes later. */
function starvedBy(
  world: World,
  context: RepairContext,
  change: TriedChange,
  [part]: readonly Part[],
  nodes: readonly RuleNode[],
): Answer<RuleNode> {
  const [now] = nodes;
  if (!change.changes.some(({ field }) => field === PRIORITY) || part === undefined || now === undefined) return "none";
  const later = isBefore(now, part.node) ? nodesOf(world, partnerOf(context, change)) : nodes;
  const found = ask(
    world,
    later.map((rule) => ({ table: rule.table, rule, frames: "" })),
  );
  const [first] = later;
  if (typeof found === "object" || first === undefined) return "none";
  return found === "none" ? first : "unknown";
}
