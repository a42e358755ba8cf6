/*
 * ESP as DPDK's librte_ipsec does it, with the crypto of its aesni_gcm driver. Reads lines, writes lines:
 *
 *     sa out|in tunnel|transport OUTER INNER udp|plain SPI KEY SALT ICV ESN NUMBER WINDOW HEADERS
 *         an association from here on; OUTER and INNER are IP versions, ESN 0 or 1, NUMBER decimal, WINDOW 0 for none, HEADERS hex (out,
 *         tunnel) or -
 *     pkt HEX L3
 *         a frame with 14 bytes of Ethernet and L3 bytes of IP headers (and UDP, coming in); answered by hex, or `lost`
 *
 * Built and run by scripts/golden-esp.mjs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cryptodev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_ip.h>
#include <rte_ipsec.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_security.h>
#include <rte_udp.h>

#define ETHERNET 14
#define IV_OFFSET (sizeof(struct rte_crypto_op) + sizeof(struct rte_crypto_sym_op))
#define LINE 300000

static struct rte_mempool *mbufs, *ops, *sessions;
static struct rte_ipsec_session session;
static int incoming, tunnel;

static void die(const char *what)
{
	fprintf(stderr, "librte: %s (%s)\n", what, rte_strerror(rte_errno));
	exit(1);
}

static int from_hex(const char *text, uint8_t *bytes)
{
	int length = 0;
	if (strcmp(text, "-") == 0)
		return 0;
	for (; text[0] && text[1]; text += 2, length++) {
		unsigned int byte;
		if (sscanf(text, "%2x", &byte) != 1)
			die("no hex");
		bytes[length] = byte;
	}
	return length;
}

static void open_device(void)
{
	struct rte_cryptodev_config config = { .socket_id = SOCKET_ID_ANY, .nb_queue_pairs = 1 };
	struct rte_cryptodev_qp_conf pair = { .nb_descriptors = 512 };

	mbufs = rte_pktmbuf_pool_create("mbufs", 1023, 0, 64, 65535, SOCKET_ID_ANY);
	ops = rte_crypto_op_pool_create("ops", RTE_CRYPTO_OP_TYPE_SYMMETRIC, 1023, 0, 16, SOCKET_ID_ANY);
	sessions = rte_cryptodev_sym_session_pool_create(
		"sessions", 4095, rte_cryptodev_sym_get_private_session_size(0), 0, 0, SOCKET_ID_ANY);
	if (!mbufs || !ops || !sessions)
		die("no pools");
	pair.mp_session = sessions;
	if (rte_cryptodev_configure(0, &config) || rte_cryptodev_queue_pair_setup(0, 0, &pair, SOCKET_ID_ANY) ||
	    rte_cryptodev_start(0))
		die("no device");
}

static void associate(const char *line)
{
	static uint8_t headers[256];
	char direction[8], mode[16], wrap[8], spi[16], key[128], salt[16], text[600];
	unsigned int icv, esn, window;
	int outer, inner, udp;
	unsigned long long number;
	uint8_t key_bytes[32], salt_bytes[4];
	struct rte_crypto_sym_xform crypto = { .type = RTE_CRYPTO_SYM_XFORM_AEAD };
	struct rte_ipsec_sa_prm asked = { 0 };
	struct rte_security_ipsec_tunnel_param *around = &asked.ipsec_xform.tunnel;

	if (sscanf(line, "sa %7s %15s %d %d %7s %15s %127s %15s %u %u %llu %u %599s", direction, mode, &outer, &inner, wrap, spi, key,
		   salt, &icv, &esn, &number, &window, text) != 13)
		die("no association");
	incoming = strcmp(direction, "in") == 0;
	tunnel = strcmp(mode, "tunnel") == 0;
	udp = strcmp(wrap, "udp") == 0;

	crypto.aead.op = incoming ? RTE_CRYPTO_AEAD_OP_DECRYPT : RTE_CRYPTO_AEAD_OP_ENCRYPT;
	crypto.aead.algo = RTE_CRYPTO_AEAD_AES_GCM;
	crypto.aead.key.length = from_hex(key, key_bytes);
	crypto.aead.key.data = key_bytes;
	crypto.aead.iv.offset = IV_OFFSET;
	crypto.aead.iv.length = 12;
	crypto.aead.digest_length = icv;
	crypto.aead.aad_length = esn ? 12 : 8;

	asked.crypto_xform = &crypto;
	asked.ipsec_xform.spi = strtoul(spi, NULL, 16);
	from_hex(salt, salt_bytes);
	memcpy(&asked.ipsec_xform.salt, salt_bytes, 4);
	asked.ipsec_xform.direction = incoming ? RTE_SECURITY_IPSEC_SA_DIR_INGRESS : RTE_SECURITY_IPSEC_SA_DIR_EGRESS;
	asked.ipsec_xform.proto = RTE_SECURITY_IPSEC_SA_PROTO_ESP;
	asked.ipsec_xform.mode = tunnel ? RTE_SECURITY_IPSEC_SA_MODE_TUNNEL : RTE_SECURITY_IPSEC_SA_MODE_TRANSPORT;
	asked.ipsec_xform.options.esn = esn;
	asked.ipsec_xform.options.udp_encap = udp;
	asked.ipsec_xform.options.ecn = tunnel;
	asked.ipsec_xform.options.copy_dscp = tunnel && !incoming;
	asked.ipsec_xform.udp.sport = 4500;
	asked.ipsec_xform.udp.dport = 4500;
	asked.ipsec_xform.esn.value = number;
	asked.ipsec_xform.replay_win_sz = window;
	/* IPIP and IPV6 tell librte_ipsec the version of what is protected. */
	if (tunnel) {
		around->type = outer == 4 ? RTE_SECURITY_IPSEC_TUNNEL_IPV4 : RTE_SECURITY_IPSEC_TUNNEL_IPV6;
		asked.tun.hdr = headers;
		asked.tun.hdr_len = from_hex(text, headers);
		asked.tun.hdr_l3_off = ETHERNET;
		asked.tun.next_proto = inner == 4 ? IPPROTO_IPIP : IPPROTO_IPV6;
	} else {
		asked.trs.proto = inner == 4 ? IPPROTO_IPIP : IPPROTO_IPV6;
	}

	int size = rte_ipsec_sa_size(&asked);
	if (size < 0)
		die("no size");
	memset(&session, 0, sizeof(session));
	session.sa = rte_zmalloc(NULL, size, RTE_CACHE_LINE_SIZE);
	if (rte_ipsec_sa_init(session.sa, &asked, size) < 0)
		die("no SA");
	session.type = RTE_SECURITY_ACTION_TYPE_NONE;
	session.crypto.ses = rte_cryptodev_sym_session_create(0, &crypto, sessions);
	session.crypto.dev_id = 0;
	if (!session.crypto.ses || rte_ipsec_session_prepare(&session))
		die("no session");
}

