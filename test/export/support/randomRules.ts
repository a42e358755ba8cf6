/** Random scenarios of direct rules and flows, and frames that come near their rules. */
import { buildFrame, type Layer } from "../../../src/packet/index.js";
import type { Scenario, ScenarioFlowSpec, ScenarioRule, ScenarioRuleAction } from "../../../src/scenario/index.js";
import type { Random } from "../../oracle/generate/random.js";

const HOSTS = ["10.0.0.1", "10.0.0.2", "10.0.1.1", "10.1.0.1"] as const;
const HOSTS6 = ["2001:db8::1", "2001:db8::2", "2001:db8:1::1"] as const;
const PORTS = [80, 81, 443, 1000, 4789] as const;
const MACS = ["02:00:00:00:00:01", "02:00:00:00:00:02"] as const;

type Draw = (random: Random) => [field: string, text: string | number];

const FIELDS: readonly Draw[] = [
  (random) => ["outer.dmac", random.pick(MACS)],
  (random) => ["outer.first_vid", random.pick([1, 2, "0/0xffe"])],
  (random) => ["outer.ipv4_src", random.pick([...HOSTS, "10.0.0.0/24", "10.0.0.0/8"])],
  (random) => ["outer.ipv4_dst", random.pick([...HOSTS, "10.0.0.0/30"])],
  (random) => ["outer.ipv6_dst", random.pick([...HOSTS6, "2001:db8::/48"])],
  (random) => ["outer.ip_protocol", random.pick(["tcp", "udp", "0x6/0xf"])],
  (random) => ["outer.ip_dscp", random.pick([0, 10, "0/0x3"])],
  (random) => ["outer.tcp_dport", random.pick([...PORTS, "80-90", "0-1023", "0x50/0xfff0"])],
  (random) => ["outer.udp_dport", random.pick([...PORTS, "79-4788"])],
  (random) => ["outer.tcp_flags", random.pick(["0x2/0x12", 2])],
  (random) => ["misc.vxlan_vni", random.pick([5, 6, "0x4/0xfffffe"])],
  (random) => ["inner.ipv4_dst", random.pick([...HOSTS, "10.0.0.0/16"])],
  (random) => ["inner.tcp_dport", random.pick([...PORTS])],
];

/** Fields that do not contradict each other in every case; a rule that does is refused, and drawn again. */
export function randomMatch(random: Random): NonNullable<ScenarioRule["match"]> {
  const match: Record<string, string | number> = {};
  for (let left = random.between(0, 3); left > 0; left--) {
    const [field, text] = random.pick(FIELDS)(random);
    match[field] = text;
  }
  const names = Object.keys(match);
  const isMixed =
    (names.includes("outer.ipv6_dst") && names.some((name) => name.startsWith("outer.ipv4"))) ||
    names.filter((name) => String(match[name]).includes("-")).length > 2;
  return isMixed ? {} : match;
}

const CHANGES: readonly (() => NonNullable<Exclude<ScenarioRuleAction, string>["modify"]>)[] = [
  () => [{ set: "outer.dmac", to: "02:00:00:00:00:09" }],
  () => [{ set: "outer.ipv4_dst", to: "10.9.9.9" }],
  () => [{ add: "outer.ip_ttl_hoplimit", by: -1 }],
  () => [
    { set: "misc2.metadata_reg_c_1", to: 7 },
    { set: "outer.ip_dscp", to: 4 },
  ],
];

function randomActions(random: Random, level: number, deepest: number): ScenarioRuleAction[] {
  const actions: ScenarioRuleAction[] = [];
  if (random.chance(0.3)) actions.push({ tag: random.between(1, 100) });
  if (random.chance(0.3)) actions.push({ count: random.pick(["in", "out"]) });
  if (level > 0 && random.chance(0.3)) actions.push({ modify: random.pick(CHANGES)() });
  if (level > 0 && random.chance(0.1)) actions.push({ push_vlan: { vid: 3, pcp: 1 } });
  if (level < deepest && random.chance(0.6)) return [...actions, { table: `t${random.between(level + 1, deepest)}` }];
  return [...actions, random.chance(0.3) ? "drop" : { queue: random.pick(["a", "b", "c"]) }];
}

