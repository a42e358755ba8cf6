/*
 * Prints the nanoseconds of a poll of an empty queue, and of a flow that is created: among the first, and once the code of
 * the host is compiled. cc -O2 calls.c -libverbs
 */
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { FLOWS = 1000, ROUNDS = 10 };

static void *need(void *object)
{
	if (!object) {
		perror("failed");
		exit(1);
	}
	return object;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1e9 + time.tv_nsec;
}

int main(int argc, char **argv)
{
	int polls = argc > 1 ? atoi(argv[1]) : 1000000;
	struct ibv_device **list = need(ibv_get_device_list(NULL));
	struct ibv_context *context = need(ibv_open_device(need(list[0])));
	struct ibv_pd *pd = need(ibv_alloc_pd(context));
	struct ibv_cq *cq = need(ibv_create_cq(context, 16, NULL, NULL, 0));
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RAW_PACKET, .send_cq = cq, .recv_cq = cq,
		.cap = { .max_recv_wr = 1, .max_recv_sge = 1 } };
	struct ibv_qp *qp = need(ibv_create_qp(pd, &init));
	struct {
		struct ibv_flow_attr attr;
		struct ibv_flow_spec_tcp_udp udp;
	} __attribute__((packed, aligned(8))) flow = {
		.attr = { .type = IBV_FLOW_ATTR_NORMAL, .size = sizeof flow, .num_of_specs = 1, .port = 1 },
		.udp = { .type = IBV_FLOW_SPEC_UDP, .size = sizeof flow.udp, .mask.dst_port = 0xffff } };
	struct ibv_wc wc;
	double start;

	start = now();
	for (int n = 0; n < polls; n++)
		if (ibv_poll_cq(cq, 1, &wc))
			return 1;
	printf("%.1f", (now() - start) / polls);
	for (int round = 1; round <= ROUNDS; round++) {
		static struct ibv_flow *flows[FLOWS];

		start = now();
		for (int n = 0; n < FLOWS; n++) {
			flow.udp.val.dst_port = htons(n);
			flows[n] = need(ibv_create_flow(qp, &flow.attr));
		}
		if (round == 1 || round == ROUNDS)
			printf(" %.0f", (now() - start) / FLOWS);
		for (int n = 0; n < FLOWS; n++)
			ibv_destroy_flow(flows[n]);
	}
	printf("\n");
	return 0;
}
