/**
 * Mistakes that scenarios cannot express, because a scenario has no mask beside its value, no group
 * of match parameters to leave out, no count of actions and no bytes of C structs.
 */
import { createDevice, createSink, type Device } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import { buildFrame, type HeaderLayer } from "../../../src/packet/index.js";
import * as ib from "../../../src/verbs/index.js";
import type { Target } from "../../../src/explain/why/explanation.js";

export interface Planted {
  readonly device: Device;
  readonly frame: Uint8Array;
  readonly target: Target;
}

export interface CallEntry {
  readonly name: string;
  readonly mistake: string | null;
  /** Parts of the sentences of the explanation. */
  readonly says: readonly string[];
  /** A device with the mistake, or with its correction. */
  readonly build: (corrected: boolean) => Promise<Planted>;
}

type Fields = Parameters<typeof dv.matchParameters>[0];
type Bytes = Parameters<typeof dv.mlx5dv_dr_rule_create>[1];

const framed = (...layers: HeaderLayer[]): Uint8Array => buildFrame([{ header: "ethernet" }, ...layers]);
const web = (): Uint8Array =>
  framed(
    { header: "ipv4", source: "198.51.100.9", destination: "192.0.2.80" },
    { header: "tcp", source_port: 40000, destination_port: 80 },
  );
const inVxlan = (vni: number): Uint8Array =>
  framed(
    { header: "ipv4" },
    { header: "udp", source_port: 49153 },
    { header: "vxlan", vni },
    { header: "ethernet" },
    { header: "ipv4" },
  );

async function verbs(): Promise<{ device: Device; queue: (name: string) => ReturnType<typeof createSink> }> {
  const device = await createDevice();
  const context = ib.ibv_open_device(device);
  return { device, queue: (name) => createSink(context, name) };
}

/** A root table of NIC_RX, and rules in it by their match parameters. */
async function direct(): Promise<{
  device: Device;
  rule: (priority: number, criteria: number, mask: Bytes, value: Bytes, name: string, count?: number) => void;
}> {
  const device = await createDevice();
  const context = ib.ibv_open_device(device);
  const root = dv.mlx5dv_dr_table_create(dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX), 0);
  return {
    device,
    rule: (priority, criteria, mask, value, name, count = 1) => {
      const matcher = dv.mlx5dv_dr_matcher_create(root, priority, criteria, mask);
      const action = dv.mlx5dv_dr_action_create_dest_ibv_qp(createSink(context, name));
      dv.mlx5dv_dr_rule_create(matcher, value, count, [action]);
    },
  };
}

const parameters = (fields: Fields) => dv.matchParameters(fields, { root: true });

/** The two bytes of the one port that the mask has, swapped in the value. */
function swappedPort({ mask, value }: ReturnType<typeof parameters>): Uint8Array {
  const bytes = value.match_buf.slice();
  const at = mask.match_buf.indexOf(0xff);
  bytes.subarray(at, at + 2).reverse();
  return bytes;
}

const queue = (name: string): Target => ({ kind: "queue", name });

