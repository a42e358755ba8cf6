/*
 * Records the steering calls of a running program: which objects it makes with libibverbs and libmlx5,
 * with the bytes of their structs. The program runs as without it.
 *
 *     gcc -Wall -shared -fPIC -o libflowsteer-record.so flowsteer-record.c -ldl
 *     FLOWSTEER_RECORD=calls.jsonl LD_PRELOAD=./libflowsteer-record.so ./program
 *     flowsteer import calls.jsonl
 *
 * A call is a line of JSON: its name, its arguments, "returns" (an address or a number; null for a failure) and
 * "errno". Objects are named by their addresses.
 */
#define _GNU_SOURCE
#define RECORD_FILE "flowsteer-record.jsonl"
#define RECORD_FIRST "{\"flowsteerRecord\":1,\"process\":%d}\n"
#include <inttypes.h>
#include <infiniband/mlx5dv.h>
#include "flowsteer-record.h"

/* Device lists and queries have macros of these names. */
#undef ibv_open_device

static void bytes(struct line *line, const char *name, const void *data, size_t size)
{
	const uint8_t *at = data;

	add(line, ",\"%s\":\"", name);
	for (size_t n = 0; at && n < size; n++)
		add(line, "%02x", at[n]);
	add(line, "\"");
}

static void pointer(struct line *line, const char *name, const void *object)
{
	if (object)
		add(line, ",\"%s\":\"0x%" PRIxPTR "\"", name, (uintptr_t)object);
	else
		add(line, ",\"%s\":null", name);
}

static void number(struct line *line, const char *name, uint64_t value)
{
	add(line, ",\"%s\":%" PRIu64, name, value);
}

static void parameters(struct line *line, const char *name, const struct mlx5dv_flow_match_parameters *match)
{
	bytes(line, name, match ? match->match_buf : NULL, match ? match->match_sz : 0);
}

static struct line begin(const char *call)
{
	struct line line = { 0 };

	add(&line, "{\"call\":\"%s\"", call);
	return line;
}

static void end(struct line *line)
{
	add(line, "}\n");
	put(line);
}

/* Ends the line of a call that returns an object. */
static void *made(struct line *line, void *object)
{
	int error = errno;

	pointer(line, "returns", object);
	if (!object)
		number(line, "errno", error);
	errno = error;
	end(line);
	return object;
}

/* Ends the line of a call that returns 0 or an errno. */
static int done(struct line *line, int status)
{
	add(line, ",\"returns\":%d", status);
	end(line);
	return status;
}

/*
 * The function that the program would have called. A plugin that was opened with RTLD_LOCAL calls this library, too, but
 * RTLD_NEXT does not see the libraries that came with it.
 */
#define NEXT(name) ((__typeof__(&name))next(#name))
static void *next(const char *name)
{
	static const char *const libraries[] = { "libibverbs.so.1", "libmlx5.so.1" };
	void *found = dlsym(RTLD_NEXT, name);

	for (size_t n = 0; !found && n < sizeof libraries / sizeof *libraries; n++) {
		void *library = dlopen(libraries[n], RTLD_LAZY | RTLD_NOLOAD);

		if (library) {
			found = dlsym(library, name);
			dlclose(library);
		}
	}
	if (!found) {
		fprintf(stderr, "flowsteer-record: %s is in no library of the program\n", name);
		abort();
	}
	return found;
}

/*
 * Calls that the headers send through the table of a context: the table gets the functions of this file. One
 * provider serves a process, so the tables have the same functions.
 */
