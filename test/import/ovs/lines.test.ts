/** Lines that look like flows or commands are read, or refused by name: none is left out in silence. */
import { describe, expect, test } from "vitest";
import { importRules, printFinding, type ImportFormat } from "../../../src/import/index.js";

const MAP = { 1: "uplink", 2: "vf1", 3: "vf2" };

function imported(text: string, format: ImportFormat = "ovs") {
  const { scenario, findings } = importRules(text, { format, lenient: true, map: MAP });
  const rules = (scenario?.rules ?? []).filter(({ match }) => match !== undefined);
  return { rules, said: findings.map(printFinding).join("\n") };
}

test.each([
  ["actions=drop,output:2", "drop stands alone"],
  ["actions=output:2,drop", "drop stands alone"],
  ["table=5,actions=goto_table:3", "goto_table leads to a later table"],
  ["table=5,actions=goto_table:5", "goto_table leads to a later table"],
])("Open vSwitch refuses %s", (text, reason) => {
  expect(imported(`in_port=1,${text}`).said).toContain(reason);
});

describe("a line with actions is a flow", () => {
  test.each([
    ["importance=3,in_port=1,actions=2"],
    ["idle_age=3,hard_age=4,in_port=1,actions=2"],
    ["  - 'n_packets=3,in_port=1,actions=2',"],
  ])("%s", (text) => {
    const { rules, said } = imported(text);
    expect(said).toBe("");
    expect(rules).toMatchObject([{ match: { "misc.source_port": 65535 }, actions: [{ vport: 1 }] }]);
  });

  test.each([
    ["pirority=5,in_port=2,actions=drop", 'there is no field pirority; did you mean "priority"?'],
    ["recirc_id=1,actions=drop", "numbers that Open vSwitch assigns to frames internally"],
    ["conj_id=1,ip,actions=drop", "not all clauses of conjunction 1 are in the text"],
    ["rule-0: in_port=1,actions=2", "there is no field rule-0"],
    ["$WHERE,actions=2", "there is no field $WHERE"],
  ])("%s", (text, reason) => {
    const { rules, said } = imported(`${text}\nin_port=1,actions=2`);
    expect(said).toContain(`input:1:1: not imported: ${text.startsWith("conj") ? "table=0," : ""}`);
    expect(said).toContain(reason);
    expect(rules).toHaveLength(1);
  });

  test("but not one that is a comment", () => {
    const { rules, said } = imported("#in_port=1,actions=2\n # priority=3,in_port=1,actions=2\nin_port=2,actions=1");
    expect(said).toBe("");
    expect(rules).toHaveLength(1);
  });

  test("that a variable has is read where that is used", () => {
    const flow = "in_port=1,actions=2";
    expect(imported(`FLOW="${flow}"\novs-ofctl add-flow br0 "$FLOW"`)).toMatchObject({ said: "", rules: [{}] });
    expect(imported(`FLOW=${flow}\novs-ofctl add-flow br0 $FLOW`)).toMatchObject({ said: "", rules: [{}] });
    expect(imported(`FLOW=${flow}\nin_port=2,actions=1`).said).toContain("no command uses this variable");
  });
});

describe("a name alone", () => {
  test.each(["decttl", "dropp", "NORMALL"])("is no port: %s", (name) => {
    const { rules, said } = imported(`in_port=1,actions=${name},2`);
    expect(said).toContain(`input:1:19: not imported: ${name} (rule table=0,in_port=1): unknown action ${name}`);
    expect(rules).toMatchObject([{ actions: [{ vport: 1 }] }]);
  });

  test.each([
    ["in_port=1,actions=veth\nin_port=veth,actions=1"],
    ["in_port=1,actions=veth\nin_port=2,actions=output:veth"],
    ["ovs-vsctl add-port br0 veth\nin_port=1,actions=veth"],
    ["in_port=1,actions=vnet3"],
  ])("is a port if the text has one: %s", (text) => {
    expect(imported(text).said).not.toContain("not imported");
  });

  test.each([
    ["drop:3", "drop:3 has more than its name"],
    ["resubmit(2,3,ctt)", "resubmit has a port and a table"],
    ["ct(table)", "ct has no table"],
  ])("%s", (action, reason) => {
    expect(imported(`in_port=1,actions=${action}`).said).toContain(reason);
  });
});

