/** An explanation under way: the walked frame, the rules and links of its device, and the rule that the answer is about. */
import type { Reason } from "./explanation.js";
import { LinkMap } from "./links.js";
import { RuleReader, type RuleNode } from "./rules.js";
import type { Visit, Walked } from "./walked.js";

/** The rule that the frame should have hit, and the lookup at which it came nearest. */
export interface Focus {
  readonly node: RuleNode;
  readonly visit: Visit;
}

export class Case {
  readonly walked: Walked;
  readonly rules: RuleReader;
  readonly links: LinkMap;
  /** The rule of the first reason about a rule; null without one. */
  focus: Focus | null = null;
  /** The rules that lead to the target, if the frame came to none of their tables. */
  unreached: readonly RuleNode[] = [];

  constructor(walked: Walked) {
    this.walked = walked;
    this.rules = new RuleReader(walked);
    this.links = new LinkMap(this.rules);
  }
}

/** Reasons, and the answer in one sentence without a full stop. */
export interface Answer {
  readonly reached: boolean;
  readonly sentence: string;
  readonly reasons: readonly Reason[];
}
