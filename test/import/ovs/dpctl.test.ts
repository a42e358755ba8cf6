/** Datapath flows of Open vSwitch: recirculation is a jump, and headers of tunnels are data. */
import { expect, it } from "vitest";
import { importRules, printFinding } from "../../../src/import/index.js";

const map = { 1: "uplink", 2: "vf1", 3: "vf2" };

function imported(text: string) {
  const { scenario, findings } = importRules(text, { lenient: true, map });
  return { rules: scenario?.rules ?? [], said: findings.map(printFinding) };
}

const ABOUT = "packets:5, bytes:330, used:0.5s, offloaded:yes, dp:tc, actions:";

it("follows recirculations", () => {
  const { rules, said } = imported(
    `# ovs-appctl dpctl/dump-flows
ufid:3b1c, skb_priority(0/0),ct_state(0/0),recirc_id(0),dp_hash(0/0),in_port(2),packet_type(ns=0/0,id=0/0),eth(src=02:00:00:00:00:01,dst=ff:ff:ff:ff:ff:ff/01:00:00:00:00:00),eth_type(0x0800),ipv4(src=10.0.0.0/255.0.0.0,dst=0.0.0.0/0.0.0.0,proto=6,tos=0/0x3,ttl=0/0,frag=no),tcp(src=0/0,dst=80), ${ABOUT}set(eth(dst=02:00:00:00:00:09)),push_vlan(vid=5,pcp=1),3,pop_vlan,recirc(0x5)
recirc_id(0x5),in_port(2),eth_type(0x0800),ipv4(frag=no), ${ABOUT}set(ipv4(src=192.0.2.1,tos=0x4/0xfc)),2,1`,
  );
  expect(said).toEqual([]);
  expect(rules.filter(({ match }) => match !== undefined)).toMatchObject([
    {
      table: "table 0",
      match: {
        "misc.source_port": 1,
        "outer.smac": "02:00:00:00:00:01",
        "outer.dmac": "01:00:00:00:00:00/01:00:00:00:00:00",
        "outer.ethertype": 2048,
        "outer.ipv4_src": "10.0.0.0/8",
        "outer.ip_protocol": 6,
        "outer.ip_ecn": 0,
        "outer.frag": 0,
        "outer.tcp_dport": 80,
        "outer.cvlan_tag": 0,
        "outer.svlan_tag": 0,
      },
      actions: [
        { modify: [{ set: "outer.dmac", to: "02:00:00:00:00:09" }] },
        { push_vlan: { vid: 5, pcp: 1 } },
        { array: [{ vport: 2 }, { table: "step 1" }] },
      ],
    },
    {
      table: "table 5",
      actions: [
        {
          modify: [
            { set: "outer.ipv4_src", to: "192.0.2.1" },
            { set: "outer.ip_dscp", to: 1 },
          ],
        },
        { array: [{ vport: 1 }, { port: 1 }] },
      ],
    },
  ]);
  expect(rules.find(({ table }) => table === "step 1")?.actions).toEqual(["pop_vlan", { table: "table 5" }]);
});

it.each(["x7", "0x1000000", "-1"])("refuses the VNI %s of a tunnel", (vni) => {
  const header = `header(size=50,type=4,eth(dst=02:00:00:00:00:99,src=02:00:00:00:00:11,dl_type=0x0800),ipv4(src=192.0.2.1,dst=192.0.2.9,proto=17,tos=0,ttl=64,frag=0x4000),udp(src=0,dst=4789,csum=0x0),vxlan(flags=0x8000000,vni=${vni}))`;
  const { said } = imported(
    `recirc_id(0),in_port(3),eth_type(0x0800), ${ABOUT}clone(tnl_push(tnl_port(6),${header},out_port(1)),1)`,
  );
  expect(said.join()).toContain(vni);
});

it("refuses headers of a tunnel that no device puts on", () => {
  const header =
    "header(size=38,type=3,eth(dst=02:00:00:00:00:99,src=02:00:00:00:00:11,dl_type=0x0000),ipv4(src=192.0.2.1,dst=192.0.2.9,proto=47,tos=0,ttl=64,frag=0x4000),gre((flags=0x0,proto=0x6558)))";
  const { said } = imported(
    `recirc_id(0),in_port(3),eth_type(0x0800), ${ABOUT}clone(tnl_push(tnl_port(6),${header},out_port(1)),1)`,
  );
  expect(said.join()).toContain("the device puts on Ethernet, tags, and a whole IPv4 or IPv6 header");
});

