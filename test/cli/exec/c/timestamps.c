/*
 * Receives frames, and prints when each of them came, in nanoseconds after the first one. With an argument it waits for
 * events, otherwise it polls.
 */
#include <inttypes.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>

enum { FRAMES = 5, SIZE = 2048 };

static void *must(void *made, const char *what)
{
	if (made)
		return made;
	perror(what);
	exit(1);
}

static void must_be_zero(int error, const char *what)
{
	if (!error)
		return;
	perror(what);
	exit(1);
}

static struct ibv_qp *receiver(struct ibv_pd *pd, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { .max_recv_wr = FRAMES, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RAW_PACKET,
	};
	struct ibv_qp *qp = must(ibv_create_qp(pd, &init), "ibv_create_qp");
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };

	must_be_zero(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT), "INIT");
	attr.qp_state = IBV_QPS_RTR;
	must_be_zero(ibv_modify_qp(qp, &attr, IBV_QP_STATE), "RTR");
	return qp;
}

static void wait_for_event(struct ibv_comp_channel *channel)
{
	struct ibv_cq *cq;
	void *context;

	must_be_zero(ibv_get_cq_event(channel, &cq, &context), "ibv_get_cq_event");
	ibv_ack_cq_events(cq, 1);
	must_be_zero(ibv_req_notify_cq(cq, 0), "ibv_req_notify_cq");
}

int main(int argc, char **argv)
{
	struct ibv_device **devices = must(ibv_get_device_list(NULL), "ibv_get_device_list");
	struct ibv_context *context = must(ibv_open_device(devices[0]), "ibv_open_device");
	struct ibv_pd *pd = must(ibv_alloc_pd(context), "ibv_alloc_pd");
	struct ibv_comp_channel *channel = must(ibv_create_comp_channel(context), "ibv_create_comp_channel");
	struct ibv_cq_init_attr_ex with = { .cqe = FRAMES, .channel = channel, .wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP };
	struct ibv_cq_ex *cq = must(ibv_create_cq_ex(context, &with), "ibv_create_cq_ex");
	struct ibv_qp *qp = receiver(pd, ibv_cq_ex_to_cq(cq));
	char *bytes = must(calloc(FRAMES, SIZE), "calloc");
	struct ibv_mr *mr = must(ibv_reg_mr(pd, bytes, FRAMES * SIZE, IBV_ACCESS_LOCAL_WRITE), "ibv_reg_mr");
	struct ibv_flow_attr all = { .type = IBV_FLOW_ATTR_ALL_DEFAULT, .size = sizeof all, .port = 1 };
	struct ibv_poll_cq_attr none = { 0 };
	uint64_t first = 0;

	must_be_zero(ibv_req_notify_cq(ibv_cq_ex_to_cq(cq), 0), "ibv_req_notify_cq");
	for (int n = 0; n < FRAMES; n++) {
		struct ibv_sge place = { .addr = (uintptr_t)bytes + n * SIZE, .length = SIZE, .lkey = mr->lkey };
		struct ibv_recv_wr request = { .sg_list = &place, .num_sge = 1 }, *bad;

		must_be_zero(ibv_post_recv(qp, &request, &bad), "ibv_post_recv");
	}
	must(ibv_create_flow(qp, &all), "ibv_create_flow");
	for (int n = 0; n < FRAMES;) {
		if (ibv_start_poll(cq, &none)) {
			if (argc > 1)
				wait_for_event(channel);
			continue;
		}
		do {
			uint64_t time = ibv_wc_read_completion_ts(cq);

			if (n++ == 0)
				first = time;
			printf("%" PRIu64 "\n", time - first);
		} while (!ibv_next_poll(cq));
		ibv_end_poll(cq);
	}
	return 0;
}
