// VLAN tags: IEEE 802.1Q and 802.1ad. Open vSwitch keeps two of them, and loses the innermost one of three.

import { arp, built, captured, data, ethernet, ipv4, ipv6, padded, tcp, udp, vlan } from "../frames.mjs";
import {
  bits,
  copy,
  decrementTtl,
  ethDestination,
  ipv4Destination,
  load,
  PARTS,
  popVlan,
  pushVlan,
  sequence,
  udpDestination,
  vlanId,
  vlanPriority,
} from "../pairs.mjs";
import { changed } from "./make.mjs";

const TAGGED = "vlan_tci=0x1000/0x1000";
const C = 0x8100;
const S = 0x88a8;

const plain = built(ethernet, ipv4, tcp, data(21));
const tagged = built(ethernet, vlan(100, { pcp: 3 }), ipv4, udp, data(21));
const tagged6 = built(ethernet, vlan(100, { pcp: 3 }), ipv6, tcp, data(1));
const provider = built({ ...ethernet, type: S }, vlan(1001, { pcp: 6 }), ipv4, tcp, data(21));
const qinq = built(ethernet, vlan(1001, { pcp: 6 }), vlan(7), ipv6, udp, data(21));
const twice = built({ ...ethernet, type: C }, vlan(8), vlan(9), ipv4, tcp, data(2));
const priority = built(ethernet, vlan(0, { pcp: 7 }), ipv4, tcp, data(2));

export const vlans = async () => [
  changed("push", plain, "", pushVlan(C, 5)),
  changed("push with a priority", plain, "", pushVlan(C, 4094, 7)),
  changed("push vid 0", plain, "", pushVlan(C, 0, 1)),
  changed("push a service tag", plain, "", pushVlan(S, 5, 2)),
  changed("push on arp", padded(ethernet, arp), "", pushVlan(C, 5)),
  changed("push on 802.3", await captured("EthDot3.pcap", 1), "", pushVlan(C, 5)),
  changed("push on a tag", tagged, "", pushVlan(C, 5, 2)),
  changed("push a service tag on a tag", tagged6, "", pushVlan(S, 5, 2)),
  changed("push two", plain, "", pushVlan(C, 5, 1), pushVlan(S, 6, 2)),
  changed("push on mpls", await captured("mpls-in-vlan.pcap", 1), "", pushVlan(C, 77)),
  changed("pop", tagged, TAGGED, popVlan),
  changed("pop of a priority tag", priority, TAGGED, popVlan),
  changed("pop of a service tag", provider, TAGGED, popVlan),
  changed("pop of a frame without a tag", plain, "", { openflow: "strip_vlan", ours: popVlan.ours }),
  changed("pop of two", qinq, TAGGED, popVlan),
  changed("pop two of two", qinq, TAGGED, popVlan, popVlan),
  changed("pop of 802.1ad, captured", await captured("802.1ad_QinQ.pcap", 1), TAGGED, popVlan),
  changed("pop two of 802.1ad, captured", await captured("802.1ad_QinQ.pcap", 2), TAGGED, popVlan, popVlan),
  changed("pop of two tags of 0x8100, captured", await captured("http-qinq-0.pcap", 1), TAGGED, popVlan),
  changed("pop two tags of 0x8100, captured", await captured("http-qinq-0.pcap", 6), TAGGED, popVlan, popVlan),
  changed("pop in front of mpls", await captured("mpls-in-vlan.pcap", 2), TAGGED, popVlan),
  changed("pop, push", tagged, TAGGED, popVlan, pushVlan(C, 200, 1)),
  changed("pop, push another kind", twice, TAGGED, popVlan, pushVlan(S, 200, 1)),
  changed("pop, push two", tagged, TAGGED, popVlan, pushVlan(C, 1), pushVlan(S, 2)),
  changed("vid", tagged, TAGGED, vlanId(4000)),
  changed("vid of a service tag", provider, TAGGED, vlanId(4000)),
  changed("vid of two", qinq, TAGGED, vlanId(17)),
  changed("priority", tagged6, TAGGED, vlanPriority(5)),
  changed("vid and priority", twice, TAGGED, vlanId(1), vlanPriority(1)),
  changed("bits of a vid", tagged, TAGGED, load(bits(PARTS.vlan[0], 4, 4), 0xf)),
  changed(
    "a port of udp becomes a vid",
    tagged,
    `${TAGGED},udp`,
    copy(bits(PARTS.udpSource[0], 0, 12), bits(PARTS.vlan[0], 0, 12)),
  ),
  changed(
    "pop, and what is behind",
    tagged,
    `${TAGGED},udp`,
    popVlan,
    decrementTtl,
    udpDestination(9),
    ethDestination("02:01:01:01:01:01"),
  ),
  changed("what is behind, and push", plain, "ip", decrementTtl, ipv4Destination("10.9.8.7"), pushVlan(S, 3)),
  changed(
    "pop, what is behind, push",
    tagged,
    `${TAGGED},ip`,
    popVlan,
    decrementTtl,
    ipv4Destination("10.9.8.7"),
    pushVlan(S, 3),
  ),
  changed("pop one, vid of the other", qinq, "", {
    openflow: "strip_vlan,mod_vlan_vid:3000",
    ours: sequence(popVlan, vlanId(3000)).ours,
  }),
];