static struct ibv_flow *(*create_flow)(struct ibv_qp *, struct ibv_flow_attr *);
static int (*destroy_flow)(struct ibv_flow *);
static struct ibv_counters *(*create_counters)(struct ibv_context *, struct ibv_counters_init_attr *);
static int (*attach_point)(struct ibv_counters *, struct ibv_counter_attach_attr *, struct ibv_flow *);
static int (*destroy_counters)(struct ibv_counters *);
static struct ibv_qp *(*create_qp_ex)(struct ibv_context *, struct ibv_qp_init_attr_ex *);
static struct ibv_rwq_ind_table *(*create_ind_table)(struct ibv_context *, struct ibv_rwq_ind_table_init_attr *);
static int (*destroy_ind_table)(struct ibv_rwq_ind_table *);
static struct ibv_wq *(*create_wq)(struct ibv_context *, struct ibv_wq_init_attr *);
static int (*destroy_wq)(struct ibv_wq *);
static struct ibv_flow_action *(*create_esp)(struct ibv_context *, struct ibv_flow_action_esp_attr *);
static int (*modify_esp)(struct ibv_flow_action *, struct ibv_flow_action_esp_attr *);
static int (*destroy_flow_action)(struct ibv_flow_action *);

/*
 * Bytes of a flow. libibverbs walks its specs, each with its type (4 bytes) and its size (2), whatever attr->size is; a
 * walk that leaves a size which has room for specs, or finds a spec that no header declares, would read what is no flow.
 */
static size_t flow_size(const struct ibv_flow_attr *attr)
{
	enum { HEADER = 8, MAX_SPEC = sizeof(struct ibv_flow_spec) };
	size_t size = sizeof *attr;
	size_t max = attr->size > sizeof *attr ? attr->size : SIZE_MAX;

	for (int n = 0; n < attr->num_of_specs && size + HEADER <= max; n++) {
		uint16_t length;

		memcpy(&length, (const uint8_t *)attr + size + 4, sizeof length);
		if (length < HEADER || length > MAX_SPEC || length > max - size)
			break;
		size += length;
	}
	return size;
}

static struct ibv_flow *recorded_create_flow(struct ibv_qp *qp, struct ibv_flow_attr *attr)
{
	struct line line = begin("ibv_create_flow");

	pointer(&line, "qp", qp);
	bytes(&line, "flow", attr, flow_size(attr));
	return made(&line, create_flow(qp, attr));
}

static int recorded_destroy_flow(struct ibv_flow *flow)
{
	struct line line = begin("ibv_destroy_flow");

	pointer(&line, "flow", flow);
	return done(&line, destroy_flow(flow));
}

static struct ibv_counters *recorded_create_counters(struct ibv_context *context, struct ibv_counters_init_attr *attr)
{
	struct line line = begin("ibv_create_counters");

	pointer(&line, "context", context);
	return made(&line, create_counters(context, attr));
}

static int recorded_attach_point(struct ibv_counters *counters, struct ibv_counter_attach_attr *attr, struct ibv_flow *flow)
{
	struct line line = begin("ibv_attach_counters_point_flow");

	pointer(&line, "counters", counters);
	number(&line, "counter_desc", attr->counter_desc);
	number(&line, "index", attr->index);
	return done(&line, attach_point(counters, attr, flow));
}

static int recorded_destroy_counters(struct ibv_counters *counters)
{
	struct line line = begin("ibv_destroy_counters");

	pointer(&line, "counters", counters);
	return done(&line, destroy_counters(counters));
}

static struct ibv_qp *created(struct line *line, const struct ibv_context *context, struct ibv_qp *qp, int type)
{
	pointer(line, "context", context);
	number(line, "qp_type", type);
	if (qp)
		number(line, "qp_num", qp->qp_num);
	return made(line, qp);
}

/* RSS: the indirection table of a queue pair, and the hash. */
static void hash(struct line *line, const struct ibv_qp_init_attr_ex *attr)
{
	const struct ibv_rx_hash_conf *conf = &attr->rx_hash_conf;

	if (attr->comp_mask & IBV_QP_INIT_ATTR_IND_TABLE)
		pointer(line, "rwq_ind_tbl", attr->rwq_ind_tbl);
	if (attr->comp_mask & IBV_QP_INIT_ATTR_RX_HASH) {
		number(line, "rx_hash_function", conf->rx_hash_function);
		bytes(line, "rx_hash_key", conf->rx_hash_key, conf->rx_hash_key_len);
		number(line, "rx_hash_fields_mask", conf->rx_hash_fields_mask);
	}
}

