/** How answers say why the frame did not come to the target, and what became of it after it did. */
import type { TraceStep } from "../../trace/trace.js";
import type { Answer, Case } from "../case.js";
import { circleOf } from "../circle.js";
import type { Reason } from "../explanation.js";
import { listText, ruleText } from "../reasons/describe.js";
import { arrivals, hitsAfter, lossesOf } from "../reasons/end.js";
import { circleSentence } from "../reasons/lost.js";
import { stepsAfter, type Visit } from "../walked.js";

/** The reasons are those why the target was not reached; the first says it. */
export function unreached(at: Case, reasons: readonly Reason[], otherwise: string): Answer {
  return { reached: false, sentence: causeOf(at, reasons) ?? otherwise, reasons };
}

/** Why the target was not reached; a frame that went in a circle reached no end for that reason. */
export function causeOf({ walked: { trace } }: Case, reasons: readonly Reason[]): string | undefined {
  const answer = answerOf(reasons);
  if (trace.outcome.reason !== "hop_limit") return answer;
  const circle = circleSentence(circleOf(trace.steps));
  return answer === undefined ? circle : `${circle}; ${answer}`;
}

/** The last reason of a chain of tables that were not reached is the cause. */
function answerOf(reasons: readonly Reason[]): string | undefined {
  const [first] = reasons;
  const cause = reasons.find(({ kind }) => kind !== "not reached");
  if (first === undefined || first === cause) return first?.sentence;
  if (cause !== undefined) return `${first.sentence}, and ${cause.sentence}`;
  const last = reasons.at(-1);
  return last === undefined || last === first ? first.sentence : `${last.sentence}; ${first.sentence}`;
}

/** The frame came to the target: what became of it then, and which rules it hit before it was lost. */
export function afterHit(at: Case, { step }: Visit, sentence: string): Answer {
  const later = hitsAfter(stepsAfter(at.walked, step)).map(ruleText);
  return afterStep(at, step, sentence, later.length === 0 ? "" : `, then ${listText(later)} did`);
}

/** What became of the frame after a step; `hits` is added where it was lost. */
export function afterStep(at: Case, step: TraceStep, sentence: string, hits = ""): Answer {
  const after = stepsAfter(at.walked, step);
  const got = arrivals(after).map(({ to }) => to);
  if (got.length > 0) return { reached: true, sentence: `${sentence}, and ${listText(got)} got it`, reasons: [] };
  const reasons = lossesOf(at, after);
  const [why] = reasons;
  const lost = why === undefined ? "" : `; then it was lost: ${why.sentence}`;
  return { reached: true, sentence: `${sentence}${hits}${lost}`, reasons };
}

/** `rule "web", which delivers to qp:web, does not match: ...`; `does` has the verb for one rule and for several. */
export function leadText(
  names: readonly string[],
  does: readonly [one: string, several: string],
  cause: string | undefined,
): string {
  const [name = ""] = names;
  const [one, several] = does;
  if (names.length === 1 && cause?.startsWith(`${name} does not match`) === true)
    return `${name}, which ${one},${cause.slice(name.length)}`;
  const who = `${listText(names)} ${names.length === 1 ? one : several}`;
  return cause === undefined ? who : `${who}; ${cause}`;
}
