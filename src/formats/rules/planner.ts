/** Writes rules of tools as rules of the device, in several tables where one cannot execute their lists in order. */
import type { ScenarioRule } from "../../scenario/rule/definition.js";
import type { Draft } from "../reading/draft.js";
import { goesOn, type Fork, type ImportRule, type RuleAction } from "./importRule.js";
import { Segment, type SegmentStyle } from "./segment.js";

/** A rule with the actions of the device. */
export interface PlannedRule extends Omit<ImportRule, "actions" | "end"> {
  readonly actions: readonly RuleAction[];
}

export interface RuleSink {
  readonly style?: SegmentStyle;
  /** Whether rules that a rule leads to are written before it. */
  readonly leavesFirst?: true;
  /** The name of a table that a rule leads to; `number` counts those of the first rule, from 0. */
  readonly tableName: (rule: string, label: string, number: number) => string;
  /** Makes a table. @returns its name, which may be another one */
  readonly table: (name: string, level: number) => string;
  readonly rule: (rule: PlannedRule) => void;
}

export function writeRule(first: ImportRule, sink: RuleSink): void {
  let tables = 0;
  // Long lists nest deeply: no recursion.
  const work: (() => void)[] = [];
  const write = ({ actions, end, ...rule }: ImportRule): void => {
    const segment = new Segment(sink.style);
    const left = actions.findIndex((one) => !segment.take(one));
    const fork = left >= 0 ? goesOn({ actions: actions.slice(left), end }) : isFork(end) ? end : undefined;
    if (fork === undefined) {
      sink.rule({ ...rule, actions: [...segment.actions(), ...(end as readonly RuleAction[])] });
      return;
    }
    const level = rule.level + 1;
    const name = sink.tableName(rule.name, fork.label, tables++);
    const table = sink.table(name, level);
    const own = (): void => sink.rule({ ...rule, actions: [...segment.actions(), fork.leads(table)] });
    if (sink.leavesFirst === true) work.push(own);
    else own();
    for (const { suffix, ...branch } of fork.rules.toReversed())
      work.push(() => write({ ...branch, name: `${name}${suffix}`, table, level, notImported: [] }));
  };
  write(first);
  for (let next = work.pop(); next !== undefined; next = work.pop()) next();
}

/** Adds a rule to a scenario, without what is as it is when it is left out. @returns the rule */
export function pushRule(
  draft: Draft,
  { name, table, matcher, priority, match, actions, notImported }: Pushed,
): ScenarioRule {
  const rule: ScenarioRule = {
    name: draft.freeName("rules", name),
    ...(matcher === undefined ? { table, ...(priority === 0 ? {} : { priority }) } : { matcher }),
    ...(Object.keys(match).length === 0 ? {} : { match }),
    actions: [...actions],
    ...(notImported.length === 0 ? {} : { notImported: [...notImported] }),
  };
  draft.push("rules", rule);
  return rule;
}

/** A rule in a table, or of a matcher. */
type Pushed = Omit<PlannedRule, "level"> & { readonly matcher?: string | undefined };

function isFork(end: ImportRule["end"]): end is Fork {
  return "leads" in end;
}
