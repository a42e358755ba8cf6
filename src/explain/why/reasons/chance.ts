/** Why a rule that took the frame gave it to another queue: RSS chose one, or a sampler did not choose the frame. */
import { Op } from "../../../abi/engine.js";
import { SAMPLER_RATIO } from "../../../abi/state.js";
import type { HashChoice, TraceStep } from "../../trace/trace.js";
import type { Case } from "../case.js";
import type { Reason } from "../explanation.js";
import type { Link } from "../links.js";
import type { RuleNode } from "../rules.js";
import { hashClauses } from "../../print/hashText.js";
import { isAction, stepsAfter } from "../walked.js";
import { listText, ruleText } from "./describe.js";
import { isDestination } from "./end.js";
import { judge } from "./match.js";

export function chanceReason(at: Case, node: RuleNode, { by }: Pick<Link, "by">): Reason[] {
  if (by !== "rss" && by !== "sample") return [];
  const hit = judge(at, node)?.hit ?? null;
  if (hit === null) return [];
  const rule = at.rules.refOf(node);
  const who = ruleText(rule);
  if (by === "sample") {
    const ratio = ratioOf(at, node);
    const sentence = `the sampler of ${who} copies one of ${ratio} frames, at random (the seed of the device), and this frame is not among them`;
    return [{ kind: "action", sentence, rule, action: "sampler" }];
  }
  const after = stepsAfter(at.walked, hit.step);
  const chosen = after.filter(isDestination);
  if (chosen.length === 0) return [];
  const hash = hashIn(after);
  const how = hash === undefined ? "" : `: ${hashClauses(hash).join("; ")}`;
  const sentence = `${who} distributes frames by RSS, which gave this one to ${listText(chosen.map(({ to }) => to))}${how}`;
  return [{ kind: "action", sentence, rule, action: "rss", ...(hash === undefined ? {} : { hash }) }];
}

/** The first hash of some steps. */
export function hashIn(steps: readonly TraceStep[]): HashChoice | undefined {
  return steps.filter(isAction).find((step) => step.hash !== undefined)?.hash;
}

function ratioOf({ rules, walked }: Case, node: RuleNode): number {
  const { actions } = rules.contentOf(node);
  const sampler = actions.findIndex((op, i) => i % 2 === 0 && op === (Op.sampler as number));
  return walked.traced.core.u32[((actions[sampler + 1] as number) + SAMPLER_RATIO) >> 2] as number;
}
