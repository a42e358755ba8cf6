// Sends an Ethernet frame from a raw packet queue pair: raw_packet_send.c, line by line.
import { createDevice } from "flowsteer";
import * as ib from "flowsteer/verbs";

const memory = new Uint8Array(2048);

const nic = await createDevice({ name: "mlx5_0" });
nic.connect(1, (frame) => console.log("on the wire:", frame.length, "bytes"));

const list = ib.ibv_get_device_list();
const ctx = ib.ibv_open_device(list[0]!);
console.log(ib.ibv_get_device_name(list[0]!));
ib.ibv_free_device_list(list);
const pd = ib.ibv_alloc_pd(ctx);
const cq = ib.ibv_create_cq(ctx, 16, null, null, 0);
const init = {
  qp_type: ib.IBV_QPT_RAW_PACKET,
  send_cq: cq,
  recv_cq: cq,
  cap: { max_send_wr: 16, max_send_sge: 1 },
};
const qp = ib.ibv_create_qp(pd, init);
const attr = { qp_state: ib.IBV_QPS_INIT as number, port_num: 1 };
ib.ibv_modify_qp(qp, attr, ib.IBV_QP_STATE | ib.IBV_QP_PORT);
attr.qp_state = ib.IBV_QPS_RTR;
ib.ibv_modify_qp(qp, attr, ib.IBV_QP_STATE);
attr.qp_state = ib.IBV_QPS_RTS;
ib.ibv_modify_qp(qp, attr, ib.IBV_QP_STATE);

const mr = ib.ibv_reg_mr(pd, memory, memory.length, ib.IBV_ACCESS_LOCAL_WRITE);
memory.fill(0xff, 0, 6);
memory[6] = 0x02;
memory[12] = 0x88;
memory[13] = 0xb5;
const sge = { addr: memory, length: 60, lkey: mr.lkey };
const wr = { wr_id: 7n, sg_list: [sge], opcode: ib.IBV_WR_SEND, send_flags: ib.IBV_SEND_SIGNALED };
ib.ibv_post_send(qp, wr);
const wc: { wr_id?: bigint | number; status?: number } = {};
while (ib.ibv_poll_cq(cq, 1, wc) === 0);
console.log(Number(wc.wr_id), ib.ibv_wc_status_str(wc.status!));

ib.ibv_dereg_mr(mr);
ib.ibv_destroy_qp(qp);
ib.ibv_destroy_cq(cq);
ib.ibv_dealloc_pd(pd);
ib.ibv_close_device(ctx);
