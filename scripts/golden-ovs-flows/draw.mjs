// Random flow tables of Open vSwitch, and frames for them: few values, so that many frames hit.

import { buildFrame } from "../../src/packet/index.ts";

const MACS = ["02:00:00:00:00:01", "02:00:00:00:00:02", "02:00:00:00:00:03", "02:00:00:00:00:04"];
const IPV4 = ["10.0.0.1", "10.0.0.2", "10.1.0.1", "192.0.2.7"];
const IPV6 = ["2001:db8::1", "2001:db8::2", "2001:db8:1::1", "fe80::1"];
const PORTS = [80, 443, 53, 4000];
const VLANS = [5, 6, 100];
const IN_PORTS = ["1", "2", "3", "4", "LOCAL"];
const TABLES = 4;

/** The match of a flow: its words, and the header kinds that it makes sure of. */
function match(random) {
  const words = [];
  if (random.chance(0.3)) words.push(`in_port=${random.pick(IN_PORTS)}`);
  if (random.chance(0.2)) words.push(`${random.pick(["dl_src", "eth_src"])}=${random.pick(MACS)}`);
  if (random.chance(0.2)) words.push(`dl_dst=${random.pick([...MACS, "00:00:00:00:00:00/01:00:00:00:00:00"])}`);
  let tagged;
  if (random.chance(0.3)) {
    const [text, is] = random.pick([
      [`dl_vlan=${random.pick(VLANS)}`, true],
      ["dl_vlan=0xffff", false],
      [`dl_vlan=${random.pick(VLANS)},dl_vlan_pcp=${random.below(4)}`, true],
      ["vlan_tci=0x1000/0x1000", true],
      ["vlan_tci=0x0000/0x1fff", false],
      ["vlan_tci=0x0000/0x0ff0", undefined],
      [`vlan_vid=${0x1000 + random.pick(VLANS)}/0x1fff`, true],
    ]);
    words.push(text);
    tagged = is;
  }
  let kind = "";
  if (random.chance(0.75)) {
    kind = random.pick(["ip", "ipv6", "tcp", "udp", "tcp6", "udp6", "icmp", "icmp6", "arp", "tcp", "udp", "ip"]);
    words.push(kind);
    words.push(...upper(random, kind));
  }
  if (random.chance(0.15)) words.push(`reg${random.pick([0, 1, 2, 3, 4, 12])}=${random.pick(["0", "0x1", "0x2/0x6"])}`);
  if (random.chance(0.08)) words.push(`metadata=${random.pick(["0", "0x5", "0x1/0xf"])}`);
  return { words, kind, tagged };
}

function upper(random, kind) {
  const words = [];
  const isSix = kind.includes("6");
  if (kind === "arp") {
    if (random.chance(0.5)) words.push(`arp_op=${random.between(1, 2)}`);
    if (random.chance(0.4)) words.push(`arp_tpa=${random.pick([...IPV4, "10.0.0.0/8"])}`);
    if (random.chance(0.2)) words.push(`arp_sha=${random.pick(MACS)}`);
    if (random.chance(0.2)) words.push(`nw_src=${random.pick(IPV4)}`);
    return words;
  }
  if (isSix) {
    if (random.chance(0.3)) words.push(`ipv6_src=${random.pick([...IPV6, "2001:db8::/32"])}`);
    if (random.chance(0.3)) words.push(`ipv6_dst=${random.pick([...IPV6, "::/1"])}`);
    if (random.chance(0.1)) words.push("ipv6_label=0x5");
  } else {
    if (random.chance(0.3)) words.push(`${random.pick(["nw_src", "ip_src"])}=${random.pick([...IPV4, "10.0.0.0/8"])}`);
    if (random.chance(0.3)) words.push(`nw_dst=${random.pick([...IPV4, "10.0.0.0/255.0.255.0"])}`);
  }
  if (random.chance(0.1)) words.push(random.pick(["nw_tos=40", "ip_dscp=10", "nw_ecn=1"]));
  if (random.chance(0.08)) words.push(`nw_ttl=${random.pick([1, 64])}`);
  const parts = /tcp|udp/.test(kind)
    ? ["no", "yes", "first", "not_later"]
    : ["no", "yes", "first", "later", "not_later"];
  if (random.chance(0.1)) words.push(`nw_frag=${random.pick(parts)}`);
  if (/tcp|udp/.test(kind)) {
    const own = kind.slice(0, 3);
    if (random.chance(0.4))
      words.push(`${random.pick(["tp_dst", `${own}_dst`])}=${random.pick([...PORTS, "0x50/0xfff0"])}`);
    if (random.chance(0.2)) words.push(`tp_src=${random.pick(PORTS)}`);
    if (own === "tcp" && random.chance(0.2)) words.push(`tcp_flags=${random.pick(["+syn-ack", "0x10/0x10", "+ack"])}`);
  }
  if (kind === "icmp" && random.chance(0.5)) words.push(`icmp_type=${random.pick([0, 8])}`);
  if (kind === "icmp6" && random.chance(0.5)) words.push(`icmp_type=${random.pick([128, 129])}`);
  return words;
}

