/** A hash of RSS in words. */
import type { HashChoice } from "../trace/trace.js";
import { together } from "./page.js";

/**
 * "the hash 0x51ccc178 of outer.ipv4_src 10.0.0.1, outer.ipv4_dst 10.0.0.2 chose entry 0 of 4", and a
 * clause for each group of fields that was left out.
 * @param nameOf what a match field is called
 * @returns clauses without a full stop
 */
export function hashClauses(hash: HashChoice, nameOf: (field: string) => string = (field) => field): string[] {
  const { function: name, symmetric, fields, leftOut, entry, entries } = hash;
  const left = leftOut.map(({ fields: names, cause, sentence }) => {
    const list = names.map(nameOf).join(", ");
    return cause === "unselected" ? `not selected: ${list}` : `left out: ${list}, because ${sentence}`;
  });
  if (name === "none") return [`without a hash every frame takes entry ${entry} of ${entries}`];
  const value = `0x${hash.hash.toString(16).padStart(name === "xor8" ? 2 : 8, "0")}`;
  if (fields.length === 0) {
    return [`the hash has no input: all frames without one share entry ${entry} of ${entries}`, ...left];
  }
  const input = fields.map(({ field, value: text }) => together(`${nameOf(field)} ${text}`)).join(", ");
  return [`the ${symmetric ? "symmetric " : ""}hash ${value} of ${input} chose entry ${entry} of ${entries}`, ...left];
}
