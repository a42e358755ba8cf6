/** The fields that filters of the list name: those of frames, and what the engine answered about them. */
import { REASONS } from "flowsteer";
import { packetFilterFields, type FilterField, type FilterFields, type FilterValue } from "flowsteer/packet";
import type { FrameOutcome } from "./api.js";
import { VERDICTS } from "./verdicts.js";

/** Words that values are checked against. */
const WORDS: Readonly<Record<string, readonly string[]>> = { "fs.verdict": VERDICTS, "fs.reason": REASONS };

/** An outcome, with the rules and destinations beyond ports. */
export interface FilteredOutcome {
  readonly outcome: FrameOutcome;
  readonly hits: ReadonlySet<string>;
  readonly reached: ReadonlySet<string>;
  readonly tables: readonly string[];
}

/** The values of our own fields. */
export const OUTCOME_FIELDS: Readonly<Record<string, (of: FilteredOutcome) => readonly FilterValue[]>> = {
  "fs.verdict": ({ outcome: { verdict } }) => (verdict === null ? [] : [verdict]),
  "fs.rule": ({ hits }) => [...hits],
  "fs.table": ({ tables }) => tables,
  "fs.reason": ({ outcome: { reason } }) => (reason === null ? [] : [reason]),
  "fs.to": ({ reached }) => [...reached],
  // A field that only these frames have, so that its name alone is a condition.
  "fs.unclaimed": ({ outcome: { unclaimed } }) => (unclaimed ? ["unclaimed"] : []),
};

let all: FilterFields | undefined;

export function filterFields(): FilterFields {
  if (all !== undefined) return all;
  const own = Object.keys(OUTCOME_FIELDS).map((name): [string, FilterField] => {
    const words = WORDS[name];
    return [name, { name, type: "text", bits: 0, places: null, words }];
  });
  const tag: FilterField = { name: "fs.tag", type: "number", bits: 32, places: null };
  return (all = new Map([...packetFilterFields(), ...own, [tag.name, tag]]));
}
