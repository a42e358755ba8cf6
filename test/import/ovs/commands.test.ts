/** Commands, files and dumps of Open vSwitch as people paste them, and what is said of what is not imported. */
import { describe, expect, it } from "vitest";
import { importRules, printFinding } from "../../../src/import/index.js";

const MAP = { 1: "uplink", 2: "vf1", 3: "vf2" };

function imported(text: string, map: Readonly<Record<string, string>> = MAP) {
  const { scenario, findings } = importRules(text, { format: "ovs", lenient: true, map });
  return { rules: scenario?.rules ?? [], scenario, said: findings.map(printFinding) };
}

describe("texts", () => {
  const flow = { match: { "misc.source_port": 65535, "outer.dmac": "02:00:00:00:00:09" }, actions: [{ vport: 1 }] };

  it.each([
    ["a file", "in_port=1,dl_dst=02:00:00:00:00:09,actions=output:2"],
    ["a command", 'ovs-ofctl add-flow br0 "in_port=1,dl_dst=02:00:00:00:00:09 actions=output:2"'],
    ["without quotes", "ovs-ofctl add-flow br0 in_port=1,dl_dst=02:00:00:00:00:09,actions=output:2"],
    ["a version", "# ovs-ofctl -O OpenFlow13 add-flow br0 'in_port=1, eth_dst=02:00:00:00:00:09, actions=2'"],
    ["a prompt", "[root@host ~]# sudo ovs-ofctl add-flow br0 in_port=1,dl_dst=02:00:00:00:00:09,actions=output:2"],
    ["a container", 'docker exec -it ovs ovs-ofctl add-flow br0 "in_port=1,dl_dst=02:00:00:00:00:09,actions=output:2"'],
    ["variables", 'BR=br0\nP=2\novs-ofctl add-flow $BR "in_port=1,dl_dst=02:00:00:00:00:09,actions=output:${P}"'],
    [
      "two on a line",
      "ovs-ofctl del-flows br0; ovs-ofctl add-flow br0 in_port=1,dl_dst=02:00:00:00:00:09,actions=output:2",
    ],
    ["a diff", "+in_port=1,dl_dst=02:00:00:00:00:09,actions=output:2"],
    ["a bundle", "add in_port=1,dl_dst=02:00:00:00:00:09,actions=output:2"],
    ["lines wrapped", "ovs-ofctl add-flow br0 \\\n  in_port=1,dl_dst=02:00:00:00:00:09,\\\n  actions=output:2"],
    [
      "a dump",
      "NXST_FLOW reply (xid=0x4):\n cookie=0x2b, duration=7.1s, table=0, n_packets=3, n_bytes=180, idle_age=2, in_port=1,dl_dst=02:00:00:00:00:09 actions=output:2",
    ],
    [
      "a dump that mail has wrapped",
      " cookie=0x2b, duration=7.1s, table=0, n_packets=3,\n n_bytes=180, in_port=1,dl_dst=02:00:00:00:00:09\n actions=output:2",
    ],
    ["NXM names", "NXM_OF_IN_PORT=1,NXM_OF_ETH_DST=02:00:00:00:00:09,actions=output:2"],
  ])("reads %s", (_, text) => {
    const { rules, said } = imported(text);
    expect(said).toEqual([]);
    expect(rules.filter(({ match }) => match !== undefined)).toMatchObject([flow]);
  });

  it("names lines that are no flows, with their places", () => {
    expect(imported("in_port=1,actions=drop\nNow it works.").said).toEqual([
      "input:2:1: assumed: Now it works.: not a flow: ignored",
    ]);
  });

  it("begins at the lowest table of a part of a dump", () => {
    const { rules, said } = imported("table=7,in_port=1 actions=output:2\ntable=9 actions=drop");
    expect(rules[0]).toMatchObject({ name: "driver: to table 7", actions: [{ table: "table 7" }] });
    expect(said[0]).toContain("the text has no table 0: all frames reach table 7");
  });

  it("replaces a flow by one of the same match, and forgets those that are deleted", () => {
    const text = "ip,nw_dst=10.0.0.1,actions=output:1\nnw_dst=10.0.0.1,ip,actions=drop\n";
    expect(imported(text).rules.filter(({ match }) => match !== undefined)).toMatchObject([{ actions: ["drop"] }]);
    expect(imported(`${text}ovs-ofctl del-flows br0\nactions=output:1`).rules).toHaveLength(3);
  });

  it("takes names, numbers and types of ports from other commands", () => {
    const { rules, said } = imported(
      [
        "ovs-vsctl add-port br0 eth7 -- set Interface eth7 ofport_request=8",
        " 9(vnet3): addr:fe:54:00:00:00:01",
        "in_port=8,actions=output:vnet3",
      ].join("\n"),
      {},
    );
    expect(rules.find(({ match }) => match !== undefined)).toMatchObject({
      match: { "misc.source_port": 65535 },
      actions: [{ vport: 1 }],
    });
    expect(said).toEqual([
      expect.stringContaining("port eth7 is taken for the uplink"),
      expect.stringContaining("port vnet3 is taken for VF 1"),
    ]);
  });
});

