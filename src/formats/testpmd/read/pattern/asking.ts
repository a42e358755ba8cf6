/** What a rule says otherwise: `udp dst is 4789` to ask for a field that none of its words names, a jump to its group. */
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

const GROUP = /\bflow\s+create\s+(\S+)\s([^/]*?)\bpattern\b/;

/** The command that leads all frames of a port to the group of a rule. */
export function leading(text: string): string | null {
  const [, port, attributes = ""] = GROUP.exec(text) ?? [];
  const group = /\bgroup\s+(\S+)/.exec(attributes)?.[1];
  const from = /\b(?:ingress|egress|transfer)\b/.exec(attributes)?.[0] ?? "ingress";
  if (port === undefined || group === undefined) return null;
  return `flow create ${port} ${from} pattern eth / end actions jump group ${group} / end`;
}
