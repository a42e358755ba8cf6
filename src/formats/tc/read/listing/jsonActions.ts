/** An action of the JSON of `tc -j filter show`, in the words of a command. */
import type { JsonNode } from "../../../../base/json.js";
import { entry, scalar } from "../../../text/json.js";
import { notImported, type Word } from "../../../text/refusal.js";
import { optionsText } from "./jsonValues.js";
import { at } from "./listed.js";

/** @throws NotImported */
export function jsonAction(action: JsonNode): Word[] {
  const kind = scalar(entry(action, "kind")) ?? scalar(entry(action, "type"));
  if (kind === undefined) return notImported({ text: "action", place: action.place }, "its kind is missing");
  const ends = controls(action);
  if (kind.text === "police") return [kind, ...police(action, ends)];
  const words = TURN[kind.text]?.(action) ?? [];
  if (kind.text !== "gact") return [kind, ...words, ...(ends[0] ?? [])];
  return [kind, ...(ends[0] ?? []), ...random(action)];
}

/** What comes next: one end, or of a meter those of frames that exceed and that conform. */
function controls(action: JsonNode): Word[][] {
  if (action.kind !== "object") return [];
  return action.entries.flatMap(([key, value]) => {
    const type = scalar(entry(value, "type"));
    if (key.text !== "control_action" || type === undefined) return [];
    const chain = scalar(entry(value, "chain"));
    return [chain === undefined ? [type] : [type, ...at(type.place, "chain"), chain]];
  });
}

function random(action: JsonNode): Word[] {
  const type = scalar(entry(entry(action, "prob"), "random_type"));
  return type === undefined || type.text === "none" ? [] : [...at(type.place, "random"), type];
}

/** The name of a value, and the value; nothing without it. */
const named = (action: JsonNode, name: string, as = name): Word[] => {
  const word = scalar(entry(action, name));
  return word === undefined ? [] : [...at(word.place, as), word];
};
const bare = (action: JsonNode, name: string): Word[] => {
  const word = scalar(entry(action, name));
  return word === undefined
    ? []
    : word.text.split(/[\s,]+/).flatMap((text) => (text === "" ? [] : [{ ...word, text }]));
};

const TURN: Readonly<Record<string, (action: JsonNode) => Word[]>> = {
  mirred: (action) => [
    ...bare(action, "direction"),
    ...bare(action, "mirred_action"),
    ...named(action, "to_dev", "dev"),
  ],
  vlan: (action) => [
    ...bare(action, "vlan_action"),
    ...["id", "protocol", "priority"].flatMap((name) => named(action, name)),
  ],
  csum: (action) => bare(action, "csum"),
  sample: (action) => [
    ...named(action, "rate").map((word) => ({ ...word, text: word.text.replace(/^1\//, "") })),
    ...named(action, "group"),
    ...named(action, "trunc_size", "trunc"),
  ],
  skbedit: (action) => ["mark", "priority", "queue_mapping", "ptype"].flatMap((name) => named(action, name)),
  ct: (action) => {
    const nat = scalar(entry(action, "nat"));
    return [
      ...bare(action, "action"),
      ...["zone", "mark", "label"].flatMap((name) => named(action, name)),
      ...(nat === undefined ? [] : [...at(nat.place, "nat"), ...bare(action, "nat")]),
    ];
  },
  tunnel_key: (action) => {
    const options = ["geneve_opts", "vxlan_opts", "erspan_opts"].flatMap((name) => {
      const value = entry(action, name);
      return value === undefined ? [] : at(value.place, name, optionsText(value));
    });
    return [
      ...bare(action, "mode"),
      ...["src_ip", "dst_ip"].flatMap((name) => named(action, name)),
      ...named(action, "key_id", "id"),
      ...named(action, "dst_port"),
      ...options,
      ...bare(action, "flag"),
      ...["tos", "ttl"].flatMap((name) => named(action, name)),
    ];
  },
  pedit: (action) => {
    const keys = entry(action, "keys");
    if (keys?.kind !== "array") return [];
    return keys.items.flatMap((key) => {
      const text = (name: string): string => scalar(entry(key, name))?.text ?? "0";
      const header = text("htype") === "network" ? "" : `${text("htype")}+`;
      return at(key.place, "bits", `${header}${text("offset")}`, text("cmd"), text("val"), text("mask"));
    });
  },
};

/** A rate is a text, or a number of bytes a second. */
function police(action: JsonNode, [exceed, conform]: readonly Word[][]): Word[] {
  const rate = named(action, "rate").map((word) =>
    /^\d+$/.test(word.text) ? { ...word, text: `${word.text}bps` } : word,
  );
  const packets = [...named(action, "pkts_rate"), ...named(action, "pkts_burst")];
  if (rate.length === 0 && packets.length === 0) {
    notImported(
      { text: "police", place: action.place },
      "this version of tc leaves its rate out of the JSON: the text has it",
    );
  }
  const limits = [exceed, conform].flatMap((one) => (one === undefined ? [] : [one.map(({ text }) => text).join(" ")]));
  const ends = limits.length === 0 ? [] : at(action.place, "conform-exceed", limits.join("/"));
  return [...rate, ...named(action, "burst"), ...packets, ...ends];
}
