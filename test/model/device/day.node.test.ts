/**
 * Devices on cables for a long simulated time: frames, rules that come and go, deadlines. Nothing grows.
 * FLOWSTEER_DAY=86400 runs a day on 100 devices, some minutes of the machine's time.
 */
import { expect, test } from "vitest";
import { createDevice, createDeviceSync, createSink, type Device } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import { IBV_FLOW_ATTR_ALL_DEFAULT, ibv_create_flow, ibv_open_device } from "../../../src/verbs/index.js";
import { ipv4Frame } from "../../mlx5dv/support/directRules.js";
import { setting } from "../../support/tier.js";

const SECOND = 1_000_000_000n;
const DAY = Number(setting("FLOWSTEER_DAY") ?? 600);
const DEVICES = DAY >= 86_400 ? 100 : 10;
/** Seconds between two measurements, and until the first. */
const STEP = 120;
/** Rules that are alive at a time. */
const ALIVE = 20;
/**
 * Flows that come and go: more than there are rules. They divide STEP, so the same rules are alive whenever memory is
 * measured; others may share other buckets of the hash table.
 */
const FLOWS = 40;

interface Host {
  readonly device: Device;
  readonly sender: ReturnType<typeof createSink>;
  /** Adds the rule of a second and removes one. */
  readonly change: (second: number) => void;
}

function hostOf(name: string): Host {
  const device = createDeviceSync({ name });
  const context = ibv_open_device(device);
  const sender = createSink(context, "sender");
  const receiver = createSink(context, "receiver");
  ibv_create_flow(receiver, { type: IBV_FLOW_ATTR_ALL_DEFAULT, port: 1, specs: [] });
  const domain = dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
  const table = dv.mlx5dv_dr_table_create(domain, 0);
  const values = Array.from({ length: FLOWS }, (_, n) => dv.matchParameters({ "outer.tcp_dport": 1000 + n }));
  const { match_criteria_enable, mask } = values[0]!;
  const matcher = dv.mlx5dv_dr_matcher_create(table, 0, match_criteria_enable, mask);
  const deliver = [dv.mlx5dv_dr_action_create_dest_ibv_qp(receiver)];
  const rules: ReturnType<typeof dv.mlx5dv_dr_rule_create>[] = [];
  const change = (second: number): void => {
    rules.push(dv.mlx5dv_dr_rule_create(matcher, values[second % FLOWS]!.value, 1, deliver));
    if (rules.length > ALIVE) dv.mlx5dv_dr_rule_destroy(rules.shift()!);
  };
  return { device, sender, change };
}

test(`${DEVICES} devices take no more memory after ${DAY} simulated seconds than after ${STEP}`, async () => {
  await createDevice();
  const hosts = Array.from({ length: DEVICES }, (_, n) => hostOf(`host${n}`));
  for (let n = 0; n < DEVICES; n += 2)
    hosts[n]!.device.connect(1, hosts[n + 1]!.device, 1, { delay: 2_000n, rate: 10e9, loss: 0.01, seed: n });
  const sizes: string[] = [];
  let arrived = 0;
  for (const { device } of hosts) device.on("delivery", () => arrived++);
  for (let second = 1; second <= DAY; second++) {
    for (const { device, sender, change } of hosts) {
      change(second);
      device.send(sender, ipv4Frame({ dport: 1000 + (second % FLOWS) }));
    }
    for (const { device } of hosts) device.advanceTo(BigInt(second) * SECOND);
    // What is under way arrives before the next second.
    for (const { device } of hosts) expect(device.nextDeadline()).toBeNull();
    if (second % STEP === 0)
      sizes.push(hosts.map(({ device }) => `${device.memoryUsed} ${device.core.u8.length}`).join());
  }
  expect(arrived).toBeGreaterThan(0.95 * DAY * DEVICES);
  expect(sizes.length).toBeGreaterThan(1);
  expect(new Set(sizes.slice(1)).size).toBe(1);
});
