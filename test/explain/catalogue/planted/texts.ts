/** Rules in the texts of other tools. */
import { of, queue, request, rule, vxlan, type FrameText, type Planted } from "./shapes.js";

const planted = (file: string, text: string, corrected: string, frame: FrameText): Planted["scenario"] => ({
  file,
  text,
  corrected,
  frames: [frame],
});

const TCP_80 = "flow create 0 group 1 ingress pattern eth / ipv4 / tcp dst is 80 / end actions queue index 3 / end";

const RSS_UDP = "flow create 0 ingress pattern eth / ipv4 / udp / end actions rss types ipv4-udp end ";
const RSS_TCP =
  "flow create 0 ingress pattern eth / ipv4 / tcp / end actions rss types ipv4 end queues 0 1 2 3 end / end\n";

export const TEXTS: readonly Planted[] = [
  {
    name: "testpmd: a rule of a group that nothing jumps to, beside RSS over its queue",
    scenario: planted(
      "flows.txt",
      `${TCP_80}\nflow create 0 ingress pattern eth / end actions rss queues 0 1 2 3 end / end\n`,
      `${TCP_80}\nflow create 0 ingress pattern eth / end actions jump group 1 / end\n`,
      request(),
    ),
    target: queue("queue 3"),
    first: ["no rule leads to table", "group 1"],
    never: ["does not match"],
    repair: null,
    correction: [],
  },
  {
    name: "testpmd: RSS chose another queue, and a rule for TCP delivers there too",
    scenario: planted(
      "flows.txt",
      `${RSS_UDP}queues 0 1 2 3 end / end\n${RSS_TCP}`,
      `${RSS_UDP}queues 3 end / end\n${RSS_TCP}`,
      vxlan(),
    ),
    target: queue("queue 3"),
    first: ["distributes frames by RSS"],
    never: ["The rule expects"],
    repair: null,
    correction: [],
  },
  {
    name: "testpmd: the port of another service",
    scenario: planted(
      "flows.txt",
      "flow create 0 ingress pattern eth / ipv4 / tcp dst is 8080 / end actions queue index 1 / end\n",
      "flow create 0 ingress pattern eth / ipv4 / tcp dst is 80 / end actions queue index 1 / end\n",
      request(),
    ),
    target: queue("queue 1"),
    first: ["outer.tcp_dport is 80, not 8080"],
    never: ["swapped"],
    repair: of("frame", null, "outer.tcp_dport 8080 instead of 80"),
    correction: [],
  },
  {
    name: "tc: the filter that drops all TCP has the lower pref",
    scenario: planted(
      "filters.sh",
      "tc qdisc add dev eth0 ingress\ntc filter add dev eth0 ingress protocol ip pref 10 flower ip_proto tcp action drop\ntc filter add dev eth0 ingress protocol ip pref 20 flower ip_proto tcp dst_port 80 action pass\n",
      "tc qdisc add dev eth0 ingress\ntc filter add dev eth0 ingress protocol ip pref 30 flower ip_proto tcp action drop\ntc filter add dev eth0 ingress protocol ip pref 20 flower ip_proto tcp dst_port 80 action pass\n",
      request(),
    ),
    target: rule("eth0 prio 20"),
    first: ['rule "eth0 prio 10" took the frame first', "(10 before 20)"],
    never: ["leave out"],
    repair: of("rule", "safe", "use priority"),
    correction: [],
  },
  {
    name: "Open vSwitch: the drop of everything has the higher priority",
    scenario: planted(
      "flows.txt",
      "table=0,priority=10,in_port=1,ip,nw_dst=192.0.2.80,actions=output:2\ntable=0,priority=100,ip,actions=drop\n",
      "table=0,priority=200,in_port=1,ip,nw_dst=192.0.2.80,actions=output:2\ntable=0,priority=100,ip,actions=drop\n",
      request(),
    ),
    target: { kind: "vport", vport: 1 },
    first: ['rule "table=0,priority=100,ip" took the frame first'],
    never: ["leave out"],
    repair: of("rule", "safe", "use priority"),
    correction: [],
  },
  {
    name: "ethtool: m has the bits that count, and ethtool ignores the set ones",
    scenario: planted(
      "rules.sh",
      "ethtool -N eth0 flow-type tcp4 dst-ip 192.0.2.0 m 255.255.255.0 action 2\n",
      "ethtool -N eth0 flow-type tcp4 dst-ip 192.0.2.0 m 0.0.0.255 action 2\n",
      request(),
    ),
    target: rule("eth0 1023"),
    first: ["outer.ipv4_dst is 192.0.2.80, not 0.0.0.0/0.0.0.255"],
    never: ["source and destination"],
    repair: of("rule", "corrects", "outer.ipv4_dst 192.0.2.0/24"),
    correction: [],
  },
];
