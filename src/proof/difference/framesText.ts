/** The frames of a match, as a phrase of a sentence: `frames to 10.0.0.0/8 and TCP port 80`. */
import type { MatchedField } from "../../explain/trace/trace.js";
import { frameWords } from "../../headers/fields.js";

type Term = Pick<MatchedField, "field" | "wanted">;

/** More terms than this make no sentence. */
const MAX_TERMS = 4;

const PREPOSITIONS = ["from", "to", "with"] as const;

/** Phrases for fields that have a name of their own; `$` is the value. */
const PHRASES: Readonly<Record<string, `${(typeof PREPOSITIONS)[number]} ${string}`>> = {
  smac: "from MAC address $",
  dmac: "to MAC address $",
  ethertype: "with EtherType $",
  first_vid: "with VLAN ID $",
  ipv4_src: "from $",
  ipv6_src: "from $",
  ipv4_dst: "to $",
  ipv6_dst: "to $",
  ip_protocol: "with IP protocol $",
  tcp_sport: "from TCP port $",
  tcp_dport: "to TCP port $",
  udp_sport: "from UDP port $",
  udp_dport: "to UDP port $",
  vxlan_vni: "with VNI $",
};

/** What a tag that is there or not is called. */
const TAGS: Readonly<Record<string, string>> = {
  cvlan_tag: "a C-VLAN tag",
  svlan_tag: "an S-VLAN tag",
  tag: "a VLAN tag",
};

/** Terms that ask for neither kind of tag are one. */
function withoutTags(terms: readonly Term[]): readonly Term[] {
  const isAbsent = (field: string): boolean => terms.some((one) => one.field === field && one.wanted === "0");
  return terms.flatMap((term) => {
    const [, level = "", kind = ""] = /^(outer|inner)\.([cs])vlan_tag$/.exec(term.field) ?? [];
    const other = kind === "c" ? "s" : "c";
    if (kind === "" || !isAbsent(term.field) || !isAbsent(`${level}.${other}vlan_tag`)) return [term];
    return kind === "c" ? [{ ...term, field: `${level}.tag` }] : [];
  });
}

/** Fields that say nothing beside others: what another term implies. */
const IMPLIED: readonly (readonly [field: RegExp, by: RegExp])[] = [
  [/ip_version$/, /ipv[46]_(src|dst)$/],
  [/ethertype$/, /ip_version$|ipv[46]_(src|dst)$/],
  [/ip_protocol$/, /(tcp|udp)_[sd]port$/],
  [/vlan_tag$/, /first_vid$/],
];

/** @param terms what a rule matches; for no terms "all frames" */
export function framesText(terms: readonly Term[]): string {
  const named = withoutTags(terms).filter(
    ({ field, wanted }) =>
      wanted !== "any" && !IMPLIED.some(([one, by]) => one.test(field) && terms.some((other) => by.test(other.field))),
  );
  if (named.length === 0) return terms.length === 0 ? "all frames" : "frames";
  const phrases = named.slice(0, MAX_TERMS).map(phraseOf);
  const more = named.length > MAX_TERMS ? ", ..." : "";
  // "from A and B to C with D, E and F"
  const parts = PREPOSITIONS.flatMap((preposition) => {
    const own = phrases.filter((phrase) => phrase.startsWith(`${preposition} `));
    const objects = own.map((phrase) => phrase.slice(preposition.length + 1));
    return objects.length === 0 ? [] : [`${preposition} ${listed(objects)}`];
  });
  return `frames ${parts.join(" ")}${more}`;
}

function listed(all: readonly string[]): string {
  return all.length < 2 ? all.join("") : `${all.slice(0, -1).join(", ")} and ${all.at(-1)}`;
}

function phraseOf({ field, wanted }: Term): string {
  const [level = "", name = ""] = field.split(".");
  const place = level === "inner" ? " in the tunnel" : "";
  const tag = TAGS[name];
  if (tag !== undefined && (wanted === "0" || wanted === "1"))
    return `with ${wanted === "0" ? tag.replace(/^an? /, "no ") : tag}${place}`;
  const phrase = PHRASES[name];
  return phrase === undefined ? `with ${frameWords(field)} ${wanted}` : phrase.replace("$", wanted) + place;
}
