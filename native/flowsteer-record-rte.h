/* Patterns and actions of rte_flow in the words of testpmd, for flowsteer-record-rte.c. */
#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <rte_ethdev.h>
#include <rte_flow.h>
#include <rte_mtr.h>
#include <rte_version.h>

#define SINCE(year, month) (RTE_VERSION >= RTE_VERSION_NUM(year, month, 0, 0))

/* A command, and the `set` commands that it needs before it. */
struct command {
	struct line before, line;
	unsigned int encaps, decaps, samples;
};

/*
 * Items of patterns.
 *
 * Their structs are headers as they are on the wire, so that a field is a number of bits from a bit on, or C variables
 * in the order of the processor, which are found by a struct that has all bits of the variable.
 */
enum kind { BITS, MAC, IPV4, IPV6, HOST, COLOR };

struct field {
	const char *name;
	enum kind kind;
	/* Its first bit on the wire, or the offset of a variable in bytes. */
	unsigned int at, bits;
	/* A struct with all bits of a bit-field of C, which is in memory where the compiler puts it. */
	const void *probe;
};

struct item {
	enum rte_flow_item_type type;
	const char *name;
	/* The bytes that the fields are in. */
	size_t size;
	/* What is compared where a pattern has no mask. */
	const void *mask;
	const struct field *fields;
};

/* Bytes of the longest struct of an item. */
#define MAX_ITEM 128
#define FIELDS (const struct field[])
#define VARIABLE(type, member) offsetof(struct type, member), 8 * sizeof(((struct type *)0)->member)
#define END                  \
	{                    \
		.name = NULL \
	}

static const struct rte_flow_item_eth eth_vlan = { .has_vlan = 1 };
static const struct rte_flow_item_vlan vlan_more = { .has_more_vlan = 1 };
static const struct rte_flow_item_ipv6 ipv6_fragment = { .has_frag_ext = 1 };
/* Of items that DPDK has no mask for: without one, nothing is compared. */
static const uint8_t no_mask[MAX_ITEM];
/* clang-format off */
static const rte_be32_t whole_word = RTE_BE32(0xffffffff);
/* clang-format on */

#define MASKED(TYPE, type, word, mask, ...)                                                        \
	{                                                                                          \
		RTE_FLOW_ITEM_TYPE_##TYPE, word, sizeof(struct rte_flow_item_##type), mask, FIELDS \
		{                                                                                  \
			__VA_ARGS__, END                                                           \
		}                                                                                  \
	}
#define ITEM(TYPE, type, word, ...) MASKED(TYPE, type, word, &rte_flow_item_##type##_mask, __VA_ARGS__)
#define PORTS                             \
	{ "src", BITS, 0, 16, NULL },     \
	{                                 \
		"dst", BITS, 16, 16, NULL \
	}
#define TEID                                                                      \
	{ "v_pt_rsv_flags", BITS, 0, 8, NULL }, { "msg_type", BITS, 8, 8, NULL }, \
	{                                                                         \
		"teid", BITS, 32, 32, NULL                                        \
	}

