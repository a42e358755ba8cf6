/**
 * A process that makes many devices of the built package and uses each of them: 100 rules, 1,000 frames
 * one by one. All of them live until it ends. It prints CPU seconds and megabytes as JSON.
 *
 *     node bench/devices/use.mjs NUMBER
 */
import { createDevice, createDeviceSync, createSink } from "../../dist/index.js";
import * as dv from "../../dist/mlx5dv.js";
import { buildFrame } from "../../dist/packet.js";

const RULES = 100;
const FRAMES = 1000;
const number = Number(process.argv[2]);

const frames = Array.from({ length: FRAMES }, (_, n) =>
  buildFrame([
    { header: "ethernet" },
    { header: "ipv4", destination: `10.0.0.${n % RULES}` },
    { header: "udp", destination_port: 1000 + n },
  ]),
);
const all = dv.matchParameters({});
const values = Array.from({ length: RULES }, (_, n) => dv.matchParameters({ "outer.ipv4_dst": `10.0.0.${n}` }));

/** A device whose first table sends all frames to a second one, with the rules. */
function deviceWithRules(name) {
  const device = createDeviceSync({ name });
  const context = dv.mlx5dv_open_device(device);
  const domain = dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
  const [root, table] = [0, 1].map((level) => dv.mlx5dv_dr_table_create(domain, level));
  const first = dv.mlx5dv_dr_matcher_create(root, 0, all.match_criteria_enable, all.mask);
  dv.mlx5dv_dr_rule_create(first, all.value, 1, [dv.mlx5dv_dr_action_create_dest_table(table)]);
  const { match_criteria_enable, mask } = values[0];
  const matcher = dv.mlx5dv_dr_matcher_create(table, 0, match_criteria_enable, mask);
  const deliver = [dv.mlx5dv_dr_action_create_dest_ibv_qp(createSink(context, "app"))];
  for (const { value } of values) dv.mlx5dv_dr_rule_create(matcher, value, 1, deliver);
  return device;
}

function use(device) {
  for (const frame of frames) {
    const { verdict } = device.receive(1, frame);
    if (verdict !== "deliver") throw new Error(`a frame became ${verdict}`);
  }
}

await createDevice();
const begun = process.cpuUsage();
const devices = [];
for (let n = 0; n < number; n++) {
  devices.push(deviceWithRules(`nic${n}`));
  use(devices[n]);
}
const { user, system } = process.cpuUsage(begun);
console.log(JSON.stringify({ seconds: (user + system) / 1e6, megabytes: process.memoryUsage().rss / 1e6 }));
