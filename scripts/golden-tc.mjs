#!/usr/bin/env node
// Writes test/golden/tc/keys.json: what tc makes of filters, as it hands it to the kernel; and listings.json: what tc
// prints of filters, as text and as JSON.
//
//     node scripts/golden-tc.mjs        (root; iproute2, strace, gcc, the header linux/pkt_cls.h)
//
// Each command runs in a network namespace of its own with a veth pair. strace shows the message to the kernel, from which
// the attributes of flower are read: name and bytes. A kernel without flower refuses the message afterwards; that does not
// matter here. A command that tc itself refuses has no attributes. For listings a library hands tc its own message back
// (scripts/golden-tc/shown.c).
// Made with iproute2 6.1.0 (Debian 12).

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const SPACE = "flowsteer-golden-tc";
const FILTERS = [
  "protocol ip flower dst_ip 10.1.0.0/16 src_ip 10.2.3.4",
  "protocol ip flower src_ip 10.0.0.0/8 ip_proto tcp dst_port 80",
  "protocol ipv6 flower dst_ip fd00::/8 src_ip 2001:db8::1",
  "protocol ip flower ip_proto udp src_port 53 dst_port 0x500/0xff00",
  "protocol ip flower ip_proto tcp dst_port 1000-2000",
  "protocol ip flower ip_proto 47",
  "protocol ip flower ip_proto 2f",
  "protocol ip flower ip_proto icmp type 8 code 0",
  "protocol ipv6 flower ip_proto icmpv6 type 135",
  "protocol ip flower ip_tos 0x10/0xfc ip_ttl 64",
  "protocol ip flower ip_tos 10",
  "protocol ip flower ip_ttl 10/0xf0",
  "protocol ip flower ip_proto tcp tcp_flags 0x2/0x17",
  "protocol ip flower ip_proto tcp tcp_flags 12",
  "protocol all flower dst_mac 02:11:22:33:44:55 src_mac 02:11:22:00:00:00/24",
  "protocol all flower dst_mac 01:00:00:00:00:00/01:00:00:00:00:00",
  "protocol 802.1Q flower vlan_id 7 vlan_prio 3 vlan_ethtype ip dst_ip 10.0.0.1",
  "protocol 802.1ad flower vlan_id 7 vlan_ethtype 802.1q cvlan_id 8 cvlan_ethtype ipv6",
  "protocol mpls_uc flower mpls_label 100 mpls_tc 2 mpls_bos 1 mpls_ttl 9",
  "protocol ip flower dst_port 80",
  "protocol ip flower vlan_id 5",
  "flower dst_ip 10.0.0.1",
  "protocol ip flower ip_ttl 300",
  "protocol 802.1Q flower vlan_ethtype ip cvlan_id 5",
];

/** Filters that tc prints: keys, chains and every kind of action. */
const LISTED = [
  "protocol ip prio 1 flower dst_ip 10.1.0.0/16 src_ip 10.2.3.4 skip_sw action drop",
  "protocol ip prio 1 chain 3 flower ip_proto tcp dst_port 1000-2000 src_port 5/0xff tcp_flags 0x2/0x17 action gact goto chain 4",
  "protocol ip prio 2 flower ip_proto 47 action pass",
  "protocol ip prio 1 flower ip_tos 0x10/0xfc ip_ttl 64 ip_flags nofrag/firstfrag action trap",
  "protocol ip prio 1 flower ip_tos 10 ip_ttl 10/0xf0 action reclassify",
  "protocol all prio 1 flower dst_mac 02:11:22:33:44:55 src_mac 02:11:22:00:00:00/24 action pipe action mirred egress redirect dev eth1",
  "protocol 802.1Q prio 3 flower vlan_id 7 vlan_prio 3 vlan_ethtype ip action vlan pop pipe action mirred egress mirror dev eth1 pipe action vlan push id 8 priority 2 protocol 802.1ad action vlan modify id 9",
  "protocol 802.1ad prio 1 flower vlan_id 7 vlan_ethtype 802.1q cvlan_id 8 cvlan_ethtype ipv6 action vlan modify id 9 priority 1 pipe action continue",
  "protocol mpls_uc prio 1 flower mpls_label 100 mpls_tc 2 mpls_bos 1 mpls_ttl 9 action mpls pop protocol ip pipe action drop",
  "protocol mpls_uc prio 1 flower mpls lse depth 1 label 5 lse depth 2 ttl 3 action drop",
  "protocol ip prio 1 flower ip_proto icmp type 8 code 0 action skbedit mark 5 pipe action skbedit queue_mapping 3 priority 1:2 ptype host",
  "protocol ipv6 prio 1 flower ip_proto icmpv6 type 135 action drop",
  "protocol arp prio 1 flower arp_op request arp_tip 10.0.0.1 action drop",
  "protocol ip prio 1 flower ct_state +trk+est-new ct_zone 5 ct_mark 3/0xf ct_label 00112233445566778899aabbccddeeff action ct commit zone 5 mark 7/0xff nat src addr 10.0.0.1-10.0.0.9 port 100-200 pipe action ct clear pipe action ct zone 3 nat pipe action goto chain 2",
  "protocol ip prio 1 flower enc_key_id 100 enc_dst_ip 10.0.0.1 enc_src_ip 10.0.0.2 enc_dst_port 4789 enc_tos 0x10/0xfc enc_ttl 64 geneve_opts 0102:80:00112233/ffff:ff:ffffffff action tunnel_key unset pipe action mirred egress redirect dev eth1",
  "protocol ip prio 1 flower enc_key_id 100 vxlan_opts 5/255 action drop",
  "protocol ip prio 1 flower action tunnel_key set src_ip 10.0.0.1 dst_ip 10.0.0.2 id 11 dst_port 4789 nocsum tos 4 ttl 6 geneve_opts 0102:80:00112233 pipe action mirred egress redirect dev eth1",
  "protocol ip prio 1 flower ip_proto tcp action pedit ex munge eth dst set 02:00:00:00:00:09 munge ip ttl add 0xff munge ip src set 10.0.0.9 munge tcp dport set 80 pipe action csum ip and tcp pipe action mirred egress redirect dev eth1",
  "protocol ipv6 prio 1 flower ip_proto udp action pedit ex munge ip6 dst set fd00::5 munge udp sport set 7 pipe action csum udp",
  "protocol ip prio 1 flower action police rate 10mbit burst 20k conform-exceed drop/pipe action sample rate 100 group 5 trunc 64 pipe action mirred egress redirect dev eth1",
  "protocol ip prio 1 flower action police rate 10mbit burst 20k drop",
  "protocol ip prio 1 flower action police pkts_rate 1000 pkts_burst 50 conform-exceed drop/ok index 7",
  "protocol all prio 1 matchall skip_sw action police rate 100mbit burst 100k conform-exceed drop/continue",
  "protocol all prio 5 matchall action sample rate 10 group 3",
  "protocol ip prio 1 flower indev eth0 classid 1:3 num_of_vlans 2 action drop",
  "protocol ip prio 1 flower indev eth0 action mirred ingress redirect dev eth1 cookie a1b2",
];

