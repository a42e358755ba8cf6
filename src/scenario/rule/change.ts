/** Rules that come and go while a scenario is loaded. */
import { inCall, refuse, SteeringError } from "../../errors.js";
import type { Rule } from "../../model/rule/rule.js";
import type { LoadedScenario } from "../load.js";
import { parseScenario } from "../scenario.js";
import type { ScenarioRule } from "./definition.js";

/** Where a document with this rule alone has it. */
const PLACE = "rules[0]";

/**
 * Creates one more rule, as the last one of the document would be.
 *
 * @param rule as in the section `rules` of a document
 * @throws SteeringError as `loadScenario`, with the path in the rule; then no rule was made
 */
export function createRule(loaded: LoadedScenario, rule: unknown): Rule {
  try {
    // Without what names rules, and what was used.
    const { messages: _sent, frames: _run, expect: _compared, ...rest } = loaded.scenario;
    const { rules = [] } = parseScenario({ ...rest, rules: [rule] });
    const checked = rules[0] as ScenarioRule;
    const { name } = checked;
    if (loaded.rules.has(name))
      refuse({ code: "EINVAL", call: "createRule", reason: "duplicate_name", path: `${PLACE}.name`, value: name });
    const made = inCall("loadScenario", () => loaded.objects.makeRule(PLACE, checked));
    loaded.objects.rules.set(name, made);
    return made;
  } catch (error) {
    if (!(error instanceof SteeringError)) throw error;
    const { code, reason, path, value, hint, cite } = error;
    const inRule = path?.startsWith(PLACE) === true ? path.slice(PLACE.length).replace(/^\./, "") : path;
    throw new SteeringError({ code, call: "createRule", reason, path: inRule, value, hint, cite });
  }
}

/** Destroys a rule. @throws SteeringError EINVAL: no rule of this name */
export function destroyRule(loaded: LoadedScenario, name: string): void {
  inCall("destroyRule", () => {
    const rule = loaded.rules.get(name);
    if (rule === undefined) return refuse({ code: "EINVAL", reason: "unknown_name", path: "rule", value: name });
    const { actions } = rule;
    rule.destroy();
    loaded.objects.rules.delete(name);
    loaded.objects.actions.destroyOwn(actions);
  });
}
