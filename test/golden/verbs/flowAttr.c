/*
 * Flows as a C compiler lays them out: prints flowAttr.json. What each flow means stands in test/verbs/support/flowGolden.ts.
 *
 *     gcc -Wall -Wextra -o flowAttr flowAttr.c && ./flowAttr > flowAttr.json
 *
 * Made on x86-64 with Debian's libibverbs-dev 44.0-2 and gcc 12.2.0. Packet fields are in network order, as the manual
 * page wants them; values differ byte by byte, masks are partial. Pointers are numbers that nothing is behind.
 */
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char *separator = "";

static void print(const char *name, const void *flow, size_t size)
{
	const uint8_t *bytes = flow;

	printf("%s\n    \"%s\": \"", separator, name);
	for (size_t i = 0; i < size; i++)
		printf("%02x", bytes[i]);
	printf("\"");
	separator = ",";
}

/* One attr, then specs that were put behind it. */
static uint8_t flow[1024];
static size_t length;

static void begin(enum ibv_flow_attr_type type, uint16_t priority, uint8_t port, uint32_t flags)
{
	struct ibv_flow_attr *attr = (struct ibv_flow_attr *)flow;

	memset(flow, 0, sizeof(flow));
	attr->type = type;
	attr->priority = priority;
	attr->port = port;
	attr->flags = flags;
	length = sizeof(*attr);
}

static void put(const void *spec, size_t size)
{
	memcpy(flow + length, spec, size);
	length += size;
	((struct ibv_flow_attr *)flow)->num_of_specs++;
}

static void end(const char *name)
{
	((struct ibv_flow_attr *)flow)->size = length;
	print(name, flow, length);
}

/* A flow of one spec, and the same for the inner packet. */
#define ONE(name, spec)                                                                                                \
	do {                                                                                                           \
		begin(IBV_FLOW_ATTR_NORMAL, 0, 1, 0);                                                                  \
		put(&(spec), sizeof(spec));                                                                            \
		end(name);                                                                                             \
	} while (0)
#define BOTH(name, spec)                                                                                               \
	do {                                                                                                           \
		ONE(name, spec);                                                                                       \
		(spec).type |= IBV_FLOW_SPEC_INNER;                                                                    \
		ONE("INNER " name, spec);                                                                              \
		(spec).type &= ~IBV_FLOW_SPEC_INNER;                                                                   \
	} while (0)
#define SPEC(kind, constant) .type = IBV_FLOW_SPEC_##constant, .size = sizeof(struct ibv_flow_spec_##kind)

static struct ibv_flow_spec_eth eth = {
	SPEC(eth, ETH),
	.val = { .dst_mac = { 0x66, 0x11, 0x22, 0x33, 0x44, 0x55 }, .src_mac = { 0x02, 0x13, 0x24, 0x35, 0x46, 0x57 } },
	.mask = { .dst_mac = { 0xff, 0xff, 0xff, 0x00, 0x0f, 0xf0 }, .src_mac = { 0xfe, 0xfd, 0xfb, 0xf7, 0xef, 0xdf } },
};
static struct ibv_flow_spec_ipv4 ipv4 = { SPEC(ipv4, IPV4) };
static struct ibv_flow_spec_ipv4_ext ipv4_ext = {
	SPEC(ipv4_ext, IPV4_EXT),
	.val = { .proto = 17, .tos = 0xb9, .ttl = 63, .flags = 0x2 },
	.mask = { .proto = 0xff, .tos = 0xfc, .ttl = 0x7f, .flags = 0x6 },
};
static struct ibv_flow_spec_ipv6 ipv6 = {
	SPEC(ipv6, IPV6),
	.val = { .src_ip = { 0x20, 0x01, 0x0d, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 },
		 .dst_ip = { 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xf0 },
		 .next_hdr = 58, .traffic_class = 0x2e, .hop_limit = 254 },
	.mask = { .src_ip = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xf0 },
		  .dst_ip = { 0xff, 0xc0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x3f, 0xff },
		  .next_hdr = 0xff, .traffic_class = 0x3c, .hop_limit = 0xf0 },
};
static struct ibv_flow_spec_esp esp = { SPEC(esp, ESP) };
static struct ibv_flow_spec_tcp_udp tcp = { SPEC(tcp_udp, TCP) };
static struct ibv_flow_spec_tcp_udp udp = { SPEC(tcp_udp, UDP) };
static struct ibv_flow_spec_gre gre = { SPEC(gre, GRE) };
static struct ibv_flow_spec_mpls mpls = { SPEC(mpls, MPLS) };
static struct ibv_flow_spec_tunnel vxlan = { SPEC(tunnel, VXLAN_TUNNEL) };
static struct ibv_flow_spec_action_tag tag = { SPEC(action_tag, ACTION_TAG), .tag_id = 0xabcdef };
static struct ibv_flow_spec_action_drop drop = { SPEC(action_drop, ACTION_DROP) };
static struct ibv_flow_spec_action_handle handle = { SPEC(action_handle, ACTION_HANDLE) };
static struct ibv_flow_spec_counter_action count = { SPEC(counter_action, ACTION_COUNT) };