static const struct item items[] = {
	ITEM(ETH, eth, "eth", { "dst", MAC, 0, 48, NULL }, { "src", MAC, 48, 48, NULL }, { "type", BITS, 96, 16, NULL },
	     { "has_vlan", BITS, 0, 0, &eth_vlan }),
	ITEM(VLAN, vlan, "vlan", { "tci", BITS, 0, 16, NULL }, { "inner_type", BITS, 16, 16, NULL },
	     { "has_more_vlan", BITS, 0, 0, &vlan_more }),
	ITEM(IPV4, ipv4, "ipv4", { "version_ihl", BITS, 0, 8, NULL }, { "tos", BITS, 8, 8, NULL },
	     { "packet_id", BITS, 32, 16, NULL }, { "fragment_offset", BITS, 48, 16, NULL }, { "ttl", BITS, 64, 8, NULL },
	     { "proto", BITS, 72, 8, NULL }, { "src", IPV4, 96, 32, NULL }, { "dst", IPV4, 128, 32, NULL }),
	ITEM(IPV6, ipv6, "ipv6", { "tc", BITS, 4, 8, NULL }, { "flow", BITS, 12, 20, NULL }, { "proto", BITS, 48, 8, NULL },
	     { "hop", BITS, 56, 8, NULL }, { "src", IPV6, 64, 128, NULL }, { "dst", IPV6, 192, 128, NULL },
	     { "has_frag_ext", BITS, 0, 0, &ipv6_fragment }),
	MASKED(IPV6_FRAG_EXT, ipv6_frag_ext, "ipv6_frag_ext", no_mask, { "next_hdr", BITS, 0, 8, NULL },
	       { "frag_data", BITS, 16, 16, NULL }, { "packet_id", BITS, 32, 32, NULL }),
	ITEM(ICMP, icmp, "icmp", { "type", BITS, 0, 8, NULL }, { "code", BITS, 8, 8, NULL }, { "ident", BITS, 32, 16, NULL },
	     { "seq", BITS, 48, 16, NULL }),
	ITEM(ICMP6, icmp6, "icmp6", { "type", BITS, 0, 8, NULL }, { "code", BITS, 8, 8, NULL }),
#if SINCE(23, 3)
	MASKED(ICMP6_ECHO_REQUEST, icmp6_echo, "icmp6_echo_request", no_mask, { "ident", BITS, 32, 16, NULL },
	       { "seq", BITS, 48, 16, NULL }),
	MASKED(ICMP6_ECHO_REPLY, icmp6_echo, "icmp6_echo_reply", no_mask, { "ident", BITS, 32, 16, NULL },
	       { "seq", BITS, 48, 16, NULL }),
#endif
	ITEM(ICMP6_ND_NS, icmp6_nd_ns, "icmp6_nd_ns", { "target_addr", IPV6, 64, 128, NULL }),
	ITEM(ICMP6_ND_NA, icmp6_nd_na, "icmp6_nd_na", { "target_addr", IPV6, 64, 128, NULL }),
	ITEM(UDP, udp, "udp", PORTS),
	ITEM(TCP, tcp, "tcp", PORTS, { "flags", BITS, 104, 8, NULL }),
	ITEM(SCTP, sctp, "sctp", PORTS, { "tag", BITS, 32, 32, NULL }, { "cksum", BITS, 64, 32, NULL }),
	ITEM(ESP, esp, "esp", { "spi", BITS, 0, 32, NULL }),
#if SINCE(23, 7)
	ITEM(IB_BTH, ib_bth, "ib_bth", { "opcode", BITS, 0, 8, NULL }, { "pkey", BITS, 16, 16, NULL },
	     { "dst_qp", BITS, 40, 24, NULL }, { "psn", BITS, 72, 24, NULL }),
#endif
	ITEM(VXLAN, vxlan, "vxlan", { "vni", BITS, 32, 24, NULL }, { "last_rsvd", BITS, 56, 8, NULL }),
	ITEM(VXLAN_GPE, vxlan_gpe, "vxlan-gpe", { "vni", BITS, 32, 24, NULL }),
	ITEM(GRE, gre, "gre", { "c_bit", BITS, 0, 1, NULL }, { "k_bit", BITS, 2, 1, NULL }, { "s_bit", BITS, 3, 1, NULL },
	     { "c_rsvd0_ver", BITS, 0, 16, NULL }, { "protocol", BITS, 16, 16, NULL }),
	{ RTE_FLOW_ITEM_TYPE_GRE_KEY, "gre_key", sizeof whole_word, &whole_word,
	  FIELDS{ { "value", BITS, 0, 32, NULL }, END } },
	ITEM(NVGRE, nvgre, "nvgre", { "tni", BITS, 32, 24, NULL }),
	ITEM(GENEVE, geneve, "geneve", { "optlen", BITS, 2, 6, NULL }, { "protocol", BITS, 16, 16, NULL },
	     { "vni", BITS, 32, 24, NULL }),
	ITEM(GTP, gtp, "gtp", TEID),
	ITEM(GTPU, gtp, "gtpu", TEID),
	ITEM(GTP_PSC, gtp_psc, "gtp_psc", { "pdu_t", BITS, 8, 4, NULL }, { "qfi", BITS, 18, 6, NULL }),
	ITEM(MPLS, mpls, "mpls", { "label", BITS, 0, 20, NULL }, { "tc", BITS, 20, 3, NULL }, { "s", BITS, 23, 1, NULL }),
	ITEM(ANY, any, "any", { "num", HOST, VARIABLE(rte_flow_item_any, num), NULL }),
	ITEM(PORT_ID, port_id, "port_id", { "id", HOST, VARIABLE(rte_flow_item_port_id, id), NULL }),
	ITEM(REPRESENTED_PORT, ethdev, "represented_port",
	     { "ethdev_port_id", HOST, VARIABLE(rte_flow_item_ethdev, port_id), NULL }),
	ITEM(PORT_REPRESENTOR, ethdev, "port_representor", { "port_id", HOST, VARIABLE(rte_flow_item_ethdev, port_id), NULL }),
	ITEM(TAG, tag, "tag", { "data", HOST, VARIABLE(rte_flow_item_tag, data), NULL },
	     { "index", HOST, VARIABLE(rte_flow_item_tag, index), NULL }),
	ITEM(META, meta, "meta", { "data", HOST, VARIABLE(rte_flow_item_meta, data), NULL }),
	ITEM(MARK, mark, "mark", { "id", HOST, VARIABLE(rte_flow_item_mark, id), NULL }),
	ITEM(CONNTRACK, conntrack, "conntrack", { "", HOST, VARIABLE(rte_flow_item_conntrack, flags), NULL }),
	ITEM(INTEGRITY, integrity, "integrity", { "level", HOST, VARIABLE(rte_flow_item_integrity, level), NULL },
	     { "value", HOST, VARIABLE(rte_flow_item_integrity, value), NULL }),
	ITEM(METER_COLOR, meter_color, "meter", { "color", COLOR, VARIABLE(rte_flow_item_meter_color, color), NULL }),
};

/* clang-format off */
static const char *const colors[] = { "green", "yellow", "red" };
/* clang-format on */

static const struct item *item_of(enum rte_flow_item_type type)
{
	for (size_t n = 0; n < RTE_DIM(items); n++)
		if (items[n].type == type)
			return &items[n];
	return NULL;
}

/* A name of C in testpmd's letters: nearly all of its words are these. */
static void named(struct line *line, enum rte_flow_conv_op op, int type)
{
	const char *name = NULL;

	if (type < 0 || rte_flow_conv(op, &name, sizeof name, (const void *)(uintptr_t)type, NULL) < 0 || !name) {
		add(line, "type_%d", type);
		return;
	}
	for (; *name; name++)
		add(line, "%c", tolower((unsigned char)*name));
}

static bool bit_at(const uint8_t *bytes, unsigned int bit)
{
	return bytes[bit / 8] >> (7 - bit % 8) & 1;
}

/* Up to 64 bits, the first one the highest. */
static uint64_t bits_of(const uint8_t *bytes, unsigned int at, unsigned int bits)
{
	uint64_t value = 0;

	for (unsigned int n = 0; n < bits; n++)
		value = value << 1 | bit_at(bytes, at + n);
	return value;
}

static uint64_t host_value(const uint8_t *bytes, const struct field *field)
{
	union {
		uint8_t one;
		uint16_t two;
		uint32_t four;
		uint64_t eight;
	} value = { .eight = 0 };

	memcpy(&value, bytes + field->at, field->bits / 8);
	switch (field->bits) {
	case 8:
		return value.one;
	case 16:
		return value.two;
	case 32:
		return value.four;
	default:
		return value.eight;
	}
}

/* The bytes that a field has in its struct; takes them from `rest`, the bytes that no field has named yet. */
static bool takes(const struct field *field, uint8_t *rest, size_t size)
{
	const uint8_t *probe = field->probe;
	bool any = false;

	for (unsigned int bit = 0; bit < 8 * size; bit++) {
		bool mine;

		if (probe)
			mine = bit_at(probe, bit);
		else if (field->kind == HOST || field->kind == COLOR)
			mine = bit >= 8 * field->at && bit < 8 * field->at + field->bits;
		else
			mine = bit >= field->at && bit < field->at + field->bits;
		if (mine && bit_at(rest, bit)) {
			rest[bit / 8] &= ~(0x80 >> bit % 8);
			any = true;
		}
	}
	return any;
}

