/** Programmable samples: a sample within a header has the bits of that header ("Programmable samples"). */
import {
  PRESENT_BTH,
  PRESENT_ESP,
  PRESENT_ETH,
  PRESENT_GENEVE,
  PRESENT_GRE,
  PRESENT_GTPU,
  PRESENT_GTPU_EXTENSION,
  PRESENT_ICMP,
  PRESENT_ICMPV6,
  PRESENT_IPV4,
  PRESENT_IPV6,
  PRESENT_MACSEC,
  PRESENT_SAMPLE,
  PRESENT_SCTP,
  PRESENT_TCP,
  PRESENT_UDP,
  PRESENT_VLAN,
  PRESENT_VXLAN,
  PRESENT_VXLAN_GPE,
} from "../../abi/key.js";
import type { FieldName } from "../../model/match/fields.js";
import type { SampleOptions } from "../../model/base/parser.js";
import { bits, equals, present, type Level, type Term } from "./cells.js";
import type { Declaration, Plan } from "./plan.js";
import { wireOf, type WireHeader } from "./wire.js";

/** Presence bits of headers, of the level or of the tunnel. */
const LEVEL_HEADERS: Readonly<Record<string, number>> = {
  ethernet: PRESENT_ETH,
  vlan: PRESENT_VLAN,
  ipv4: PRESENT_IPV4,
  ipv6: PRESENT_IPV6,
  tcp: PRESENT_TCP,
  udp: PRESENT_UDP,
  sctp: PRESENT_SCTP,
  esp: PRESENT_ESP,
};
const OUTER_HEADERS: Readonly<Record<string, number>> = { icmp: PRESENT_ICMP, icmpv6: PRESENT_ICMPV6 };
const TUNNEL_HEADERS: Readonly<Record<string, number>> = {
  vxlan: PRESENT_VXLAN,
  vxlan_gpe: PRESENT_VXLAN_GPE,
  geneve: PRESENT_GENEVE,
  gtpu: PRESENT_GTPU,
  gtpu_extension: PRESENT_GTPU_EXTENSION,
  gre: PRESENT_GRE,
  bth: PRESENT_BTH,
  macsec: PRESENT_MACSEC,
};

/** The presence bit of the header that a sample is taken from; undefined where the key has none. */
function headerOf({ header, level = "outer" }: SampleOptions): Term | undefined {
  const own = LEVEL_HEADERS[header];
  if (own !== undefined) return present(level, own);
  const tunnel = TUNNEL_HEADERS[header];
  if (level === "inner") return undefined;
  if (tunnel !== undefined) return present("tunnel", tunnel);
  const outer = OUTER_HEADERS[header];
  return outer === undefined ? undefined : present("outer", outer);
}

/** Adds the constraints of samples. */
export function constrainSamples(plan: Plan, { samples }: Declaration): void {
  for (const sample of samples) {
    const level: Level = sample.level ?? "outer";
    const here = present("tunnel", PRESENT_SAMPLE << sample.id);
    const header = headerOf(sample);
    if (header !== undefined) {
      plan.after(here, header);
      plan.implies(here, header);
    }
    if (sample.port !== undefined) {
      const udp = present(level, PRESENT_UDP);
      plan.after(here, udp);
      plan.implies(here, udp, ...equals(`${level}.udp_dport`, sample.port));
    }
    const wire = wireOf(level, sample.header as WireHeader);
    for (const [i, bit] of bits(`misc4.prog_sample_field_value_${sample.id}` as FieldName).entries()) {
      const other = wire.get(8 * sample.offset + i);
      if (other === undefined || header === undefined) continue;
      plan.clause(bit, -here, -other, bit);
      plan.clause(bit, -here, other, -bit);
    }
  }
}
