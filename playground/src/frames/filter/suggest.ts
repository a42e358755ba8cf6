/** What can be written at a place of the filter. */
import type { Totals } from "../../engine/api.js";
import { CHANGED, quotedIfNeeded, termsOf, type Term } from "./language.js";

export interface Suggestion {
  /** What is written in place of the term. */
  readonly text: string;
  readonly label: string;
  /** Frames, or what the condition asks for. */
  readonly note: string;
  /** Whether a value follows it. */
  readonly more: boolean;
}

/** Suggestions in the menu. */
const MOST = 12;

const CONDITIONS: readonly (readonly [string, string])[] = [
  ["verdict:", "what became of the frame"],
  ["rule:", "a rule that it hit"],
  ["to:", "where it went"],
  ["reason:", "why it missed or was dropped"],
];

/** The term that ends at, or goes over, a place; null between terms. */
export function termAt(text: string, place: number): Term | null {
  return termsOf(text).find(({ from, to }) => from < place && place <= to) ?? null;
}

export function suggestionsOf(text: string, place: number, totals: Totals | null, comparing: boolean): Suggestion[] {
  const term = termAt(text, place);
  const part = (term?.value ?? "").toLowerCase();
  const key = term?.key?.toLowerCase() ?? null;
  if (key === null) {
    if (term?.quoted === true) return [];
    const all = comparing ? [...CONDITIONS, [CHANGED, "it ended in another way before"] as const] : CONDITIONS;
    return all
      .filter(([word]) => word.startsWith(part) && word !== part)
      .map(([word, note]) => ({ text: word, label: word, note, more: word.endsWith(":") }));
  }
  const found = totals === null ? [] : valuesOf(key, totals);
  const begins = found.filter(([value]) => value.toLowerCase().startsWith(part));
  const has = found.filter(([value]) => !begins.some(([one]) => one === value) && value.toLowerCase().includes(part));
  return [...begins, ...has]
    .slice(0, MOST)
    .map(([value, frames]) => ({
      text: `${key}:${quotedIfNeeded(value)}`,
      label: value,
      note: String(frames),
      more: false,
    }))
    .filter((one) => one.text !== text.slice(term?.from, term?.to));
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