static void hex(struct line *line, const uint8_t *bytes, size_t size)
{
	for (size_t n = 0; n < size; n++)
		add(line, "%02x", bytes[n]);
}

static void ipv4(struct line *line, const uint8_t *at)
{
	add(line, "%u.%u.%u.%u", at[0], at[1], at[2], at[3]);
}

static void ipv6(struct line *line, const uint8_t *at)
{
	for (int n = 0; n < 16; n += 2)
		add(line, n ? ":%x" : "%x", at[n] << 8 | at[n + 1]);
}

static void mac(struct line *line, const uint8_t *at)
{
	for (int n = 0; n < 6; n++)
		add(line, n ? ":%02x" : "%02x", at[n]);
}

/* A value of a field, as testpmd reads it. */
static void value(struct line *line, const struct field *field, const uint8_t *bytes, size_t size)
{
	uint8_t copy[MAX_ITEM];

	add(line, " ");
	switch (field->kind) {
	case MAC:
		mac(line, bytes + field->at / 8);
		break;
	case IPV4:
		ipv4(line, bytes + field->at / 8);
		break;
	case IPV6:
		ipv6(line, bytes + field->at / 8);
		break;
	case HOST:
		add(line, "%" PRIu64, host_value(bytes, field));
		break;
	case COLOR:
		add(line, "%s", colors[host_value(bytes, field) % RTE_DIM(colors)]);
		break;
	case BITS:
		memcpy(copy, bytes, size);
		if (field->probe)
			add(line, "%d", takes(field, copy, size));
		else
			add(line, "%" PRIu64, bits_of(bytes, field->at, field->bits));
	}
}

static void part(struct line *line, const struct field *field, const char *name, const void *bytes, size_t size)
{
	if (!bytes)
		return;
	add(line, *field->name ? " %s %s" : "%s %s", field->name, name);
	value(line, field, bytes, size);
}

static bool all_zero(const uint8_t *bytes, size_t size)
{
	for (size_t n = 0; n < size; n++)
		if (bytes[n])
			return false;
	return true;
}

/*
 * Which parts of an item are written: a rule has values and masks, a template masks, a rule of a template values, and a
 * header in front of frames the values that are not 0.
 */
enum parts { RULE, TEMPLATE, TEMPLATE_RULE, HEADER };

/* Bytes that testpmd has no word for: flowsteer import refuses this one. */
static void nameless(struct line *line, const uint8_t *values, const uint8_t *rest, size_t size)
{
	if (all_zero(rest, size))
		return;
	add(line, " bytes spec 0x");
	hex(line, values, size);
	add(line, " bytes mask 0x");
	hex(line, rest, size);
}

/* Whether a mask has all bits of a field. */
static bool is_whole(const struct field *field, const uint8_t *mask, size_t size)
{
	uint8_t others[MAX_ITEM];

	for (size_t n = 0; n < size; n++)
		others[n] = ~mask[n];
	return !takes(field, others, size);
}

/* The fields of an item that have bits in `care`. */
static void fields(struct line *line, const struct item *known, const struct rte_flow_item *item, const uint8_t *care,
		   enum parts parts)
{
	uint8_t rest[MAX_ITEM];
	size_t size = known->size;
	/* No upper end at all is no range. */
	const void *last = item->last && !all_zero(item->last, size) ? item->last : NULL;

	memcpy(rest, care, size);
	for (const struct field *field = known->fields; field->name; field++) {
		if (!takes(field, rest, size))
			continue;
		if (field->kind == COLOR && parts != TEMPLATE_RULE) {
			/* A colour is compared as a whole: its mask has no word. */
			part(line, field, "is", item->spec ? item->spec : care, size);
			continue;
		}
		if (parts == RULE && item->spec && !last && is_whole(field, care, size)) {
			part(line, field, "is", item->spec, size);
			continue;
		}
		if (parts != TEMPLATE)
			part(line, field, "spec", item->spec, size);
		if (parts == RULE)
			part(line, field, "last", last, size);
		if (parts != TEMPLATE_RULE)
			part(line, field, "mask", care, size);
	}
	if (parts != TEMPLATE_RULE)
		nameless(line, item->spec ? item->spec : care, rest, size);
}

/* What testpmd or the device fills in, whatever the header says: lengths, checksums, and flags of one value. */
static const struct {
	enum rte_flow_item_type type;
	unsigned int at, bits;
	int64_t value;
} filled[] = {
	{ RTE_FLOW_ITEM_TYPE_IPV4, 16, 16, -1 },      { RTE_FLOW_ITEM_TYPE_IPV4, 80, 16, -1 },
	{ RTE_FLOW_ITEM_TYPE_IPV6, 0, 4, 6 },	      { RTE_FLOW_ITEM_TYPE_IPV6, 32, 16, -1 },
	{ RTE_FLOW_ITEM_TYPE_UDP, 32, 32, -1 },	      { RTE_FLOW_ITEM_TYPE_VXLAN, 0, 8, 0x08 },
	{ RTE_FLOW_ITEM_TYPE_VXLAN_GPE, 0, 8, 0x0c }, { RTE_FLOW_ITEM_TYPE_NVGRE, 0, 32, 0x20006558 },
	{ RTE_FLOW_ITEM_TYPE_TCP, 128, 16, -1 },
};

/* A header in front of frames. */
static void header_fields(struct line *line, const struct item *known, const uint8_t *values)
{
	uint8_t rest[MAX_ITEM];
	size_t size = known->size;

	memcpy(rest, values, size);
	for (size_t n = 0; n < RTE_DIM(filled); n++) {
		const struct field field = { "", BITS, filled[n].at, filled[n].bits, NULL };
		uint64_t has = filled[n].type == known->type ? bits_of(values, filled[n].at, filled[n].bits) : 0;

		if (has && (filled[n].value < 0 || has == (uint64_t)filled[n].value))
			takes(&field, rest, size);
	}
	for (const struct field *field = known->fields; field->name; field++)
		if (takes(field, rest, size) && !field->probe)
			part(line, field, "is", values, size);
	nameless(line, values, rest, size);
}

