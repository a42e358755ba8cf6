// Receives the UDP frames of a flow and counts them: flow_counters.c, line by line.
import { createDevice } from "flowsteer";
import { buildFrame } from "flowsteer/packet";
import * as ib from "flowsteer/verbs";

const memory = new Uint8Array(2048);

const nic = await createDevice();

const list = ib.ibv_get_device_list();
const ctx = ib.ibv_open_device(list[0]!);
const device_attr: { device_cap_flags?: number } = {};
ib.ibv_query_device(ctx, device_attr);
if ((device_attr.device_cap_flags! & ib.IBV_DEVICE_MANAGED_FLOW_STEERING) === 0) process.exit(1);
const pd = ib.ibv_alloc_pd(ctx);
const cq = ib.ibv_create_cq(ctx, 16, null, null, 0);
const init = {
  qp_type: ib.IBV_QPT_RAW_PACKET,
  send_cq: cq,
  recv_cq: cq,
  cap: { max_recv_wr: 16, max_recv_sge: 1 },
};
const qp = ib.ibv_create_qp(pd, init);
const attr = { qp_state: ib.IBV_QPS_INIT as number, port_num: 1 };
ib.ibv_modify_qp(qp, attr, ib.IBV_QP_STATE | ib.IBV_QP_PORT);
attr.qp_state = ib.IBV_QPS_RTR;
ib.ibv_modify_qp(qp, attr, ib.IBV_QP_STATE);
const mr = ib.ibv_reg_mr(pd, memory, memory.length, ib.IBV_ACCESS_LOCAL_WRITE);
const sge = { addr: memory, length: memory.length, lkey: mr.lkey };
const wr = { wr_id: 1n, sg_list: [sge] };
ib.ibv_post_recv(qp, wr);

const counters_attr = { comp_mask: 0 };
const counters = ib.ibv_create_counters(ctx, counters_attr);
const packets = { counter_desc: ib.IBV_COUNTER_PACKETS, index: 0 };
ib.ibv_attach_counters_point_flow(counters, packets, null);
const bytes = { counter_desc: ib.IBV_COUNTER_BYTES, index: 1 };
ib.ibv_attach_counters_point_flow(counters, bytes, null);

const rule = {
  type: ib.IBV_FLOW_ATTR_NORMAL,
  port: 1,
  specs: [
    { type: ib.IBV_FLOW_SPEC_IPV4, val: { dst_ip: 0x0a000007 }, mask: { dst_ip: 0xffffffff } },
    { type: ib.IBV_FLOW_SPEC_UDP, val: { dst_port: 4791 }, mask: { dst_port: 0xffff } },
    { type: ib.IBV_FLOW_SPEC_ACTION_COUNT, counters },
  ],
};
const flow = ib.ibv_create_flow(qp, rule);

// The frames that C waits for: one of the flow, and one of another port.
for (const destination_port of [4791, 53]) {
  nic.receive(
    1,
    buildFrame([
      { header: "ethernet" },
      { header: "ipv4", destination: "10.0.0.7" },
      { header: "udp", destination_port },
      new Uint8Array(22),
    ]),
  );
}
const wc: { wr_id?: bigint | number; byte_len?: number } = {};
while (ib.ibv_poll_cq(cq, 1, wc) === 0);
console.log(`${wc.byte_len} bytes for request ${wc.wr_id}`);
const values = new BigUint64Array(2);
ib.ibv_read_counters(counters, values, 2, 0);
console.log(`${values[0]} packets, ${values[1]} bytes`);

ib.ibv_destroy_flow(flow);
ib.ibv_destroy_counters(counters);
ib.ibv_dereg_mr(mr);
ib.ibv_destroy_qp(qp);
ib.ibv_destroy_cq(cq);
ib.ibv_dealloc_pd(pd);
ib.ibv_close_device(ctx);
ib.ibv_free_device_list(list);
