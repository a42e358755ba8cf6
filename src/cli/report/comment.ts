/** The comment at a frame of an annotated capture: what happened to it, in one line. */
import { farOutcomes, type LoadedScenario } from "../../scenario/index.js";
import type { Outcome } from "../../index.js";
import { printable } from "../text.js";
import { whyText } from "./reasons.js";
import { answerText } from "./state.js";

type Destination = Outcome["to"][number];

/**
 * `flowsteer: deliver to qp:web; rules "to overlay", "http"; tag 7; meter police green`
 * @param bytes the frame as it arrived
 * @param tag its tag, which may differ from that of the outcome
 */
export function commentText(
  loaded: LoadedScenario,
  bytes: Uint8Array,
  outcome: Outcome,
  tag: number | null = outcome.tag,
): string {
  return printable(`flowsteer: ${whatHappened(loaded, bytes, outcome, tag)}`);
}

/** The comment at a frame that was not steered. */
export function skippedText(why: string): string {
  return printable(`flowsteer: not steered: ${why}`);
}

function whatHappened(loaded: LoadedScenario, bytes: Uint8Array, outcome: Outcome, tag: number | null): string {
  const { verdict, reason, missed, to, copies, rules } = outcome;
  const why = whyText(loaded, { reason, missed });
  const end = [verdict, to.length === 0 ? "" : ` to ${destinations(bytes, to)}`, why === "" ? "" : `: ${why}`];
  const parts = [end.join("")];
  if (copies.length > 0) parts.push(`copies to ${destinations(bytes, copies)}`);
  if (rules.length > 0) parts.push(`${rules.length === 1 ? "rule" : "rules"} ${rules.map(quoted).join(", ")}`);
  if (tag !== null) parts.push(`tag ${tag}`);
  for (const answer of loaded.state.answersOf(outcome)) parts.push(answerText(answer));
  for (const [port, far, frame] of farOutcomes(outcome)) {
    parts.push(`beyond ${port}: ${whatHappened(loaded, frame, far, far.tag)}`);
  }
  return parts.join("; ");
}

function destinations(bytes: Uint8Array, all: readonly Destination[]): string {
  return all
    .map(({ name, frame, espFault }) => {
      const more = [frame === bytes ? "" : "rewritten", espFault === undefined ? "" : `ESP fault: ${espFault}`];
      const shown = more.filter((text) => text !== "").join(", ");
      return shown === "" ? name : `${name} (${shown})`;
    })
    .join(", ");
}

function quoted({ name }: { readonly name: string }): string {
  return `"${name}"`;
}
