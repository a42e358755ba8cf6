/** What the actions of a rule need to know, and what they make. */
import type { Draft } from "../../../reading/draft.js";
import type { Word } from "../../../text/refusal.js";
import type { PatternWalk } from "../pattern/walk.js";
import type { Settings } from "../settings/settings.js";
import type { Action } from "./read.js";
import type { RuleAction } from "../../../rules/importRule.js";
import type { Fate, Steps } from "./steps.js";

export interface RulePlace {
  readonly draft: Draft;
  readonly settings: Settings;
  readonly walk: PatternWalk;
  readonly domain: "nic_rx" | "nic_tx" | "fdb";
  readonly vport: number;
  readonly port: number;
  /** The name of the rule. */
  readonly name: string;
  /** The highest id of a mark that the driver takes. */
  readonly maxMark: bigint | undefined;
  readonly queue: (index: number) => string;
  /** The table of a group. */
  readonly table: (group: bigint, word: Word) => string;
  /** What leads to a port in the FDB. @throws NotImported */
  readonly destination: (port: bigint, word: Word) => RuleAction;
  /** A table with rules that spread frames, for all rules that spread alike. */
  readonly spread: (fates: readonly Fate[]) => string;
  readonly assume: (word: Word, reason: string) => void;
  readonly lack: (word: Word, reason: string) => void;
}

/** A plan under way. */
export interface Planning {
  readonly place: RulePlace;
  readonly steps: Steps;
  /** The value of an argument of an action. */
  value(action: Action, name: string): bigint | undefined;
}