describe("what is refused", () => {
  it.each([
    [
      "actions=NORMAL",
      "input:1:9: not imported: NORMAL (rule table=0): learning of MAC addresses: the device has rules only",
    ],
    ["tcp,actions=ct(commit,zone=1),output:1", /1:16: not imported: ct\(commit\) .*does not add connections/],
    ["tcp,ct_state=+trk+est,actions=output:1", /no flow of the text sends frames through ct/],
    ["actions=group:7", /group:7 .*the text does not define this group/],
    ["tcp,actions=mod_tp_dts:80", /there is no action mod_tp_dts; did you mean "mod_tp_dst"/],
    ["dl_dts=02:00:00:00:00:01,actions=drop", /1:1: .*there is no field dl_dts; did you mean "dl_dst"/],
    ["dl_dst=02:00:00:00:00,actions=drop", /1:8: .*"02:00:00:00:00" is not a MAC address/],
    ["tcp,tp_dst=70000,actions=drop", /1:12: .*has 16 bits/],
    ["tcp,tp_dst=$PORT,actions=drop", /\$PORT, a variable that the text does not set/],
    ["actions=output:NXM_NX_REG0[]", /the port is chosen by a field of each frame/],
    ["in_port=1,actions=in_port", /a frame from the wire cannot leave through it again/],
    ["tun_id=5,actions=output:2", /does not have the tunnel port/],
    ["actions=learn(table=1,NXM_OF_ETH_DST[]=NXM_OF_ETH_SRC[]),output:1", /it makes new flows out of frames/],
    ["ovs-ofctl mod-flows br0 ip,actions=drop", /it changes no flow before it/],
  ])("%s", (text, said) => {
    const { said: all } = imported(text);
    expect(all).toEqual([typeof said === "string" ? said : expect.stringMatching(said)]);
    expect(importRules(text, { format: "ovs", map: MAP }).scenario).toBeNull();
  });

  it("keeps the rest of a rule that lacks an action", () => {
    const { rules } = imported("in_port=1,actions=ct(commit),output:2");
    expect(rules.find(({ match }) => match !== undefined)).toMatchObject({
      actions: [{ vport: 1 }],
      notImported: [expect.stringMatching(/^ct\(commit\): /)],
    });
  });

  it("ends where tables look each other up without an end", () => {
    const { said } = imported("table=0,actions=resubmit(,1),output:2\ntable=1,actions=resubmit(,0),output:3");
    expect(said).toEqual([expect.stringContaining("the tables resubmit to each other endlessly")]);
  });

  it("names the place of the variable whose value is wrong", () => {
    const line = 'ovs-ofctl add-flow br0 "in_port=1 actions=$ACTIONS,output:2"';
    const { said } = imported(`ACTIONS=mod_dl_dst:02:00:00:00:00:09,fly_away(1)\n${line}`);
    expect(said).toHaveLength(1);
    expect(said[0]).toMatch(/there is no action fly_away/);
    expect(said[0]).toMatch(new RegExp(`^input:2:${line.indexOf("$ACTIONS") + 1}: `));
  });
});

