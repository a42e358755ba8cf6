/** Rules (mlx5dv_dr: Rule). */
import { insertRule, type FieldRange } from "../engine/rules.js";
import { refuse } from "../errors.js";
import { compileActions, type Action } from "./action.js";
import type { Classifier, Placed } from "./classifier.js";
import { fieldAtBit } from "./fields.js";
import { Handle, living } from "./handle.js";
import { matchOf, type MatchFields, type MatchParameters } from "./match.js";
import { Matcher } from "./matcher.js";
import { checkMask } from "./matcherChecks.js";

const NO_RANGES: readonly FieldRange[] = [];

export class Rule extends Handle implements Placed {
  readonly matcher: Matcher;
  readonly actions: readonly Action[];
  /** Number in outcomes; used again after the rule is destroyed. */
  readonly id: number;
  /** The rule in the core. */
  handle = 0;
  sequence = 0;

  constructor(matcher: Matcher, actions: readonly Action[], id: number, name: string | null) {
    super(matcher.device, name);
    this.matcher = matcher;
    this.actions = actions;
    this.id = id;
  }

  get place(): Matcher {
    return this.matcher;
  }

  get classifier(): Classifier {
    return this.matcher.table.classifier;
  }

  protected override get ownName(): string {
    return `rule${this.id}`;
  }

  /** mlx5dv_dr_rule_create: device bytes under the mask of the matcher. `actions` is kept. */
  static create(
    call: string,
    matcher: Matcher,
    value: MatchParameters | Uint8Array | null | undefined,
    actions: readonly Action[],
  ): Rule {
    living(call, "matcher", matcher, Matcher).checkTakesRules(call);
    const key = matcher.keyOf(call, value);
    return add(call, matcher, matcher.mask as Uint8Array, key, NO_RANGES, actions, undefined);
  }

  /** A rule over named fields, with the ranges that the device format lacks. */
  static named(call: string, matcher: Matcher, fields: MatchFields, actions: readonly Action[], name?: string): Rule {
    living(call, "matcher", matcher, Matcher).checkTakesRules(call);
    const { mask, value, ranges } = matchOf(call, "match", fields);
    if (matcher.mask === null) checkMask(call, matcher.table, mask);
    else checkSameMask(call, matcher, mask, ranges, fields);
    return add(call, matcher, mask, value, ranges, [...actions], name);
  }

  destroy(call: string): void {
    living(call, "rule", this, Rule);
    this.destroyed = true;
    this.device.core.exports.removeRule(this.handle);
    this.device.installed.remove(this);
    this.matcher.users--;
    for (const action of this.actions) action.users--;
  }
}

function add(
  call: string,
  matcher: Matcher,
  mask: Uint8Array,
  value: Uint8Array,
  ranges: readonly FieldRange[],
  actions: readonly Action[],
  name: string | undefined,
): Rule {
  const { device } = matcher;
  const { classifier, domain } = matcher.table;
  const record = compileActions(call, domain, actions);
  const id = device.installed.nextId;
  const rule = new Rule(matcher, actions, id, name ?? null);
  rule.sequence = classifier.nextSequence();
  rule.handle = device.allocated(
    call,
    insertRule(device.core, classifier.table, {
      id,
      rankHigh: classifier.rankHigh(matcher),
      rankLow: classifier.rankLow(matcher, rule.sequence),
      mask,
      value,
      ranges,
      actions: record,
    }),
  );
  device.installed.add(rule);
  matcher.users++;
  for (const action of actions) action.users++;
  return rule;
}

/** Under a matcher with a mask, a rule by name asks exactly what the mask asks; a range stands in a field masked whole. */
function checkSameMask(
  call: string,
  matcher: Matcher,
  mask: Uint8Array,
  ranges: readonly FieldRange[],
  fields: MatchFields,
): void {
  const asked = mask.slice();
  for (const { dword, shift, fieldMask } of ranges) {
    const bits = fieldMask * 2 ** shift;
    for (let byte = 0; byte < 4; byte++) {
      asked[dword + byte] = (asked[dword + byte] ?? 0) | (Math.floor(bits / 2 ** (24 - 8 * byte)) & 0xff);
    }
  }
  const wanted = matcher.mask as Uint8Array;
  const differs = asked.findIndex((bits, byte) => bits !== wanted[byte]);
  if (differs < 0) return;
  const missing = (wanted[differs] ?? 0) & ~(asked[differs] ?? 0);
  refuse({
    code: "EINVAL",
    call,
    reason: missing !== 0 ? "field_left_out" : "value_outside_mask",
    path: `match (${Object.keys(fields).join(", ")})`,
    hint: `the rule asks for exactly the bits that matcher ${matcher.name} masks; it differs at ${fieldAtBit(differs * 8 + Math.clz32((asked[differs] ?? 0) ^ (wanted[differs] ?? 0)) - 24)}`,
  });
}
