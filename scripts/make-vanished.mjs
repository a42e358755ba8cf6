// The dump and the capture of docs/vanished.md: examples/vanished.csv and examples/vanished.pcap. Run from the project root:
//
//     node --import tsx scripts/make-vanished.mjs
//
// The dump is one of flowsteer: it has the rules of the root table, which that of a device has not.
import { writeFileSync } from "node:fs";
import { createDevice, createSink } from "../src/index.ts";
import * as dv from "../src/mlx5dv/index.ts";
import { PcapWriter } from "../src/packet/capture/writer.ts";
import { buildFrame } from "../src/packet/index.ts";
import { ibv_open_device } from "../src/verbs/index.ts";

const device = await createDevice({ name: "mlx5_0" });
const context = ibv_open_device(device);
const [web, dns] = ["web", "dns"].map((name) => createSink(context, name));
const domain = dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
const [root, services] = [0, 1].map((level) => dv.mlx5dv_dr_table_create(domain, level));

const all = dv.mlx5dv_dr_matcher_create(root, 0, 0, null);
dv.mlx5dv_dr_rule_create(all, null, 1, [dv.mlx5dv_dr_action_create_dest_table(services)]);

/** IP protocol, DSCP and IP version, and a port. */
const match = (protocol, dscp, version, port) => {
  const bytes = new Uint8Array(64);
  bytes.set([protocol, dscp << 2, version << 1], 16);
  const [at, number] = port;
  bytes.set([number >> 8, number & 0xff], at);
  return bytes;
};
const [TCP, UDP] = [22, 30];
const tcp = dv.mlx5dv_dr_matcher_create(services, 1, 1, match(0xff, 0x3f, 0xf, [TCP, 0xffff]));
const udp = dv.mlx5dv_dr_matcher_create(services, 2, 1, match(0xff, 0, 0xf, [UDP, 0xffff]));
const [toWeb, toDns] = [web, dns].map((queue) => dv.mlx5dv_dr_action_create_dest_ibv_qp(queue));
for (const port of [80, 443]) dv.mlx5dv_dr_rule_create(tcp, match(6, 0, 4, [TCP, port]), 1, [toWeb]);
dv.mlx5dv_dr_rule_create(udp, match(17, 0, 4, [UDP, 53]), 1, [toDns]);

let text = "";
dv.mlx5dv_dump_dr_domain({ write: (part) => void (text += part) }, domain);
writeFileSync("examples/vanished.csv", text);

const frame = (upper, dscp = 0) =>
  buildFrame([
    { header: "ethernet", source: "02:00:00:00:00:0a", destination: "02:00:00:00:00:01" },
    { header: "ipv4", source: "198.51.100.7", destination: "192.0.2.10", dscp },
    upper,
  ]);
const tcpTo = (destination_port) => ({ header: "tcp", source_port: 40000, destination_port, flags: 2 });
const frames = [
  frame(tcpTo(443)),
  frame({ header: "udp", source_port: 40001, destination_port: 53 }),
  frame(tcpTo(443), 10),
  frame(tcpTo(80)),
];
const writer = new PcapWriter({ linkType: 1 });
const records = frames.map((bytes, n) => writer.frame({ bytes, time: BigInt(n) * 1_000_000n }));
writeFileSync("examples/vanished.pcap", Buffer.concat([writer.header(), ...records]));
