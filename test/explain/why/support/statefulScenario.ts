/** Random scenarios whose rules meter, track, tag, count and rewrite frames before they match what came of it. */
import type { Random } from "../../../oracle/generate/random.js";

export interface ScenarioText {
  readonly rules: readonly {
    readonly name: string;
    readonly priority: number;
    readonly match: Readonly<Record<string, unknown>>;
    readonly [key: string]: unknown;
  }[];
  readonly [key: string]: unknown;
}

/** Registers that results of state go into. */
const RESULTS = [1, 3, 5] as const;
const ADDRESSES = ["10.0.0.7", "10.0.1.7", "192.0.2.80"] as const;
const PORTS = [80, 443, 8080] as const;

export const TAGS = [1, 2, 3] as const;
export const COUNTERS = ["frames", "others"] as const;

export const OBJECTS = [
  { name: "contract", flow_meter: { meter_mode: "pkt", cir: 1000, cbs: 2 } },
  { name: "seen", first_hit: [2] },
  { name: "connections", conn_track: {} },
];

function stateAction(random: Random): object {
  const return_reg_c = random.pick(RESULTS);
  return random.pick([
    { aso: { object: "contract", flags: "flow_meter_green", return_reg_c } },
    { aso: { object: "seen", offset: random.below(4), flags: "first_hit_set", return_reg_c } },
    { aso: { object: "connections", flags: "ct_direction_initiator", return_reg_c } },
  ]);
}

function change(random: Random): object {
  const register = `misc2.metadata_reg_c_${random.pick(RESULTS)}`;
  return random.pick([
    { set: register, to: random.below(3) },
    { set: "outer.ipv4_dst", to: random.pick(ADDRESSES) },
    { set: "outer.tcp_dport", to: random.pick(PORTS) },
    { set: "outer.ip_dscp", to: random.below(3) },
    { add: "outer.ip_ttl_hoplimit", by: -1 },
  ]);
}

function term(random: Random): readonly [field: string, wanted: unknown] {
  const register = `misc2.metadata_reg_c_${random.pick(RESULTS)}`;
  return random.pick<readonly [string, unknown]>([
    [register, `${random.pick([0, 1, 2, 64])}/0xff`],
    [register, random.below(3)],
    ["outer.ipv4_dst", random.pick(ADDRESSES)],
    ["outer.tcp_dport", random.pick(PORTS)],
    ["outer.ip_dscp", random.below(3)],
    ["outer.ip_ttl_hoplimit", random.pick([63, 64])],
  ]);
}

export function statefulScenario(random: Random): ScenarioText {
  const tables = ["root", "first", "second"];
  const rules = tables.flatMap((table, level) =>
    Array.from({ length: 1 + random.below(level === 2 ? 4 : 2) }, (_, n) => {
      const match = random.chance(level === 2 ? 0.1 : 0.6) ? {} : Object.fromEntries([term(random), term(random)]);
      const next = tables[level + 1];
      const end = random.chance(0.3) ? "drop" : { queue: "out" };
      const state = next !== undefined && level > 0 && random.chance(0.8) ? [stateAction(random)] : [];
      const modify = random.chance(0.5) ? [{ modify: [change(random)] }] : [];
      const written = [
        ...(random.chance(0.3) ? [{ tag: random.pick(TAGS) }] : []),
        ...(random.chance(0.3) ? [{ count: random.pick(COUNTERS) }] : []),
      ];
      const actions = [...written, ...(next === undefined ? [end] : [...state, ...modify, { table: next }])];
      return { name: `${table} ${n}`, table, priority: random.below(3), match, actions };
    }),
  );
  return {
    flowsteer: 1,
    queues: [{ name: "out" }],
    asoObjects: OBJECTS,
    counters: COUNTERS.map((name) => ({ name })),
    tables: tables.map((name, level) => ({ name, level })),
    rules,
  };
}

/** A frame for such a scenario, as headers. */
export function statefulFrame(random: Random): object[] {
  const ports = { source_port: 40000, destination_port: random.pick(PORTS) };
  return [
    { header: "ethernet" },
    { header: "ipv4", source: "198.51.100.9", destination: random.pick(ADDRESSES), dscp: random.below(3), ttl: 64 },
    random.chance(0.8)
      ? { header: "tcp", ...ports, flags: random.pick(["syn", "ack"]), sequence: random.below(3000), window: 1000 }
      : { header: "udp", ...ports },
  ];
}
