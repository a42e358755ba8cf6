/*
 * Stands in for the rte_flow calls of librte_ethdev, on ports that accept every rule. testpmd runs with it where no
 * driver has rules: net_null has none.
 */
#define ALLOW_EXPERIMENTAL_API
#include <stdlib.h>
#include <rte_ethdev.h>
#include <rte_flow.h>
#include <rte_mtr.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"

struct rte_flow *rte_flow_create(uint16_t port, const struct rte_flow_attr *attr, const struct rte_flow_item items[],
				 const struct rte_flow_action actions[], struct rte_flow_error *error)
{
	return malloc(1);
}

int rte_flow_destroy(uint16_t port, struct rte_flow *flow, struct rte_flow_error *error)
{
	free(flow);
	return 0;
}

int rte_flow_flush(uint16_t port, struct rte_flow_error *error)
{
	return 0;
}

int rte_flow_isolate(uint16_t port, int set, struct rte_flow_error *error)
{
	return 0;
}

struct rte_flow_action_handle *rte_flow_action_handle_create(uint16_t port, const struct rte_flow_indir_action_conf *conf,
							     const struct rte_flow_action *action, struct rte_flow_error *error)
{
	return malloc(1);
}

int rte_flow_action_handle_update(uint16_t port, struct rte_flow_action_handle *handle, const void *update,
				  struct rte_flow_error *error)
{
	return 0;
}

int rte_flow_info_get(uint16_t port, struct rte_flow_port_info *port_info, struct rte_flow_queue_info *queue_info,
		      struct rte_flow_error *error)
{
	port_info->max_nb_queues = 16;
	queue_info->max_size = 1024;
	return 0;
}

int rte_flow_configure(uint16_t port, const struct rte_flow_port_attr *attr, uint16_t queues,
		       const struct rte_flow_queue_attr *queue_attr[], struct rte_flow_error *error)
{
	return 0;
}

struct rte_flow_pattern_template *rte_flow_pattern_template_create(uint16_t port,
								   const struct rte_flow_pattern_template_attr *attr,
								   const struct rte_flow_item items[],
								   struct rte_flow_error *error)
{
	return malloc(1);
}

struct rte_flow_actions_template *rte_flow_actions_template_create(uint16_t port,
								   const struct rte_flow_actions_template_attr *attr,
								   const struct rte_flow_action actions[],
								   const struct rte_flow_action masks[],
								   struct rte_flow_error *error)
{
	return malloc(1);
}

struct rte_flow_template_table *rte_flow_template_table_create(uint16_t port, const struct rte_flow_template_table_attr *attr,
							       struct rte_flow_pattern_template *patterns[],
							       uint8_t pattern_count,
							       struct rte_flow_actions_template *actions[],
							       uint8_t action_count, struct rte_flow_error *error)
{
	return malloc(1);
}

struct rte_flow *rte_flow_async_create(uint16_t port, uint32_t queue, const struct rte_flow_op_attr *attr,
				       struct rte_flow_template_table *table, const struct rte_flow_item items[],
				       uint8_t pattern, const struct rte_flow_action actions[], uint8_t action_index,
				       void *user_data, struct rte_flow_error *error)
{
	return malloc(1);
}

int rte_flow_push(uint16_t port, uint32_t queue, struct rte_flow_error *error)
{
	return 0;
}

int rte_flow_pull(uint16_t port, uint32_t queue, struct rte_flow_op_result results[], uint16_t count,
		  struct rte_flow_error *error)
{
	results[0].status = RTE_FLOW_OP_SUCCESS;
	return 1;
}

int rte_mtr_meter_profile_add(uint16_t port, uint32_t id, struct rte_mtr_meter_profile *profile, struct rte_mtr_error *error)
{
	return 0;
}

int rte_mtr_meter_policy_add(uint16_t port, uint32_t id, struct rte_mtr_meter_policy_params *policy,
			     struct rte_mtr_error *error)
{
	return 0;
}

int rte_mtr_create(uint16_t port, uint32_t id, struct rte_mtr_params *params, int shared, struct rte_mtr_error *error)
{
	return 0;
}
