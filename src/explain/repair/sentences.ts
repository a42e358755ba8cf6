/** Repairs as sentences. */
import type { FieldChange, RuleRef } from "../trace/trace.js";
import { PRIORITY } from "./ruleChange.js";

/** `In rule "web" match outer.tcp_dport 443 instead of 80.` */
export function changeSentence({ kind, name }: RuleRef, changes: readonly FieldChange[]): string {
  const parts = [
    phrase("match", changes.filter(({ field, after }) => field !== PRIORITY && after !== null).map(matched)),
    phrase(
      "leave out",
      changes.filter(({ field, after }) => field !== PRIORITY && after === null).map(({ field }) => field),
    ),
    phrase("use", changes.filter(({ field }) => field === PRIORITY).map(ranked)),
  ];
  return capital(`in ${kind} "${name}" ${joined(parts.filter((part) => part !== ""))}.`);
}

/** `Send the frame with outer.tcp_dport 80 instead of 443.` */
export function frameSentence(fields: readonly FieldChange[]): string {
  const parts = fields.map(({ field, before, after }) => {
    if (after === null) return `without ${field}`;
    return before === null ? `with ${field} ${after}, which it lacks` : `with ${field} ${after} instead of ${before}`;
  });
  return `Send the frame ${joined(parts)}.`;
}

function matched({ field, before, after }: FieldChange): string {
  return before === null ? `${field} ${after}` : `${field} ${after} instead of ${before}`;
}

function ranked({ before, after }: FieldChange): string {
  return `priority ${after} instead of ${before}: the lower number comes first`;
}

function phrase(verb: string, parts: readonly string[]): string {
  return parts.length === 0 ? "" : `${verb} ${joined(parts)}`;
}

/** "a", "a and b", "a, b and c". */
export function joined(parts: readonly string[]): string {
  return parts.length < 2 ? (parts[0] ?? "") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
