/** Rules that take no received frames, but some that a queue of their device sends and its port loops back. */
import type { QueuePair } from "../../../model/queuePair/queuePair.js";
import type { RuleNode } from "../../../explain/why/rules.js";
import type { Entry } from "../../path/graph.js";
import type { Found as FoundFrame, LeftOut } from "../../path/search.js";
import type { LintContext } from "../context.js";
import type { Found, LintDetector } from "../detector.js";
import { called, installedObject, mentioned } from "../objects.js";
import { witnessOf } from "../../path/witness.js";
import { listText } from "../../../explain/why/reasons/describe.js";

/** Senders of which a rule may have its only frames. */
const MAX_SENDERS = 4;

const FOUND = new WeakMap<LintContext, ReadonlyMap<number, Found>>();

/** The rules that only looped-back frames hit, by their number. */
export function loopedOnly(context: LintContext): ReadonlyMap<number, Found> {
  let found = FOUND.get(context);
  if (found === undefined) FOUND.set(context, (found = new Map(judged(context))));
  return found;
}

function* judged(context: LintContext): Iterable<readonly [id: number, found: Found]> {
  const { cover } = context;
  const { graph } = cover.world;
  if (!graph.hasLoops) return;
  for (const table of cover.tables()) {
    for (const node of cover.world.nodesOf(table)) {
      const coverage = cover.coverageOf(node);
      if (coverage.status !== "witness" || coverage.witness.from.kind !== "queue") continue;
      const found = onlyLooped(context, node);
      if (found !== null) yield [node.object.id, found];
    }
  }
}

/** Leaves out the frames of one sender after the other, until no frame is left or one needs no loopback. */
function onlyLooped(context: LintContext, node: RuleNode): Found | null {
  const { cover } = context;
  const goal = { table: node.table, rule: node };
  const senders = new Set<QueuePair>();
  let witness: Extract<FoundFrame, { readonly kind: "frame" }> | null = null;
  const passed = new Set<number>();
  for (;;) {
    const found = cover.find(goal, { except: [...senders].map(framesOf) });
    if (found.kind === "unknown" || (found.kind === "none" && witness === null)) return null;
    if (found.kind === "none") break;
    const { queue } = found.last.entry;
    const over = found.lookups.filter(({ table, step }) => table === node.table && step.passedOver);
    if (queue === null || over.length === 0 || senders.size === MAX_SENDERS) return null;
    for (const { rule } of over) passed.add(rule);
    senders.add(queue);
    witness ??= found;
  }
  if (witness === null) return null;
  const object = installedObject(node.object);
  const others = [...passed].map((address) => installedObject(context.rules.ruleAt(node.table, address).object));
  const send = senders.size === 1 ? "itself sends" : "themselves send";
  const names = listText([...senders].map(({ label }) => label));
  return {
    objects: [object, ...others],
    sentence: `${called(object)} gets no received frames: only frames that ${names} ${send} hit it, because a port that loops them back passes over ${listText(others.map(mentioned))}.`,
    witness: witnessOf(witness),
  };
}

function framesOf(sender: QueuePair): LeftOut {
  return {
    isFrom: ({ queue }: Entry) => queue === sender,
    forbid: (solver) => void solver.addClause([]),
  };
}

export const LOOPED: LintDetector = {
  id: "only-looped-back",
  severity: "warning",
  detect: (context) => loopedOnly(context).values(),
};
