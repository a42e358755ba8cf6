/** The mlx5 poll mode driver of DPDK. */

export interface PmdRule {
  readonly domain: "nic_rx" | "nic_tx" | "fdb";
  readonly group: number;
  readonly priority: number;
  /** Names of the items of its pattern. */
  readonly items: readonly string[];
  /** The level of its RSS action; 0 without one. */
  readonly rssLevel: number;
}

export interface Pmd {
  readonly name: string;
  /** The level of the table of a group. */
  readonly level: (domain: PmdRule["domain"], group: number) => number;
  /** The highest priority that it accepts. */
  readonly maxPriority: (rule: Pick<PmdRule, "domain" | "group">) => number;
  /** The priority of a rule in its table. */
  readonly priority: (rule: PmdRule) => number;
  /** The priority, in the root table, of its own rules for frames that no other rule takes. */
  readonly controlPriority: number;
  /** Whether rules of one mask and one priority share a matcher, whose age counts instead of theirs. */
  readonly ordersMasks: boolean;
  /** The match field that an item without values compares, and its value, in place of the header. */
  readonly bareItems: Readonly<Record<string, readonly [field: string, value: bigint]>>;
  /** Whether it refuses patterns whose layers are not in their order. */
  readonly checksLayers: boolean;
  /** Whether a header that UDP carries asks for its standard port where the pattern asks for none. */
  readonly asksUdpPorts: boolean;
  /** The highest id of `mark`. */
  readonly maxMark: bigint;
  /** Why a rule has its priority, as a sentence without a full stop. */
  readonly because: (rule: PmdRule) => string;
}

const [L4, L3, L2] = [0, 1, 2];
const LAYERS = ["layer 4", "layer 3", "layer 2"];
const TUNNEL = "tunnel";

/** The subpriority that an item sets; items that are not listed leave that of the item before. */
const SUBPRIORITY: Readonly<Record<string, number | typeof TUNNEL>> = {
  eth: L2,
  vlan: L2,
  ipv4: L3,
  ipv6: L3,
  tcp: L4,
  udp: L4,
  esp: L4,
  icmp: L4,
  icmp6: L4,
  icmp6_echo_request: L4,
  icmp6_echo_reply: L4,
  gre: TUNNEL,
  gre_option: TUNNEL,
  nvgre: TUNNEL,
  vxlan: TUNNEL,
  "vxlan-gpe": TUNNEL,
  geneve: TUNNEL,
  mpls: TUNNEL,
  gtp: TUNNEL,
  gtpc: TUNNEL,
  gtpu: TUNNEL,
};

/** Subpriorities for each priority. */
const STEP = 3;
/** Priorities of root tables, where the kernel has 16: the last one is for the driver's own rules. */
const ROOT_PRIORITIES = 5;
const LAST_PRIORITY = 21843;

/** The item that decides: the last one that sets a subpriority. */
function decisive({ items, rssLevel }: PmdRule): { readonly item: string; readonly subpriority: number } {
  for (const item of items.toReversed()) {
    const set = SUBPRIORITY[item];
    if (set !== undefined) return { item, subpriority: set === TUNNEL ? (rssLevel >= 2 ? L2 : L4) : set };
  }
  return { item: "", subpriority: L4 };
}

const level: Pmd["level"] = (domain, group) => (domain === "fdb" ? group + 1 : group);

/** Later fragments have no ports, and match them. */
const BARE_ITEMS = { tcp: ["ip_protocol", 6n], udp: ["ip_protocol", 17n] } as const;

const MAX_MARK = 0xffffefn;

/** With `dv_flow_en` 1. */
export const MLX5_PMD: Pmd = {
  name: "mlx5-pmd",
  level,
  maxPriority: ({ domain, group }) => (level(domain, group) === 0 ? ROOT_PRIORITIES - 2 : LAST_PRIORITY),
  priority: (rule) => rule.priority * STEP + decisive(rule).subpriority,
  controlPriority: (ROOT_PRIORITIES - 1) * STEP + L2,
  ordersMasks: true,
  bareItems: BARE_ITEMS,
  checksLayers: true,
  asksUdpPorts: true,
  maxMark: MAX_MARK,
  because: (rule) => {
    const { item, subpriority } = decisive(rule);
    const last = item === "" ? "its pattern has no header" : `its last header is ${item} (${LAYERS[subpriority]})`;
    return `${last}: priority ${rule.priority} x ${STEP} + ${subpriority}`;
  },
};

/** With `dv_flow_en` 2: hardware steering. */
export const MLX5_PMD_HWS: Pmd = {
  name: "mlx5-pmd-hws",
  level,
  maxPriority: ({ domain, group }) => (level(domain, group) === 0 ? ROOT_PRIORITIES * STEP : 0xffff),
  priority: ({ priority }) => priority,
  controlPriority: ROOT_PRIORITIES * STEP,
  // MODEL: rules of one priority are in the order in which they are made, not in that of their template tables.
  ordersMasks: false,
  bareItems: BARE_ITEMS,
  checksLayers: false,
  asksUdpPorts: true,
  maxMark: MAX_MARK,
  because: ({ priority }) => `hardware steering has no subpriority: priority ${priority}`,
};
