/** Where the value of a field comes from that the bytes of the frame do not hold, or that summarizes them. */
import {
  DIRECTION_WIRE,
  LAYER_STATE,
  MISC_TAGS2,
  PRESENT_GENEVE,
  PRESENT_GRE,
  STATE_CVLAN,
  STATE_SVLAN,
  TAGS2_OUTER_CVLAN,
  TAGS2_OUTER_SVLAN,
} from "../../../abi/key.js";
import { VPORT_UPLINK } from "../../../abi/engine.js";
import type { Field } from "../../../model/match/fields.js";
import { hasTunnel, INNER_LEVEL, isFragment, OUTER_LEVEL, type FrameFacts, type Level } from "./facts.js";
import { noTag, stopOr } from "./layers.js";
import * as tunnels from "./tunnels.js";

/** A sentence without a full stop; null for fields whose value is that of the header. */
export function noteOf(facts: FrameFacts, { name }: Field, found: bigint): string | null {
  const [group, bare = ""] = name.split(".");
  const level = group === "inner" || bare.startsWith("inner_") ? INNER_LEVEL : OUTER_LEVEL;
  return ofPath(bare, found) ?? ofTags(facts, level, bare, found) ?? ofState(facts, level, bare, found);
}

/** Fields of the path of the frame. */
function ofPath(field: string, found: bigint): string | null {
  switch (field) {
    case "source_port":
      if (found === BigInt(VPORT_UPLINK)) return "the frame came from the wire";
      return `the frame was sent by ${found === 0n ? "the PF" : `VF ${found}`}`;
    case "source_sqn":
      return found === 0n ? "no queue pair of the device sent the frame" : `queue pair ${found} sent the frame`;
    case "port":
    case "source_vhca_port":
      return `the frame arrived on port ${found}, or was sent on it`;
    case "direction":
      return found === BigInt(DIRECTION_WIRE)
        ? "the frame came from the wire"
        : "a function of the device sent the frame";
    case "source_eswitch_owner_vhca_id":
    case "outer_emd_tag":
      return "it is 0 for every frame";
    default:
      return null;
  }
}

/** Bits that say whether there is a VLAN tag, and the type after the tags. */
function ofTags(facts: FrameFacts, level: Level, field: string, found: bigint): string | null {
  if (field === "ethertype") {
    const tagged = noTagBits(facts, level);
    return tagged ? null : "it is the EtherType after the last VLAN tag";
  }
  if (!/(c|s)vlan_tag$/.test(field)) return null;
  const second = field.includes("second");
  if (found === 1n) return second ? "a second VLAN tag precedes it" : "a VLAN tag precedes it";
  const other = field.includes("cvlan") ? "svlan_tag" : "cvlan_tag";
  return hasTag(facts, level, other, second) ? `the tag is the other kind: ${other} is 1` : noTag(facts, level, second);
}

function noTagBits(facts: FrameFacts, level: Level): boolean {
  return !hasTag(facts, level, "cvlan_tag", false) && !hasTag(facts, level, "svlan_tag", false);
}

function hasTag({ key }: FrameFacts, { base, name }: Level, tag: "cvlan_tag" | "svlan_tag", second: boolean): boolean {
  if (!second) return ((key[base + LAYER_STATE] as number) & (tag === "cvlan_tag" ? STATE_CVLAN : STATE_SVLAN)) !== 0;
  const bit = tag === "cvlan_tag" ? TAGS2_OUTER_CVLAN : TAGS2_OUTER_SVLAN;
  return ((key[MISC_TAGS2] as number) & (name === "outer" ? bit : bit >> 1)) !== 0;
}

/** Bits that summarize a packet. */
function ofState(facts: FrameFacts, level: Level, field: string, found: bigint): string | null {
  switch (field) {
    case "frag":
      return found === 1n ? `${level.packet} is a fragment` : `${level.packet} is not a fragment`;
    case "l3_ok":
      return found === 1n
        ? null
        : stopOr(facts, `the IP header of ${level.packet} is missing, or its length exceeds the frame`);
    case "l4_ok":
      return found === 1n ? null : stopOr(facts, `${level.packet} has no TCP or UDP header with valid lengths`);
    case "ipv4_checksum_ok":
      return found === 1n ? null : stopOr(facts, `the IPv4 checksum of ${level.packet} is wrong, or there is none`);
    case "l4_checksum_ok":
      if (found === 1n) return null;
      return isFragment(facts, level)
        ? "checksums of fragments are not verified"
        : stopOr(facts, `the TCP or UDP checksum of ${level.packet} is wrong, or cannot be verified`);
    case "gre_c_present":
    case "gre_k_present":
    case "gre_s_present":
      return hasTunnel(facts, PRESENT_GRE) ? null : tunnels.noGre(facts);
    case "geneve_tlv_option_0_exist":
      return found === 1n || hasTunnel(facts, PRESENT_GENEVE) ? null : tunnels.noTunnel(facts, "geneve");
    default:
      return null;
  }
}
