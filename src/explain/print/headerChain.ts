/** The headers of a frame in one line: `ethernet / ipv4 192.0.2.1 > 10.0.0.7 / udp 49152 > 8472 / payload`. */
import type { ParsedHeader } from "../../packet/parsedFrame.js";
import type { ParseStep } from "../trace/trace.js";

/** Fields that follow the name of a header, joined by " > ". A level stands for "outer" or "inner". */
const SHOWN: Readonly<Record<string, readonly string[]>> = {
  ipv4: ["$.ipv4_src", "$.ipv4_dst"],
  ipv6: ["$.ipv6_src", "$.ipv6_dst"],
  tcp: ["$.tcp_sport", "$.tcp_dport"],
  udp: ["$.udp_sport", "$.udp_dport"],
  sctp: ["ext.$_sctp_sport", "ext.$_sctp_dport"],
  icmp: ["misc3.icmp_type"],
  icmpv6: ["misc3.icmpv6_type"],
  esp: ["misc.$_esp_spi"],
  vxlan: ["misc.vxlan_vni"],
  vxlan_gpe: ["misc3.outer_vxlan_gpe_vni"],
  geneve: ["misc.geneve_vni"],
  gtpu: ["misc3.gtpu_teid"],
  gre: ["misc.gre_key"],
  bth: ["misc.bth_dst_qp"],
};

/** The fields of the first and of the second VLAN tag of a level. */
const TAGS = ["$.first_vid", "misc.$_second_vid"];

/**
 * The headers of a parse step in one line, with their addresses, ports and tunnel numbers.
 * @param step a step of the kind "parse"
 * @returns `ethernet / ipv4 192.0.2.1 > 10.0.0.7 / udp 49152 > 8472 / payload`
 */
export function headerChain(step: Pick<ParseStep, "headers" | "fields" | "payload">): string {
  const seen = new Map<string, number>();
  const words = step.headers.map((one) => {
    const key = `${one.level} ${one.header}`;
    const before = seen.get(key) ?? 0;
    seen.set(key, before + 1);
    return headerText(one, before, step.fields);
  });
  if (step.payload.end > step.payload.offset) words.push("payload");
  return words.join(" / ");
}

/** @param before headers of the same kind and level before this one */
function headerText({ header, level }: ParsedHeader, before: number, fields: ParseStep["fields"]): string {
  const tag = TAGS[before];
  const names = header === "vlan" && tag !== undefined ? [tag] : before === 0 ? (SHOWN[header] ?? []) : [];
  const values = names.flatMap((name) => {
    const value = fields[name.replace("$", level)];
    return value === undefined ? [] : [header === "esp" ? `0x${Number(value).toString(16)}` : String(value)];
  });
  return values.length === 0 ? header : `${header} ${values.join(" > ")}`;
}