function run(...args) {
  return spawnSync("ip", args, { encoding: "utf8" });
}

/** What tc prints of each filter, as text and as JSON. */
function listings() {
  const folder = mkdtempSync(join(tmpdir(), "golden-tc-"));
  const library = join(folder, "shown.so");
  spawnSync("gcc", ["-shared", "-fPIC", "-o", library, fileURLToPath(new URL("golden-tc/shown.c", import.meta.url))]);
  const tc = (n, ...words) =>
    run("netns", "exec", SPACE, "env", `TC_SHOWN=${join(folder, String(n))}`, `LD_PRELOAD=${library}`, "tc", ...words);
  const rows = LISTED.map((filter, n) => {
    const { status } = tc(n, ..."filter add dev eth0 ingress handle 0x1".split(" "), ...filter.split(" "));
    if (status !== 0) throw new Error(`tc refuses ${filter}`);
    const show = "filter show dev eth0 ingress".split(" ");
    return { filter, text: tc(n, ...show).stdout, json: tc(n, "-j", ...show).stdout.trim() };
  });
  rmSync(folder, { recursive: true });
  return rows;
}

/** Names of the attributes, from the enumeration in the header. */
function names() {
  const text = readFileSync("/usr/include/linux/pkt_cls.h", "utf8");
  const from = text.indexOf("TCA_FLOWER_UNSPEC");
  const body = text.slice(from, text.indexOf("__TCA_FLOWER_MAX")).replaceAll(/\/\*[^]*?\*\//g, "");
  return body.split(",").map((one) => one.trim().replace("TCA_FLOWER_", "").replace("KEY_", ""));
}

const NAMES = names();

function attributes(hex) {
  const bytes = Buffer.from(hex.replaceAll("\\x", ""), "hex");
  const found = {};
  for (let at = 0; at + 4 <= bytes.length;) {
    const length = bytes.readUInt16LE(at);
    const name = NAMES[bytes.readUInt16LE(at + 2) & 0x3fff];
    if (name !== "ACT" && name !== "FLAGS") found[name] = bytes.subarray(at + 4, at + length).toString("hex");
    at += (length + 3) & ~3;
  }
  return found;
}

run("netns", "add", SPACE);
try {
  run("-n", SPACE, "link", "add", "eth0", "type", "veth", "peer", "name", "eth1");
  run("netns", "exec", SPACE, "tc", "qdisc", "add", "dev", "eth0", "clsact");
  const rows = FILTERS.map((filter) => {
    const command = `filter add dev eth0 ingress prio 1 ${filter} action mirred egress redirect dev eth1`;
    const { stderr } = run(
      "netns",
      "exec",
      SPACE,
      "strace",
      "-e",
      "trace=sendmsg",
      "-xx",
      "-s",
      "65536",
      "tc",
      ...command.split(" "),
    );
    const sent = /RTM_NEWTFILTER.*?nla_type=TCA_OPTIONS\}, "([^"]*)"/.exec(stderr);
    return { filter, attributes: sent === null ? null : attributes(sent[1]) };
  });
  const path = fileURLToPath(new URL("../test/golden/tc/keys.json", import.meta.url));
  writeFileSync(path, `${JSON.stringify(rows, null, 2)}\n`);
  const listed = fileURLToPath(new URL("../test/golden/tc/listings.json", import.meta.url));
  writeFileSync(listed, `${JSON.stringify(listings(), null, 2)}\n`);
  console.log(rows.filter(({ attributes: found }) => found !== null).length, "of", rows.length, "taken by tc");
} finally {
  run("netns", "delete", SPACE);
}