static struct ibv_qp *recorded_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	struct line line = begin("ibv_create_qp_ex");

	hash(&line, attr);
	return created(&line, context, create_qp_ex(context, attr), attr->qp_type);
}

static struct ibv_wq *recorded_create_wq(struct ibv_context *context, struct ibv_wq_init_attr *attr)
{
	struct line line = begin("ibv_create_wq");
	struct ibv_wq *wq = create_wq(context, attr);

	pointer(&line, "context", context);
	number(&line, "max_wr", attr->max_wr);
	if (wq)
		number(&line, "wq_num", wq->wq_num);
	return made(&line, wq);
}

static int recorded_destroy_wq(struct ibv_wq *wq)
{
	struct line line = begin("ibv_destroy_wq");

	pointer(&line, "wq", wq);
	return done(&line, destroy_wq(wq));
}

static struct ibv_rwq_ind_table *recorded_create_ind_table(struct ibv_context *context,
							   struct ibv_rwq_ind_table_init_attr *attr)
{
	struct line line = begin("ibv_create_rwq_ind_table");

	pointer(&line, "context", context);
	add(&line, ",\"ind_tbl\":[");
	for (size_t n = 0; n < (size_t)1 << attr->log_ind_tbl_size; n++)
		add(&line, "%s\"0x%" PRIxPTR "\"", n ? "," : "", (uintptr_t)attr->ind_tbl[n]);
	add(&line, "]");
	return made(&line, create_ind_table(context, attr));
}

static int recorded_destroy_ind_table(struct ibv_rwq_ind_table *table)
{
	struct line line = begin("ibv_destroy_rwq_ind_table");

	pointer(&line, "rwq_ind_table", table);
	return done(&line, destroy_ind_table(table));
}

/* The structs of an ESP action, with its key: the file is readable by its owner only. */
static void esp(struct line *line, const struct ibv_flow_action_esp_attr *attr)
{
	const struct ibv_flow_action_esp_encap *header;

	bytes(line, "esp_attr", attr->esp_attr, sizeof *attr->esp_attr);
	number(line, "keymat_proto", attr->keymat_proto);
	bytes(line, "keymat", attr->keymat_ptr, attr->keymat_len);
	number(line, "replay_proto", attr->replay_proto);
	bytes(line, "replay", attr->replay_ptr, attr->replay_len);
	add(line, ",\"esp_encap\":[");
	for (header = attr->esp_encap; header; header = header->next_ptr) {
		add(line, "%s{\"type\":%d", header == attr->esp_encap ? "" : ",", header->type);
		bytes(line, "val", header->val_ptr, header->len);
		add(line, "}");
	}
	add(line, "]");
	number(line, "comp_mask", attr->comp_mask);
	number(line, "esn", attr->esn);
}

static struct ibv_flow_action *recorded_create_esp(struct ibv_context *context, struct ibv_flow_action_esp_attr *attr)
{
	struct line line = begin("ibv_create_flow_action_esp");

	pointer(&line, "context", context);
	esp(&line, attr);
	return made(&line, create_esp(context, attr));
}

static int recorded_modify_esp(struct ibv_flow_action *action, struct ibv_flow_action_esp_attr *attr)
{
	struct line line = begin("ibv_modify_flow_action_esp");

	pointer(&line, "action", action);
	esp(&line, attr);
	return done(&line, modify_esp(action, attr));
}

static int recorded_destroy_flow_action(struct ibv_flow_action *action)
{
	struct line line = begin("ibv_destroy_flow_action");

	pointer(&line, "action", action);
	return done(&line, destroy_flow_action(action));
}

static struct ibv_context *hooked(struct line *line, struct ibv_device *device, struct ibv_context *context)
{
	struct verbs_context *table = context ? verbs_get_ctx(context) : NULL;

