/** Random matches for tests of repairs. */
import type { MatchFields } from "../../../../src/model/match/match.js";
import { rangeText, termText } from "../../../assembly/support/core.js";
import { DECLARED, type GeneratedFrame } from "../../../oracle/generate/frame.js";
import type { Random } from "../../../oracle/generate/random.js";
import { randomRuleFor } from "../../../oracle/generate/rule.js";
import { parseReference } from "../../../oracle/wire/parse.js";

/** The match of a random rule near a frame, by name. */
export function randomMatch(frame: GeneratedFrame, random: Random): MatchFields {
  const { fields } = parseReference(frame.bytes, { ...frame, port: 1, parser: DECLARED });
  const { terms, ranges } = randomRuleFor(fields, random);
  return Object.fromEntries([
    ...terms.map((term) => [term.field, termText(term)]),
    ...ranges.map((range) => [range.field, rangeText(range)]),
  ]) as MatchFields;
}