describe("a command after any prefix", () => {
  test.each([
    ['kubectl exec pod -- ovs-ofctl add-flow br0 "in_port=1,actions=2"'],
    ["ssh host 'ovs-ofctl add-flow br0 in_port=1,actions=2'"],
    ["step 1: ovs-ofctl add-flow br0 in_port=1,actions=2"],
    ["# kubectl exec pod -- ovs-ofctl -O OpenFlow13 add-flow br0 in_port=1,actions=2"],
    ["AT_CHECK([ovs-ofctl add-flow br0 in_port=1,actions=2], [0])"],
    ["ovs-ofctl1 add-flow br0 in_port=1,actions=2"],
    ["a) ovs-ofctl add-flow br0 in_port=1,actions=2 # a comment"],
  ])("%s", (text) => {
    const { rules, said } = imported(text);
    expect(said).toBe("");
    expect(rules).toMatchObject([{ match: { "misc.source_port": 65535 }, actions: [{ vport: 1 }] }]);
  });

  test("that is not known is refused", () => {
    expect(imported("see: ovs-ofctl add-folw br0 in_port=1,actions=2").said).toContain("not imported: ");
    expect(imported("ovs-vsctl add-prot br0 x\nin_port=1,actions=2").said).toContain('did you mean "add-port"');
    expect(imported("ovs-vsctl set interfcae x type=vxlan\nin_port=1,actions=2").said).toContain(
      'did you mean "interface"',
    );
  });
});

test.each([["group_id=1,tpye=select,bucket=actions=2,bucket=actions=3", "a group has no tpye=select"]])(
  "a group: %s",
  (group, reason) => {
    expect(imported(`ovs-ofctl add-group br0 ${group}\nin_port=1,actions=2`).said).toContain(reason);
  },
);

describe("datapath flows", () => {
  const KEYS = "recirc_id(0),in_port(1),eth(),eth_type(0x0800),ipv4(frag=no)";
  test.each([
    [`${KEYS}, packets:0, bytes:0, used:never, actions:push_vlan(vdi=5),2`, "a tag has vid, pcp, tpid, cfi"],
    [`${KEYS.replace("recirc_id", "recric_id")}, actions:2`, "the datapath's key recric_id is not read"],
    [`${KEYS},colour:red, actions:2`, "a key has its value in parentheses"],
    [`${KEYS},tunnel(foo), actions:2`, "there is no part foo of a tunnel"],
    [`${KEYS}, actions:set(tunnel(dst=1.2.3.4,foo)),2`, "there is no part foo of a tunnel"],
    [
      `${KEYS}, actions:tnl_push(tnl_port(6),header(size=50,type=4,eth(dst=02:00:00:00:00:01,src=02:00:00:00:00:02,dl_type=0x0800),ipv4(src=1.1.1.1,dst=1.1.1.2,proto=17,tso=0,ttl=64),udp(src=0,dst=4789),vxlan(flags=0x8000000,vni=0x7)),out_port(1))`,
      'there is no field tso; did you mean "tos"',
    ],
  ])("%s", (text, reason) => {
    expect(imported(text, "ovs-dpctl").said).toContain(reason);
  });
});

