/*
 * Eight threads share a context and a protection domain. Each has a queue pair and a completion queue of its own, sends itself
 * datagrams, and makes and destroys rules meanwhile.
 */
#include <infiniband/mlx5dv.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 8, ROUNDS = 50, GRH = 40, QKEY = 0x11 };

static struct ibv_context *context;
static struct ibv_pd *pd;
static union ibv_gid gid;

static void check(int fine, const char *what)
{
	if (fine)
		return;
	perror(what);
	exit(1);
}

static struct ibv_qp *ready_pair(struct ibv_cq *cq)
{
	struct ibv_qp_init_attr init = { .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_UD,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 } };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY };
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	check(qp != NULL, "ibv_create_qp");
	check(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY), "INIT");
	attr.qp_state = IBV_QPS_RTR;
	check(!ibv_modify_qp(qp, &attr, IBV_QP_STATE), "RTR");
	attr.qp_state = IBV_QPS_RTS;
	check(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN), "RTS");
	return qp;
}

static void datagram(struct ibv_qp *qp, struct ibv_ah *ah, struct ibv_mr *mr, uint8_t round)
{
	uint8_t *memory = mr->addr;
	struct ibv_sge in = { .addr = (uintptr_t)memory, .length = GRH + 16, .lkey = mr->lkey };
	struct ibv_sge out = { .addr = (uintptr_t)memory + 64, .length = 16, .lkey = mr->lkey };
	struct ibv_recv_wr receive = { .wr_id = 1, .sg_list = &in, .num_sge = 1 }, *bad_receive;
	struct ibv_send_wr send = { .wr_id = 2, .sg_list = &out, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED, .wr.ud = { .ah = ah, .remote_qpn = qp->qp_num, .remote_qkey = QKEY } }, *bad_send;
	struct ibv_wc wc;

	memset(memory, 0, 64);
	memset(memory + 64, round, 16);
	check(!ibv_post_recv(qp, &receive, &bad_receive), "ibv_post_recv");
	check(!ibv_post_send(qp, &send, &bad_send), "ibv_post_send");
	for (int left = 2; left > 0;) {
		int count = ibv_poll_cq(qp->send_cq, 1, &wc);

		check(count >= 0 && (count == 0 || wc.status == IBV_WC_SUCCESS), "ibv_poll_cq");
		left -= count;
	}
	check(memory[GRH] == round && memory[GRH + 15] == round, "the datagram");
}

static void *work(void *number)
{
	struct ibv_cq *cq = ibv_create_cq(context, 16, NULL, NULL, 0);
	struct ibv_qp *qp = ready_pair(cq);
	struct ibv_ah_attr to = { .is_global = 1, .port_num = 1, .grh = { .dgid = gid, .hop_limit = 1 } };
	struct ibv_ah *ah = ibv_create_ah(pd, &to);
	uint8_t memory[128];
	struct ibv_mr *mr = ibv_reg_mr(pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE);
	struct mlx5dv_dr_domain *domain = mlx5dv_dr_domain_create(context, MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
	struct mlx5dv_dr_table *table = mlx5dv_dr_table_create(domain, 1 + (int)(intptr_t)number);
	struct mlx5dv_dr_action *drop = mlx5dv_dr_action_create_drop();
	struct mlx5dv_flow_match_parameters *none = calloc(1, sizeof *none + 64);

	none->match_sz = 64;
	check(ah && mr && domain && table && drop, "objects");
	for (int round = 1; round <= ROUNDS; round++) {
		struct mlx5dv_dr_matcher *matcher = mlx5dv_dr_matcher_create(table, 0, 0, none);
		struct mlx5dv_dr_rule *rule = mlx5dv_dr_rule_create(matcher, none, 1, &drop);

		check(matcher && rule, "rule");
		datagram(qp, ah, mr, round);
		check(!mlx5dv_dr_rule_destroy(rule) && !mlx5dv_dr_matcher_destroy(matcher), "destroy rule");
	}
	free(none);
	check(!mlx5dv_dr_action_destroy(drop) && !mlx5dv_dr_table_destroy(table) && !mlx5dv_dr_domain_destroy(domain), "destroy");
	check(!ibv_dereg_mr(mr) && !ibv_destroy_ah(ah) && !ibv_destroy_qp(qp) && !ibv_destroy_cq(cq), "destroy queues");
	return NULL;
}

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	pthread_t threads[THREADS];

	context = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	pd = ibv_alloc_pd(context);
	check(!ibv_query_gid(context, 1, 0, &gid), "ibv_query_gid");
	for (intptr_t n = 0; n < THREADS; n++)
		check(!pthread_create(&threads[n], NULL, work, (void *)n), "pthread_create");
	for (int n = 0; n < THREADS; n++)
		pthread_join(threads[n], NULL);
	check(!ibv_dealloc_pd(pd) && !ibv_close_device(context), "close");
	puts("done");
	return 0;
}
