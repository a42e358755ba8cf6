/** A rule of ethtool under way. */
import type { EthtoolFacts } from "../../../drivers/driver.js";
import type { SourceElement } from "../../reading/finding.js";
import type { MatchDraft } from "../../rules/matchDraft.js";
import { notImported, type Place, type Word } from "../../text/refusal.js";
import type { FlowType, RuleField } from "../fields.js";
import type { Action } from "./actions.js";

export interface NtupleRule {
  readonly device: string;
  readonly type: FlowType;
  readonly match: MatchDraft;
  readonly action: Action;
  readonly loc: number;
  readonly facts: EthtoolFacts;
  readonly place: Place;
  /** The command, or the first line of an entry of a listing. */
  readonly origin: SourceElement;
}

/** What a rule asks for, and the names of the fields that it compares. */
export interface Asked {
  readonly match: MatchDraft;
  readonly compared: readonly string[];
}

/** What the driver counts a field as; it has no field for the traffic class. */
function countedAs(name: string): readonly string[] {
  if (name === "tos" || name === "tclass") return [];
  return [name === "vlan-etype" ? "vlan" : name];
}

export function ask(
  match: MatchDraft,
  field: RuleField,
  type: FlowType,
  value: bigint,
  mask: bigint,
  word: Word,
): void {
  if (field.ask === undefined) notImported(word, (field.element as { refused: string }).refused);
  field.ask(match, type, value & mask, mask, word);
  if (match.contradicts) notImported(word, "no frame of this type has this value");
}

/** What the order of the driver depends on. */
export function factsOf(type: FlowType, compared: readonly string[]): EthtoolFacts {
  return { isEther: type.version === undefined, fields: new Set(compared.flatMap(countedAs)).size };
}
