// A flow table by device commands: devx_flow_table.c, line by line.
import { createDevice } from "flowsteer";
import * as dv from "flowsteer/mlx5dv";
import { buildFrame } from "flowsteer/packet";
import * as ib from "flowsteer/verbs";

/** Writes and reads big-endian numbers. */
function put(bytes: Uint8Array, at: number, size: number, value: number): void {
  for (let i = 0; i < size; i++) bytes[at + i] = value >>> (8 * (size - 1 - i));
}

function get(bytes: Uint8Array, at: number, size: number): number {
  let value = 0;
  for (let i = 0; i < size; i++) value = value * 256 + bytes[at + i]!;
  return value;
}

const [memory, command, out] = [new Uint8Array(2048), new Uint8Array(1024), new Uint8Array(64)];

const nic = await createDevice();

const list = ib.ibv_get_device_list();
const open_attr = { flags: dv.MLX5DV_CONTEXT_FLAGS_DEVX };
const ctx = dv.mlx5dv_open_device(list[0]!, open_attr);
const pd = ib.ibv_alloc_pd(ctx);
const cq = ib.ibv_create_cq(ctx, 16, null, null, 0);
const wq_init = { wq_type: ib.IBV_WQT_RQ, max_wr: 16, max_sge: 1, pd, cq };
const wq = ib.ibv_create_wq(ctx, wq_init);
const wq_attr = { attr_mask: ib.IBV_WQ_ATTR_STATE, wq_state: ib.IBV_WQS_RDY };
ib.ibv_modify_wq(wq, wq_attr);
const mr = ib.ibv_reg_mr(pd, memory, memory.length, ib.IBV_ACCESS_LOCAL_WRITE);
const sge = { addr: memory, length: memory.length, lkey: mr.lkey };
const wr = { wr_id: 1n, sg_list: [sge] };
ib.ibv_post_wq_recv(wq, wr);

// CREATE_TIR, direct, of the receive queue
put(command, 0, 2, 0x900);
put(command, 32 + 29, 3, wq.wq_num);
const tir = dv.mlx5dv_devx_obj_create(ctx, command, 272, out, 16);
const tirn = get(out, 9, 3);

// CREATE_FLOW_TABLE, NIC_RX, level 64, 2 entries
command.fill(0);
put(command, 0, 2, 0x930);
put(command, 24 + 1, 1, 64);
put(command, 24 + 3, 1, 1);
const table = dv.mlx5dv_devx_obj_create(ctx, command, 64, out, 16);
const table_id = get(out, 9, 3);

// CREATE_FLOW_GROUP, entries 0 and 1, of protocol and TCP destination port
command.fill(0);
put(command, 0, 2, 0x933);
put(command, 21, 3, table_id);
put(command, 36, 4, 1);
put(command, 63, 1, 1);
put(command, 64 + 16, 1, 0xff);
put(command, 64 + 22, 2, 0xffff);
const group = dv.mlx5dv_devx_obj_create(ctx, command, 1024, out, 16);
const group_id = get(out, 9, 3);

// SET_FLOW_TABLE_ENTRY, entry 0: protocol 6, port 443, forward to the TIR
command.fill(0);
put(command, 0, 2, 0x936);
put(command, 21, 3, table_id);
put(command, 64 + 4, 4, group_id);
put(command, 64 + 14, 2, 0x4);
put(command, 64 + 17, 3, 1);
put(command, 64 + 64 + 16, 1, 6);
put(command, 64 + 64 + 22, 2, 443);
put(command, 64 + 768, 1, 2);
put(command, 64 + 769, 3, tirn);
const entry = dv.mlx5dv_devx_obj_create(ctx, command, 64 + 768 + 8, out, 16);

// Frames to one MAC go to the table: a mask and a value of 14 bytes.
const [mask, value] = [new Uint8Array(8 + 14), new Uint8Array(8 + 14)];
mask[0] = value[0] = 14;
put(mask, 8 + 8, 4, 0xffffffff);
put(mask, 8 + 12, 2, 0xffff);
put(value, 8 + 8, 4, 0x02000000);
put(value, 8 + 12, 2, 0x0002);
const matcher_attr = {
  type: ib.IBV_FLOW_ATTR_NORMAL,
  match_criteria_enable: 1,
  match_mask: mask,
};
const matcher = dv.mlx5dv_create_flow_matcher(ctx, matcher_attr);
const actions = [{ type: dv.MLX5DV_FLOW_ACTION_DEST_DEVX, obj: table }];
const flow = dv.mlx5dv_create_flow(matcher, value, 1, actions);

// The frames that C waits for: one of the entry, and one of another port.
for (const destination_port of [80, 443]) {
  const frame = buildFrame([
    { header: "ethernet", destination: "02:00:00:00:00:02" },
    { header: "ipv4" },
    { header: "tcp", destination_port },
  ]);
  console.log(destination_port, nic.receive(1, frame).reason ?? "arrived");
}
const wc: { wr_id?: bigint | number; byte_len?: number } = {};
while (ib.ibv_poll_cq(cq, 1, wc) === 0);
console.log(`${wc.byte_len} bytes for request ${wc.wr_id}`);

ib.ibv_destroy_flow(flow);
dv.mlx5dv_destroy_flow_matcher(matcher);
dv.mlx5dv_devx_obj_destroy(entry);
dv.mlx5dv_devx_obj_destroy(group);
dv.mlx5dv_devx_obj_destroy(table);
dv.mlx5dv_devx_obj_destroy(tir);
ib.ibv_dereg_mr(mr);
ib.ibv_destroy_wq(wq);
ib.ibv_destroy_cq(cq);
ib.ibv_dealloc_pd(pd);
ib.ibv_close_device(ctx);
ib.ibv_free_device_list(list);
