/** Which EtherTypes announce a VLAN tag (docs/parsing.md). It takes an EtherType and answers for every reader of Ethernet. */
import { TPID_CVLAN, TPID_SVLAN } from "../abi/protocols.js";

const TPIDS: readonly number[] = [TPID_CVLAN, TPID_SVLAN];

/** The TPIDs of tags, for messages. */
export const VLAN_TPIDS = TPIDS.map((tpid) => `0x${tpid.toString(16)}`).join(" or ");

export function isVlanTpid(ethertype: number): boolean {
  return TPIDS.includes(ethertype);
}
