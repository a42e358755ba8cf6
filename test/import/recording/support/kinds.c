/*
 * A program whose recordings differ in kind, by its argument:
 *
 *     rss      UDP is distributed over two work queues
 *     devices  a flow on each of two devices
 *     fork     a flow, and one of a child
 *     killed   two flows, the first destroyed before a signal ends the program
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <infiniband/verbs.h>

struct udp_flow {
	struct ibv_flow_attr attr;
	struct ibv_flow_spec_eth eth;
	struct ibv_flow_spec_ipv4 ip;
	struct ibv_flow_spec_tcp_udp udp;
};

static struct ibv_flow *flow(struct ibv_qp *qp, uint16_t port)
{
	struct udp_flow flow = {
		.attr = { .type = IBV_FLOW_ATTR_NORMAL, .size = sizeof flow, .num_of_specs = 3, .port = 1 },
		.eth = { .type = IBV_FLOW_SPEC_ETH, .size = sizeof flow.eth },
		.ip = { .type = IBV_FLOW_SPEC_IPV4, .size = sizeof flow.ip },
		.udp = { .type = IBV_FLOW_SPEC_UDP, .size = sizeof flow.udp },
	};

	flow.udp.val.dst_port = port >> 8 | port << 8;
	flow.udp.mask.dst_port = 0xffff;
	return ibv_create_flow(qp, &flow.attr);
}

static struct ibv_context *opened(int n)
{
	int count;
	struct ibv_device **list = ibv_get_device_list(&count);

	return n < count ? ibv_open_device(list[n]) : NULL;
}

static struct ibv_qp *queue(struct ibv_context *context)
{
	struct ibv_cq *cq = ibv_create_cq(context, 16, NULL, NULL, 0);

	return ibv_create_qp(ibv_alloc_pd(context), &(struct ibv_qp_init_attr){
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { .max_send_wr = 1, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RAW_PACKET,
	});
}

static struct ibv_qp *spread(struct ibv_context *context)
{
	static uint8_t key[40];
	struct ibv_cq *cq = ibv_create_cq(context, 16, NULL, NULL, 0);
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_wq *wq[2];
	struct ibv_wq_init_attr attr = { .wq_type = IBV_WQT_RQ, .max_wr = 64, .max_sge = 1, .pd = pd, .cq = cq };

	for (int n = 0; n < 40; n++)
		key[n] = 0x6d + n;
	for (int n = 0; n < 2; n++)
		wq[n] = ibv_create_wq(context, &attr);
	return ibv_create_qp_ex(context, &(struct ibv_qp_init_attr_ex){
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH,
		.pd = pd,
		.rwq_ind_tbl = ibv_create_rwq_ind_table(context, &(struct ibv_rwq_ind_table_init_attr){
			.log_ind_tbl_size = 1,
			.ind_tbl = wq,
		}),
		.rx_hash_conf = {
			.rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ,
			.rx_hash_key_len = sizeof key,
			.rx_hash_key = key,
			.rx_hash_fields_mask = IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4 |
					       IBV_RX_HASH_SRC_PORT_UDP | IBV_RX_HASH_DST_PORT_UDP,
		},
	});
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";
	struct ibv_context *context = opened(0);

	if (!context)
		return 1;
	if (!strcmp(kind, "rss"))
		return !flow(spread(context), 1000);
	struct ibv_qp *qp = queue(context);
	struct ibv_flow *first = flow(qp, 1000);

	if (!first)
		return 1;
	if (!strcmp(kind, "devices"))
		return !flow(queue(opened(1)), 2000);
	if (!strcmp(kind, "fork")) {
		if (fork() == 0) {
			/* Its own flow, and one on the queue of its parent. */
			flow(queue(opened(0)), 2000);
			flow(qp, 3000);
			return 0;
		}
		wait(NULL);
	}
	if (!strcmp(kind, "killed")) {
		flow(qp, 2000);
		ibv_destroy_flow(first);
		raise(SIGKILL);
	}
	return 0;
}
