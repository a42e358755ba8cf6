/** What can be written at a place of the filter. */
import type { Totals } from "../../engine/api.js";
import type { Completion } from "../../parts/completionInput.js";
import { counted } from "../../parts/format.js";
import { CHANGED, quotedIfNeeded, termsOf, type Term } from "./language.js";

/** Suggestions in the menu. */
const MAX = 12;

const CONDITIONS: readonly (readonly [string, string])[] = [
  ["verdict:", "what happened to the frame"],
  ["rule:", "a rule that it hit"],
  ["to:", "where it went"],
  ["reason:", "why it missed or was dropped"],
];

/** The term that ends at, or goes over, a place; null between terms. */
export function termAt(text: string, place: number): Term | null {
  return termsOf(text).find(({ from, to }) => from < place && place <= to) ?? null;
}

export function suggestionsOf(text: string, place: number, totals: Totals | null, comparing: boolean): Completion[] {
  const term = termAt(text, place);
  const [from, to] = [term?.from ?? place, term?.to ?? place];
  const blank = text[to] === " " ? "" : " ";
  const part = (term?.value ?? "").toLowerCase();
  const key = term?.key?.toLowerCase() ?? null;
  if (key === null) {
    if (term?.quoted === true) return [];
    const all = comparing ? [...CONDITIONS, [CHANGED, "its outcome was different before"] as const] : CONDITIONS;
    return all
      .filter(([word]) => word.startsWith(part) && word !== part)
      .map(([word, note]) => {
        const more = word.endsWith(":");
        return { text: more ? word : word + blank, from, to, label: word, note, more };
      });
  }
  const found = totals === null ? [] : valuesOf(key, totals);
  const has = (value: string): boolean => value.toLowerCase().includes(part) && value !== term?.value;
  const begins = (value: string): boolean => value.toLowerCase().startsWith(part);
  return found
    .filter(([value]) => has(value))
    .sort(([a], [b]) => Number(begins(b)) - Number(begins(a)))
    .slice(0, MAX)
    .map(([value, frames]) => ({
      text: `${key}:${quotedIfNeeded(value)}${blank}`,
      from,
      to,
      label: value,
      note: counted(frames, "frame"),
      more: false,
    }));
}

/** What frames have, with how many of them have it. */
function valuesOf(key: string, { verdicts, rules, destinations, copies, reasons }: Totals): [string, number][] {
  const sums: [string, number][] =
    key === "verdict"
      ? Object.entries(verdicts).map(([verdict, { frames }]) => [verdict, frames])
      : key === "rule"
        ? rules.map(({ name, frames }) => [name, frames])
        : key === "to"
          ? [...destinations, ...copies].map(({ to, frames }) => [to, frames])
          : key === "reason"
            ? reasons.flatMap(({ reason, frames }): [string, number][] => (reason === null ? [] : [[reason, frames]]))
            : [];
  const all = new Map<string, number>();
  for (const [value, frames] of sums) all.set(value, (all.get(value) ?? 0) + frames);
  return [...all].filter(([, frames]) => frames > 0 || key === "rule");
}
