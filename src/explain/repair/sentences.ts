/** Repairs as sentences. */
import type { FieldChange, RuleRef } from "../trace/trace.js";
import { FLAGS, isOfMatch, PRIORITY } from "./ruleChange.js";

/** `In rule "web" match outer.tcp_dport 443 instead of 80.` */
export function changeSentence({ kind, name }: RuleRef, changes: readonly FieldChange[]): string {
  const { moved, stay } = movedIn(changes.filter(isOfMatch));
  const parts = [
    phrase("match", [...moved, ...stay.filter(({ after }) => after !== null).map(matched)]),
    phrase(
      "leave out",
      stay.filter(({ after }) => after === null).map(({ field }) => field),
    ),
    phrase("use", changes.filter(({ field }) => field === PRIORITY).map(ranked)),
    phrase("set", changes.filter(({ field }) => field === FLAGS).map(copying)),
  ];
  return capital(`in ${kind} "${name}" ${enumerated(parts.filter((part) => part !== ""))}.`);
}

/** Values that move to another field: `inner.tcp_dport 80 instead of outer.tcp_dport`. The other changes stay. */
function movedIn(changes: readonly FieldChange[]): { moved: string[]; stay: FieldChange[] } {
  const stay = [...changes];
  const moved = changes.flatMap((to) => {
    const from = stay.find(({ before, after }) => after === null && before === to.after && to.before === null);
    if (from === undefined) return [];
    stay.splice(stay.indexOf(from), 1);
    stay.splice(stay.indexOf(to), 1);
    return [`${to.field} ${to.after} instead of ${from.field}`];
  });
  return { moved, stay };
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