/* An option of Geneve has its data behind a pointer. */
static void geneve_option(struct line *line, const struct rte_flow_item *item, enum parts parts)
{
	const struct rte_flow_item_geneve_opt *spec = item->spec, *mask = item->mask;
	size_t words;

	add(line, "geneve-opt");
	if (!mask)
		mask = &rte_flow_item_geneve_opt_mask;
	if (parts == HEADER || !spec)
		return;
	words = spec->option_len;
	if (parts != TEMPLATE)
		add(line, " class spec %u type spec %u length spec %zu", rte_be_to_cpu_16(spec->option_class),
		    spec->option_type, words);
	if (parts != TEMPLATE_RULE)
		add(line, " class mask %u type mask %u", rte_be_to_cpu_16(mask->option_class), mask->option_type);
	if (!words || !spec->data || !mask->data)
		return;
	if (parts != TEMPLATE) {
		add(line, " data spec ");
		hex(line, (const uint8_t *)spec->data, 4 * words);
	}
	if (parts != TEMPLATE_RULE) {
		add(line, " data mask ");
		hex(line, (const uint8_t *)mask->data, 4 * words);
	}
}

static void optional_fields(struct line *line, const struct rte_flow_item *item, enum parts parts)
{
	const struct rte_flow_item_gre_opt *spec = item->spec, *mask = item->mask ? item->mask : spec;
	static const char *const names[] = { "checksum", "key", "sequence" };

	add(line, "gre_option");
	if (!spec)
		return;
	for (int n = 0; n < 3; n++) {
		uint32_t values[] = { rte_be_to_cpu_16(spec->checksum_rsvd.checksum), rte_be_to_cpu_32(spec->key.key),
				      rte_be_to_cpu_32(spec->sequence.sequence) };
		uint32_t masks[] = { rte_be_to_cpu_16(mask->checksum_rsvd.checksum), rte_be_to_cpu_32(mask->key.key),
				     rte_be_to_cpu_32(mask->sequence.sequence) };

		if (!masks[n])
			continue;
		if (parts != TEMPLATE)
			add(line, " %s spec %u", names[n], values[n]);
		if (parts != TEMPLATE_RULE)
			add(line, " %s mask %u", names[n], masks[n]);
	}
}

static void item(struct line *line, const struct rte_flow_item *item, enum parts parts)
{
	const struct item *known = item_of(item->type);

	if (item->type == RTE_FLOW_ITEM_TYPE_GENEVE_OPT)
		geneve_option(line, item, parts);
	else if (item->type == RTE_FLOW_ITEM_TYPE_GRE_OPTION)
		optional_fields(line, item, parts);
	else if (!known)
		named(line, RTE_FLOW_CONV_OP_ITEM_NAME_PTR, item->type);
	else {
		add(line, "%s", known->name);
		if (parts == HEADER && item->spec)
			header_fields(line, known, item->spec);
		else if (parts == TEMPLATE_RULE && item->spec)
			fields(line, known, item, item->spec, parts);
		else if (parts != HEADER && (item->spec || (parts == TEMPLATE && item->mask)))
			fields(line, known, item, item->mask ? item->mask : known->mask, parts);
	}
	add(line, " / ");
}

static void pattern(struct line *line, const struct rte_flow_item *items, enum parts parts)
{
	for (; items && items->type != RTE_FLOW_ITEM_TYPE_END; items++)
		item(line, items, parts);
}

/*
 * Headers in front of frames: bytes as items, each with the values of its fields.
 */
struct carried {
	enum rte_flow_item_type type;
	size_t size;
};

/* Which header comes after one, by its bytes; a size of 0 for none that is known. */
static struct carried carried(enum rte_flow_item_type type, const uint8_t *at)
{
	static const struct carried none = { RTE_FLOW_ITEM_TYPE_END, 0 }, ethernet = { RTE_FLOW_ITEM_TYPE_ETH, 14 };
	unsigned int next;

	switch (type) {
	case RTE_FLOW_ITEM_TYPE_ETH:
	case RTE_FLOW_ITEM_TYPE_VLAN:
	case RTE_FLOW_ITEM_TYPE_GRE:
	case RTE_FLOW_ITEM_TYPE_GENEVE:
		next = bits_of(at, type == RTE_FLOW_ITEM_TYPE_ETH ? 96 : 16, 16);
		return next == 0x8100 || next == 0x88a8	  ? (struct carried){ RTE_FLOW_ITEM_TYPE_VLAN, 4 }
		       : next == 0x0800			  ? (struct carried){ RTE_FLOW_ITEM_TYPE_IPV4, 20 }
		       : next == 0x86dd			  ? (struct carried){ RTE_FLOW_ITEM_TYPE_IPV6, 40 }
		       : next == 0x8847 || next == 0x8848 ? (struct carried){ RTE_FLOW_ITEM_TYPE_MPLS, 4 }
		       : next == 0x6558			  ? ethernet
							  : none;
	case RTE_FLOW_ITEM_TYPE_IPV4:
	case RTE_FLOW_ITEM_TYPE_IPV6:
		next = at[type == RTE_FLOW_ITEM_TYPE_IPV4 ? 9 : 6];
		return next == 17   ? (struct carried){ RTE_FLOW_ITEM_TYPE_UDP, 8 }
		       : next == 6  ? (struct carried){ RTE_FLOW_ITEM_TYPE_TCP, 20 }
		       : next == 47 ? (struct carried){ RTE_FLOW_ITEM_TYPE_GRE, 4 }
		       : next == 50 ? (struct carried){ RTE_FLOW_ITEM_TYPE_ESP, 8 }
				    : none;
	case RTE_FLOW_ITEM_TYPE_UDP:
		next = bits_of(at, 16, 16);
		return next == 4790   ? (struct carried){ RTE_FLOW_ITEM_TYPE_VXLAN_GPE, 8 }
		       : next == 6081 ? (struct carried){ RTE_FLOW_ITEM_TYPE_GENEVE, 8 }
		       : next == 2152 ? (struct carried){ RTE_FLOW_ITEM_TYPE_GTPU, 8 }
		       : next == 6635 ? (struct carried){ RTE_FLOW_ITEM_TYPE_MPLS, 4 }
				      : (struct carried){ RTE_FLOW_ITEM_TYPE_VXLAN, 8 };
	case RTE_FLOW_ITEM_TYPE_VXLAN:
		return ethernet;
	default:
		return none;
	}
}

