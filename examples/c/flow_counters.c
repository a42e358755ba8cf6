/* Receives the UDP frames of a flow and counts them. gcc -Wall flow_counters.c -libverbs */
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void done(int error) { if (error) { fprintf(stderr, "%s\n", strerror(error)); exit(1); } }
static void need(void *object) { if (!object) { perror("failed"); exit(1); } }

static uint8_t memory[2048];

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	need(list && list[0] ? list[0] : NULL);
	struct ibv_context *ctx = ibv_open_device(list[0]);
	need(ctx);
	struct ibv_device_attr device_attr;
	done(ibv_query_device(ctx, &device_attr));
	if (!(device_attr.device_cap_flags & IBV_DEVICE_MANAGED_FLOW_STEERING))
		return 1;
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	need(pd);
	struct ibv_cq *cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	need(cq);
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RAW_PACKET, .send_cq = cq, .recv_cq = cq,
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

	struct ibv_counters_init_attr counters_attr = { .comp_mask = 0 };
	struct ibv_counters *counters = ibv_create_counters(ctx, &counters_attr);
	need(counters);
	struct ibv_counter_attach_attr packets = { .counter_desc = IBV_COUNTER_PACKETS, .index = 0 };
	done(ibv_attach_counters_point_flow(counters, &packets, NULL));
	struct ibv_counter_attach_attr bytes = { .counter_desc = IBV_COUNTER_BYTES, .index = 1 };
	done(ibv_attach_counters_point_flow(counters, &bytes, NULL));

	struct {
		struct ibv_flow_attr attr;
		struct ibv_flow_spec_ipv4 ipv4;
		struct ibv_flow_spec_tcp_udp udp;
		struct ibv_flow_spec_counter_action count;
	} __attribute__((packed, aligned(8))) rule = {
		.attr = { .type = IBV_FLOW_ATTR_NORMAL, .size = sizeof rule, .num_of_specs = 3, .port = 1 },
		.ipv4 = { .type = IBV_FLOW_SPEC_IPV4, .size = sizeof rule.ipv4,
			  .val.dst_ip = htonl(0x0a000007), .mask.dst_ip = 0xffffffff },
		.udp = { .type = IBV_FLOW_SPEC_UDP, .size = sizeof rule.udp,
			 .val.dst_port = htons(4791), .mask.dst_port = 0xffff },
		.count = { .type = IBV_FLOW_SPEC_ACTION_COUNT, .size = sizeof rule.count, .counters = counters } };
	struct ibv_flow *flow = ibv_create_flow(qp, (void *)&rule);
	need(flow);

	struct ibv_wc wc;
	while (ibv_poll_cq(cq, 1, &wc) == 0)
		;
	printf("%u bytes for request %lu\n", wc.byte_len, (unsigned long)wc.wr_id);
	uint64_t values[2];
	done(ibv_read_counters(counters, values, 2, 0));
	printf("%lu packets, %lu bytes\n", (unsigned long)values[0], (unsigned long)values[1]);

	done(ibv_destroy_flow(flow));
	done(ibv_destroy_counters(counters));
	done(ibv_dereg_mr(mr));
	done(ibv_destroy_qp(qp));
	done(ibv_destroy_cq(cq));
	done(ibv_dealloc_pd(pd));
	done(ibv_close_device(ctx));
	ibv_free_device_list(list);
	return 0;
}
