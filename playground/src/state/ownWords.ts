/** Answers in the words of the text that the rules came from. */
import { signal } from "@preact/signals";
import type { TextEdit } from "flowsteer/import";
import type { Edit } from "jsonc-parser";
import type { Explanation } from "flowsteer/explain";
import type { FrameWay } from "../engine/api.js";
import type { OwnExplanation, OwnWords } from "../importing/api.js";
import { ownWords } from "../importing/client.js";
import { source } from "./document.js";
import { imported, placesIn } from "./imported.js";

/** What rules call their match fields, as far as answers name the rules. */
const names = signal<OwnWords["names"]>({});

/** The path of a frame in the words of the text. */
export async function wayInOwnWords(way: FrameWay): Promise<FrameWay> {
  const read = imported.peek();
  if (read === null) {
    names.value = {};
    return way;
  }
  const lookups = way.trace.steps.filter(({ kind }) => kind === "lookup");
  const own = await ownWords(read.of, way.why, [way.near, lookups]).catch(() => null);
  names.value = own?.names ?? {};
  return own === null ? way : { ...way, why: own.why };
}

/** An explanation in the words of the text. */
export async function whyInOwnWords(why: Explanation | null): Promise<OwnExplanation | null> {
  const read = imported.peek();
  if (why === null || read === null) return why;
  const own = await ownWords(read.of, why, []).catch(() => null);
  names.value = { ...names.peek(), ...own?.names };
  return own === null ? why : own.why;
}

/** What a match field is called in the text of a rule: "udp dst". */
export function fieldName(field: string, rule: string | null): string {
  return (rule === null ? undefined : names.value[rule]?.[field]) ?? field;
}

/** Edits of the text that was read last; null where it has changed since. */
export function editsOfText(edits: readonly TextEdit[]): Edit[] | null {
  const read = imported.peek();
  if (read === null || read.of !== source.peek()) return null;
  const { text } = read.of;
  const rangeOf = placesIn(text);
  const made = edits.map(({ line, column, before, after }) => {
    const { from } = rangeOf({ line, column, text: "" });
    return { offset: from, length: before.length, content: after, fits: text.startsWith(before, from) };
  });
  return made.every(({ fits }) => fits) ? made : null;
}