/** Changes that a match permits. */
function changes(random, { kind, tagged }, isOld) {
  const list = [
    () => `mod_dl_src:${random.pick(MACS)}`,
    () => `set_field:${random.pick(MACS)}->eth_dst`,
    () => "move:NXM_OF_ETH_SRC[]->NXM_OF_ETH_DST[]",
    () => `set_field:0x${random.below(256).toString(16)}->reg${random.below(5)}`,
    () => `load:${random.below(16)}->NXM_NX_REG${random.below(5)}[4..7]`,
    () => `move:NXM_OF_ETH_SRC[0..7]->NXM_NX_REG${random.below(4)}[8..15]`,
    () => `move:NXM_NX_REG${random.below(4)}[0..7]->NXM_OF_ETH_DST[0..7]`,
  ];
  // OpenFlow 1.0 has no masks of addresses that are set; the later versions want to know of tags that are changed or removed.
  if (!isOld) list.push(() => "set_field:00:00:00:00:07:00/00:00:00:00:ff:00->eth_src");
  if (isOld || tagged === true) {
    list.push(
      () => "pop_vlan",
      () => "strip_vlan",
      () => `mod_vlan_vid:${random.pick(VLANS)}`,
      () => `mod_vlan_pcp:${random.below(8)}`,
    );
  }
  if (tagged === true)
    list.push(
      () => `set_field:${0x1000 + random.pick(VLANS)}->vlan_vid`,
      () => "set_field:3->vlan_pcp",
    );
  if (/^(ip|tcp|udp|icmp)$/.test(kind)) {
    list.push(
      () => `mod_nw_src:${random.pick(IPV4)}`,
      () => `set_field:${random.pick(IPV4)}->ip_dst`,
      () => "move:NXM_OF_IP_SRC[]->NXM_OF_IP_DST[]",
    );
  }
  if (!isOld && /^(ip|tcp|udp|icmp)$/.test(kind)) list.push(() => "set_field:10.0.0.0/255.0.0.0->ip_src");
  if (/6$/.test(kind))
    list.push(
      () => `set_field:${random.pick(IPV6)}->ipv6_src`,
      () => "load:7->NXM_NX_IPV6_DST[0..15]",
    );
  if (kind !== "" && kind !== "arp") {
    list.push(
      () => "dec_ttl",
      () => "mod_nw_ttl:9",
      () => `mod_nw_tos:${4 * random.below(64)}`,
      () => `set_field:${random.below(4)}->nw_ecn`,
      () => `set_field:${random.below(64)}->ip_dscp`,
    );
  }
  if (/tcp|udp/.test(kind)) {
    list.push(
      () => `mod_tp_dst:${random.pick(PORTS)}`,
      () => `set_field:${random.pick(PORTS)}->${kind.slice(0, 3)}_src`,
    );
  }
  return random.pick(list)();
}

function actions(random, { kind, tagged, words }, table, { groups, isOld, pushes, writesTags }) {
  const list = [];
  let tag = tagged;
  if (pushes && table === 0 && tagged !== true && random.chance(0.5)) {
    list.push(`push_vlan:${random.pick(["0x8100", "0x88a8"])}`);
    tag = true;
  }
  const known = words.find((word) => /^in_port=[234]$/.test(word));
  for (let left = random.between(0, 5); left > 0; left--) {
    if (random.chance(0.45)) {
      const change = changes(random, { kind, tagged: tag }, isOld);
      if (/^(pop_vlan|strip_vlan)/.test(change)) tag = undefined;
      else if (/vlan/.test(change)) tag = true;
      list.push(change);
    } else list.push(further(random, table, known, groups, isOld));
  }
  const [last] = random.pick([
    ["drop"],
    [`output:${random.pick([1, 2, 3, 4])}`],
    ["resubmit"],
    ["output"],
    ...(isOld ? [] : [["goto"], ["write"]]),
  ]);
  if (last === "goto" && table < TABLES - 1) list.push(`goto_table:${random.between(table + 1, TABLES - 1)}`);
  else if (last === "resubmit" && table < TABLES - 1) list.push(`resubmit(,${random.between(table + 1, TABLES - 1)})`);
  else if (last === "write") {
    const written = random.pick([
      `output:${random.between(1, 4)}`,
      `set_field:${random.pick(MACS)}->eth_dst,output:${random.between(1, 4)}`,
      writesTags ? "push_vlan:0x8100,output:2" : "output:3",
    ]);
    list.push(`write_actions(${written})`);
    if (table < TABLES - 1) list.push(`goto_table:${random.between(table + 1, TABLES - 1)}`);
  } else if (last.startsWith("output:")) list.push(last);
  return list.length === 0 ? "drop" : list.join(",");
}