/* A GRE header with a key is testpmd's nvgre, or a second item. */
static struct carried keyed(struct carried header, const uint8_t *at)
{
	if (header.type != RTE_FLOW_ITEM_TYPE_GRE || !(at[0] & 0x20))
		return header;
	return (struct carried){ RTE_FLOW_ITEM_TYPE_NVGRE, 8 };
}

static void headers(struct line *line, const uint8_t *bytes, size_t size)
{
	struct carried header = { RTE_FLOW_ITEM_TYPE_ETH, 14 };
	size_t at = 0;

	while (at < size && header.size && header.size <= size - at) {
		struct rte_flow_item one = { .type = header.type };
		uint8_t spec[MAX_ITEM] = { 0 };

		memcpy(spec, bytes + at, header.size);
		one.spec = spec;
		item(line, &one, HEADER);
		at += header.size;
		header = keyed(carried(header.type, spec), bytes + at);
	}
	if (at < size) {
		add(line, "bytes_");
		hex(line, bytes + at, size - at);
		add(line, " / ");
	}
}

/* Actions. */
static void actions(struct command *command, struct line *line, const struct rte_flow_action *list);

static unsigned int set_bytes(struct command *command, const char *name, unsigned int index, const uint8_t *bytes, size_t size)
{
	add(&command->before, "set %s %u ", name, index);
	headers(&command->before, bytes, size);
	add(&command->before, "end_set\n");
	return index;
}

/* The values that the driver gives to a header without them: mlx5_flow_dv.c flow_dv_convert_encap_data. */
static void by_default(const struct rte_flow_item *item, uint8_t *spec)
{
	enum rte_flow_item_type next = item[1].type;
	uint16_t port = next == RTE_FLOW_ITEM_TYPE_VXLAN ? 4789 : next == RTE_FLOW_ITEM_TYPE_VXLAN_GPE ? 4790 : 0;

	if (item->type == RTE_FLOW_ITEM_TYPE_IPV4 && !spec[8])
		spec[8] = 64;
	if (item->type == RTE_FLOW_ITEM_TYPE_IPV6 && !spec[7])
		spec[7] = 255;
	if (item->type == RTE_FLOW_ITEM_TYPE_UDP && !spec[2] && !spec[3]) {
		spec[2] = port >> 8;
		spec[3] = port & 255;
	}
}

/* Headers in front of frames that are given as items. */
static unsigned int set_items(struct command *command, const struct rte_flow_item *definition)
{
	add(&command->before, "set raw_encap %u ", command->encaps);
	for (; definition->type != RTE_FLOW_ITEM_TYPE_END; definition++) {
		const struct item *known = item_of(definition->type);
		struct rte_flow_item one = *definition;
		uint8_t spec[MAX_ITEM] = { 0 };

		if (known) {
			if (definition->spec)
				memcpy(spec, definition->spec, known->size);
			by_default(definition, spec);
			one.spec = spec;
		}
		item(&command->before, &one, HEADER);
	}
	add(&command->before, "end_set\n");
	return command->encaps++;
}

/* The actions of a sample are set before it; their own settings come before those. */
static unsigned int set_sample(struct command *command, const struct rte_flow_action *list)
{
	struct line sample = { 0 };
	unsigned int index = command->samples++;

	actions(command, &sample, list);
	add(&command->before, "set sample_actions %u %send\n", index, sample.text ? sample.text : "");
	free(sample.text);
	return index;
}

static const struct {
	uint64_t bits;
	const char *name;
} hash_types[] = {
	{ RTE_ETH_RSS_IPV4, "ipv4" },
	{ RTE_ETH_RSS_FRAG_IPV4, "ipv4-frag" },
	{ RTE_ETH_RSS_NONFRAG_IPV4_TCP, "ipv4-tcp" },
	{ RTE_ETH_RSS_NONFRAG_IPV4_UDP, "ipv4-udp" },
	{ RTE_ETH_RSS_NONFRAG_IPV4_SCTP, "ipv4-sctp" },
	{ RTE_ETH_RSS_NONFRAG_IPV4_OTHER, "ipv4-other" },
	{ RTE_ETH_RSS_IPV6, "ipv6" },
	{ RTE_ETH_RSS_FRAG_IPV6, "ipv6-frag" },
	{ RTE_ETH_RSS_NONFRAG_IPV6_TCP, "ipv6-tcp" },
	{ RTE_ETH_RSS_NONFRAG_IPV6_UDP, "ipv6-udp" },
	{ RTE_ETH_RSS_NONFRAG_IPV6_SCTP, "ipv6-sctp" },
	{ RTE_ETH_RSS_NONFRAG_IPV6_OTHER, "ipv6-other" },
	{ RTE_ETH_RSS_L2_PAYLOAD, "l2-payload" },
	{ RTE_ETH_RSS_IPV6_EX, "ipv6-ex" },
	{ RTE_ETH_RSS_IPV6_TCP_EX, "ipv6-tcp-ex" },
	{ RTE_ETH_RSS_IPV6_UDP_EX, "ipv6-udp-ex" },
	{ RTE_ETH_RSS_PORT, "port" },
	{ RTE_ETH_RSS_VXLAN, "vxlan" },
	{ RTE_ETH_RSS_GENEVE, "geneve" },
	{ RTE_ETH_RSS_NVGRE, "nvgre" },
	{ RTE_ETH_RSS_GTPU, "gtpu" },
	{ RTE_ETH_RSS_ETH, "eth" },
	{ RTE_ETH_RSS_S_VLAN, "s-vlan" },
	{ RTE_ETH_RSS_C_VLAN, "c-vlan" },
	{ RTE_ETH_RSS_ESP, "esp" },
	{ RTE_ETH_RSS_AH, "ah" },
	{ RTE_ETH_RSS_L2TPV3, "l2tpv3" },
	{ RTE_ETH_RSS_PFCP, "pfcp" },
	{ RTE_ETH_RSS_PPPOE, "pppoe" },
	{ RTE_ETH_RSS_ECPRI, "ecpri" },
	{ RTE_ETH_RSS_MPLS, "mpls" },
	{ RTE_ETH_RSS_IPV4_CHKSUM, "ipv4-chksum" },
	{ RTE_ETH_RSS_L4_CHKSUM, "l4-chksum" },
	{ RTE_ETH_RSS_L2TPV2, "l2tpv2" },
	{ RTE_ETH_RSS_L3_SRC_ONLY, "l3-src-only" },
	{ RTE_ETH_RSS_L3_DST_ONLY, "l3-dst-only" },
	{ RTE_ETH_RSS_L4_SRC_ONLY, "l4-src-only" },
	{ RTE_ETH_RSS_L4_DST_ONLY, "l4-dst-only" },
	{ RTE_ETH_RSS_L2_SRC_ONLY, "l2-src-only" },
	{ RTE_ETH_RSS_L2_DST_ONLY, "l2-dst-only" },
	{ RTE_ETH_RSS_L3_PRE32, "l3-pre32" },
	{ RTE_ETH_RSS_L3_PRE40, "l3-pre40" },
	{ RTE_ETH_RSS_L3_PRE48, "l3-pre48" },
	{ RTE_ETH_RSS_L3_PRE56, "l3-pre56" },
	{ RTE_ETH_RSS_L3_PRE64, "l3-pre64" },
	{ RTE_ETH_RSS_L3_PRE96, "l3-pre96" },
};

