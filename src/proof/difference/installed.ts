/** What the rules of a device count and change, by the objects that outcomes list. */
import { StateKind } from "../../abi/trace.js";
import type { Core } from "../../engine/core.js";
import { ownersOf, ruleRef } from "../../explain/trace/names.js";
import { stateName } from "../../explain/trace/objects.js";
import type { Tracer } from "../../explain/trace/tracer.js";
import type { MatchedField, RuleRef } from "../../explain/trace/trace.js";
import { membersOf } from "../../explain/why/links.js";
import { termsOf } from "../../explain/match/terms.js";
import { operationOf } from "../../model/action/operations.js";
import type { HitRule, Outcome } from "../../model/traffic/outcome.js";

/** A rule that frames hit. */
export interface HitInfo {
  readonly ref: RuleRef;
  /** What it matches. */
  readonly terms: () => readonly Pick<MatchedField, "field" | "wanted">[];
  /** The counters that its frames may count on. */
  readonly counters: readonly string[];
  /** The meters, connections, flags and associations that its frames may change. */
  readonly state: readonly string[];
}

/** The rules of a device, by the objects in outcomes. */
export class HitRules {
  readonly #infos = new Map<unknown, HitInfo>();

  /** Reads all rules. The tracer must have copied the device. */
  constructor({ device, traced }: Tracer) {
    for (const table of device.tables.keys()) {
      for (const stored of traced.rulesOf(table)) {
        const object = device.installed.at(stored.id);
        const operations = operationsIn(traced.core, traced.actionsOf(stored));
        const namesOf = (counters: boolean): string[] =>
          operations.flatMap(([op, at]) => {
            const { state } = operationOf(op);
            if (state === undefined || (state.kind === StateKind.counter) !== counters) return [];
            return stateName(traced.core, state.kind, at, object);
          });
        const info: HitInfo = {
          ref: ruleRef(object),
          terms: () => termsOf(traced.contentOf(stored)).map(({ field, wanted }) => ({ field: field.name, wanted })),
          counters: namesOf(true),
          state: namesOf(false),
        };
        for (const one of ownersOf(object)) this.#infos.set(one, info);
      }
    }
  }

  /** The rules that a frame hit. Identical flows are one rule. */
  of({ rules }: Pick<Outcome, "rules">): HitInfo[] {
    const infos = rules.map((one) => this.#of(one));
    return infos.filter((one, i) => one !== infos[i - 1]);
  }

  #of(rule: HitRule): HitInfo {
    let info = this.#infos.get(rule);
    if (info === undefined) {
      // A rule that is gone by now.
      info = {
        ref: { kind: "rule", name: rule.name, id: -1, priority: 0, matcher: null },
        terms: () => [],
        counters: [],
        state: [],
      };
      this.#infos.set(rule, info);
    }
    return info;
  }
}

/** The operations of a list, with those of its arrays and samplers. */
function operationsIn(core: Core, actions: readonly number[]): [op: number, operand: number][] {
  const found: [number, number][] = [];
  for (let i = 0; i < actions.length; i += 2) {
    const [op, operand] = [actions[i] as number, actions[i + 1] as number];
    found.push([op, operand], ...membersOf(core, op, operand).map((one): [number, number] => [one.op, one.operand]));
  }
  return found;
}
