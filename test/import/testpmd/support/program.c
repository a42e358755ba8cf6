/* A program that DPDK is linked into: it makes three rules, destroys one, and removes the others as it ends. */
#include <stdlib.h>
#include <rte_flow.h>

static struct rte_flow *rule(uint16_t port, uint32_t group, uint16_t destination, const struct rte_flow_action *actions)
{
	const struct rte_flow_item_udp spec = { .hdr.dst_port = RTE_BE16(destination) };
	const struct rte_flow_item_udp mask = { .hdr.dst_port = RTE_BE16(0xffff) };
	const struct rte_flow_item pattern[] = {
		{ .type = RTE_FLOW_ITEM_TYPE_ETH },
		{ .type = RTE_FLOW_ITEM_TYPE_IPV4 },
		{ .type = RTE_FLOW_ITEM_TYPE_UDP, .spec = &spec, .mask = &mask },
		{ .type = RTE_FLOW_ITEM_TYPE_END },
	};
	const struct rte_flow_attr attr = { .group = group, .ingress = 1 };

	return rte_flow_create(port, &attr, pattern, actions, NULL);
}

int main(int argc, char **argv)
{
	const struct rte_flow_action_queue queue = { .index = 3 };
	const struct rte_flow_action_jump jump = { .group = 1 };
	/* Bytes that a header of the device does not have. */
	const struct rte_flow_item_ipv4 sum = { .hdr.hdr_checksum = RTE_BE16(0x1234) };
	const struct rte_flow_item pattern[] = {
		{ .type = RTE_FLOW_ITEM_TYPE_IPV4, .spec = &sum, .mask = &sum },
		{ .type = RTE_FLOW_ITEM_TYPE_END },
	};
	const struct rte_flow_action to_queue[] = { { RTE_FLOW_ACTION_TYPE_QUEUE, &queue },
						    { RTE_FLOW_ACTION_TYPE_END, NULL } };
	const struct rte_flow_action to_group[] = { { RTE_FLOW_ACTION_TYPE_JUMP, &jump }, { RTE_FLOW_ACTION_TYPE_END, NULL } };
	const struct rte_flow_attr attr = { .ingress = 1 };
	struct rte_flow *gone = rule(0, 1, 5353, to_queue);

	(void)argv;
	rule(0, 0, 53, to_group);
	rte_flow_destroy(0, gone, NULL);
	rule(0, 1, 53, to_queue);
	if (argc > 1)
		rte_flow_create(0, &attr, pattern, to_queue, NULL);
	rte_flow_flush(0, NULL);
	return 0;
}