static void hash(struct line *line, const struct rte_flow_action_rss *rss)
{
	/* clang-format off */
	static const char *const functions[] = { "default", "toeplitz", "simple_xor", "symmetric_toeplitz" };
	/* clang-format on */
	uint64_t types = rss->types;

	if ((size_t)rss->func < RTE_DIM(functions))
		add(line, " func %s", functions[rss->func]);
	else
		add(line, " func function_%d", (int)rss->func);
	add(line, " level %u types", rss->level);
	for (size_t n = 0; n < RTE_DIM(hash_types); n++) {
		if ((types & hash_types[n].bits) != hash_types[n].bits)
			continue;
		add(line, " %s", hash_types[n].name);
		types &= ~hash_types[n].bits;
	}
	/* mlx5_flow.c flow_list_create: no types are those of IP. */
	if (types)
		add(line, " types_0x%" PRIx64, types);
	else if (!rss->types)
		add(line, " ip");
	add(line, " end");
	if (rss->key && rss->key_len) {
		add(line, " key ");
		hex(line, rss->key, rss->key_len);
		add(line, " key_len %u", rss->key_len);
	}
	add(line, " queues");
	for (uint32_t n = 0; n < rss->queue_num; n++)
		add(line, " %u", rss->queue[n]);
	add(line, " end");
}

/* The fields of modify_field, as testpmd calls them. */
static const struct {
	enum rte_flow_field_id id;
	const char *name;
} changed[] = {
	{ RTE_FLOW_FIELD_START, "start" },
	{ RTE_FLOW_FIELD_MAC_DST, "mac_dst" },
	{ RTE_FLOW_FIELD_MAC_SRC, "mac_src" },
	{ RTE_FLOW_FIELD_VLAN_TYPE, "vlan_type" },
	{ RTE_FLOW_FIELD_VLAN_ID, "vlan_id" },
	{ RTE_FLOW_FIELD_MAC_TYPE, "mac_type" },
	{ RTE_FLOW_FIELD_IPV4_DSCP, "ipv4_dscp" },
	{ RTE_FLOW_FIELD_IPV4_TTL, "ipv4_ttl" },
	{ RTE_FLOW_FIELD_IPV4_SRC, "ipv4_src" },
	{ RTE_FLOW_FIELD_IPV4_DST, "ipv4_dst" },
	{ RTE_FLOW_FIELD_IPV6_DSCP, "ipv6_dscp" },
	{ RTE_FLOW_FIELD_IPV6_HOPLIMIT, "ipv6_hoplimit" },
	{ RTE_FLOW_FIELD_IPV6_SRC, "ipv6_src" },
	{ RTE_FLOW_FIELD_IPV6_DST, "ipv6_dst" },
	{ RTE_FLOW_FIELD_TCP_PORT_SRC, "tcp_port_src" },
	{ RTE_FLOW_FIELD_TCP_PORT_DST, "tcp_port_dst" },
	{ RTE_FLOW_FIELD_TCP_SEQ_NUM, "tcp_seq_num" },
	{ RTE_FLOW_FIELD_TCP_ACK_NUM, "tcp_ack_num" },
	{ RTE_FLOW_FIELD_TCP_FLAGS, "tcp_flags" },
	{ RTE_FLOW_FIELD_UDP_PORT_SRC, "udp_port_src" },
	{ RTE_FLOW_FIELD_UDP_PORT_DST, "udp_port_dst" },
	{ RTE_FLOW_FIELD_VXLAN_VNI, "vxlan_vni" },
	{ RTE_FLOW_FIELD_GENEVE_VNI, "geneve_vni" },
	{ RTE_FLOW_FIELD_GTP_TEID, "gtp_teid" },
	{ RTE_FLOW_FIELD_TAG, "tag" },
	{ RTE_FLOW_FIELD_MARK, "mark" },
	{ RTE_FLOW_FIELD_META, "meta" },
	{ RTE_FLOW_FIELD_POINTER, "pointer" },
	{ RTE_FLOW_FIELD_VALUE, "value" },
	{ RTE_FLOW_FIELD_IPV4_ECN, "ipv4_ecn" },
	{ RTE_FLOW_FIELD_IPV6_ECN, "ipv6_ecn" },
	{ RTE_FLOW_FIELD_GTP_PSC_QFI, "gtp_psc_qfi" },
	{ RTE_FLOW_FIELD_METER_COLOR, "meter_color" },
};

/* Its name depends on the release. */
typedef __typeof__(((struct rte_flow_action_modify_field *)0)->dst) modify_data;

