/** What the parts of the pane share: the route, the rows that the picture shows, and what was asked. */
import { computed, effect, signal } from "@preact/signals";
import type { Explanation, RuleRef, Target } from "flowsteer/explain";
import type { Pipeline } from "../engine/api.js";
import { engine } from "../engine/client.js";
import { pipeline } from "../state/answer.js";
import { whyInOwnWords } from "../state/ownWords.js";
import { selectedFrame, selectedPath, selectedStep, way } from "../state/selection.js";
import { bytesAt } from "./bytes/bytesAt.js";
import { graphOf, type Graph } from "./picture/graph.js";
import { ruleAt, ruleOf, tableOf } from "./picture/names.js";
import { routeOf } from "./picture/route.js";
import { ruleKey, SHOWN, SHOWN_STEP } from "./picture/rows.js";

export const route = computed(() => {
  const [whole, found] = [pipeline.value, way.value];
  return whole === null || found === null ? null : routeOf(whole, found.trace);
});

/** How many rules a table shows, by its id. */
const limits = signal<ReadonlyMap<string, number>>(new Map());

export function showMoreRules(table: string): void {
  const shown = limits.peek().get(table) ?? SHOWN;
  limits.value = new Map(limits.peek()).set(table, shown + SHOWN_STEP);
}

/** Keys of the rules that the frame missed narrowly. */
const nearKeys = computed((): ReadonlySet<string> => {
  const keys = new Set<string>();
  const whole = pipeline.value;
  if (whole === null) return keys;
  for (const { table, rule } of [...(way.value?.near ?? []), ...nearOf(asked.value?.answer)]) {
    const found = ruleOf(tableOf(whole, table), rule);
    if (found !== undefined) keys.add(ruleKey(found));
  }
  return keys;
});

/** Keys of the rules that are shown in whatever place: hit, nearest, selected. */
const kept = computed((): ReadonlySet<string> => {
  const keys = new Set<string>();
  const whole = pipeline.value;
  if (whole === null) return keys;
  for (const { from, to } of route.value?.hops ?? []) for (const { row } of [from, to]) if (row !== null) keys.add(row);
  for (const key of nearKeys.value) keys.add(key);
  const selected = ruleAt(whole, selectedPath.value);
  if (selected !== undefined) keys.add(ruleKey(selected));
  return keys;
});

function nearOf(
  explanation: Explanation | null | undefined,
): Extract<Explanation["reasons"][number], { kind: "no match" }>[] {
  return explanation?.reasons.filter((reason) => reason.kind === "no match") ?? [];
}

/** Whether a row is of a rule that the frame missed narrowly. */
export function isNear(key: string): boolean {
  return nearKeys.value.has(key);
}

/** The last graph: while nothing in it changes it stays the same object, and so does its layout. */
let drawn: { readonly of: Pipeline; readonly signature: string; readonly graph: Graph } | null = null;

export const graph = computed(() => {
  const whole = pipeline.value;
  if (whole === null) return null;
  const made = graphOf(whole, route.value, { limits: limits.value, kept: kept.value });
  const signature = JSON.stringify([made.nodes.map(({ id, rows }) => [id, rows.map(({ key }) => key)]), made.edges]);
  if (drawn?.of !== whole || drawn.signature !== signature) drawn = { of: whole, signature, graph: made };
  return drawn.graph;
});

/** Bytes of the frame at the selected step. */
export const bytes = computed(() => {
  const found = way.value;
  return found === null ? null : bytesAt(found.trace, found.snapshots, selectedStep.value);
});

/** What was asked about the frame, and its answer. */
export interface Asked {
  readonly target: Target;
  readonly answer: Explanation | null;
  readonly failed: string | null;
}
export const asked = signal<Asked | null>(null);

/** Asks why the selected frame did not reach a target. */
export async function askWhy(target: Target): Promise<void> {
  const frame = selectedFrame.peek();
  if (frame === null) return;
  const question: Asked = { target, answer: null, failed: null };
  asked.value = question;
  try {
    const answer = await whyInOwnWords(await engine().why(frame, target));
    if (asked.peek() === question) asked.value = { target, answer, failed: null };
  } catch (error) {
    const failed = error instanceof Error ? error.message : String(error);
    if (asked.peek() === question) asked.value = { target, answer: null, failed };
  }
}

/** Selects a rule everywhere, and asks why the frame did not hit it if it did not. */
export function selectRule(path: string): void {
  selectedPath.value = path;
  const whole = pipeline.peek();
  const found = way.peek();
  const rule = whole === null ? undefined : ruleAt(whole, path);
  if (found === null || rule === undefined) return;
  const hit = found.trace.steps.findIndex(
    (step) => step.kind === "lookup" && step.rule !== null && !step.passedOver && isNamed(step.rule, rule.name),
  );
  if (hit >= 0) {
    asked.value = null;
    selectedStep.value = hit;
    return;
  }
  void askWhy({ kind: rule.kind === "flow" ? "flow" : "rule", name: rule.name });
}

function isNamed({ name }: RuleRef, wanted: string): boolean {
  return name === wanted || name.split(" = ").includes(wanted);
}

/** The same trace with other words is the same answer. */
const trace = computed(() => way.value?.trace);

// An answer is of one frame under one set of rules.
effect(() => {
  if (trace.value !== null) asked.value = null;
});
