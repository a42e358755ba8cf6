/** Why completions have a tag or not, and why a counter counted a frame or not. */
import { Op } from "../../../abi/engine.js";
import type { OpName } from "../../../model/action/operations.js";
import type { ActionStep, DestinationStep, RuleRef, StateChange, TraceDestination } from "../../trace/trace.js";
import { programText } from "../../trace/programText.js";
import type { Answer, Case } from "../case.js";
import type { Reason } from "../explanation.js";
import { membersOf, type Link } from "../links.js";
import { chanceReason } from "../reasons/chance.js";
import { countIn } from "../reasons/counts.js";
import { listText, ruleText } from "../reasons/describe.js";
import { arrivals } from "../reasons/end.js";
import { leadReasons } from "../reasons/reach.js";
import type { RuleNode } from "../rules.js";
import type { CounterTarget } from "../targets.js";
import { isAction, stepsAfter, stepsBefore } from "../walked.js";
import { afterStep, causeOf, leadText } from "./cause.js";
import { forEnd } from "./ended.js";

export function forTag(at: Case, tag: number): Answer {
  const { steps } = at.walked.trace;
  const got = completionsOf(at).find((one) => one.tag === tag);
  if (got !== undefined) return { reached: true, sentence: completionText(at, got), reasons: [] };
  const set = steps.filter(isAction).findLast(({ action, text }) => action === "tag" && text === `${tag}`);
  if (set !== undefined) return lostTag(at, set);
  const writers = writersOf(at, (op, operand) => op === Op.tag && operand === tag);
  return writers.length === 0
    ? withoutWriter(at, `no rule sets tag ${tag}${markText(at, tag)}`)
    : unwritten(at, writers, [`sets tag ${tag}`, `set tag ${tag}`]);
}

/** A rule that writes the number to a register: a mark of tc is one, and no completion reports it. */
function markText(at: Case, tag: number): string {
  const { core } = at.walked.traced;
  const written = new RegExp(`\\bmetadata_reg_(c_\\d|a) = ${tag}(?:,|$)`);
  let register: string | undefined;
  const [writer] = writersOf(at, (op, program) => {
    if (op !== (Op.modify as number)) return false;
    const found = written.exec(programText(core.u8, program))?.[1];
    register ??= found?.replace("_", "").toUpperCase();
    return found !== undefined;
  });
  if (writer === undefined) return "";
  const rule = ruleText(at.rules.refOf(writer.rule));
  return ` (${rule} writes it to register ${register}, which no completion reports)`;
}

export function forCounter(at: Case, target: CounterTarget): Answer {
  const { name, from, until } = target;
  const counts = at.walked.trace.steps.filter(isAction).flatMap((step) => {
    const change = countIn(step, target);
    return change === undefined ? [] : [{ step, change }];
  });
  const [first] = counts;
  if (first !== undefined) {
    const by = [...new Set(counts.map(({ step }) => textOf(step.rule)))];
    const sentence = `${listText(by)} counted the frame: ${countsText(counts.map(({ change }) => change))}`;
    return afterStep(at, first.step, sentence);
  }
  const writers = writersOf(at, (op, operand) => op === Op.count && operand >= from && operand < until);
  return writers.length === 0
    ? withoutWriter(at, `no rule counts in counter "${name}"`)
    : unwritten(at, writers, [`counts in counter "${name}"`, `count in counter "${name}"`]);
}

/** A rule that writes, and how: by its own actions, for members of an array, or for the copies of a sampler. */
interface Writer {
  readonly rule: RuleNode;
  readonly by: Link["by"];
}

/** The rules with an action, in the order of tables and ranks. */
function writersOf({ rules }: Case, writes: (op: number, operand: number) => boolean): Writer[] {
  const { traced, device } = rules;
  const wayOf = (actions: readonly number[]): Link["by"] | undefined => {
    for (let i = 0; i < actions.length; i += 2) {
      const [op, operand] = [actions[i] as number, actions[i + 1] as number];
      if (writes(op, operand)) return "action";
      if (membersOf(traced.core, op, operand).some((member) => writes(member.op, member.operand)))
        return op === (Op.array as number) ? "array" : "sample";
    }
    return undefined;
  };
  return [...device.tables.keys()].flatMap((table) =>
    rules.rulesOf(table).flatMap((rule): Writer[] => {
      const by = wayOf(traced.actionsOf(rule.stored));
      return by === undefined ? [] : [{ rule, by }];
    }),
  );
}

/** None of the rules that write did so: they were not hit, were hit and lost the frame before, or a sampler did not choose it. */
function unwritten(at: Case, writers: readonly Writer[], does: readonly [string, string]): Answer {
  const chances = writers.flatMap(({ rule, by }) => chanceReason(at, rule, { by }));
  const sampled = new Set(chances.flatMap((one) => (one.kind === "action" ? one.rule.id : [])));
  const others = writers.flatMap(({ rule }) => (sampled.has(rule.stored.id) ? [] : rule));
  const reasons = [...chances, ...(others.length === 0 ? [] : leadReasons(at, others))];
  // Chance decided: no mistake or repair is about the other rules.
  if (chances.length > 0) [at.focus, at.unreached] = [null, []];
  const names = [...new Set(writers.map(({ rule }) => at.rules.textOf(rule)))];
  return { reached: false, sentence: leadText(names, does, causeOf(at, reasons)), reasons };
}