it("reads tags, ARP and the headers of tunnels", () => {
  const header =
    "header(size=50,type=4,eth(dst=02:00:00:00:00:99,src=02:00:00:00:00:11,dl_type=0x0800),ipv4(src=192.0.2.1,dst=192.0.2.9,proto=17,tos=0,ttl=64,frag=0x4000),udp(src=0,dst=4789,csum=0x0),vxlan(flags=0x8000000,vni=0x7))";
  const { rules, said } = imported(
    `recirc_id(0),in_port(3),eth_type(0x8100),vlan(vid=7,pcp=1),encap(eth_type(0x0806),arp(tip=10.0.0.1)), ${ABOUT}pop_vlan,clone(tnl_push(tnl_port(6),${header},out_port(1)),1)`,
  );
  expect(said).toEqual([]);
  expect(rules.find(({ match }) => match !== undefined)).toMatchObject({
    match: {
      "misc.source_port": 2,
      "outer.cvlan_tag": 1,
      "outer.first_vid": 7,
      "outer.first_prio": 1,
      "outer.ethertype": 2054,
      "misc4.prog_sample_field_value_0": 0x0a000001,
    },
    actions: [
      "pop_vlan",
      {
        reformat: {
          type: "l2_to_l2_tunnel",
          data:
            "020000000099020000000011" +
            "0800" +
            "450000000000400040110000c0000201c0000209" +
            "000012b500000000" +
            "0800000000000700",
        },
      },
      { port: 1 },
    ],
  });
});

it.each([
  [
    "recirc_id(0),in_port(2),eth_type(0x0800), packets:0, actions:ct(zone=1),recirc(0x1)",
    /ct\(zone=1\) .*tracks one connection/,
  ],
  ["recirc_id(0),in_port(2),ct_state(+trk+est),eth_type(0x0800), packets:0, actions:3", /tracks one connection/],
  ["recirc_id(0),in_port(2),eth_type(0x0800), packets:0, actions:userspace(pid=1)", /program of the host/],
  [
    "recirc_id(0),in_port(1),eth_type(0x0800), packets:0, actions:1",
    /a frame from the wire cannot leave through it again/,
  ],
  ["recirc_id(0),in_port(2),eth(sra=02:00:00:00:00:01), packets:0, actions:3", /did you mean "src"/],
])("refuses %s", (text, said) => {
  expect(imported(text).said).toEqual([expect.stringMatching(said)]);
});

it("asks for the outer headers of a tunnel whose port the text has", () => {
  const { rules, said } = imported(
    `ovs-vsctl add-port br0 vxlan_sys_4789 -- set interface vxlan_sys_4789 type=vxlan options:remote_ip=flow options:key=flow
recirc_id(0),tunnel(tun_id=0x2a,src=192.0.2.9,dst=192.0.2.1,tos=0x12/0xfe,ttl=64,tp_src=4000,tp_dst=0/0,flags(-df-csum+key)),in_port(vxlan_sys_4789),eth_type(0x0800),ipv4(frag=no), ${ABOUT}2`,
  );
  expect(said).toEqual([]);
  expect(rules.find(({ name }) => name.startsWith("tunnel("))?.match).toEqual({
    "misc.vxlan_vni": 42,
    "outer.ipv4_src": "192.0.2.9",
    "outer.ipv4_dst": "192.0.2.1",
    "outer.ip_dscp": 4,
    "outer.ip_ecn": "2/0x2",
    "outer.ip_ttl_hoplimit": 64,
    "outer.udp_sport": 4000,
    "inner.ethertype": 2048,
    "inner.frag": 0,
    "inner.cvlan_tag": 0,
    "inner.svlan_tag": 0,
  });
});

it("leaves out flows that are not on the NIC", () => {
  const flow = (offloaded: string, port: number): string =>
    `recirc_id(0),in_port(${port}),eth_type(0x0800),ipv4(frag=no), ${ABOUT.replace("yes", offloaded)}3`;
  const { rules, said } = imported([flow("yes", 1), flow("no", 2), flow("partial", 2)].join("\n"));
  const own = rules.filter(({ name }) => name.includes("in_port("));
  expect(own.map(({ name }) => /in_port\(\d\)/.exec(name)?.[0])).toEqual(["in_port(1)"]);
  expect(said.join("\n")).toContain("input:2:1: assumed: offloaded:no: the flow is in the software datapath");
  expect(said.join("\n")).toContain("input:3:1: assumed: offloaded:partial: the NIC marks the frames of this flow");
});

it("refuses kinds of fragments that it does not know", () => {
  const { said } = imported(`recirc_id(0),in_port(2),eth_type(0x0800),ipv4(frag=some), ${ABOUT}3`);
  expect(said.join()).toContain("fragments are no, first or later");
});