export const CALLS: readonly CallEntry[] = [
  {
    // After https://github.com/thom311/libnl/issues/408, with other values: a setter that sets no mask.
    name: "a flow with a value and no mask takes the frames of the next one",
    mistake: "value-outside-mask",
    says: ["flow0", "outside its mask"],
    build: async (corrected) => {
      const { device, queue: sink } = await verbs();
      ib.ibv_create_flow(sink("vlan 101"), {
        type: ib.IBV_FLOW_ATTR_NORMAL,
        port: 1,
        specs: [{ type: ib.IBV_FLOW_SPEC_ETH, val: { vlan_tag: 101 }, mask: { vlan_tag: corrected ? 0xfff : 0 } }],
      });
      ib.ibv_create_flow(sink("web"), {
        type: ib.IBV_FLOW_ATTR_NORMAL,
        port: 1,
        priority: 1,
        specs: [{ type: ib.IBV_FLOW_SPEC_TCP, val: { dst_port: 80 }, mask: { dst_port: 0xffff } }],
      });
      return { device, frame: web(), target: queue("web") };
    },
  },
  {
    name: "an address in the struct of a flow in the byte order of the host",
    mistake: "swapped-bytes",
    says: ["outer.ipv4_dst", "80.2.0.192", "192.0.2.80"],
    build: async (corrected) => {
      const { device, queue: sink } = await verbs();
      const bytes = ib.flowAttrBytes(
        {
          type: ib.IBV_FLOW_ATTR_NORMAL,
          port: 1,
          specs: [{ type: ib.IBV_FLOW_SPEC_IPV4, val: { dst_ip: "192.0.2.80" }, mask: { dst_ip: "255.255.255.255" } }],
        },
        () => 0,
      );
      const at = bytes.findIndex((byte, i) => byte === 192 && bytes[i + 3] === 80);
      if (!corrected) bytes.subarray(at, at + 4).reverse();
      ib.ibv_create_flow(sink("web"), bytes);
      return { device, frame: web(), target: queue("web") };
    },
  },
  {
    name: "match_criteria_enable without the group of the VNI",
    mistake: "criteria-leave-out-group",
    says: ["match_criteria_enable", "misc.vxlan_vni"],
    build: async (corrected) => {
      const { device, rule } = await direct();
      const [one, two] = [{ "misc.vxlan_vni": 1 }, { "misc.vxlan_vni": 2 }].map(parameters);
      if (one === undefined || two === undefined) throw new Error("unreachable");
      rule(0, corrected ? one.match_criteria_enable : 0, one.mask, one.value, "tenant 1");
      rule(1, two.match_criteria_enable, two.mask, two.value, "tenant 2");
      return { device, frame: inVxlan(2), target: queue("tenant 2") };
    },
  },
  {
    name: "a port in match parameters in the byte order of the host",
    mistake: "swapped-bytes",
    says: ["outer.tcp_dport", "20480", "80"],
    build: async (corrected) => {
      const { device, rule } = await direct();
      const http = parameters({ "outer.tcp_dport": 80 });
      rule(0, http.match_criteria_enable, http.mask, corrected ? http.value : swappedPort(http), "web");
      return { device, frame: web(), target: queue("web") };
    },
  },
  {
    name: "num_actions 0 beside a list of actions",
    mistake: "no-actions",
    says: ["num_actions 0"],
    build: async (corrected) => {
      const { device, rule } = await direct();
      const { match_criteria_enable, mask, value } = parameters({ "outer.tcp_dport": 80 });
      rule(0, match_criteria_enable, mask, value, "web", corrected ? 1 : 0);
      return { device, frame: web(), target: queue("web") };
    },
  },
  {
    name: "a flow for an address whose mask takes its whole network",
    mistake: "prefix-with-host-bits",
    says: ["192.0.2.9", "192.0.2.0/24"],
    build: async (corrected) => {
      const { device, queue: sink } = await verbs();
      const flow = (name: string, priority: number, dst_ip: string, mask: string): void => {
        const specs = [{ type: ib.IBV_FLOW_SPEC_IPV4, val: { dst_ip }, mask: { dst_ip: mask } }];
        ib.ibv_create_flow(sink(name), { type: ib.IBV_FLOW_ATTR_NORMAL, port: 1, priority, specs });
      };
      flow("host 9", 0, "192.0.2.9", corrected ? "255.255.255.255" : "255.255.255.0");
      flow("host 80", 1, "192.0.2.80", "255.255.255.255");
      return { device, frame: web(), target: queue("host 80") };
    },
  },
  {
    name: "a completion queue that nobody polls",
    mistake: "completion-queue-full",
    says: ["completion queue", "full"],
    build: async (corrected) => {
      const device = await createDevice();
      const context = ib.ibv_open_device(device);
      const pd = ib.ibv_alloc_pd(context);
      const cq = ib.ibv_create_cq(context, 1, null, null, 0);
      const cap = { max_recv_wr: 2, max_recv_sge: 1 };
      const qp = ib.ibv_create_qp(pd, { send_cq: cq, recv_cq: cq, cap, qp_type: ib.IBV_QPT_RAW_PACKET });
      ib.ibv_modify_qp(qp, { qp_state: ib.IBV_QPS_INIT, port_num: 1 }, ib.IBV_QP_STATE | ib.IBV_QP_PORT);
      ib.ibv_modify_qp(qp, { qp_state: ib.IBV_QPS_RTR }, ib.IBV_QP_STATE);
      const addr = new Uint8Array(256);
      const { lkey } = ib.ibv_reg_mr(pd, addr, undefined, ib.IBV_ACCESS_LOCAL_WRITE);
      for (let n = 0; n < 2; n++) ib.ibv_post_recv(qp, { wr_id: n, sg_list: [{ addr, length: 256, lkey }] });
      ib.ibv_create_flow(qp, { type: ib.IBV_FLOW_ATTR_ALL_DEFAULT, port: 1, specs: [] });
      device.receive(1, web());
      if (corrected) ib.ibv_poll_cq(cq, 1);
      return { device, frame: web(), target: queue(qp.name) };
    },
  },
];
