/*
 * DPDK's packet classifier (librte_acl) as a process that is asked for one round of lookups at a time, so that another
 * program can take turns with it.
 *
 *     standard input   | rules u32 | headers u32 | then a rule, 40 bytes each | then a header, 20 bytes each |
 *                      in the byte order of the machine; after these, lines of text: METHOD PASSES
 *     standard output  a line of text for the set-up, one for each line asked: nanoseconds of CPU time
 *
 * A rule:   | src | prefix | dst | prefix | sport low | high | dport low | high | protocol | mask |, line order is priority.
 * A header: | src | dst | sport << 16 + dport | protocol | line that wins or -1 |
 *
 * METHOD is "scalar" or "vector", the widest that this machine has. Both have been held to every header before the
 * first line goes out.
 */
#include <arpa/inet.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_acl.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_malloc.h>

/* What one call classifies: our own batch. */
#define BATCH 256

enum { PROTOCOL, SRC, DST, SPORT, DPORT, FIELDS };

RTE_ACL_RULE_DEF(tuple_rule, FIELDS);

struct rule {
	uint32_t src, src_bits, dst, dst_bits, sport[2], dport[2], protocol, protocol_mask;
};

struct header {
	uint32_t src, dst, ports, protocol;
	int32_t expected;
};

/* As bytes lie in a packet. */
struct key {
	uint32_t src, dst;
	uint16_t sport, dport;
	uint8_t protocol;
};

static struct rte_acl_config config = {
	.num_categories = 1,
	.num_fields = FIELDS,
	/* The first field is one byte; the next ones come in groups of four, and the two ports are one. */
	.defs = {
		{ RTE_ACL_FIELD_TYPE_BITMASK, 1, PROTOCOL, 0, offsetof(struct key, protocol) },
		{ RTE_ACL_FIELD_TYPE_MASK, 4, SRC, 1, offsetof(struct key, src) },
		{ RTE_ACL_FIELD_TYPE_MASK, 4, DST, 2, offsetof(struct key, dst) },
		{ RTE_ACL_FIELD_TYPE_RANGE, 2, SPORT, 3, offsetof(struct key, sport) },
		{ RTE_ACL_FIELD_TYPE_RANGE, 2, DPORT, 3, offsetof(struct key, dport) },
	},
};

static const struct {
	enum rte_acl_classify_alg alg;
	const char *name;
} vectors[] = {
	{ RTE_ACL_CLASSIFY_AVX512X32, "AVX-512 x 32" },
	{ RTE_ACL_CLASSIFY_AVX512X16, "AVX-512 x 16" },
	{ RTE_ACL_CLASSIFY_AVX2, "AVX2" },
	{ RTE_ACL_CLASSIFY_SSE, "SSE" },
	{ RTE_ACL_CLASSIFY_NEON, "NEON" },
};

static struct rte_acl_ctx *context;
static struct key *keys;
static const uint8_t **places;
static uint32_t *results;
static uint32_t header_count;

static void fail(const char *format, ...)
{
	va_list values;
	va_start(values, format);
	fputs("rte_acl: ", stderr);
	vfprintf(stderr, format, values);
	fputc('\n', stderr);
	va_end(values);
	exit(1);
}

static void *take(size_t size, size_t count)
{
	void *bytes = calloc(count, size);
	if (bytes == NULL || fread(bytes, size, count, stdin) != count)
		fail("%zu items of %zu bytes are missing", count, size);
	return bytes;
}

static double now(clockid_t clock)
{
	struct timespec time;
	clock_gettime(clock, &time);
	return time.tv_sec * 1e9 + time.tv_nsec;
}

static size_t allocated(void)
{
	struct rte_malloc_socket_stats stats = { 0 };
	size_t sum = 0;
	for (int socket = 0; socket < RTE_MAX_NUMA_NODES; socket++)
		if (rte_malloc_get_socket_stats(socket, &stats) == 0)
			sum += stats.heap_allocsz_bytes;
	return sum;
}

