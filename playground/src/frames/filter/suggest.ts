/** What can be written at a place of the filter. */
import type { FilterType } from "flowsteer/packet";
import type { Totals } from "../../engine/api.js";
import { filterFields } from "../../engine/filterFields.js";
import type { Completion } from "../../parts/completionInput.js";
import { counted } from "../../parts/format.js";
import { CHANGED, quoted, quotedIfNeeded } from "./language.js";

/** Suggestions in the menu. */
const MAX = 12;

const CONDITIONS: readonly (readonly [string, string])[] = [
  ["verdict:", "what happened to the frame"],
  ["rule:", "a rule that it hit"],
  ["to:", "where it went"],
  ["reason:", "why it missed or was dropped"],
];

/** What is written before a place: a key or a field with an operator, and the value or word that has begun. */
const BEGUN =
  /(?:([a-z]+):|(fs\.[a-z]+)\s*(?:[=!]==?|\bin\s*\{(?:[^{}]*,)?)\s*)?("?)((?:[^"\\\s()!&|{},]|\\.|(?<="[^"]*)\s)*)$/i;
/** The rest of what is written there. */
const REST = /^[^\s"()!&|{},]*"?/;

export function suggestionsOf(text: string, place: number, totals: Totals | null, comparing: boolean): Completion[] {
  const [all = "", key, field, quote = "", begun = ""] = BEGUN.exec(text.slice(0, place)) ?? [];
  const to = all === "" ? place : place + (REST.exec(text.slice(place))?.[0].length ?? 0);
  const part = begun.toLowerCase();
  const blank = text[to] === " " ? "" : " ";
  const asked = key?.toLowerCase() ?? field?.slice("fs.".length);
  if (asked === undefined) {
    return quote === "" ? beginnings(part, { from: place - begun.length, to, blank }, comparing) : [];
  }
  const from = place - begun.length - quote.length;
  const has = (value: string): boolean => value.toLowerCase().includes(part) && value !== begun;
  const begins = (value: string): boolean => value.toLowerCase().startsWith(part);
  return (totals === null ? [] : valuesOf(asked, totals))
    .filter(([value]) => has(value))
    .sort(([a], [b]) => Number(begins(b)) - Number(begins(a)))
    .slice(0, MAX)
    .map(([value, frames]) => ({
      text: (field === undefined ? quotedIfNeeded(value) : quoted(value)) + blank,
      from,
      to,
      label: value,
      note: counted(frames, "frame"),
      more: false,
    }));
}

interface Gap {
  readonly from: number;
  readonly to: number;
  readonly blank: string;
}

/** What a condition can begin with. */
function beginnings(part: string, { from, to, blank }: Gap, comparing: boolean): Completion[] {
  const words = comparing ? [...CONDITIONS, [CHANGED, "its outcome was different before"] as const] : CONDITIONS;
  const fields =
    part === ""
      ? []
      : [...filterFields().values()].map(({ name, type, header }) => [name, noteOf(type, header)] as const);
  return [...words, ...fields]
    .filter(([word]) => word.startsWith(part) && word !== part)
    .slice(0, MAX)
    .map(([word, note]) => {
      const more = word.endsWith(":");
      return { text: more ? word : word + blank, from, to, label: word, note, more };
    });
}

function noteOf(type: FilterType, header: true | undefined): string {
  return header ? "header" : type;
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
