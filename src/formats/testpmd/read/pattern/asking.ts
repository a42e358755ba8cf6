/** What an item of a pattern says to ask for a field that no word of the rule asks for: `udp` becomes `udp dst is 4789`. */
import type { Change } from "../../../reading/format.js";
import { ITEMS } from "../../fields/items.js";

/** The items of a pattern, each up to its slash. */
const PATTERN = /\bpattern\s+/;
const ITEM = /\s*([\w-]+)([^/]*)/y;

/** The change of a rule that makes it ask that a field has a value; null where no item of the rule has that field. */
export function asking(text: string, field: string, value: string): readonly Change[] | null {
  const pattern = PATTERN.exec(text);
  if (pattern === null || value.includes("/")) return null;
  let level = "outer";
  for (let at = pattern.index + pattern[0].length; ; at++) {
    ITEM.lastIndex = at;
    const [all, item = "", values = ""] = ITEM.exec(text) ?? [];
    const kind = ITEMS[item];
    if (all === undefined || kind === undefined) return null;
    at += all.length;
    const name = Object.keys(kind.fields).find((one) => {
      const [piece, another] = kind.fields[one]?.to ?? [];
      return another === undefined && piece?.into === undefined && piece?.to.replace("{}", level) === field;
    });
    if (name !== undefined && !new RegExp(String.raw`\s${name}\s`).test(values)) {
      const end = at - (values.length - values.trimEnd().length);
      const from = text.lastIndexOf(item, at - values.length - 1);
      return [{ from, to: end, text: `${text.slice(from, end)} ${name} is ${value}` }];
    }
    if (kind.layer === "tunnel") level = "inner";
  }
}
