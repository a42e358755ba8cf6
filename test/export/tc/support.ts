/** Random eSwitches of what tc can say, and frames that come near to their rules. */
import { buildFrame } from "../../../src/packet/index.js";
import type { Scenario, ScenarioRule, ScenarioRuleAction } from "../../../src/scenario/index.js";
import type { Random } from "../../oracle/generate/random.js";

const VPORTS = 3;
const MACS = ["02:00:00:00:00:01", "02:00:00:00:00:02", "02:00:00:00:01:01"];
const V4 = ["10.0.0.1", "10.0.0.2", "10.0.1.1"];
const V6 = ["fd00::1", "fd00::2", "fd01::1"];
const PORTS = [53, 80, 1000];

type Field = readonly [name: string, value: (random: Random) => string | number];
const L2: readonly Field[] = [
  ["outer.dmac", (random) => random.pick([...MACS, "02:00:00:00:00:00/ff:ff:ff:ff:00:00"])],
  ["outer.smac", (random) => random.pick(MACS)],
];
const TAGS: readonly Field[] = [
  ["outer.first_vid", (random) => random.pick([5, 6])],
  ["outer.cvlan_tag", (random) => random.below(2)],
  ["misc.outer_second_vid", (random) => random.pick([5, 6])],
];
const L3: readonly Field[] = [
  ["outer.ethertype", (random) => random.pick(["ipv4", "ipv6", "0x88cc"])],
  ["outer.ip_version", (random) => random.pick([4, 6])],
  ["outer.ipv4_src", (random) => random.pick([...V4, "10.0.0.0/24"])],
  ["outer.ipv4_dst", (random) => random.pick([...V4, "10.0.0.0/8"])],
  ["outer.ipv6_dst", (random) => random.pick([...V6, "fd00::/16"])],
  ["outer.ip_dscp", (random) => random.pick([0, "0/0x3", 46])],
  ["outer.ip_ttl_hoplimit", (random) => random.pick([64, 9])],
];
const L4: readonly Field[] = [
  ["outer.ip_protocol", (random) => random.pick(["tcp", "udp"])],
  ["outer.tcp_dport", (random) => random.pick([...PORTS, "50-100", "0x10/0xf0"])],
  ["outer.udp_dport", (random) => random.pick([...PORTS, "1-60"])],
  ["outer.tcp_flags", () => "2/0x12"],
  ["misc3.icmp_type", () => 8],
];

export function randomSwitch(random: Random): Scenario {
  const tables = [0, 1, 2].map((level) => ({ name: `table ${level}`, domain: "fdb" as const, level }));
  const rules = Array.from({ length: random.between(2, 12) }, (_, n) =>
    randomRule(random, `rule ${n}`, random.below(3)),
  );
  return { flowsteer: 1, device: { vports: VPORTS }, tables, rules };
}

function randomRule(random: Random, name: string, level: number): ScenarioRule {
  const match: Record<string, string | number> = {};
  for (const fields of [L2, TAGS, L3, L4]) {
    if (!random.chance(0.4)) continue;
    const [field, value] = random.pick(fields);
    match[field] = value(random);
  }
  if (level === 0 && random.chance(0.5)) match["misc.source_port"] = random.pick(["uplink", 1, 2]);
  return {
    name,
    table: `table ${level}`,
    priority: random.below(4),
    match,
    actions: randomActions(random, match),
  };
}

function randomActions(random: Random, match: Readonly<Record<string, unknown>>): ScenarioRuleAction[] {
  const actions: ScenarioRuleAction[] = [];
  if (random.chance(0.3)) actions.push("pop_vlan");
  const changes = [];
  if (random.chance(0.4)) changes.push({ set: "outer.dmac", to: random.pick(MACS) });
  if (match["outer.ipv4_src"] !== undefined && random.chance(0.5)) {
    changes.push({ set: "outer.ipv4_dst", to: random.pick(V4) }, { add: "outer.ip_ttl_hoplimit", by: -1 });
    changes.push({ set: "outer.ip_dscp", to: random.below(64) });
  }
  if (match["outer.tcp_dport"] !== undefined && random.chance(0.5)) changes.push({ set: "outer.tcp_dport", to: 8080 });
  if (changes.length > 0) actions.push({ modify: changes });
  if (random.chance(0.3)) actions.push({ push_vlan: { vid: random.pick([5, 6]), pcp: random.below(8) } });
  const port = (): { vport: number | "uplink" } => ({ vport: random.pick(["uplink", 0, 1, 2, 3] as const) });
  const next = { table: `table ${random.between(1, 2)}` };
  const ends: (() => ScenarioRuleAction[])[] = [
    () => ["drop"],
    () => ["default_miss"],
    () => [port()],
    () => [next],
    () => [{ array: [port(), port()] }],
    () => [{ array: [port(), next] }],
    () => [],
  ];
  return [...actions, ...random.pick(ends)()];
}

/** Without circles that copy: how many copies such a circle makes depends on how many hops it has. */
export function withoutCircles(scenario: Scenario): Scenario {
  const copies = (scenario.rules ?? []).some(({ actions = [] }) =>
    actions.some((action) => typeof action === "object" && action.array !== undefined),
  );
  const levels = new Map((scenario.tables ?? []).map(({ name, level }) => [name, level]));
  const levelOf = (table: string | undefined): number => levels.get(table ?? "") ?? 0;
  const rules = (scenario.rules ?? []).map((rule) => ({
    ...rule,
    actions: (rule.actions ?? []).map((action) => {
      if (typeof action === "string") return action;
      const goesBack = (table: string | undefined): boolean =>
        table !== undefined && levelOf(table) <= levelOf(rule.table);
      if (copies && goesBack(action.table)) return { vport: "uplink" as const };
      if (action.array === undefined) return action;
      const array = action.array.map((one) =>
        typeof one === "object" && goesBack(one.table) ? { vport: "uplink" as const } : one,
      );
      return { ...action, array };
    }),
  }));
  return { ...scenario, rules };
}

export function randomFrame(random: Random): Uint8Array {
  const headers: Record<string, unknown>[] = [
    { header: "ethernet", source: random.pick(MACS), destination: random.pick(MACS) },
  ];
  for (let tags = random.pick([0, 0, 1, 2]); tags > 0; tags--)
    headers.push({ header: "vlan", vid: random.pick([5, 6]) });
  const four = random.chance(0.7);
  headers.push(
    four
      ? {
          header: "ipv4",
          source: random.pick(V4),
          destination: random.pick(V4),
          ttl: random.pick([9, 64]),
          dscp: random.pick([0, 4, 46]),
        }
      : { header: "ipv6", source: random.pick(V6), destination: random.pick(V6), hop_limit: random.pick([9, 64]) },
  );
  const upper = random.pick(["tcp", "udp", "icmp"]);
  if (upper === "icmp") headers.push(four ? { header: "icmp", type: 8 } : { header: "icmpv6", type: 128 });
  else headers.push({ header: upper, destination_port: random.pick(PORTS) });
  return buildFrame(headers as unknown as Parameters<typeof buildFrame>[0]);
}
