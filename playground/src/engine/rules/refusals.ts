/** What is wrong with rules, as the page shows it. */
import { REFUSALS, type CoreSource, type SteeringError } from "flowsteer";
import { checkScenario } from "flowsteer/scenario";
import type { RulesRefusal } from "../api.js";

/** Characters of rules: a larger text would take longer than anybody waits between two keys. */
const MAX_LENGTH = 8_000_000;

/** Refusals that are shown. */
const MAX = 200;

/** The refusal of a text that is too long to be read; null if it is not. */
export function tooLong(rules: string): RulesRefusal | null {
  if (rules.length <= MAX_LENGTH) return null;
  const text = `the rules have ${rules.length} characters, and the page reads at most ${MAX_LENGTH}`;
  return { message: text, text, hint: "use the flowsteer command", path: null, offset: null };
}

/** The refusals of rules that were refused with `error`: all, unless they are very many. */
export async function refusalsOf(rules: string, error: SteeringError, core: CoreSource): Promise<RulesRefusal[]> {
  const { refusals } = await checkScenario(rules, { core });
  return (refusals.length === 0 ? [error] : refusals.slice(0, MAX)).map((one) => refusalOf(rules, one));
}

function refusalOf(rules: string, { message, path = "", hint, reason }: SteeringError): RulesRefusal {
  // Where the text cannot be read, the place is `line 3, column 5`, or `rules[2].name (line 3, column 5)`.
  const [place, line, column] = /(?:^| \()line (\d+), column (\d+)\)?$/.exec(path) ?? [];
  const bare = place === undefined ? path : path.slice(0, -place.length);
  const offset = place === undefined ? null : offsetOf(rules, Number(line), Number(column));
  return {
    message,
    text: REFUSALS[reason],
    hint: hint ?? null,
    path: bare === "" ? null : bare,
    offset,
  };
}

/** The offset of a line and a column, both from 1; a byte order mark is no column. */
function offsetOf(text: string, line: number, column: number): number {
  let at = 0;
  for (let n = 1; n < line; n++) at = text.indexOf("\n", at) + 1;
  const mark = line === 1 && text.startsWith("\uFEFF") ? 1 : 0;
  return Math.min(at + mark + column - 1, text.length);
}
