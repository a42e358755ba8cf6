/** A process that imports the built package, makes a device, loads ten rules and steers one frame. */
import { createDevice, createSink } from "../../dist/index.js";
import * as dv from "../../dist/mlx5dv.js";

const device = await createDevice();
const context = dv.mlx5dv_open_device(device);
const domain = dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
const root = dv.mlx5dv_dr_table_create(domain, 0);
const web = dv.mlx5dv_dr_action_create_dest_ibv_qp(createSink(context, "web"));
const match = (port) => dv.matchParameters({ "outer.ipv4_dst": "10.0.0.0/8", "outer.tcp_dport": port });
const { match_criteria_enable, mask } = match(0);
const matcher = dv.mlx5dv_dr_matcher_create(root, 0, match_criteria_enable, mask);
for (let i = 0; i < 10; i++) {
  dv.mlx5dv_dr_rule_create(matcher, match(440 + i).value, 2, [dv.mlx5dv_dr_action_create_tag(i), web]);
}

// Ethernet, IPv4 192.0.2.1 to 10.0.0.7, TCP 40000 to 443
const hex =
  "020000000001020000000002080045000028000040004006000" + "0c00002010a0000079c4001bb00000001000000005002ffff00000000";
const frame = Uint8Array.from(hex.match(/../g), (byte) => parseInt(byte, 16));
const { verdict, tag, to } = device.receive(1, frame);
// No line is written: what that loads is no part of the package.
if (verdict !== "deliver" || tag !== 3 || to[0]?.name !== "qp:web") throw new Error(`it became ${verdict}, tag ${tag}`);