/* One frame: prepared, through the driver, finished. */
static int process(struct rte_mbuf *frame)
{
	struct rte_crypto_op *op;

	if (rte_crypto_op_bulk_alloc(ops, RTE_CRYPTO_OP_TYPE_SYMMETRIC, &op, 1) != 1)
		die("no operation");
	int done = rte_ipsec_pkt_crypto_prepare(&session, &frame, &op, 1) == 1;
	if (done) {
		struct rte_crypto_op *back = NULL;
		if (rte_cryptodev_enqueue_burst(0, 0, &op, 1) != 1)
			die("not taken");
		while (rte_cryptodev_dequeue_burst(0, 0, &back, 1) != 1)
			;
		if (back->status != RTE_CRYPTO_OP_STATUS_SUCCESS)
			frame->ol_flags |= RTE_MBUF_F_RX_SEC_OFFLOAD_FAILED;
		done = rte_ipsec_pkt_process(&session, &frame, 1) == 1;
	}
	rte_crypto_op_free(op);
	return done;
}

static void packet(char *line)
{
	char *hex = strtok(line + 4, " \n"), *l3 = strtok(NULL, " \n");
	struct rte_mbuf *frame = rte_pktmbuf_alloc(mbufs);

	if (!hex || !l3 || !frame)
		die("no frame");
	int length = strlen(hex) / 2;
	from_hex(hex, (uint8_t *)rte_pktmbuf_append(frame, length));
	frame->l2_len = ETHERNET;
	frame->l3_len = atoi(l3);
	frame->l4_len = 0;
	if (process(frame)) {
		const uint8_t *bytes = rte_pktmbuf_mtod(frame, const uint8_t *);
		for (uint32_t i = 0; i < frame->data_len; i++)
			printf("%02x", bytes[i]);
		printf("\n");
	} else {
		printf("lost\n");
	}
	rte_pktmbuf_free(frame);
}

int main(void)
{
	static char line[LINE];
	char *arguments[] = { "librte", "--no-huge", "--no-pci", "--no-shconf", "--no-telemetry", "-m", "512", "-l", "0",
			      "--log-level=error", "--vdev=crypto_aesni_gcm0" };

	if (rte_eal_init(RTE_DIM(arguments), arguments) < 0)
		die("no EAL");
	open_device();
	while (fgets(line, sizeof(line), stdin)) {
		if (strncmp(line, "sa ", 3) == 0)
			associate(line);
		else if (strncmp(line, "pkt ", 4) == 0)
			packet(line);
	}
	return 0;
}