static void changed_field(struct line *line, const char *side, const modify_data *data, uint32_t width)
{
	bool is_value = data->field == RTE_FLOW_FIELD_VALUE, is_pointer = data->field == RTE_FLOW_FIELD_POINTER;
	size_t size = RTE_MIN((width + 7) / 8, 16u), n = 0;

	while (n < RTE_DIM(changed) && changed[n].id != data->field)
		n++;
	if (n < RTE_DIM(changed))
		add(line, " %s_type %s", side, changed[n].name);
	else
		add(line, " %s_type field_%d", side, (int)data->field);
	if (!is_value && !is_pointer) {
		uint32_t level = data->level;

#if SINCE(23, 11)
		if (data->field == RTE_FLOW_FIELD_TAG && data->tag_index)
			level = data->tag_index;
#endif
		add(line, " %s_level %u %s_offset %u", side, level, side, data->offset);
		return;
	}
	add(line, is_value ? " src_value " : " src_ptr ");
	hex(line, is_value ? data->value : data->pvalue, size);
}

static void change(struct line *line, const struct rte_flow_action_modify_field *conf)
{
	/* clang-format off */
	static const char *const operations[] = { "set", "add", "sub" };
	/* clang-format on */

	add(line, " op %s", (size_t)conf->operation < RTE_DIM(operations) ? operations[conf->operation] : "unknown");
	changed_field(line, "dst", &conf->dst, conf->width);
	changed_field(line, "src", &conf->src, conf->width);
	add(line, " width %u", conf->width);
}

/* Objects that later calls name: rules and indirect actions. testpmd numbers them for each port. */
struct object {
	struct object *next;
	const void *address;
	uint32_t number;
	/* Of an indirect action. */
	enum rte_flow_action_type type;
};

enum objects { RULES, INDIRECT, PATTERNS, ACTIONS, TABLES, KINDS };

/* Chains by address: programs have a million rules. */
#define CHAINS 65536
static struct object *chains[KINDS][CHAINS];
static uint32_t numbers[KINDS][RTE_MAX_ETHPORTS];
static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;

static struct object **chain(enum objects kind, const void *address)
{
	return &chains[kind][((uintptr_t)address >> 4 ^ (uintptr_t)address >> 20) % CHAINS];
}

/* The number of a new object. */
static uint32_t number_of_new(enum objects kind, uint16_t port)
{
	uint32_t number;

	pthread_mutex_lock(&counting);
	number = port < RTE_MAX_ETHPORTS ? numbers[kind][port]++ : 0;
	pthread_mutex_unlock(&counting);
	return number;
}

static void keep(enum objects kind, struct object made)
{
	struct object *object = made.address ? malloc(sizeof *object) : NULL;
	struct object **at = chain(kind, made.address);

	if (!object)
		return;
	*object = made;
	pthread_mutex_lock(&counting);
	object->next = *at;
	*at = object;
	pthread_mutex_unlock(&counting);
}

/* An object, which is gone where `remove`; a number of UINT32_MAX for one that was not seen. */
static struct object object_at(enum objects kind, const void *address, bool remove)
{
	struct object **at = chain(kind, address), *found;
	struct object object = { .number = UINT32_MAX };

	pthread_mutex_lock(&counting);
	while (*at && (*at)->address != address)
		at = &(*at)->next;
	found = *at;
	if (found)
		object = *found;
	if (found && remove) {
		*at = found->next;
		free(found);
	}
	pthread_mutex_unlock(&counting);
	return object;
}

#define CONF(type) const struct rte_flow_action_##type *conf = action->conf

static void address_action(struct line *line, const struct rte_flow_action *action)
{
	switch (action->type) {
	case RTE_FLOW_ACTION_TYPE_SET_IPV4_SRC:
	case RTE_FLOW_ACTION_TYPE_SET_IPV4_DST:
		add(line, " ipv4_addr ");
		ipv4(line, action->conf);
		break;
	case RTE_FLOW_ACTION_TYPE_SET_IPV6_SRC:
	case RTE_FLOW_ACTION_TYPE_SET_IPV6_DST:
		add(line, " ipv6_addr ");
		ipv6(line, action->conf);
		break;
	default:
		add(line, " mac_addr ");
		mac(line, action->conf);
	}
}

/* Actions whose configuration is one number, in the order of the processor or of the network. */
static const struct {
	enum rte_flow_action_type type;
	const char *name;
	enum { CPU, NETWORK } order;
	unsigned int at, bits;
} numbered[] = {
	{ RTE_FLOW_ACTION_TYPE_JUMP, "group", CPU, VARIABLE(rte_flow_action_jump, group) },
	{ RTE_FLOW_ACTION_TYPE_MARK, "id", CPU, VARIABLE(rte_flow_action_mark, id) },
	{ RTE_FLOW_ACTION_TYPE_QUEUE, "index", CPU, VARIABLE(rte_flow_action_queue, index) },
	{ RTE_FLOW_ACTION_TYPE_COUNT, "identifier", CPU, VARIABLE(rte_flow_action_count, id) },
	{ RTE_FLOW_ACTION_TYPE_PORT_ID, "id", CPU, VARIABLE(rte_flow_action_port_id, id) },
	{ RTE_FLOW_ACTION_TYPE_REPRESENTED_PORT, "ethdev_port_id", CPU, VARIABLE(rte_flow_action_ethdev, port_id) },
	{ RTE_FLOW_ACTION_TYPE_PORT_REPRESENTOR, "port_id", CPU, VARIABLE(rte_flow_action_ethdev, port_id) },
	{ RTE_FLOW_ACTION_TYPE_VF, "id", CPU, VARIABLE(rte_flow_action_vf, id) },
	{ RTE_FLOW_ACTION_TYPE_METER, "mtr_id", CPU, VARIABLE(rte_flow_action_meter, mtr_id) },
	{ RTE_FLOW_ACTION_TYPE_OF_PUSH_VLAN, "ethertype", NETWORK, VARIABLE(rte_flow_action_of_push_vlan, ethertype) },
	{ RTE_FLOW_ACTION_TYPE_OF_SET_VLAN_VID, "vlan_vid", NETWORK, VARIABLE(rte_flow_action_of_set_vlan_vid, vlan_vid) },
	{ RTE_FLOW_ACTION_TYPE_OF_SET_VLAN_PCP, "vlan_pcp", CPU, VARIABLE(rte_flow_action_of_set_vlan_pcp, vlan_pcp) },
	{ RTE_FLOW_ACTION_TYPE_SET_TP_SRC, "port", NETWORK, VARIABLE(rte_flow_action_set_tp, port) },
	{ RTE_FLOW_ACTION_TYPE_SET_TP_DST, "port", NETWORK, VARIABLE(rte_flow_action_set_tp, port) },
	{ RTE_FLOW_ACTION_TYPE_SET_TTL, "ttl_value", CPU, VARIABLE(rte_flow_action_set_ttl, ttl_value) },
	{ RTE_FLOW_ACTION_TYPE_SET_IPV4_DSCP, "dscp_value", CPU, VARIABLE(rte_flow_action_set_dscp, dscp) },
	{ RTE_FLOW_ACTION_TYPE_SET_IPV6_DSCP, "dscp_value", CPU, VARIABLE(rte_flow_action_set_dscp, dscp) },
	{ RTE_FLOW_ACTION_TYPE_INC_TCP_SEQ, "value", NETWORK, 0, 32 },
	{ RTE_FLOW_ACTION_TYPE_DEC_TCP_SEQ, "value", NETWORK, 0, 32 },
	{ RTE_FLOW_ACTION_TYPE_INC_TCP_ACK, "value", NETWORK, 0, 32 },
	{ RTE_FLOW_ACTION_TYPE_DEC_TCP_ACK, "value", NETWORK, 0, 32 },
};

