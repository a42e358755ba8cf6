/* A flow table by device commands: TCP to port 443 goes to a queue pair by a TIR. gcc -Wall devx_flow_table.c -libverbs -lmlx5 */
#include <infiniband/mlx5dv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void done(int error) { if (error) { fprintf(stderr, "%s\n", strerror(error)); exit(1); } }
static void need(void *object) { if (!object) { perror("failed"); exit(1); } }

/* Writes and reads big-endian numbers. */
static void put(uint8_t *bytes, int at, int size, uint32_t value)
{
	for (int i = 0; i < size; i++)
		bytes[at + i] = value >> (8 * (size - 1 - i));
}

static uint32_t get(const uint8_t *bytes, int at, int size)
{
	uint32_t value = 0;
	for (int i = 0; i < size; i++)
		value = value << 8 | bytes[at + i];
	return value;
}

static uint8_t memory[2048], in[1024], out[64];

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	need(list && list[0] ? list[0] : NULL);
	struct mlx5dv_context_attr open_attr = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };
	struct ibv_context *ctx = mlx5dv_open_device(list[0], &open_attr);
	need(ctx);
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	need(pd);
	struct ibv_cq *cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	need(cq);
	struct ibv_wq_init_attr wq_init = { .wq_type = IBV_WQT_RQ, .max_wr = 16, .max_sge = 1, .pd = pd, .cq = cq };
	struct ibv_wq *wq = ibv_create_wq(ctx, &wq_init);
	need(wq);
	struct ibv_wq_attr wq_attr = { .attr_mask = IBV_WQ_ATTR_STATE, .wq_state = IBV_WQS_RDY };
	done(ibv_modify_wq(wq, &wq_attr));
	struct ibv_mr *mr = ibv_reg_mr(pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE);
	need(mr);
	struct ibv_sge sge = { .addr = (uintptr_t)memory, .length = sizeof memory, .lkey = mr->lkey };
	struct ibv_recv_wr *bad, wr = { .wr_id = 1, .sg_list = &sge, .num_sge = 1 };
	done(ibv_post_wq_recv(wq, &wr, &bad));

	/* CREATE_TIR, direct, of the receive queue */
	put(in, 0, 2, 0x900);
	put(in, 32 + 29, 3, wq->wq_num);
	struct mlx5dv_devx_obj *tir = mlx5dv_devx_obj_create(ctx, in, 272, out, 16);
	need(tir);
	uint32_t tirn = get(out, 9, 3);

	/* CREATE_FLOW_TABLE, NIC_RX, level 64, 2 entries */
	memset(in, 0, sizeof in);
	put(in, 0, 2, 0x930);
	put(in, 24 + 1, 1, 64);
	put(in, 24 + 3, 1, 1);
	struct mlx5dv_devx_obj *table = mlx5dv_devx_obj_create(ctx, in, 64, out, 16);
	need(table);
	uint32_t table_id = get(out, 9, 3);

	/* CREATE_FLOW_GROUP, entries 0 and 1, of protocol and TCP destination port */
	memset(in, 0, sizeof in);
	put(in, 0, 2, 0x933);
	put(in, 21, 3, table_id);
	put(in, 36, 4, 1);
	put(in, 63, 1, 1);
	put(in, 64 + 16, 1, 0xff);
	put(in, 64 + 22, 2, 0xffff);
	struct mlx5dv_devx_obj *group = mlx5dv_devx_obj_create(ctx, in, 1024, out, 16);
	need(group);
	uint32_t group_id = get(out, 9, 3);

	/* SET_FLOW_TABLE_ENTRY, entry 0: protocol 6, port 443, forward to the TIR */
	memset(in, 0, sizeof in);
	put(in, 0, 2, 0x936);
	put(in, 21, 3, table_id);
	put(in, 64 + 4, 4, group_id);
	put(in, 64 + 14, 2, 0x4);
	put(in, 64 + 17, 3, 1);
	put(in, 64 + 64 + 16, 1, 6);
	put(in, 64 + 64 + 22, 2, 443);
	put(in, 64 + 768, 1, 2);
	put(in, 64 + 769, 3, tirn);
	struct mlx5dv_devx_obj *entry = mlx5dv_devx_obj_create(ctx, in, 64 + 768 + 8, out, 16);
	need(entry);

	/* Frames to one MAC go to the table: a mask and a value of 14 bytes. */
	union { struct mlx5dv_flow_match_parameters p; uint8_t bytes[8 + 14]; } mask = { .p.match_sz = 14 }, value = { .p.match_sz = 14 };
	put(mask.bytes, 8 + 8, 4, 0xffffffff);
	put(mask.bytes, 8 + 12, 2, 0xffff);
	put(value.bytes, 8 + 8, 4, 0x02000000);
	put(value.bytes, 8 + 12, 2, 0x0002);
	struct mlx5dv_flow_matcher_attr matcher_attr = {
		.type = IBV_FLOW_ATTR_NORMAL, .match_criteria_enable = 1, .match_mask = &mask.p };
	struct mlx5dv_flow_matcher *matcher = mlx5dv_create_flow_matcher(ctx, &matcher_attr);
	need(matcher);
	struct mlx5dv_flow_action_attr actions[] = { { .type = MLX5DV_FLOW_ACTION_DEST_DEVX, .obj = table } };
	struct ibv_flow *flow = mlx5dv_create_flow(matcher, &value.p, 1, actions);
	need(flow);

	struct ibv_wc wc;
	while (ibv_poll_cq(cq, 1, &wc) == 0)
		;
	printf("%u bytes for request %lu\n", wc.byte_len, (unsigned long)wc.wr_id);

	done(ibv_destroy_flow(flow));
	done(mlx5dv_destroy_flow_matcher(matcher));
	done(mlx5dv_devx_obj_destroy(entry));
	done(mlx5dv_devx_obj_destroy(group));
	done(mlx5dv_devx_obj_destroy(table));
	done(mlx5dv_devx_obj_destroy(tir));
	done(ibv_dereg_mr(mr));
	done(ibv_destroy_wq(wq));
	done(ibv_destroy_cq(cq));
	done(ibv_dealloc_pd(pd));
	done(ibv_close_device(ctx));
	ibv_free_device_list(list);
	return 0;
}
