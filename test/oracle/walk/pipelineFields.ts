// Reference of direct rules in all domains: the fields of a frame on its path that rules can match
// (docs/rules.md).

import { type Fields } from "./match.js";
import { type Registers } from "../act/modifyHeader.js";
import { type HostRule, type Pipeline, type PipelineRule, WIRE } from "./pipeline.js";
import { type Frame, parsed } from "../act/rewrite.js";

/** Origin of a frame: the wire (vport WIRE) or a queue of a function. */
export interface Origin {
  vport: number;
  /** The ingress port, or the port that it was sent on. */
  port: number;
  sqn: number;
  metadata: number;
}

const APPLICATIONS = ["ethtool", "tc", "nic"];

/** One application after another, each by priority, then by age. */
export function hostRules(world: Pipeline, vport: number): PipelineRule[] {
  const place = ({ application }: HostRule): number => APPLICATIONS.indexOf(application);
  return world.hostRules
    .filter((one) => one.vport === vport)
    .sort((a, b) => place(a) - place(b) || a.priority - b.priority || a.made - b.made)
    .map(({ id, terms, actions }, i) => ({ id, rank: BigInt(i), terms, ranges: [], actions }));
}

/** The parsed fields and the path fields. */
export function fieldsOf(frame: Frame, { values }: Registers, origin: Origin): Fields {
  const fields = new Map(parsed(frame).fields);
  for (let n = 0; n < 8; n++) fields.set(`misc2.metadata_reg_c_${n}`, values.get(`C${n}`) ?? 0n);
  fields.set("misc2.metadata_reg_a", values.get("A") ?? 0n);
  fields.set("misc.source_port", BigInt(origin.vport));
  fields.set("misc.source_vhca_port", origin.port > 15 ? 0n : BigInt(origin.port));
  fields.set("misc.source_eswitch_owner_vhca_id", 0n);
  fields.set("misc.source_sqn", BigInt(origin.sqn));
  fields.set("misc.outer_emd_tag", 0n);
  fields.set("ext.direction", origin.vport === WIRE ? 1n : 2n);
  return fields;
}
