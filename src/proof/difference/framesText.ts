/** The frames of a match, as a phrase of a sentence: `frames to 10.0.0.0/8 and TCP port 80`. */
import type { MatchedField } from "../../explain/trace/trace.js";

type Term = Pick<MatchedField, "field" | "wanted">;

/** More terms than this make no sentence. */
const MAX_TERMS = 4;

/** Phrases for fields that have a name of their own; `$` is the value. */
const PHRASES: Readonly<Record<string, string>> = {
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

/** Fields that say nothing beside others: what another term implies. */
const IMPLIED: readonly (readonly [field: RegExp, by: RegExp])[] = [
  [/ip_version$/, /ipv[46]_(src|dst)$/],
  [/ethertype$/, /ip_version$|ipv[46]_(src|dst)$/],
  [/ip_protocol$/, /(tcp|udp)_[sd]port$/],
];

/** @param terms what a rule matches; for no terms "all frames" */
export function framesText(terms: readonly Term[]): string {
  const named = terms.filter(
    ({ field, wanted }) =>
      wanted !== "any" && !IMPLIED.some(([one, by]) => one.test(field) && terms.some((other) => by.test(other.field))),
  );
  if (named.length === 0) return terms.length === 0 ? "all frames" : "frames";
  const phrases = named.slice(0, MAX_TERMS).map(phraseOf);
  const more = named.length > MAX_TERMS ? ", ..." : "";
  return `frames ${phrases.join(" ")}${more}`;
}

function phraseOf({ field, wanted }: Term): string {
  const [level = "", name = ""] = field.split(".");
  const phrase = PHRASES[name];
  if (phrase === undefined) return `with ${field} ${wanted}`;
  const text = phrase.replace("$", wanted);
  return level === "inner" ? `${text} in the tunnel` : text;
}