describe("UDP ports of VXLAN tunnels", () => {
  const port = (number: number): string =>
    `ovs-vsctl add-port br0 vx -- set interface vx type=vxlan ofport_request=9 options:remote_ip=192.0.2.9 options:local_ip=192.0.2.1 options:key=flow options:dst_port=${number}\n`;
  const IN = "in_port=9,tun_id=5,actions=output:2";
  const OUT = "in_port=2,actions=set_field:5->tun_id,output:9";

  it.each([
    ["frames that come", IN],
    ["frames that leave", OUT],
  ])("are registered for %s", (_, flow) => {
    const { scenario, rules } = imported(port(8472) + flow);
    expect(scenario?.device?.parser).toEqual({ vxlanPorts: [4789, 8472] });
    const entry = rules.find(({ name }) => name === "driver: by vx");
    if (flow === IN) expect(entry?.match).toMatchObject({ "outer.udp_dport": 8472 });
    const { driver } = importRules(port(8472) + flow, { format: "ovs", lenient: true, map: MAP });
    expect(driver).toContainEqual(
      expect.objectContaining({ line: 1, text: "vx", does: "UDP port 8472 is registered for VXLAN" }),
    );
  });

  it("are not mentioned where they are the standard's, and refused where another header has them", () => {
    expect(imported(port(4789) + IN).scenario?.device?.parser).toBeUndefined();
    const { said, scenario } = imported(port(6081) + IN);
    expect(said.join()).toContain("the device cannot read VXLAN at UDP port 6081: port 6081 is that of Geneve");
    expect(scenario?.device?.parser).toBeUndefined();
  });

  it("of datapaths: by the name of the port, or by the flow", () => {
    const flow = (inPort: string): string =>
      `recirc_id(0),tunnel(tun_id=0x2a,src=192.0.2.9,dst=192.0.2.1,tp_dst=8472,flags(+key)),in_port(${inPort}),eth_type(0x0800),ipv4(frag=no), packets:0, bytes:0, used:never, actions:2`;
    for (const text of [flow("vxlan_sys_8472"), flow("7")]) {
      const { scenario, said } = imported(text);
      expect(said.filter((one) => one.includes("refused"))).toEqual([]);
      expect(scenario?.device?.parser, text).toEqual({ vxlanPorts: [4789, 8472] });
    }
  });
});

describe("tunnels", () => {
  const PORTS = [
    "ovs-vsctl add-port br0 vx -- set interface vx type=vxlan ofport_request=9 options:remote_ip=192.0.2.9 options:local_ip=192.0.2.1 options:key=flow",
    "ovs-appctl tnl/neigh/set br0 192.0.2.9 02:00:00:00:00:99",
    "ovs-appctl tnl/neigh/set br0 192.0.2.1 02:00:00:00:00:11",
  ].join("\n");

  it("matches the key of frames that come, and takes off their headers", () => {
    const { rules, said } = imported(
      `${PORTS}\nin_port=9,tun_id=5,ip,nw_dst=10.0.0.1,actions=mod_dl_dst:02:00:00:00:00:03,output:2`,
    );
    expect(said).toEqual([]);
    expect(rules).toContainEqual({
      name: "table=0,in_port=9,tun_id=5,ip,nw_dst=10.0.0.1",
      table: "table 0 (2)",
      priority: 32767,
      match: { "misc.vxlan_vni": 5, "inner.ethertype": 2048, "inner.ipv4_dst": "10.0.0.1" },
      actions: [
        { reformat: { type: "l2_tunnel_to_l2" } },
        { modify: [{ set: "outer.dmac", to: "02:00:00:00:00:03" }] },
        { vport: 1 },
      ],
    });
  });

  it("refuses ends of two IP versions", () => {
    const ports = PORTS.replace("local_ip=192.0.2.1 ", "local_ip=2001:db8::1 ");
    const { said } = imported(`${ports}\nin_port=2,actions=set_tunnel:7,output:9`);
    expect(said.join()).toContain("the ends 2001:db8::1 and 192.0.2.9 of the tunnel are of two IP versions");
  });

  it("adds headers to frames that leave", () => {
    const { rules, said } = imported(`${PORTS}\nin_port=2,actions=set_tunnel:7,output:9`);
    expect(said).toEqual([]);
    const [rule] = rules.filter(({ table }) => table === "table 0");
    expect(rule?.actions).toEqual([
      {
        reformat: {
          type: "l2_to_l2_tunnel",
          headers: [
            { header: "ethernet", destination: "02:00:00:00:00:99", source: "02:00:00:00:00:11" },
            { header: "ipv4", source: "192.0.2.1", destination: "192.0.2.9", ttl: 64, dscp: 0, ecn: 0, flags: ["df"] },
            { header: "udp", destination_port: 4789, checksum: 0 },
            { header: "vxlan", vni: 7 },
          ],
        },
      },
      { port: 1 },
    ]);
  });

  describe("with options of Geneve", () => {
    const GENEVE = [
      "ovs-vsctl add-port br0 gv -- set interface gv type=geneve ofport_request=9 options:remote_ip=192.0.2.9 options:local_ip=192.0.2.1 options:key=flow",
      'ovs-ofctl add-tlv-map br0 "{class=0x103,type=0x81,len=4}->tun_metadata0,{class=0x103,type=0x82,len=8}->tun_metadata1"',
    ].join("\n");

    it("matches the option", () => {
      const { rules, scenario, said } = imported(`${GENEVE}\nin_port=9,tun_metadata0=0x50/0xff,actions=output:2`);
      expect(said).toEqual([]);
      expect(scenario?.device?.parser?.geneveOption0).toEqual({ class: 0x103, type: 0x81 });
      expect(rules).toContainEqual(
        expect.objectContaining({
          match: { "misc.geneve_tlv_option_0_exist": 1, "misc3.geneve_tlv_option_0_data": "80/0xff" },
        }),
      );
    });

    it("adds the option", () => {
      const { rules } = imported(`${GENEVE}\nin_port=2,actions=set_field:0xab->tun_metadata0,output:9`);
      const headers = rules.flatMap(({ actions = [] }) =>
        actions.flatMap((one) => (typeof one === "object" && one.reformat !== undefined ? [one.reformat] : [])),
      );
      expect(JSON.stringify(headers)).toContain('"options":[{"class":259,"type":129,"data":"000000ab"}]');
    });

    it.each([
      ["in_port=9,tun_metadata1=1,actions=output:2", "the device matches options of four bytes"],
      ["in_port=9,tun_metadata2=1,actions=output:2", "the text does not say which option tun_metadata2 is"],
      ["ovs-ofctl add-tlv-map br0 {class=1}->tun_metadata3", "an option is {class=CLASS"],
    ])("%s", (flow, reason) => {
      expect(imported(`${GENEVE}\n${flow}`).said.join()).toContain(reason);
    });
  });
});