function further(random, table, known, groups, isOld) {
  const ways = [
    () => `output:${random.between(1, 4)}`,
    () => `output:${random.between(1, 4)}`,
    () => `${random.between(1, 4)}`,
    () => "LOCAL",
    () => `clone(mod_dl_dst:${random.pick(MACS)},output:${random.between(1, 4)})`,
  ];
  if (!isOld)
    ways.push(
      () => `clone(push_vlan:0x88a8,set_field:${0x1000 + random.pick(VLANS)}->vlan_vid,output:${random.between(1, 4)})`,
    );
  if (known !== undefined && table === 0) ways.push(() => "in_port");
  if (groups > 0) ways.push(() => `group:${random.between(1, groups)}`);
  if (table < TABLES - 1 && random.chance(0.5)) {
    ways.push(
      () => `resubmit(,${random.between(table + 1, TABLES - 1)})`,
      () => `resubmit(${random.between(1, 4)},${random.between(table + 1, TABLES - 1)})`,
    );
  }
  return random.pick(ways)();
}

/** Flow tables and groups, as ovs-ofctl takes them. */
export function drawTables(random) {
  const isOld = random.chance(0.4);
  // Open vSwitch holds two tags: frames have fewer where flows push some.
  const tags = isOld ? 2 : random.below(2);
  const pushes = tags === 0 && random.chance(0.6);
  const writesTags = tags === 0 && !pushes;
  const groups = Array.from({ length: isOld ? 0 : random.below(3) }, (_, n) => {
    const buckets = Array.from({ length: random.between(1, 3) }, () => {
      const change = random.pick(["", `set_field:${random.pick(MACS)}->eth_dst,`, "push_vlan:0x8100,"]);
      return `bucket=actions=${change}output:${random.between(1, 4)}`;
    });
    return `group_id=${n + 1},type=${buckets.length === 1 ? "indirect" : "all"},${buckets.join(",")}`;
  });
  const flows = [];
  for (let table = 0; table < TABLES; table++) {
    const count = random.between(table === 0 ? 3 : 1, 7);
    for (let n = 0; n < count; n++) {
      const drawn = n === 0 && random.chance(0.6) ? { words: [], kind: "", tagged: undefined } : match(random);
      const priority = n === 0 ? 0 : 10 * n + random.below(5);
      const head = [`table=${table}`, `priority=${priority}`, ...drawn.words].join(",");
      flows.push(
        `${head},actions=${actions(random, drawn, table, { groups: groups.length, isOld, pushes, writesTags })}`,
      );
    }
  }
  return { version: isOld ? "OpenFlow10" : "OpenFlow13", flows, groups, tags };
}

/** A frame with a number in its last bytes, and the port that it comes to. */
export function drawFrame(random, number, tags) {
  const mark = Uint8Array.from([number >>> 24, number >>> 16, number >>> 8, number].map((one) => one & 0xff));
  const layers = [{ header: "ethernet", source: random.pick(MACS), destination: random.pick(MACS) }];
  for (let left = Math.min(tags, random.pick([0, 0, 0, 1, 1, 2])); left > 0; left--) {
    layers.push({ header: "vlan", vid: random.pick(VLANS), pcp: random.below(4) });
  }
  const ports = { source_port: random.pick(PORTS), destination_port: random.pick([...PORTS, 85]) };
  const kind = random.pick(["tcp", "tcp", "udp", "udp", "icmp", "arp", "other", "fragment"]);
  const isSix = kind !== "arp" && kind !== "fragment" && random.chance(0.35);
  const common = { dscp: random.pick([0, 10]), ecn: random.below(2) };
  if (kind === "arp") {
    layers.push({
      header: "arp",
      operation: random.between(1, 2),
      sender_hardware: random.pick(MACS),
      sender_protocol: random.pick(IPV4),
      target_protocol: random.pick(IPV4),
    });
  } else if (isSix) {
    const hops = random.pick([1, 64, 2]);
    layers.push({
      header: "ipv6",
      ...common,
      source: random.pick(IPV6),
      destination: random.pick(IPV6),
      hop_limit: hops,
      flow_label: random.pick([0, 5]),
    });
  } else {
    // Payload of later fragments is neither a port nor a checksum: Open vSwitch takes it for one (test/golden/ovs/differences.ts).
    const fragment =
      kind !== "fragment"
        ? {}
        : random.pick([{ flags: "mf" }, { fragment_offset: 8, protocol: 1 }, { fragment_offset: 4096, protocol: 1 }]);
    layers.push({
      header: "ipv4",
      ...common,
      source: random.pick(IPV4),
      destination: random.pick(IPV4),
      ttl: random.pick([1, 64, 2]),
      ...fragment,
    });
    if (fragment.flags !== undefined) layers.push({ header: "icmp", type: random.pick([0, 8]) });
  }
  if (kind === "tcp") layers.push({ header: "tcp", ...ports, flags: random.pick(["syn", "ack", ["syn", "ack"]]) });
  if (kind === "udp") layers.push({ header: "udp", ...ports });
  if (kind === "icmp")
    layers.push(
      isSix ? { header: "icmpv6", type: random.pick([128, 129]) } : { header: "icmp", type: random.pick([0, 8]) },
    );
  const padding = new Uint8Array(40);
  const payload = Uint8Array.from([...padding, ...mark]);
  const bytes = buildFrame([...layers, { header: "payload", bytes: payload }]);
  return [random.pick(IN_PORTS), Buffer.from(bytes).toString("hex")];
}
