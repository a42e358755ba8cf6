/*
 * A program with work queues, an RQT, TIRs and flow actions. MODIFY as an argument: an ESP action is modified.
 *
 *     TCP to port 80     its TTL becomes 9, and it is distributed over two work queues
 *     UDP                the third work queue
 *     ESP, SPI 7         is decrypted, queue pair
 */
#include <stdio.h>
#include <string.h>
#include <infiniband/mlx5dv.h>

static struct ibv_context *context;

static void put(uint8_t *at, int bytes, uint32_t value)
{
	while (bytes-- > 0)
		*at++ = value >> (8 * bytes);
}

static struct mlx5dv_devx_obj *command(const uint8_t *in, size_t size)
{
	uint8_t out[16];

	return mlx5dv_devx_obj_create(context, in, size, out, sizeof out);
}

/* A TIR that delivers to a work queue, or distributes over an RQT by Toeplitz hashes of addresses and ports. */
static struct mlx5dv_devx_obj *tir(uint32_t rqn, uint32_t rqtn)
{
	uint8_t in[272] = { 0x09, 0x00 }, *of = in + 32;

	of[4] = rqtn ? 1 << 4 : 0;
	put(of + 29, 3, rqn);
	put(of + 33, 3, rqtn);
	if (rqtn) {
		of[32] = 0x80;
		of[36] = 2 << 4;
		for (int n = 0; n < 40; n++)
			of[40 + n] = 0x6d + n;
		put(of + 80, 4, 0xf);
	}
	return command(in, sizeof in);
}

static struct {
	size_t size;
	uint8_t bytes[512];
} mask, value;

/* A flow whose match parameters have a byte at a place, below a matcher of its own. */
static struct ibv_flow *flow(int at, int bytes, uint32_t what, size_t count, struct mlx5dv_flow_action_attr *actions)
{
	struct mlx5dv_flow_matcher_attr attr = {
		.type = IBV_FLOW_ATTR_NORMAL,
		.match_criteria_enable = 1,
		.match_mask = (struct mlx5dv_flow_match_parameters *)&mask,
	};

	memset(&mask, 0, sizeof mask);
	memset(&value, 0, sizeof value);
	mask.size = value.size = 64;
	put(mask.bytes + at, bytes, 0xffffffff);
	put(value.bytes + at, bytes, what);
	return mlx5dv_create_flow(mlx5dv_create_flow_matcher(context, &attr),
				  (struct mlx5dv_flow_match_parameters *)&value, count, actions);
}

int main(int argc, char **argv)
{
	int count;
	struct ibv_pd *pd;
	struct ibv_qp *qp;
	struct ibv_wq_init_attr wq_attr = { .wq_type = IBV_WQT_RQ, .max_wr = 8, .max_sge = 1 };
	struct ibv_wq *wq[3];
	struct mlx5dv_devx_obj *spread, *direct;
	uint8_t rqt[272 + 8] = { 0x09, 0x16 };
	/* SET ip_ttl 0x0a, 8 bits, 9 */
	uint64_t changes[1];
	uint8_t change[8] = { 0x10, 0x0a, 0, 8, 0, 0, 0, 9 };
	struct ibv_flow_action *ttl, *esp;
	struct ib_uverbs_flow_action_esp_keymat_aes_gcm keymat = { .icv_len = 16, .key_len = 16 };
	struct ib_uverbs_flow_action_esp_replay_bmp replay = { .size = 64 };
	struct ibv_flow_action_esp own = {
		.spi = 7,
		.seq = 1,
		.flags = IB_UVERBS_FLOW_ACTION_ESP_FLAGS_FULL_OFFLOAD | IB_UVERBS_FLOW_ACTION_ESP_FLAGS_TRANSPORT,
		.hard_limit_pkts = 1000,
	};
	struct ibv_flow_action_esp_attr esp_attr = {
		.esp_attr = &own,
		.keymat_proto = IB_UVERBS_FLOW_ACTION_ESP_KEYMAT_AES_GCM,
		.keymat_len = sizeof keymat,
		.keymat_ptr = &keymat,
		.replay_proto = IB_UVERBS_FLOW_ACTION_ESP_REPLAY_BMP,
		.replay_len = sizeof replay,
		.replay_ptr = &replay,
	};
	struct {
		struct ibv_flow_attr attr;
		struct ibv_flow_spec_eth eth;
		struct ibv_flow_spec_ipv4_ext ip;
		struct ibv_flow_spec_esp esp;
		struct ibv_flow_spec_action_handle handle;
	} __attribute__((packed)) verbs = {
		.attr = { .type = IBV_FLOW_ATTR_NORMAL, .size = sizeof verbs, .num_of_specs = 4, .port = 1 },
		.eth = { .type = IBV_FLOW_SPEC_ETH, .size = sizeof verbs.eth },
		.ip = { .type = IBV_FLOW_SPEC_IPV4_EXT, .size = sizeof verbs.ip },
		.esp = { .type = IBV_FLOW_SPEC_ESP, .size = sizeof verbs.esp },
		.handle = { .type = IBV_FLOW_SPEC_ACTION_HANDLE, .size = sizeof verbs.handle },
	};

	static uint64_t aligned[(sizeof verbs + 7) / 8];

	context = ibv_open_device(*ibv_get_device_list(&count));
	pd = ibv_alloc_pd(context);
	qp = ibv_create_qp(pd, &(struct ibv_qp_init_attr){ .qp_type = IBV_QPT_RAW_PACKET });
	for (int n = 0; n < 3; n++)
		wq[n] = ibv_create_wq(context, &wq_attr);
	put(rqt + 54, 2, 2);
	put(rqt + 58, 2, 2);
	put(rqt + 273, 3, wq[0]->wq_num);
	put(rqt + 277, 3, wq[1]->wq_num);
	/* The stand-in counts objects of the device from 0x31. */
	command(rqt, sizeof rqt);
	spread = tir(0, 0x31);
	direct = tir(wq[2]->wq_num, 0);

	memcpy(changes, change, sizeof changes);
	ttl = mlx5dv_create_flow_action_modify_header(context, sizeof changes, changes, MLX5DV_FLOW_TABLE_TYPE_NIC_RX);
	memset(keymat.aes_key, 0x5a, 16);
	memset(&keymat.salt, 0xc3, 4);
	esp = ibv_create_flow_action_esp(context, &esp_attr);

	flow(22, 2, 80, 2, (struct mlx5dv_flow_action_attr[]){
		{ .type = MLX5DV_FLOW_ACTION_IBV_FLOW_ACTION, .action = ttl },
		{ .type = MLX5DV_FLOW_ACTION_DEST_DEVX, .obj = spread },
	});
	flow(16, 1, 17, 1, (struct mlx5dv_flow_action_attr[]){
		{ .type = MLX5DV_FLOW_ACTION_DEST_DEVX, .obj = direct },
	});
	verbs.eth.val.ether_type = 0x0008;
	verbs.eth.mask.ether_type = 0xffff;
	put((uint8_t *)&verbs.esp.val.spi, 4, 7);
	verbs.esp.mask.spi = 0xffffffff;
	verbs.handle.action = esp;
	memcpy(aligned, &verbs, sizeof verbs);
	ibv_create_flow(qp, (struct ibv_flow_attr *)aligned);
	if (argc > 1 && !strcmp(argv[1], "MODIFY"))
		ibv_modify_flow_action_esp(esp, &esp_attr);
	/* Until the test lets it go. */
	getchar();
	return 0;
}
