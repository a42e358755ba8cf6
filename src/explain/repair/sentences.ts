/** Repairs as sentences. */
import type { FieldChange, RuleRef } from "../trace/trace.js";
import { FLAGS, isOfMatch, PRIORITY } from "./ruleChange.js";

/** `In rule "web" match outer.tcp_dport 443 instead of 80.` */
export function changeSentence({ kind, name }: RuleRef, changes: readonly FieldChange[]): string {
  const match = changes.filter(isOfMatch);
  const parts = [
    phrase("match", match.filter(({ after }) => after !== null).map(matched)),
    phrase(
      "leave out",
      match.filter(({ after }) => after === null).map(({ field }) => field),
    ),
    phrase("use", changes.filter(({ field }) => field === PRIORITY).map(ranked)),
    phrase("set", changes.filter(({ field }) => field === FLAGS).map(copying)),
  ];
  return capital(`in ${kind} "${name}" ${enumerated(parts.filter((part) => part !== ""))}.`);
}

/** `Send the frame with outer.udp_dport 4789 instead of 8472, and add misc.vxlan_vni 5001.` */
export function frameSentence(fields: readonly FieldChange[]): string {
  const parts = [
    phrase("with", fields.filter(({ before, after }) => before !== null && after !== null).map(matched)),
    phrase("add", fields.filter(({ before }) => before === null).map(matched)),
    phrase(
      "remove",
      fields.filter(({ after }) => after === null).map(({ field }) => field),
    ),
  ].filter((part) => part !== "");
  const text = parts.length < 2 ? (parts[0] ?? "") : `${parts.slice(0, -1).join(", ")}, and ${parts.at(-1) ?? ""}`;
  if (text.startsWith("with ")) return `Send the frame ${text}.`;
  const place = parts.length > 1 ? "in" : text.startsWith("add ") ? "to" : "from";
  return `${capital(text)} ${place} the frame.`;
}

function matched({ field, before, after }: FieldChange): string {
  return before === null ? `${field} ${after}` : `${field} ${after} instead of ${before}`;
}

function ranked({ before, after }: FieldChange): string {
  return `priority ${after} instead of ${before}: the lower number comes first`;
}

function copying(): string {
  return "the flag dont_trap: its queue gets a copy, and the frame continues to later rules";
}

function phrase(verb: string, parts: readonly string[]): string {
  return parts.length === 0 ? "" : `${verb} ${enumerated(parts)}`;
}

/** "a", "a and b", "a, b and c". */
export function enumerated(parts: readonly string[]): string {
  return parts.length < 2 ? (parts[0] ?? "") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
