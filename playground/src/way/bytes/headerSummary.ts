/** What people look for first in a header. */
import type { TreeNode } from "flowsteer/packet";

/** Fields that are joined by " > ", and those that follow with their names. */
const ENDS = [
  ["source", "destination"],
  ["source_port", "destination_port"],
  ["sender_protocol", "target_protocol"],
] as const;
const NAMED = [
  "vid",
  "vni",
  "teid",
  "spi",
  "label",
  "key",
  "dst_qp",
  "operation",
  "flags",
  "ttl",
  "hop_limit",
] as const;
/** Fields that say what follows: in words where they have some. */
const NEXT = ["type", "protocol", "next_header", "protocol_type"] as const;

export function headerSummary({ header, fields, length }: TreeNode): string {
  if (header === "payload" || header === "trailer" || header === "unlisted") return `${length} bytes`;
  const text = (name: string): string | undefined => fields.findLast((one) => one.name === name)?.text;
  const ends = ENDS.flatMap(([from, to]) => {
    const [a, b] = [text(from), text(to)];
    return a === undefined || b === undefined ? [] : [`${plain(a)} > ${plain(b)}`];
  });
  const named = NAMED.flatMap((name) => {
    const value = text(name);
    if (value === undefined || (name === "flags" && header !== "tcp")) return [];
    return [`${name === "hop_limit" ? "hop limit" : name.replace("_", " ")} ${inWords(value)}`];
  });
  const next = NEXT.flatMap((name) => {
    const value = text(name);
    return value === undefined ? [] : [inWords(value)];
  });
  return [...ends, ...named, ...next].join(", ");
}

/** `4789` of `4789 (vxlan)`. */
function plain(text: string): string {
  return text.replace(/ \(.*\)$/, "");
}

/** `vxlan` of `4789 (vxlan)`. */
function inWords(text: string): string {
  return /\((.*)\)$/.exec(text)?.[1] ?? text;
}
