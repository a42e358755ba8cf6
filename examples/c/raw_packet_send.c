/* Sends an Ethernet frame from a raw packet queue pair. gcc -Wall raw_packet_send.c -libverbs */
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
	printf("%s\n", ibv_get_device_name(list[0]));
	ibv_free_device_list(list);
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	need(pd);
	struct ibv_cq *cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	need(cq);
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RAW_PACKET, .send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = 16, .max_send_sge = 1 } };
	struct ibv_qp *qp = ibv_create_qp(pd, &init);
	need(qp);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	done(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT));
	attr.qp_state = IBV_QPS_RTR;
	done(ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	attr.qp_state = IBV_QPS_RTS;
	done(ibv_modify_qp(qp, &attr, IBV_QP_STATE));

	struct ibv_mr *mr = ibv_reg_mr(pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE);
	need(mr);
	memset(memory, 0xff, 6);
	memory[6] = 0x02;
	memory[12] = 0x88;
	memory[13] = 0xb5;
	struct ibv_sge sge = { .addr = (uintptr_t)memory, .length = 60, .lkey = mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.wr_id = 7, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED };
	done(ibv_post_send(qp, &wr, &bad));
	struct ibv_wc wc;
	while (ibv_poll_cq(cq, 1, &wc) == 0)
		;
	printf("%lu %s\n", (unsigned long)wc.wr_id, ibv_wc_status_str(wc.status));

	done(ibv_dereg_mr(mr));
	done(ibv_destroy_qp(qp));
	done(ibv_destroy_cq(cq));
	done(ibv_dealloc_pd(pd));
	done(ibv_close_device(ctx));
	return 0;
}
