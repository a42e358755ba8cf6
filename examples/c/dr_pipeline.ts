// Direct rules in two tables: dr_pipeline.c, line by line.
import { createDevice } from "flowsteer";
import * as dv from "flowsteer/mlx5dv";
import { buildFrame } from "flowsteer/packet";
import * as ib from "flowsteer/verbs";

/** Writes a big-endian number. */
function put(bytes: Uint8Array, at: number, size: number, value: number): void {
  for (let i = 0; i < size; i++) bytes[at + i] = value >>> (8 * (size - 1 - i));
}

// struct mlx5dv_flow_match_parameters with 64 bytes: the outer headers.
function match(): Uint8Array {
  const bytes = new Uint8Array(8 + 64);
  bytes[0] = 64;
  return bytes;
}
const [OUTER, IP_PROTOCOL, IP_VERSION, UDP_DPORT] = [1, 8 + 16, 8 + 18, 8 + 30];

const memory = new Uint8Array(2048);

const nic = await createDevice();

const list = ib.ibv_get_device_list();
const open_attr = { flags: dv.MLX5DV_CONTEXT_FLAGS_DEVX };
const ctx = dv.mlx5dv_open_device(list[0]!, open_attr);
const pd = ib.ibv_alloc_pd(ctx);
const cq_attr = { cqe: 16, wc_flags: ib.IBV_WC_EX_WITH_FLOW_TAG | ib.IBV_WC_EX_WITH_BYTE_LEN };
const cq = ib.ibv_create_cq_ex(ctx, cq_attr);
const init = {
  qp_type: ib.IBV_QPT_RAW_PACKET,
  send_cq: ib.ibv_cq_ex_to_cq(cq),
  recv_cq: ib.ibv_cq_ex_to_cq(cq),
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

const domain = dv.mlx5dv_dr_domain_create(ctx, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
const root = dv.mlx5dv_dr_table_create(domain, 0);
const table = dv.mlx5dv_dr_table_create(domain, 1);

// ALLOC_FLOW_COUNTER
const command = new Uint8Array(32);
const out = new Uint8Array(32);
put(command, 0, 2, 0x939);
const counter = dv.mlx5dv_devx_obj_create(ctx, command, 16, out, 16);
const id = out.slice(8, 12);

const to_table = dv.mlx5dv_dr_action_create_dest_table(table);
const tag = dv.mlx5dv_dr_action_create_tag(0x1234);
const count = dv.mlx5dv_dr_action_create_flow_counter(counter, 0);
const to_qp = dv.mlx5dv_dr_action_create_dest_ibv_qp(qp);
const drop = dv.mlx5dv_dr_action_create_drop();

const all = match();
const every = dv.mlx5dv_dr_matcher_create(root, 0, 0, all);
const jump = [to_table];
const first = dv.mlx5dv_dr_rule_create(every, all, 1, jump);

const [udp_mask, udp] = [match(), match()];
put(udp_mask, IP_VERSION, 1, 4 << 1);
put(udp_mask, IP_PROTOCOL, 1, 0xff);
put(udp_mask, UDP_DPORT, 2, 0xffff);
put(udp, IP_VERSION, 1, 4 << 1);
put(udp, IP_PROTOCOL, 1, 17);
put(udp, UDP_DPORT, 2, 4791);
const udp_matcher = dv.mlx5dv_dr_matcher_create(table, 1, OUTER, udp_mask);
const take = [tag, count, to_qp];
const udp_rule = dv.mlx5dv_dr_rule_create(udp_matcher, udp, 3, take);

const [tcp_mask, tcp] = [match(), match()];
put(tcp_mask, IP_VERSION, 1, 4 << 1);
put(tcp_mask, IP_PROTOCOL, 1, 0xff);
put(tcp, IP_VERSION, 1, 4 << 1);
put(tcp, IP_PROTOCOL, 1, 6);
const tcp_matcher = dv.mlx5dv_dr_matcher_create(table, 2, OUTER, tcp_mask);
const discard = [drop];
const tcp_rule = dv.mlx5dv_dr_rule_create(tcp_matcher, tcp, 1, discard);
dv.mlx5dv_dr_domain_sync(domain, dv.MLX5DV_DR_DOMAIN_SYNC_FLAGS_SW | dv.MLX5DV_DR_DOMAIN_SYNC_FLAGS_HW);

// The frames that C waits for.
for (const l4 of [
  { header: "tcp" as const },
  { header: "udp" as const, destination_port: 4791 },
  { header: "udp" as const, destination_port: 53 },
]) {
  const frame = buildFrame([{ header: "ethernet" }, { header: "ipv4" }, l4]);
  console.log(l4.header, nic.receive(1, frame).reason ?? "arrived");
}
const poll_attr = { comp_mask: 0 };
while (ib.ibv_start_poll(cq, poll_attr) !== 0);
console.log(`tag 0x${ib.ibv_wc_read_flow_tag(cq).toString(16)}, ${ib.ibv_wc_read_byte_len(cq)} bytes`);
ib.ibv_end_poll(cq);

// QUERY_FLOW_COUNTER: packets are the 8 bytes after the header of 16.
command.fill(0);
put(command, 0, 2, 0x93b);
command.set(id, 28);
dv.mlx5dv_devx_obj_query(counter, command, 32, out, 32);
console.log(`${out[23]} packets`);

dv.mlx5dv_dr_rule_destroy(tcp_rule);
dv.mlx5dv_dr_rule_destroy(udp_rule);
dv.mlx5dv_dr_rule_destroy(first);
dv.mlx5dv_dr_matcher_destroy(tcp_matcher);
dv.mlx5dv_dr_matcher_destroy(udp_matcher);
dv.mlx5dv_dr_matcher_destroy(every);
dv.mlx5dv_dr_action_destroy(drop);
dv.mlx5dv_dr_action_destroy(to_qp);
dv.mlx5dv_dr_action_destroy(count);
dv.mlx5dv_dr_action_destroy(tag);
dv.mlx5dv_dr_action_destroy(to_table);
dv.mlx5dv_devx_obj_destroy(counter);
dv.mlx5dv_dr_table_destroy(table);
dv.mlx5dv_dr_table_destroy(root);
dv.mlx5dv_dr_domain_destroy(domain);
ib.ibv_dereg_mr(mr);
ib.ibv_destroy_qp(qp);
ib.ibv_destroy_cq(ib.ibv_cq_ex_to_cq(cq));
ib.ibv_dealloc_pd(pd);
ib.ibv_close_device(ctx);
ib.ibv_free_device_list(list);