	add(line, ",\"device\":\"%s\"", device->name);
	made(line, context);
	if (!table)
		return context;
#define HOOK(member, kept, ours)                                \
	do {                                                    \
		if (table->member && table->member != (ours)) { \
			(kept) = table->member;                 \
			table->member = (ours);                 \
		}                                               \
	} while (0)
	HOOK(ibv_create_flow, create_flow, recorded_create_flow);
	HOOK(ibv_destroy_flow, destroy_flow, recorded_destroy_flow);
	HOOK(create_counters, create_counters, recorded_create_counters);
	HOOK(attach_counters_point_flow, attach_point, recorded_attach_point);
	HOOK(destroy_counters, destroy_counters, recorded_destroy_counters);
	HOOK(create_qp_ex, create_qp_ex, recorded_create_qp_ex);
	HOOK(create_rwq_ind_table, create_ind_table, recorded_create_ind_table);
	HOOK(destroy_rwq_ind_table, destroy_ind_table, recorded_destroy_ind_table);
	HOOK(create_wq, create_wq, recorded_create_wq);
	HOOK(destroy_wq, destroy_wq, recorded_destroy_wq);
	HOOK(create_flow_action_esp, create_esp, recorded_create_esp);
	HOOK(modify_flow_action_esp, modify_esp, recorded_modify_esp);
	HOOK(destroy_flow_action, destroy_flow_action, recorded_destroy_flow_action);
#undef HOOK
	return context;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct line line = begin("ibv_open_device");

	return hooked(&line, device, NEXT(ibv_open_device)(device));
}

struct ibv_context *mlx5dv_open_device(struct ibv_device *device, struct mlx5dv_context_attr *attr)
{
	struct line line = begin("mlx5dv_open_device");

	return hooked(&line, device, NEXT(mlx5dv_open_device)(device, attr));
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct line line = begin("ibv_create_qp");

	return created(&line, pd->context, NEXT(ibv_create_qp)(pd, attr), attr->qp_type);
}

struct ibv_qp *mlx5dv_create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
				struct mlx5dv_qp_init_attr *mlx5_attr)
{
	struct line line = begin("mlx5dv_create_qp");

	hash(&line, attr);
	return created(&line, context, NEXT(mlx5dv_create_qp)(context, attr, mlx5_attr), attr->qp_type);
}