describe("the encapsulation of a port whose type the text does not say", () => {
  const KEYS = "recirc_id(0),in_port(1),eth(),eth_type(0x0800),ipv4(frag=no)";
  const TUNNEL = "set(tunnel(tun_id=0x5,src=192.0.2.1,dst=192.0.2.9,ttl=64,flags(df|key)))";
  test.each([
    ["vxlan_sys_4789", "vxlan"],
    ["genev_sys_6081", "geneve"],
    ["gre_sys", "gre"],
  ])("is in the name %s", (port, header) => {
    const { rules } = imported(`${KEYS.replace("in_port(1)", "in_port(2)")}, actions:${TUNNEL},${port}`, "ovs-dpctl");
    expect(JSON.stringify(rules)).toContain(`"header":"${header}"`);
  });

  test.each<[ImportFormat, string]>([
    ["ovs-dpctl", `${KEYS}, actions:${TUNNEL},4`],
    ["ovs-dpctl", `${KEYS}, actions:clone(${TUNNEL},4),2`],
    ["ovs", "in_port=1,actions=set_tunnel:5,4"],
    ["ovs", "in_port=1,actions=set_field:192.0.2.1->tun_dst,output:4"],
    ["ovs", "in_port=1,actions=set_tunnel:5,resubmit(,1)\ntable=1,actions=output:4"],
  ])("is refused in %s: %s", (format, text) => {
    expect(imported(text, format).said).toContain("the text does not say whether the port is one");
  });

  test.each([
    ["ovs-dpctl", "port 4: eth4\n", `${KEYS.replace("in_port(1)", "in_port(2)")}, actions:${TUNNEL},4`],
    ["ovs", "ovs-vsctl add-port br0 veth -- set interface veth ofport_request=4\n", "in_port=1,actions=set_tunnel:5,4"],
    ["ovs", "", "in_port=1,actions=set_tunnel:5,2"],
  ] as const)("is none of a port that is no tunnel: %s", (format, ports, text) => {
    expect(imported(ports + text, format).said).not.toContain("not imported");
  });
});

describe("flows that are changed and deleted by their matches", () => {
  const FLOWS = "table=0,priority=5,tcp,tp_dst=80,actions=2\ntable=1,priority=6,udp,actions=3\nactions=resubmit(,1)\n";
  const left = (command: string): string[] =>
    imported(`${FLOWS}${command}`).rules.flatMap(({ match }) =>
      Object.keys(match ?? {}).filter((name) => /tcp|protocol/.test(name)),
    );

  test.each([
    ["ovs-ofctl del-flows br0 tcp", ["outer.ip_protocol"]],
    ["ovs-ofctl del-flows br0 ip", []],
    ["ovs-ofctl del-flows br0 table=1,ip", ["outer.ip_protocol", "outer.tcp_dport"]],
    ["ovs-ofctl --strict del-flows br0 table=1,ip", ["outer.ip_protocol", "outer.ip_protocol", "outer.tcp_dport"]],
    ["ovs-ofctl --strict del-flows br0 table=1,priority=6,udp", ["outer.ip_protocol", "outer.tcp_dport"]],
  ])("%s", (command, names) => {
    expect(left(command).sort()).toEqual(names);
  });

  test("mod-flows", () => {
    const { rules, said } = imported(`${FLOWS}ovs-ofctl mod-flows br0 udp,actions=drop`);
    expect(said).toBe("");
    expect(rules.find(({ match }) => match?.["outer.ip_protocol"] === 17)?.actions).toEqual(["drop"]);
  });

  test.each([
    ["ovs-ofctl del-flows br0 cookie=1/-1", "by cookies and outputs of flows is not read"],
    ["ovs-ofctl mod-flows br0 sctp,actions=drop", "it changes no flow before it"],
    ["ovs-ofctl del-flows br0 nosuch=1", "there is no field nosuch"],
  ])("%s", (command, reason) => {
    expect(imported(FLOWS + command).said).toContain(reason);
  });
});

describe("flows that are added to the datapath", () => {
  const FLOW = '"recirc_id(0),in_port(2),eth(),eth_type(0x0800),ipv4(frag=no)"';
  test.each([
    [`ovs-appctl dpctl/add-flow ${FLOW} 1`],
    [`ovs-appctl dpctl/add-flow system@ovs-system ${FLOW} "1"`],
    [`ovs-dpctl add-flow ${FLOW} 1`],
    [`ovs-dpctl del-flows\nkubectl exec pod -- ovs-dpctl add-flow system@ovs-system ${FLOW} 1`],
  ])("%s", (command) => {
    const { rules, said } = imported(command);
    expect(said).toBe("");
    expect(rules).toMatchObject([{ match: { "misc.source_port": 1 }, actions: [{ port: 1 }] }]);
  });

  test("mod-flow is refused", () => {
    expect(imported(`ovs-dpctl mod-flow ${FLOW} 1`).said).toContain("mod-flow is not read");
  });
});