describe("conjunctions", () => {
  const CLAUSES = [
    "priority=9,ip,nw_src=10.0.0.1,actions=conjunction(4,1/2)",
    "priority=9,ip,nw_src=10.0.0.2,actions=conjunction(4,1/2)",
    "priority=9,tcp,tp_dst=80,actions=conjunction(4,2/2)",
  ].join("\n");

  it("are the flows that they stand for", () => {
    const { rules, said } = imported(`${CLAUSES}\npriority=9,conj_id=4,ip,actions=output:2`);
    expect(said).toEqual([]);
    expect(rules.flatMap(({ match }) => match?.["outer.ipv4_src"] ?? [])).toEqual(["10.0.0.1", "10.0.0.2"]);
  });

  it.each([
    [CLAUSES, "no flow matches conj_id=4"],
    ["priority=9,conj_id=5,actions=output:2", "not all clauses of conjunction 5 are in the text"],
    [`${CLAUSES}\npriority=8,conj_id=4,actions=output:2`, "the flows of conjunction 4 have another priority"],
    [`${CLAUSES}\npriority=9,conj_id=4,udp,actions=output:2`, "it matches more than the clauses of conjunction 4"],
    ["actions=conjunction(4,3/2)", "a conjunction has an id, a clause and the number of clauses"],
    [
      `${CLAUSES}\npriority=9,ip,actions=conjunction(4,1/3)\npriority=9,conj_id=4,actions=drop`,
      "disagree on the number",
    ],
  ])("%s", (text, reason) => {
    expect(imported(text).said.join()).toContain(reason);
  });
});

describe("connection tracking", () => {
  const ESTABLISHED = "all frames are taken as part of established connections, in their original direction";

  it("takes connections for established", () => {
    const { rules, said } = imported(
      "table=0,ip,actions=ct(zone=5,table=1)\ntable=1,ct_state=+trk+est,ct_zone=5,actions=output:2",
    );
    expect(said).toEqual([`input:1:1: assumed: table=0,ip: ${ESTABLISHED}`]);
    const state = "misc2.metadata_reg_c_0";
    expect(rules.find(({ table }) => table === "table 1")?.match).toEqual({ [state]: "327714/0xffff0022" });
    expect(rules.find(({ match }) => match?.["outer.ethertype"] === 0x800)?.actions).toEqual([
      {
        modify: [
          { set: state, to: "34/0xffff" },
          { set: state, to: "327680/0xffff0000" },
        ],
      },
      { table: "table 1" },
    ]);
  });

  it("needs no register where nothing is tracked", () => {
    const { scenario, said } = imported("ct_state=-trk,ip,actions=ct_clear,output:2");
    expect(said).toEqual([]);
    expect(JSON.stringify(scenario)).not.toContain("metadata_reg");
  });

  it.each([
    ["table=0,ip,actions=ct(commit,table=1)", "the device does not add connections on its own"],
    ["table=0,ip,actions=ct(nat,table=1)", "the addresses that a connection is translated to are in the tracker"],
    ["table=0,ip,actions=ct(commit,exec(load:1->NXM_NX_CT_MARK[]))", "the device does not write marks of connections"],
    ["table=0,ip,actions=ct(zoen=1,table=1)", "ct has no zoen=1"],
    ["table=0,ct_state=+trk+foo,actions=drop", "is not a state; states: new, est"],
  ])("%s", (text, reason) => {
    expect(imported(text).said.join()).toContain(reason);
  });
});