static void add_rules(const struct rule *rules, uint32_t count)
{
	struct rte_acl_param param = {
		.name = "rules",
		.socket_id = SOCKET_ID_ANY,
		.rule_size = RTE_ACL_RULE_SZ(FIELDS),
		.max_rule_num = count,
	};
	context = rte_acl_create(&param);
	if (context == NULL)
		fail("rte_acl_create: %s", rte_strerror(rte_errno));
	for (uint32_t i = 0; i < count; i++) {
		const struct rule *from = &rules[i];
		struct tuple_rule rule = {
			/* The highest priority wins, and 0 stands for no rule. */
			.data = { .category_mask = 1, .priority = count - i, .userdata = i + 1 },
		};
		rule.field[PROTOCOL].value.u8 = from->protocol;
		rule.field[PROTOCOL].mask_range.u8 = from->protocol_mask;
		rule.field[SRC].value.u32 = from->src;
		rule.field[SRC].mask_range.u32 = from->src_bits;
		rule.field[DST].value.u32 = from->dst;
		rule.field[DST].mask_range.u32 = from->dst_bits;
		rule.field[SPORT].value.u16 = from->sport[0];
		rule.field[SPORT].mask_range.u16 = from->sport[1];
		rule.field[DPORT].value.u16 = from->dport[0];
		rule.field[DPORT].mask_range.u16 = from->dport[1];
		if (rte_acl_add_rules(context, (struct rte_acl_rule *)&rule, 1) != 0)
			fail("rte_acl_add_rules refuses line %u", i);
	}
}

static void classify(void)
{
	for (uint32_t first = 0; first < header_count; first += BATCH) {
		uint32_t count = RTE_MIN(header_count - first, (uint32_t)BATCH);
		rte_acl_classify(context, places + first, results + first, count, 1);
	}
}

static void check(const struct header *headers, const char *method)
{
	memset(results, 0xff, header_count * sizeof(*results));
	classify();
	for (uint32_t i = 0; i < header_count; i++)
		if ((int32_t)results[i] - 1 != headers[i].expected)
			fail("%s: header %u: line %d, not %d", method, i, (int32_t)results[i] - 1, headers[i].expected);
}

int main(int argc, char **argv)
{
	if (rte_eal_init(argc, argv) < 0)
		fail("rte_eal_init: %s", rte_strerror(rte_errno));

	uint32_t *counts = take(sizeof(uint32_t), 2);
	struct rule *rules = take(sizeof(*rules), counts[0]);
	header_count = counts[1];
	struct header *headers = take(sizeof(*headers), header_count);

	add_rules(rules, counts[0]);
	size_t before = allocated();
	double start = now(CLOCK_PROCESS_CPUTIME_ID);
	int built = rte_acl_build(context, &config);
	if (built != 0)
		fail("rte_acl_build: %s", rte_strerror(-built));
	double seconds = (now(CLOCK_PROCESS_CPUTIME_ID) - start) / 1e9;
	double bytes = (double)(allocated() - before) / counts[0];

	keys = calloc(header_count, sizeof(*keys));
	places = calloc(header_count, sizeof(*places));
	results = calloc(header_count, sizeof(*results));
	if (keys == NULL || places == NULL || results == NULL)
		fail("no memory for %u headers", header_count);
	for (uint32_t i = 0; i < header_count; i++) {
		keys[i].src = htonl(headers[i].src);
		keys[i].dst = htonl(headers[i].dst);
		keys[i].sport = htons(headers[i].ports >> 16);
		keys[i].dport = htons(headers[i].ports & 0xffff);
		keys[i].protocol = headers[i].protocol;
		places[i] = (const uint8_t *)&keys[i];
	}

	enum rte_acl_classify_alg vector = RTE_ACL_CLASSIFY_SCALAR;
	const char *name = "none";
	for (size_t i = 0; i < RTE_DIM(vectors) && vector == RTE_ACL_CLASSIFY_SCALAR; i++)
		if (rte_acl_set_ctx_classify(context, vectors[i].alg) == 0) {
			vector = vectors[i].alg;
			name = vectors[i].name;
		}
	check(headers, name);
	rte_acl_set_ctx_classify(context, RTE_ACL_CLASSIFY_SCALAR);
	check(headers, "scalar");
	printf("%.3f %.1f %s\n", seconds, bytes, name);
	fflush(stdout);

	char method[16];
	unsigned passes;
	while (scanf("%15s %u", method, &passes) == 2) {
		int scalar = strcmp(method, "scalar") == 0;
		rte_acl_set_ctx_classify(context, scalar ? RTE_ACL_CLASSIFY_SCALAR : vector);
		start = now(CLOCK_PROCESS_CPUTIME_ID);
		for (unsigned pass = 0; pass < passes; pass++)
			classify();
		printf("%.0f\n", now(CLOCK_PROCESS_CPUTIME_ID) - start);
		fflush(stdout);
	}
	return 0;
}