static void fill(void)
{
	eth.val.ether_type = htons(0x86dd);
	eth.mask.ether_type = htons(0xfff0);
	eth.val.vlan_tag = htons(0x6123);
	eth.mask.vlan_tag = htons(0xefff);

	ipv4.val.src_ip = ipv4_ext.val.src_ip = htonl(0x0b86c806);
	ipv4.val.dst_ip = ipv4_ext.val.dst_ip = htonl(0xc0a80102);
	ipv4.mask.src_ip = ipv4_ext.mask.src_ip = htonl(0xffffff00);
	ipv4.mask.dst_ip = ipv4_ext.mask.dst_ip = htonl(0xfffe0000);

	ipv6.val.flow_label = htonl(0x54321);
	ipv6.mask.flow_label = htonl(0xfff0f);

	esp.val.spi = htonl(0x01020304);
	esp.val.seq = htonl(0x05060708);
	esp.mask.spi = htonl(0xfffffff0);
	esp.mask.seq = htonl(0xff00ff00);

	tcp.val.dst_port = htons(443);
	tcp.val.src_port = htons(0x1234);
	tcp.mask.dst_port = htons(0xffff);
	tcp.mask.src_port = htons(0xff00);

	udp.val.dst_port = htons(4789);
	udp.val.src_port = htons(0xc0de);
	udp.mask.dst_port = htons(0xfffe);
	udp.mask.src_port = htons(0x0fff);

	gre.val.c_ks_res0_ver = htons(0x2001);
	gre.val.protocol = htons(0x6558);
	gre.val.key = htonl(0xdeadbe01);
	gre.mask.c_ks_res0_ver = htons(0xb007);
	gre.mask.protocol = htons(0xffff);
	gre.mask.key = htonl(0xffffff00);

	mpls.val.label = htonl(0x12345 << 12 | 5 << 9 | 1 << 8 | 64);
	mpls.mask.label = htonl(0xfffff1ff);

	vxlan.val.tunnel_id = htonl(0x123456);
	vxlan.mask.tunnel_id = htonl(0xfffff0);

	handle.action = (struct ibv_flow_action *)0x1122334455667788;
	count.counters = (struct ibv_counters *)0x0102030405060708;
}

/* ibv_create_flow(3), EXAMPLE, letter by letter; static, so that what pads the structs is zero. */
static void example(void)
{
	struct raw_eth_flow_attr {
		struct ibv_flow_attr attr;
		struct ibv_flow_spec_eth spec_eth;
		struct ibv_flow_spec_ipv4 spec_ipv4;
	} __attribute__((packed));

	static struct raw_eth_flow_attr flow_attr = {
		.attr = {
			.comp_mask = 0,
			.type = IBV_FLOW_ATTR_NORMAL,
			.size = sizeof(flow_attr),
			.priority = 0,
			.num_of_specs = 2,
			.port = 1,
			.flags = 0,
		},
		.spec_eth = {
			.type = IBV_FLOW_SPEC_ETH,
			.size = sizeof(struct ibv_flow_spec_eth),
			.val = {
				.dst_mac = { 0x66, 0x11, 0x22, 0x33, 0x44, 0x55 },
				.src_mac = { 0x00, 0x00, 0x00, 0x00, 0x00, 0x00 },
				.ether_type = 0,
				.vlan_tag = 0,
			},
			.mask = {
				.dst_mac = { 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF },
				.src_mac = { 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF },
				.ether_type = 0,
				.vlan_tag = 0,
			},
		},
		.spec_ipv4 = {
			.type = IBV_FLOW_SPEC_IPV4,
			.size = sizeof(struct ibv_flow_spec_ipv4),
			.val = {
				.src_ip = 0x0B86C806,
				.dst_ip = 0,
			},
			.mask = {
				.src_ip = 0xFFFFFFFF,
				.dst_ip = 0,
			},
		},
	};

	print("the manual page's example", &flow_attr, sizeof(flow_attr));
}

int main(void)
{
	static struct ibv_flow_attr attr = {
		.comp_mask = 0x01020304,
		.type = IBV_FLOW_ATTR_SNIFFER,
		.size = 0x1413,
		.priority = 0x1615,
		.num_of_specs = 0,
		.port = 0x18,
		.flags = 0x1c1b1a19,
	};

	fill();
	printf("{\n  \"made by\": \"test/golden/verbs/flowAttr.c, libibverbs-dev 44.0-2, gcc 12.2.0, x86-64\",\n  \"flows\": {");

	print("every field of the attr", &attr, sizeof(attr));
	begin(IBV_FLOW_ATTR_ALL_DEFAULT, 0, 1, 0);
	end("no specs");

	BOTH("ETH", eth);
	BOTH("IPV4", ipv4);
	BOTH("IPV4_EXT", ipv4_ext);
	BOTH("IPV6", ipv6);
	BOTH("ESP", esp);
	BOTH("TCP", tcp);
	BOTH("UDP", udp);
	BOTH("MPLS", mpls);
	ONE("GRE", gre);
	ONE("VXLAN_TUNNEL", vxlan);
	ONE("ACTION_TAG", tag);
	ONE("ACTION_DROP", drop);
	ONE("ACTION_HANDLE", handle);
	ONE("ACTION_COUNT", count);

	begin(IBV_FLOW_ATTR_NORMAL, 0x0102, 2, IBV_FLOW_ATTR_FLAGS_DONT_TRAP);
	put(&eth, sizeof(eth));
	put(&ipv4_ext, sizeof(ipv4_ext));
	put(&udp, sizeof(udp));
	put(&vxlan, sizeof(vxlan));
	ipv6.type |= IBV_FLOW_SPEC_INNER;
	tcp.type |= IBV_FLOW_SPEC_INNER;
	put(&ipv6, sizeof(ipv6));
	put(&tcp, sizeof(tcp));
	put(&tag, sizeof(tag));
	put(&count, sizeof(count));
	put(&handle, sizeof(handle));
	end("a tunnel, tagged and counted");

	begin(IBV_FLOW_ATTR_NORMAL, 15, 1, IBV_FLOW_ATTR_FLAGS_EGRESS);
	put(&ipv4, sizeof(ipv4));
	put(&gre, sizeof(gre));
	put(&mpls, sizeof(mpls));
	put(&drop, sizeof(drop));
	end("MPLS over GRE, dropped");

	example();
	printf("\n  }\n}\n");
	return 0;
}
