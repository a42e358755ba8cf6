/** Frames of a match as a phrase. */
import { expect, test } from "vitest";
import { framesText } from "../../../src/proof/difference/framesText.js";

test.each<[Record<string, string>, string]>([
  [{}, "all frames"],
  [{ "outer.ip_version": "4", "outer.ipv4_dst": "10.0.0.0/8" }, "frames to 10.0.0.0/8"],
  [
    { "outer.tcp_dport": "80", "outer.ipv4_src": "10.0.0.1", "outer.ipv4_dst": "10.0.0.2", "outer.ip_dscp": "4" },
    "frames from 10.0.0.1 to TCP port 80 and 10.0.0.2 with DSCP 4",
  ],
  [
    { "outer.ethertype": "ipv4", "outer.cvlan_tag": "0", "outer.svlan_tag": "0", "outer.tcp_dport": "80" },
    "frames to TCP port 80 with EtherType ipv4 and no VLAN tag",
  ],
  [{ "outer.cvlan_tag": "0", "outer.svlan_tag": "1" }, "frames with no C-VLAN tag and an S-VLAN tag"],
  [{ "outer.first_vid": "5", "outer.cvlan_tag": "1" }, "frames with VLAN ID 5"],
  [
    { "misc.vxlan_vni": "7", "inner.ipv4_dst": "10.0.0.1", "inner.cvlan_tag": "1" },
    "frames to 10.0.0.1 in the tunnel with VNI 7 and a C-VLAN tag in the tunnel",
  ],
  [
    { "outer.udp_dport": "1", "outer.udp_sport": "2", "outer.dmac": "a", "outer.smac": "b", "outer.ip_ecn": "1" },
    "frames from UDP port 2 and MAC address b to UDP port 1 and MAC address a, ...",
  ],
])("%j", (match, text) => {
  expect(framesText(Object.entries(match).map(([field, wanted]) => ({ field, wanted })))).toBe(text);
});