/* A call that destroys an object. */
#define DESTROYS(name, type, argument)                    \
	int name(type *argument)                          \
	{                                                 \
		struct line line = begin(#name);          \
                                                          \
		pointer(&line, #argument, argument);      \
		return done(&line, NEXT(name)(argument)); \
	}

DESTROYS(ibv_destroy_qp, struct ibv_qp, qp)
DESTROYS(mlx5dv_devx_obj_destroy, struct mlx5dv_devx_obj, obj)
DESTROYS(mlx5dv_dr_domain_destroy, struct mlx5dv_dr_domain, domain)
DESTROYS(mlx5dv_dr_table_destroy, struct mlx5dv_dr_table, table)
DESTROYS(mlx5dv_dr_matcher_destroy, struct mlx5dv_dr_matcher, matcher)
DESTROYS(mlx5dv_dr_rule_destroy, struct mlx5dv_dr_rule, rule)
DESTROYS(mlx5dv_dr_action_destroy, struct mlx5dv_dr_action, action)
DESTROYS(mlx5dv_destroy_flow_matcher, struct mlx5dv_flow_matcher, matcher)

struct mlx5dv_devx_obj *mlx5dv_devx_obj_create(struct ibv_context *context, const void *in, size_t inlen, void *out,
					       size_t outlen)
{
	struct line line = begin("mlx5dv_devx_obj_create");
	struct mlx5dv_devx_obj *object;

	pointer(&line, "context", context);
	bytes(&line, "in", in, inlen);
	object = NEXT(mlx5dv_devx_obj_create)(context, in, inlen, out, outlen);
	bytes(&line, "out", out, outlen);
	return made(&line, object);
}

struct mlx5dv_dr_domain *mlx5dv_dr_domain_create(struct ibv_context *context, enum mlx5dv_dr_domain_type type)
{
	struct line line = begin("mlx5dv_dr_domain_create");

	pointer(&line, "context", context);
	number(&line, "type", type);
	return made(&line, NEXT(mlx5dv_dr_domain_create)(context, type));
}

struct mlx5dv_dr_table *mlx5dv_dr_table_create(struct mlx5dv_dr_domain *domain, uint32_t level)
{
	struct line line = begin("mlx5dv_dr_table_create");

	pointer(&line, "domain", domain);
	number(&line, "level", level);
	return made(&line, NEXT(mlx5dv_dr_table_create)(domain, level));
}

struct mlx5dv_dr_matcher *mlx5dv_dr_matcher_create(struct mlx5dv_dr_table *table, uint16_t priority,
						   uint8_t match_criteria_enable, struct mlx5dv_flow_match_parameters *mask)
{
	struct line line = begin("mlx5dv_dr_matcher_create");

	pointer(&line, "table", table);
	number(&line, "priority", priority);
	number(&line, "match_criteria_enable", match_criteria_enable);
	parameters(&line, "mask", mask);
	return made(&line, NEXT(mlx5dv_dr_matcher_create)(table, priority, match_criteria_enable, mask));
}

struct mlx5dv_dr_rule *mlx5dv_dr_rule_create(struct mlx5dv_dr_matcher *matcher, struct mlx5dv_flow_match_parameters *value,
					     size_t num_actions, struct mlx5dv_dr_action *actions[])
{
	struct line line = begin("mlx5dv_dr_rule_create");

	pointer(&line, "matcher", matcher);
	parameters(&line, "value", value);
	add(&line, ",\"actions\":[");
	for (size_t n = 0; n < num_actions; n++)
		add(&line, "%s\"0x%" PRIxPTR "\"", n ? "," : "", (uintptr_t)actions[n]);
	add(&line, "]");
	return made(&line, NEXT(mlx5dv_dr_rule_create)(matcher, value, num_actions, actions));
}

/* A call that makes an action without arguments. */
#define PLAIN(name)                               \
	struct mlx5dv_dr_action *name(void)       \
	{                                         \
		struct line line = begin(#name);  \
                                                  \
		return made(&line, NEXT(name)()); \
	}

PLAIN(mlx5dv_dr_action_create_drop)
PLAIN(mlx5dv_dr_action_create_default_miss)
PLAIN(mlx5dv_dr_action_create_pop_vlan)

struct mlx5dv_dr_action *mlx5dv_dr_action_create_tag(uint32_t tag_value)
{
	struct line line = begin("mlx5dv_dr_action_create_tag");

	number(&line, "tag_value", tag_value);
	return made(&line, NEXT(mlx5dv_dr_action_create_tag)(tag_value));
}

struct mlx5dv_dr_action *mlx5dv_dr_action_create_dest_ibv_qp(struct ibv_qp *qp)
{
	struct line line = begin("mlx5dv_dr_action_create_dest_ibv_qp");

	pointer(&line, "qp", qp);
	return made(&line, NEXT(mlx5dv_dr_action_create_dest_ibv_qp)(qp));
}

struct mlx5dv_dr_action *mlx5dv_dr_action_create_dest_table(struct mlx5dv_dr_table *table)
{
	struct line line = begin("mlx5dv_dr_action_create_dest_table");

	pointer(&line, "table", table);
	return made(&line, NEXT(mlx5dv_dr_action_create_dest_table)(table));
}

struct mlx5dv_dr_action *mlx5dv_dr_action_create_dest_root_table(struct mlx5dv_dr_table *table, uint16_t priority)
{
	struct line line = begin("mlx5dv_dr_action_create_dest_root_table");

	pointer(&line, "table", table);
	number(&line, "priority", priority);
	return made(&line, NEXT(mlx5dv_dr_action_create_dest_root_table)(table, priority));
}

struct mlx5dv_dr_action *mlx5dv_dr_action_create_dest_vport(struct mlx5dv_dr_domain *domain, uint32_t vport)
{
	struct line line = begin("mlx5dv_dr_action_create_dest_vport");

	pointer(&line, "domain", domain);
	number(&line, "vport", vport);
	return made(&line, NEXT(mlx5dv_dr_action_create_dest_vport)(domain, vport));
}

struct mlx5dv_dr_action *mlx5dv_dr_action_create_dest_ib_port(struct mlx5dv_dr_domain *domain, uint32_t ib_port)
{
	struct line line = begin("mlx5dv_dr_action_create_dest_ib_port");

	pointer(&line, "domain", domain);
	number(&line, "ib_port", ib_port);
	return made(&line, NEXT(mlx5dv_dr_action_create_dest_ib_port)(domain, ib_port));
}

struct mlx5dv_dr_action *mlx5dv_dr_action_create_dest_devx_tir(struct mlx5dv_devx_obj *obj)
{
	struct line line = begin("mlx5dv_dr_action_create_dest_devx_tir");

	pointer(&line, "obj", obj);
	return made(&line, NEXT(mlx5dv_dr_action_create_dest_devx_tir)(obj));
}

struct mlx5dv_dr_action *mlx5dv_dr_action_create_dest_array(struct mlx5dv_dr_domain *domain, size_t num_dest,
							    struct mlx5dv_dr_action_dest_attr *dests[])
{
	struct line line = begin("mlx5dv_dr_action_create_dest_array");

	pointer(&line, "domain", domain);
	add(&line, ",\"dests\":[");
	for (size_t n = 0; n < num_dest; n++) {
		int both = dests[n]->type == MLX5DV_DR_ACTION_DEST_REFORMAT;
		struct mlx5dv_dr_action *dest = both ? dests[n]->dest_reformat->dest : dests[n]->dest;

		add(&line, "%s{\"dest\":\"0x%" PRIxPTR "\"", n ? "," : "", (uintptr_t)dest);
		if (both)
			pointer(&line, "reformat", dests[n]->dest_reformat->reformat);
		add(&line, "}");
	}
	add(&line, "]");
	return made(&line, NEXT(mlx5dv_dr_action_create_dest_array)(domain, num_dest, dests));
}

struct mlx5dv_dr_action *mlx5dv_dr_action_create_flow_counter(struct mlx5dv_devx_obj *obj, uint32_t offset)
{
	struct line line = begin("mlx5dv_dr_action_create_flow_counter");

	pointer(&line, "obj", obj);
	number(&line, "offset", offset);
	return made(&line, NEXT(mlx5dv_dr_action_create_flow_counter)(obj, offset));
}

struct mlx5dv_dr_action *mlx5dv_dr_action_create_aso(struct mlx5dv_dr_domain *domain, struct mlx5dv_devx_obj *obj,
						     uint32_t offset, uint32_t flags, uint8_t return_reg_c)
{
	struct line line = begin("mlx5dv_dr_action_create_aso");

	pointer(&line, "domain", domain);
	pointer(&line, "obj", obj);
	number(&line, "offset", offset);
	number(&line, "flags", flags);
	number(&line, "return_reg_c", return_reg_c);
	return made(&line, NEXT(mlx5dv_dr_action_create_aso)(domain, obj, offset, flags, return_reg_c));
}

struct mlx5dv_dr_action *mlx5dv_dr_action_create_packet_reformat(struct mlx5dv_dr_domain *domain, uint32_t flags,
								 enum mlx5dv_flow_action_packet_reformat_type type,
								 size_t data_sz, void *data)
{
	struct line line = begin("mlx5dv_dr_action_create_packet_reformat");

	pointer(&line, "domain", domain);
	number(&line, "flags", flags);
	number(&line, "reformat_type", type);
	bytes(&line, "data", data, data_sz);
	return made(&line, NEXT(mlx5dv_dr_action_create_packet_reformat)(domain, flags, type, data_sz, data));
}

struct mlx5dv_dr_action *mlx5dv_dr_action_create_modify_header(struct mlx5dv_dr_domain *domain, uint32_t flags,
							       size_t actions_sz, __be64 actions[])
{
	struct line line = begin("mlx5dv_dr_action_create_modify_header");

	pointer(&line, "domain", domain);
	number(&line, "flags", flags);
	bytes(&line, "actions", actions, actions_sz);
	return made(&line, NEXT(mlx5dv_dr_action_create_modify_header)(domain, flags, actions_sz, actions));
}

struct mlx5dv_dr_action *mlx5dv_dr_action_create_push_vlan(struct mlx5dv_dr_domain *domain, __be32 vlan_hdr)
{
	struct line line = begin("mlx5dv_dr_action_create_push_vlan");

	pointer(&line, "domain", domain);
	bytes(&line, "vlan_hdr", &vlan_hdr, sizeof vlan_hdr);
	return made(&line, NEXT(mlx5dv_dr_action_create_push_vlan)(domain, vlan_hdr));
}

struct mlx5dv_dr_action *mlx5dv_dr_action_create_flow_meter(struct mlx5dv_dr_flow_meter_attr *attr)
{
	struct line line = begin("mlx5dv_dr_action_create_flow_meter");

	pointer(&line, "next_table", attr->next_table);
	number(&line, "active", attr->active);
	number(&line, "reg_c_index", attr->reg_c_index);
	bytes(&line, "flow_meter_parameter", attr->flow_meter_parameter, attr->flow_meter_parameter_sz);
	return made(&line, NEXT(mlx5dv_dr_action_create_flow_meter)(attr));
}

struct mlx5dv_dr_action *mlx5dv_dr_action_create_flow_sampler(struct mlx5dv_dr_flow_sampler_attr *attr)
{
	struct line line = begin("mlx5dv_dr_action_create_flow_sampler");

	number(&line, "sample_ratio", attr->sample_ratio);
	pointer(&line, "default_next_table", attr->default_next_table);
	add(&line, ",\"sample_actions\":[");
	for (uint32_t n = 0; n < attr->num_sample_actions; n++)
		add(&line, "%s\"0x%" PRIxPTR "\"", n ? "," : "", (uintptr_t)attr->sample_actions[n]);
	add(&line, "]");
	bytes(&line, "action", &attr->action, sizeof attr->action);
	return made(&line, NEXT(mlx5dv_dr_action_create_flow_sampler)(attr));
}

int mlx5dv_dr_action_modify_aso(struct mlx5dv_dr_action *action, uint32_t offset, uint32_t flags, uint8_t return_reg_c)
{
	struct line line = begin("mlx5dv_dr_action_modify_aso");

	pointer(&line, "action", action);
	number(&line, "offset", offset);
	number(&line, "flags", flags);
	number(&line, "return_reg_c", return_reg_c);
	return done(&line, NEXT(mlx5dv_dr_action_modify_aso)(action, offset, flags, return_reg_c));
}

int mlx5dv_dr_action_modify_flow_meter(struct mlx5dv_dr_action *action, struct mlx5dv_dr_flow_meter_attr *attr,
				       __be64 modify_field_select)
{
	struct line line = begin("mlx5dv_dr_action_modify_flow_meter");

	pointer(&line, "action", action);
	number(&line, "active", attr->active);
	bytes(&line, "flow_meter_parameter", attr->flow_meter_parameter, attr->flow_meter_parameter_sz);
	bytes(&line, "modify_field_select", &modify_field_select, sizeof modify_field_select);
	return done(&line, NEXT(mlx5dv_dr_action_modify_flow_meter)(action, attr, modify_field_select));
}

int mlx5dv_dr_aso_other_domain_link(struct mlx5dv_devx_obj *devx_obj, struct mlx5dv_dr_domain *peer_dmn,
				    struct mlx5dv_dr_domain *dmn, uint32_t flags, uint8_t return_reg_c)
{
	struct line line = begin("mlx5dv_dr_aso_other_domain_link");

	pointer(&line, "devx_obj", devx_obj);
	pointer(&line, "peer_dmn", peer_dmn);
	pointer(&line, "dmn", dmn);
	number(&line, "flags", flags);
	number(&line, "return_reg_c", return_reg_c);
	return done(&line, NEXT(mlx5dv_dr_aso_other_domain_link)(devx_obj, peer_dmn, dmn, flags, return_reg_c));
}

struct mlx5dv_flow_matcher *mlx5dv_create_flow_matcher(struct ibv_context *context, struct mlx5dv_flow_matcher_attr *attr)
{
	struct line line = begin("mlx5dv_create_flow_matcher");

	pointer(&line, "context", context);
	number(&line, "type", attr->type);
	number(&line, "flags", attr->flags);
	number(&line, "priority", attr->priority);
	number(&line, "match_criteria_enable", attr->match_criteria_enable);
	parameters(&line, "mask", attr->match_mask);
	number(&line, "comp_mask", attr->comp_mask);
	number(&line, "ft_type", attr->comp_mask & MLX5DV_FLOW_MATCHER_MASK_FT_TYPE ? attr->ft_type : 0);
	return made(&line, NEXT(mlx5dv_create_flow_matcher)(context, attr));
}

struct ibv_flow *mlx5dv_create_flow(struct mlx5dv_flow_matcher *matcher, struct mlx5dv_flow_match_parameters *value,
				    size_t num_actions, struct mlx5dv_flow_action_attr actions[])
{
	struct line line = begin("mlx5dv_create_flow");

	pointer(&line, "matcher", matcher);
	parameters(&line, "value", value);
	add(&line, ",\"actions\":[");
	for (size_t n = 0; n < num_actions; n++) {
		add(&line, "%s{\"type\":%d", n ? "," : "", (int)actions[n].type);
		if (actions[n].type == MLX5DV_FLOW_ACTION_TAG)
			number(&line, "tag_value", actions[n].tag_value);
		else if (actions[n].type != MLX5DV_FLOW_ACTION_DROP)
			pointer(&line, "object", actions[n].obj);
		add(&line, "}");
	}
	add(&line, "]");
	return made(&line, NEXT(mlx5dv_create_flow)(matcher, value, num_actions, actions));
}

struct ibv_flow_action *mlx5dv_create_flow_action_esp(struct ibv_context *ctx, struct ibv_flow_action_esp_attr *attr,
						      struct mlx5dv_flow_action_esp *mlx5_attr)
{
	struct line line = begin("mlx5dv_create_flow_action_esp");
	int has_flags = mlx5_attr && mlx5_attr->comp_mask & MLX5DV_FLOW_ACTION_ESP_MASK_FLAGS;

	pointer(&line, "context", ctx);
	esp(&line, attr);
	number(&line, "action_flags", has_flags ? mlx5_attr->action_flags : 0);
	return made(&line, NEXT(mlx5dv_create_flow_action_esp)(ctx, attr, mlx5_attr));
}

struct ibv_flow_action *mlx5dv_create_flow_action_modify_header(struct ibv_context *ctx, size_t actions_sz, uint64_t actions[],
								enum mlx5dv_flow_table_type ft_type)
{
	struct line line = begin("mlx5dv_create_flow_action_modify_header");

	pointer(&line, "context", ctx);
	bytes(&line, "actions", actions, actions_sz);
	number(&line, "ft_type", ft_type);
	return made(&line, NEXT(mlx5dv_create_flow_action_modify_header)(ctx, actions_sz, actions, ft_type));
}

struct ibv_flow_action *mlx5dv_create_flow_action_packet_reformat(struct ibv_context *ctx, size_t data_sz, void *data,
								  enum mlx5dv_flow_action_packet_reformat_type type,
								  enum mlx5dv_flow_table_type ft_type)
{
	struct line line = begin("mlx5dv_create_flow_action_packet_reformat");

	pointer(&line, "context", ctx);
	number(&line, "reformat_type", type);
	bytes(&line, "data", data, data_sz);
	number(&line, "ft_type", ft_type);
	return made(&line, NEXT(mlx5dv_create_flow_action_packet_reformat)(ctx, data_sz, data, type, ft_type));
}