/** Tables at levels 0 to 2, rules with masks of their own and rules of matchers. */
export function randomRules(random: Random): Scenario {
  const deepest = 2;
  const tables = Array.from({ length: deepest + 1 }, (_, level) => ({ name: `t${level}`, level }));
  const matchers = [
    { name: "by port", table: "t1", priority: random.between(0, 2), mask: { "outer.tcp_dport": "full" } },
    { name: "by host", table: "t2", priority: random.between(0, 2), mask: { "outer.ipv4_dst": "/24" } },
  ];
  const rules: ScenarioRule[] = [
    { name: "in", table: "t0", priority: 9, actions: [{ table: "t1" }] },
    {
      name: "port 80",
      matcher: "by port",
      match: { "outer.tcp_dport": 80 },
      actions: randomActions(random, 1, deepest),
    },
    {
      name: "net",
      matcher: "by host",
      match: { "outer.ipv4_dst": "10.0.0.0/24" },
      actions: randomActions(random, 2, deepest),
    },
  ];
  for (let n = random.between(3, 14); n > 0; n--) {
    const level = random.between(0, deepest);
    rules.push({
      name: `r${n}`,
      table: `t${level}`,
      priority: random.between(0, 3),
      match: randomMatch(random),
      actions: randomActions(random, level, deepest),
    });
  }
  const flows = Array.from({ length: random.between(0, 3) }, (_, n) => ({
    name: `f${n}`,
    queue: random.pick(["a", "b"]),
    // Each its own: identical flows with other tags are refused.
    priority: 4 + 2 * n + random.between(0, 1),
    specs: randomSpecs(random),
  }));
  return {
    flowsteer: 1,
    queues: [{ name: "a" }, { name: "b" }, { name: "c" }],
    counters: [{ name: "in" }, { name: "out" }],
    flowCounters: [{ name: "all", points: [{ index: 0, counts: "packets" }] }],
    tables,
    matchers,
    rules,
    flows,
  };
}

function randomSpecs(random: Random): ScenarioFlowSpec[] {
  const specs: ScenarioFlowSpec[] = [];
  if (random.chance(0.5)) specs.push({ eth: { dst_mac: random.pick(MACS) } });
  if (random.chance(0.7)) specs.push({ ipv4: { dst_ip: random.pick([...HOSTS, "10.0.0.0/16"]) } });
  if (specs.length > 0 && random.chance(0.5)) specs.push({ tcp: { dst_port: random.pick(PORTS) } });
  if (random.chance(0.3)) specs.push({ tag: 5 });
  if (random.chance(0.3)) specs.push({ count: "all" });
  return specs;
}

/** A frame with values that rules ask for. */
export function nearFrame(random: Random): Uint8Array {
  const layers = (depth: number): Layer[] => {
    const made: Layer[] = [{ header: "ethernet", destination: random.pick(MACS), source: "02:00:00:00:00:0a" }];
    if (random.chance(0.3)) made.push({ header: "vlan", vid: random.between(0, 3) });
    const common = random.chance(0.3) ? { dscp: 10 } : {};
    if (random.chance(0.2)) {
      made.push({ header: "ipv6", source: random.pick(HOSTS6), destination: random.pick(HOSTS6), ...common });
    } else made.push({ header: "ipv4", source: random.pick(HOSTS), destination: random.pick(HOSTS), ...common });
    if (depth === 0 && random.chance(0.2)) {
      return [
        ...made,
        { header: "udp", source_port: 5, destination_port: 4789 },
        { header: "vxlan", vni: random.between(4, 7) },
        ...layers(1),
      ];
    }
    const ports = { source_port: 1, destination_port: random.pick(PORTS) };
    if (random.chance(0.5)) made.push({ header: "tcp", ...ports, flags: random.pick([2, 0x10, 0x12]) });
    else made.push({ header: "udp", ...ports });
    return made;
  };
  return buildFrame(layers(0));
}
