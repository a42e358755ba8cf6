/**
 * A pool with rules for many ports, which count, tag, lead to queues, and make some frames longer.
 */
import { loadScenario, type LoadedScenario } from "../../../src/scenario/index.js";
import { createDevicePool, type DevicePool, type PoolOptions } from "../../../src/index.js";
import { ipv4Frame } from "../../mlx5dv/support/directRules.js";

export const FIRST = 1000;
export const PORTS = 300;
export const COUNTER = "lines";

/**
 * For each port a rule that counts, tags with its number and leads to a queue; rules of odd ports
 * push a VLAN tag.
 */
export const SCENARIO = {
  flowsteer: 1,
  device: { ports: 2 },
  queues: [{ name: "even" }, { name: "odd" }, { name: "rest" }],
  counters: [{ name: COUNTER, flow_counter_bulk_log_size: 9 }],
  tables: [
    { name: "root", level: 0 },
    { name: "inner", level: 1 },
  ],
  rules: [
    { name: "on", table: "root", match: {}, actions: [{ table: "inner" }] },
    ...Array.from({ length: PORTS }, (_, n) => ({
      name: `rule ${n}`,
      table: "inner",
      match: { "outer.tcp_dport": FIRST + n },
      actions: [
        { tag: FIRST + n },
        ...(n % 2 === 0 ? [] : [{ push_vlan: { vid: 5 } }]),
        { count: COUNTER, offset: n },
        { queue: n % 2 === 0 ? "even" : "odd" },
      ],
    })),
  ],
};

/** Frames for all those ports and one more port, in turn; their lengths differ. */
export function framesOf(count: number, from = 0): Uint8Array[] {
  return Array.from({ length: count }, (_, i) => {
    const n = (from + i) % (PORTS + 1);
    return ipv4Frame({ dport: FIRST + n, length: 60 + (n % 7) });
  });
}

export interface Loaded {
  loaded: LoadedScenario;
  pool: DevicePool;
}

export async function open(options: PoolOptions = {}, scenario = SCENARIO): Promise<Loaded> {
  const pool = await createDevicePool({ workers: 3, ...scenario.device, ...options });
  return { loaded: await loadScenario(scenario, {}, () => Promise.resolve(pool)), pool };
}

export function close({ pool }: Loaded): void {
  // Contexts of a scenario stay open.
  pool.users = 0;
  pool.close();
}
