/** Programmable samples: a sample within a header has the bits of that header ("Programmable samples"). */
import { PRESENT_ETHERTYPE, PRESENT_SAMPLE, PRESENT_UDP } from "../../abi/key.js";
import { ETHERTYPE_ARP } from "../../abi/protocols.js";
import { HEADERS } from "../../headers/headers.js";
import type { HeaderRecord } from "../../headers/record.js";
import type { FieldName } from "../../model/match/fields.js";
import type { SampleOptions } from "../../model/base/parser.js";
import { bits, equals, present, type Level, type Term } from "./cells.js";
import type { Declaration, Plan } from "./plan.js";
import type { WireHeader } from "../../headers/fields.js";
import { wireOf } from "./wire.js";

/** The presence bit of the header that a sample is taken from; undefined where the key has none, or several. */
function headerOf({ header, level = "outer" }: SampleOptions): Term | undefined {
  const { present: own }: Partial<HeaderRecord> = header === "payload" ? {} : HEADERS[header];
  if (own === undefined || header === "mpls") return undefined;
  if (own[level] !== undefined) return present(level, own[level]);
  return level === "inner" || own.tunnel === undefined ? undefined : present("tunnel", own.tunnel);
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
    if (sample.header === "arp") {
      const type = present(level, PRESENT_ETHERTYPE);
      plan.after(here, type);
      plan.implies(here, type, ...equals(`${level}.ethertype`, ETHERTYPE_ARP));
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