function withoutWriter(at: Case, sentence: string): Answer {
  const table = { domain: "nic_rx", vport: 0, table: "root" } as const;
  const none: Reason = { kind: "not reached", sentence, table, leading: [] };
  const [got] = completionsOf(at);
  if (got !== undefined)
    return { reached: false, sentence: `${sentence}; ${completionText(at, got)}`, reasons: [none] };
  const end = forEnd(at);
  return { reached: false, sentence: `${sentence}; ${end.sentence}`, reasons: [none, ...end.reasons] };
}

/** A queue that got the frame, and the tag that its completion reports: 0 without one. */
interface Completion {
  readonly step: DestinationStep;
  readonly tag: number;
}

function completionsOf({ walked: { trace } }: Case): Completion[] {
  const { to, copies } = trace.outcome;
  const left: TraceDestination[] = [...to, ...copies];
  return arrivals(trace.steps).flatMap((step): Completion[] => {
    const place = left.findIndex(({ name }) => name === step.to);
    const [found] = place < 0 ? [] : left.splice(place, 1);
    return found === undefined || found.kind === "port" ? [] : [{ step, tag: found.tag }];
  });
}

/** `qp:web got the frame with tag 7, which rule "a" set` */
function completionText({ walked }: Case, { step, tag }: Completion): string {
  const tags = stepsBefore(walked, step)
    .filter(isAction)
    .filter(({ action }) => action === "tag" || action in TAKING);
  const [before, setter] = [tags.at(-2), tags.at(-1)];
  const got = `${step.to} got the frame${step.copy ? " as a copy" : ""}`;
  if (setter?.text !== `${tag}`) return `${got} without a tag`;
  const inPlace = before?.action === "tag" ? ` in place of tag ${before.text} of ${textOf(before.rule)}` : "";
  return `${got} with tag ${tag}, which ${textOf(setter.rule)} set${inPlace}`;
}

/** Actions after which a frame goes on without the tag that it had, and what they do. */
const TAKING: Readonly<Partial<Record<OpName, string>>> = {
  untag: "is of a later stage, which takes no tags over",
  resume: "passed the frame on to later flows, which set tags of their own",
  pass: "passed the frame on to the next stage, which sets tags of its own",
  pass_chain: "passed the frame on to the next stage, which sets tags of its own",
};

/** A rule set the tag, and no completion reports it. */
function lostTag(at: Case, set: ActionStep): Answer {
  const after = stepsAfter(at.walked, set);
  const taker = after.filter(isAction).find(({ action }) => action === "tag" || action in TAKING);
  const ends = completionsOf(at).filter(({ step }) => after.includes(step));
  const setter = textOf(set.rule);
  if (taker === undefined && ends.length === 0) {
    const { sentence, reasons } = afterStep(at, set, `${setter} set tag ${set.text}`);
    const isOut = arrivals(after).length > 0;
    return {
      reached: false,
      sentence: isOut ? `${sentence}: only completions of queues report tags` : sentence,
      reasons,
    };
  }
  const sentence = takenText(setter, set.text, taker);
  const rule = (taker ?? set).rule;
  const why: Reason[] = rule === null ? [] : [{ kind: "action", sentence, rule, action: (taker ?? set).action }];
  const [end] = ends;
  if (end !== undefined) return { reached: false, sentence: `${sentence}; ${completionText(at, end)}`, reasons: why };
  const { sentence: lost, reasons } = afterStep(at, set, sentence);
  return { reached: false, sentence: lost, reasons: [...why, ...reasons] };
}

function takenText(setter: string, tag: string, taker: ActionStep | undefined): string {
  if (taker === undefined)
    return `${setter} set tag ${tag}, and the frame went on to the next stage, which sets tags of its own`;
  const who = textOf(taker.rule);
  if (taker.action === "tag") return `${who} overwrote tag ${tag} of ${setter} with tag ${taker.text}`;
  const does = TAKING[taker.action as OpName] ?? "";
  return who === setter
    ? `${setter} set tag ${tag} for its own copy, and ${does}`
    : `${who} ${does}: tag ${tag} of ${setter} ended there`;
}

function textOf(rule: RuleRef | null): string {
  return rule === null ? "a rule" : ruleText(rule);
}

/** `counter "c" went from 4 to 5 packets, 240 to 300 bytes`, for each that counted. */
function countsText(changes: readonly StateChange[]): string {
  const names = [...new Set(changes.map(({ name }) => name))];
  const texts = names.map((name) => {
    const own = changes.filter((one) => one.name === name);
    const [first, last] = [own[0], own.at(-1)];
    const units = (first?.values ?? []).map(({ value, before }) => {
      const after = last?.values.find((one) => one.value === value)?.after ?? before;
      return `${before} to ${after} ${value}`;
    });
    return `counter "${name}" went from ${units.join(", ")}${own.length === 1 ? "" : ` in ${own.length} hits`}`;
  });
  return listText(texts);
}
