/** Headers and fields that can be written at a place of a line of packet notation. */
import { packetFields, packetHeaders } from "flowsteer/packet";
import type { Completion } from "../../parts/completionInput.js";

/** Suggestions in the menu. */
const MAX = 14;

export function packetCompletions(text: string, place: number): Completion[] {
  const begin = text.lastIndexOf("/", place - 1) + 1;
  const [, before = "", word = ""] = /^(\s*(?:\S.*[\s,])?)([\w-]*)$/s.exec(text.slice(begin, place)) ?? [];
  // A value, not a name: an address, a number.
  if (/[.:>[]\s*$/.test(before) || /^\d/.test(word)) return [];
  const rest = /^[\w-]*/.exec(text.slice(place))?.[0] ?? "";
  const [from, to] = [place - word.length, place + rest.length];
  const header = /^\s*([\w-]+)[\s,]/.exec(before)?.[1];
  const named = header === undefined ? headers() : fieldsOf(header === "eth" ? "ethernet" : header);
  return named
    .filter(([name]) => name.startsWith(word.toLowerCase()) && name !== word)
    .slice(0, MAX)
    .map(([label, note]) => ({ text: `${label} `, from, to, label, note, more: header === undefined }));
}

function headers(): (readonly [string, string])[] {
  return packetHeaders().map((name) => [name, "header"]);
}

function fieldsOf(header: string): (readonly [string, string])[] {
  return packetFields(header).flatMap(({ name, kind, flags }): (readonly [string, string])[] =>
    kind === "flags"
      ? flags.map((flag) => [flag, "flag"] as const)
      : [[name, kind === "number" ? "number" : kindText(kind)]],
  );
}

function kindText(kind: string): string {
  return kind.replaceAll("_", " ");
}
