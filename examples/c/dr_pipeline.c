/* Direct rules in two tables: UDP to port 4791 gets a tag and is counted, TCP is dropped. gcc -Wall dr_pipeline.c -libverbs -lmlx5 */
#include <infiniband/mlx5dv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void done(int error) { if (error) { fprintf(stderr, "%s\n", strerror(error)); exit(1); } }
static void need(void *object) { if (!object) { perror("failed"); exit(1); } }

/* Writes a big-endian number. */
static void put(uint8_t *bytes, int at, int size, uint32_t value)
{
	for (int i = 0; i < size; i++)
		bytes[at + i] = value >> (8 * (size - 1 - i));
}

/* struct mlx5dv_flow_match_parameters with 64 bytes: the outer headers. */
union match { struct mlx5dv_flow_match_parameters p; uint8_t bytes[8 + 64]; };
enum { OUTER = 1, IP_PROTOCOL = 8 + 16, IP_VERSION = 8 + 18, UDP_DPORT = 8 + 30 };

static uint8_t memory[2048];

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	need(list && list[0] ? list[0] : NULL);
	struct mlx5dv_context_attr open_attr = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };
	struct ibv_context *ctx = mlx5dv_open_device(list[0], &open_attr);
	need(ctx);
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	need(pd);
	struct ibv_cq_init_attr_ex cq_attr = { .cqe = 16, .wc_flags = IBV_WC_EX_WITH_FLOW_TAG | IBV_WC_EX_WITH_BYTE_LEN };
	struct ibv_cq_ex *cq = ibv_create_cq_ex(ctx, &cq_attr);
	need(cq);
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RAW_PACKET, .send_cq = ibv_cq_ex_to_cq(cq), .recv_cq = ibv_cq_ex_to_cq(cq),
		.cap = { .max_recv_wr = 16, .max_recv_sge = 1 } };
	struct ibv_qp *qp = ibv_create_qp(pd, &init);
	need(qp);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	done(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT));
	attr.qp_state = IBV_QPS_RTR;
	done(ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	struct ibv_mr *mr = ibv_reg_mr(pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE);
	need(mr);
	struct ibv_sge sge = { .addr = (uintptr_t)memory, .length = sizeof memory, .lkey = mr->lkey };
	struct ibv_recv_wr *bad, wr = { .wr_id = 1, .sg_list = &sge, .num_sge = 1 };
	done(ibv_post_recv(qp, &wr, &bad));

	struct mlx5dv_dr_domain *domain = mlx5dv_dr_domain_create(ctx, MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
	need(domain);
	struct mlx5dv_dr_table *root = mlx5dv_dr_table_create(domain, 0);
	need(root);
	struct mlx5dv_dr_table *table = mlx5dv_dr_table_create(domain, 1);
	need(table);

	/* ALLOC_FLOW_COUNTER */
	uint8_t in[32] = {0}, out[32] = {0};
	put(in, 0, 2, 0x939);
	struct mlx5dv_devx_obj *counter = mlx5dv_devx_obj_create(ctx, in, 16, out, 16);
	need(counter);
	uint8_t id[4];
	memcpy(id, out + 8, 4);

	struct mlx5dv_dr_action *to_table = mlx5dv_dr_action_create_dest_table(table);
	need(to_table);
	struct mlx5dv_dr_action *tag = mlx5dv_dr_action_create_tag(0x1234);
	need(tag);
	struct mlx5dv_dr_action *count = mlx5dv_dr_action_create_flow_counter(counter, 0);
	need(count);
	struct mlx5dv_dr_action *to_qp = mlx5dv_dr_action_create_dest_ibv_qp(qp);
	need(to_qp);
	struct mlx5dv_dr_action *drop = mlx5dv_dr_action_create_drop();
	need(drop);

	union match all = { .p.match_sz = 64 };
	struct mlx5dv_dr_matcher *every = mlx5dv_dr_matcher_create(root, 0, 0, &all.p);
	need(every);
	struct mlx5dv_dr_action *jump[] = { to_table };
	struct mlx5dv_dr_rule *first = mlx5dv_dr_rule_create(every, &all.p, 1, jump);
	need(first);

	union match udp_mask = { .p.match_sz = 64 }, udp = { .p.match_sz = 64 };
	put(udp_mask.bytes, IP_VERSION, 1, 4 << 1);
	put(udp_mask.bytes, IP_PROTOCOL, 1, 0xff);
	put(udp_mask.bytes, UDP_DPORT, 2, 0xffff);
	put(udp.bytes, IP_VERSION, 1, 4 << 1);
	put(udp.bytes, IP_PROTOCOL, 1, 17);
	put(udp.bytes, UDP_DPORT, 2, 4791);
	struct mlx5dv_dr_matcher *udp_matcher = mlx5dv_dr_matcher_create(table, 1, OUTER, &udp_mask.p);
	need(udp_matcher);
	struct mlx5dv_dr_action *take[] = { tag, count, to_qp };
	struct mlx5dv_dr_rule *udp_rule = mlx5dv_dr_rule_create(udp_matcher, &udp.p, 3, take);
	need(udp_rule);

	union match tcp_mask = { .p.match_sz = 64 }, tcp = { .p.match_sz = 64 };
	put(tcp_mask.bytes, IP_VERSION, 1, 4 << 1);
	put(tcp_mask.bytes, IP_PROTOCOL, 1, 0xff);
	put(tcp.bytes, IP_VERSION, 1, 4 << 1);
	put(tcp.bytes, IP_PROTOCOL, 1, 6);
	struct mlx5dv_dr_matcher *tcp_matcher = mlx5dv_dr_matcher_create(table, 2, OUTER, &tcp_mask.p);
	need(tcp_matcher);
	struct mlx5dv_dr_action *discard[] = { drop };
	struct mlx5dv_dr_rule *tcp_rule = mlx5dv_dr_rule_create(tcp_matcher, &tcp.p, 1, discard);
	need(tcp_rule);
	done(mlx5dv_dr_domain_sync(domain, MLX5DV_DR_DOMAIN_SYNC_FLAGS_SW | MLX5DV_DR_DOMAIN_SYNC_FLAGS_HW));

	struct ibv_poll_cq_attr poll_attr = {0};
	while (ibv_start_poll(cq, &poll_attr))
		;
	printf("tag 0x%x, %u bytes\n", ibv_wc_read_flow_tag(cq), ibv_wc_read_byte_len(cq));
	ibv_end_poll(cq);

	/* QUERY_FLOW_COUNTER: packets are the 8 bytes after the header of 16. */
	memset(in, 0, sizeof in);
	put(in, 0, 2, 0x93b);
	memcpy(in + 28, id, 4);
	done(mlx5dv_devx_obj_query(counter, in, 32, out, 32));
	printf("%u packets\n", out[23]);

	done(mlx5dv_dr_rule_destroy(tcp_rule));
	done(mlx5dv_dr_rule_destroy(udp_rule));
	done(mlx5dv_dr_rule_destroy(first));
	done(mlx5dv_dr_matcher_destroy(tcp_matcher));
	done(mlx5dv_dr_matcher_destroy(udp_matcher));
	done(mlx5dv_dr_matcher_destroy(every));
	done(mlx5dv_dr_action_destroy(drop));
	done(mlx5dv_dr_action_destroy(to_qp));
	done(mlx5dv_dr_action_destroy(count));
	done(mlx5dv_dr_action_destroy(tag));
	done(mlx5dv_dr_action_destroy(to_table));
	done(mlx5dv_devx_obj_destroy(counter));
	done(mlx5dv_dr_table_destroy(table));
	done(mlx5dv_dr_table_destroy(root));
	done(mlx5dv_dr_domain_destroy(domain));
	done(ibv_dereg_mr(mr));
	done(ibv_destroy_qp(qp));
	done(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)));
	done(ibv_dealloc_pd(pd));
	done(ibv_close_device(ctx));
	ibv_free_device_list(list);
	return 0;
}
