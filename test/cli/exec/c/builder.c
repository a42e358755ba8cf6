/* Makes objects of all kinds, and destroys a part of them, until it is killed. */
#include <infiniband/mlx5dv.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { MEMORY = 4096 };

static void need(const void *object)
{
	if (object)
		return;
	perror("failed");
	exit(1);
}

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct mlx5dv_context_attr devx = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };
	struct ibv_context *context = mlx5dv_open_device(list[0], &devx);
	struct mlx5dv_flow_match_parameters *none = calloc(1, sizeof *none + 64);
	static uint8_t memory[MEMORY];

	need(context);
	none->match_sz = 64;
	for (uint32_t n = 0;; n++) {
		struct ibv_pd *pd = ibv_alloc_pd(context);
		struct ibv_comp_channel *channel = ibv_create_comp_channel(context);
		struct ibv_cq *cq = ibv_create_cq(context, 64, NULL, channel, 0);
		struct ibv_qp_init_attr init = { .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RAW_PACKET,
			.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 } };
		struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
		struct ibv_qp *qp = ibv_create_qp(pd, &init);
		struct ibv_mr *mr = ibv_reg_mr(pd, memory, MEMORY, IBV_ACCESS_LOCAL_WRITE);
		struct {
			struct ibv_flow_attr attr;
			struct ibv_flow_spec_tcp_udp udp;
		} flow = { .attr = { .size = sizeof flow, .num_of_specs = 1, .port = 1 },
			   .udp = { .type = IBV_FLOW_SPEC_UDP, .size = sizeof flow.udp,
				    .val.dst_port = n, .mask.dst_port = 0xffff } };
		struct mlx5dv_dr_domain *domain = mlx5dv_dr_domain_create(context, MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
		struct mlx5dv_dr_table *table = mlx5dv_dr_table_create(domain, 1 + n % 60);
		struct mlx5dv_dr_matcher *matcher = mlx5dv_dr_matcher_create(table, 0, 0, none);
		struct mlx5dv_dr_action *action = mlx5dv_dr_action_create_dest_ibv_qp(qp);
		/* ALLOC_FLOW_COUNTER */
		uint8_t in[16] = { 0x09, 0x39 }, out[16];
		struct mlx5dv_devx_obj *counter = mlx5dv_devx_obj_create(context, in, sizeof in, out, sizeof out);
		struct mlx5dv_dr_action *counts = mlx5dv_dr_action_create_flow_counter(counter, 0);
		struct mlx5dv_dr_action *both[] = { counts, action };
		struct ibv_sge sge = { .addr = (uintptr_t)memory, .length = MEMORY, .lkey = mr ? mr->lkey : 0 };
		struct ibv_recv_wr receive = { .sg_list = &sge, .num_sge = 1 }, *bad;
		struct mlx5dv_dr_rule *rule;

		need(pd && channel && cq && qp && mr && domain && table && matcher && action && counts ? qp : NULL);
		if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT) || ibv_post_recv(qp, &receive, &bad))
			return 1;
		need(ibv_create_flow(qp, &flow.attr));
		rule = mlx5dv_dr_rule_create(matcher, none, 2, both);
		need(rule);
		if (n % 2 && mlx5dv_dr_rule_destroy(rule))
			return 1;
	}
}