/* Whether the number of a port or VF is not that of the action, but that of where the frame came from. */
static bool original(const struct rte_flow_action *action)
{
	const struct rte_flow_action_port_id *port = action->conf;
	const struct rte_flow_action_vf *vf = action->conf;

	return (action->type == RTE_FLOW_ACTION_TYPE_PORT_ID && port->original) ||
	       (action->type == RTE_FLOW_ACTION_TYPE_VF && vf->original);
}

/* @return whether the action is one of a number */
static bool number_action(struct line *line, const struct rte_flow_action *action)
{
	for (size_t n = 0; n < RTE_DIM(numbered); n++) {
		struct field field = { numbered[n].name, HOST, numbered[n].at, numbered[n].bits, NULL };
		const uint8_t *conf = action->conf;

		if (numbered[n].type != action->type)
			continue;
		if (conf)
			add(line, " %s %" PRIu64, field.name,
			    numbered[n].order == CPU ? host_value(conf, &field) : bits_of(conf, 8 * field.at, field.bits));
		if (conf && original(action))
			add(line, " original 1");
		return true;
	}
	return false;
}

static void encapsulation(struct command *command, struct line *line, const struct rte_flow_action *action)
{
	if (action->type == RTE_FLOW_ACTION_TYPE_RAW_ENCAP) {
		CONF(raw_encap);

		add(line, "raw_encap index %u", set_bytes(command, "raw_encap", command->encaps, conf->data, conf->size));
		command->encaps++;
	} else if (action->type == RTE_FLOW_ACTION_TYPE_RAW_DECAP) {
		CONF(raw_decap);

		/* The device takes off what the pattern has, in the length that is given. */
		if (!conf->data) {
			add(line, "raw_decap size_%zu", conf->size);
			return;
		}
		add(line, "raw_decap index %u", set_bytes(command, "raw_decap", command->decaps, conf->data, conf->size));
		command->decaps++;
	} else {
		CONF(vxlan_encap);

		/* The same struct for both. */
		add(line, "raw_encap index %u", set_items(command, conf->definition));
	}
}

static void action(struct command *command, struct line *line, const struct rte_flow_action *action)
{
	switch (action->type) {
	case RTE_FLOW_ACTION_TYPE_RAW_ENCAP:
	case RTE_FLOW_ACTION_TYPE_RAW_DECAP:
	case RTE_FLOW_ACTION_TYPE_VXLAN_ENCAP:
	case RTE_FLOW_ACTION_TYPE_NVGRE_ENCAP:
		encapsulation(command, line, action);
		return;
	case RTE_FLOW_ACTION_TYPE_METER_COLOR: {
		CONF(meter_color);

		add(line, "color type %s", colors[conf->color % RTE_DIM(colors)]);
		return;
	}
	case RTE_FLOW_ACTION_TYPE_INDIRECT:
		add(line, "indirect %u", object_at(INDIRECT, action->conf, false).number);
		return;
	default:
		named(line, RTE_FLOW_CONV_OP_ACTION_NAME_PTR, action->type);
	}
	/* In the masks of a template, an action may have no values. */
	if (number_action(line, action) || !action->conf)
		return;
	switch (action->type) {
	case RTE_FLOW_ACTION_TYPE_RSS:
		hash(line, action->conf);
		break;
	case RTE_FLOW_ACTION_TYPE_SET_IPV4_SRC:
	case RTE_FLOW_ACTION_TYPE_SET_IPV4_DST:
	case RTE_FLOW_ACTION_TYPE_SET_IPV6_SRC:
	case RTE_FLOW_ACTION_TYPE_SET_IPV6_DST:
	case RTE_FLOW_ACTION_TYPE_SET_MAC_SRC:
	case RTE_FLOW_ACTION_TYPE_SET_MAC_DST:
		address_action(line, action);
		break;
	case RTE_FLOW_ACTION_TYPE_SET_TAG: {
		CONF(set_tag);

		add(line, " data %u index %u mask %u", conf->data, conf->index, conf->mask);
		break;
	}
	case RTE_FLOW_ACTION_TYPE_SET_META: {
		CONF(set_meta);

		add(line, " data %u mask %u", conf->data, conf->mask);
		break;
	}
	case RTE_FLOW_ACTION_TYPE_AGE: {
		CONF(age);

		add(line, " timeout %u", conf->timeout);
		break;
	}
	case RTE_FLOW_ACTION_TYPE_SAMPLE: {
		CONF(sample);

		add(line, " ratio %u index %u", conf->ratio, set_sample(command, conf->actions));
		break;
	}
	case RTE_FLOW_ACTION_TYPE_MODIFY_FIELD:
		change(line, action->conf);
		break;
	default:
		break;
	}
}

static void actions(struct command *command, struct line *line, const struct rte_flow_action *list)
{
	for (; list && list->type != RTE_FLOW_ACTION_TYPE_END; list++) {
		action(command, line, list);
		add(line, " / ");
	}
}
