/* Devices, contexts and what is made on them, beside queues. */
#include "flowsteer-verbs.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova
#undef ibv_get_device_list

enum { NAME_SIZE = 64 };

struct device {
	struct ibv_device public;
	uint32_t index;
	uint64_t guid;
};

static struct device *devices;
static uint32_t device_count;
static pthread_once_t listed = PTHREAD_ONCE_INIT;

static void list_devices(void)
{
	struct message m;
	uint32_t count;

	message_begin(&m, CALL_list_devices);
	if (message_end(&m)) {
		free(m.bytes);
		return;
	}
	count = get_u32(&m);
	devices = calloc(count, sizeof *devices);
	for (device_count = 0; devices && device_count < count; device_count++) {
		struct device *device = &devices[device_count];
		char *name = get_text(&m);

		device->guid = htobe64(get_u64(&m));
		device->index = device_count;
		device->public.node_type = IBV_NODE_CA;
		device->public.transport_type = IBV_TRANSPORT_IB;
		snprintf(device->public.name, NAME_SIZE, "%s", name ? name : "");
		snprintf(device->public.dev_name, NAME_SIZE, "uverbs%u", device_count);
		snprintf(device->public.dev_path, sizeof device->public.dev_path, "/sys/class/infiniband_verbs/uverbs%u",
			 device_count);
		snprintf(device->public.ibdev_path, sizeof device->public.ibdev_path, "/sys/class/infiniband/%s",
			 device->public.name);
		free(name);
	}
	free(m.bytes);
}

EXPORT struct ibv_device **ibv_get_device_list(int *num_devices)
{
	struct ibv_device **list;

	pthread_once(&listed, list_devices);
	list = calloc(device_count + 1, sizeof *list);
	for (uint32_t n = 0; list && n < device_count; n++)
		list[n] = &devices[n].public;
	if (num_devices)
		*num_devices = list ? (int)device_count : 0;
	return list;
}

EXPORT void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

EXPORT const char *ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

EXPORT __be64 ibv_get_device_guid(struct ibv_device *device)
{
	return container_of(device, struct device, public)->guid;
}

EXPORT int ibv_get_device_index(struct ibv_device *device)
{
	return (int)container_of(device, struct device, public)->index;
}

EXPORT bool mlx5dv_is_supported(struct ibv_device *device)
{
	return device != NULL;
}

/* ---- contexts ---- */

static int query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
			   struct ibv_device_attr_ex *attr, size_t size)
{
	struct ibv_device_attr_ex all = { 0 };
	int error = rpc_ibv_query_device_ex(context, input ? input->comp_mask : 0, &all);

	if (!error)
		memcpy(attr, &all, size < sizeof all ? size : sizeof all);
	return error;
}

static int query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr, size_t size)
{
	struct ibv_port_attr all = { 0 };
	int error = rpc_ibv_query_port(context, port_num, &all);

	if (!error)
		memcpy(attr, &all, size < sizeof all ? size : sizeof all);
	return error;
}

EXPORT int ibv_query_port(struct ibv_context *context, uint8_t port_num, struct _compat_ibv_port_attr *attr)
{
	return query_port(context, port_num, (struct ibv_port_attr *)attr, offsetof(struct ibv_port_attr, port_cap_flags2));
}

EXPORT int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	return rpc_ibv_query_device(context, attr);
}

EXPORT int ibv_query_gid(struct ibv_context *context, uint8_t port_num, int index, union ibv_gid *gid)
{
	errno = rpc_ibv_query_gid(context, port_num, index, (struct gid *)gid);
	return errno ? -1 : 0;
}

static void copy_entry(struct ibv_gid_entry *to, const struct gid_entry *from)
{
	memcpy(to->gid.raw, from->gid.raw, sizeof from->gid.raw);
	to->gid_index = from->gid_index;
	to->port_num = from->port_num;
	to->gid_type = from->gid_type;
	to->ndev_ifindex = from->ndev_ifindex;
}

EXPORT int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num, uint32_t gid_index, struct ibv_gid_entry *entry,
			     uint32_t flags, size_t entry_size)
{
	struct gid_entry found = { 0 };
	int error = rpc_ibv_query_gid_ex(context, port_num, gid_index, &found, flags);

	if (!error && entry_size >= sizeof *entry)
		copy_entry(entry, &found);
	return error;
}

EXPORT ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries, size_t max_entries,
				    uint32_t flags, size_t entry_size)
{
	struct ibv_device_attr attr;
	size_t count = 0;
	int error = flags ? EOPNOTSUPP : rpc_ibv_query_device(context, &attr);

	for (uint32_t port = 1; !error && port <= attr.phys_port_cnt; port++) {
		struct ibv_port_attr about;

		error = query_port(context, port, &about, sizeof about);
		for (int n = 0; !error && n < about.gid_tbl_len; n++) {
			struct gid_entry found;

			if (rpc_ibv_query_gid_ex(context, port, n, &found, 0))
				break;
			if (count == max_entries)
				return -EINVAL;
			copy_entry((struct ibv_gid_entry *)((char *)entries + count++ * entry_size), &found);
		}
	}
	return error ? -error : (ssize_t)count;
}

EXPORT int ibv_query_gid_type(struct ibv_context *context, uint8_t port_num, unsigned int index, unsigned int *type)
{
	struct gid_entry found;
	int error = rpc_ibv_query_gid_ex(context, port_num, index, &found, 0);

	if (!error)
		*type = 1; /* IBV_GID_TYPE_SYSFS_ROCE_V2 */
	errno = error;
	return error ? -1 : 0;
}

EXPORT int ibv_query_pkey(struct ibv_context *context, uint8_t port_num, int index, __be16 *pkey)
{
	int found = 0;

	errno = rpc_ibv_query_pkey(context, port_num, index, &found);
	if (errno)
		return -1;
	*pkey = htobe16((uint16_t)found);
	return 0;
}

EXPORT int ibv_get_pkey_index(struct ibv_context *context, uint8_t port_num, __be16 pkey)
{
	__be16 found;

	for (int n = 0; !ibv_query_pkey(context, port_num, n, &found); n++)
		if (found == pkey)
			return n;
	return -1;
}

static int query_rt_values(struct ibv_context *context, struct ibv_values_ex *values)
{
	return rpc_ibv_query_rt_values_ex(context, values);
}

EXPORT int _mlx5dv_query_port(struct ibv_context *context, uint32_t port_num, struct mlx5dv_port *info, size_t size)
{
	struct port all = { 0 };
	int error = rpc_mlx5dv_query_port(context, port_num, &all);

	if (error || size < sizeof *info)
		return error ? error : EOPNOTSUPP;
	info->flags = all.flags;
	info->vport = all.vport;
	info->vport_vhca_id = all.vport_vhca_id;
	info->esw_owner_vhca_id = all.esw_owner_vhca_id;
	info->vport_steering_icm_rx = all.vport_steering_icm_rx;
	info->vport_steering_icm_tx = all.vport_steering_icm_tx;
	info->reg_c0.value = all.reg_c0.value;
	info->reg_c0.mask = all.reg_c0.mask;
	return 0;
}

static struct ibv_flow *create_flow(struct ibv_qp *qp, struct ibv_flow_attr *attr);
static int destroy_flow(struct ibv_flow *flow);
static struct ibv_counters *create_counters(struct ibv_context *context, struct ibv_counters_init_attr *attr);
static int destroy_counters(struct ibv_counters *counters);
static int attach_counters(struct ibv_counters *counters, struct ibv_counter_attach_attr *attr, struct ibv_flow *flow);
static int read_counters(struct ibv_counters *counters, uint64_t *values, uint32_t count, uint32_t flags);
static struct ibv_flow_action *create_esp(struct ibv_context *context, struct ibv_flow_action_esp_attr *attr);
static int modify_esp(struct ibv_flow_action *action, struct ibv_flow_action_esp_attr *attr);
static int destroy_flow_action(struct ibv_flow_action *action);

static struct ibv_context *opened(struct ibv_device *device, uint32_t number)
{
	struct context *context = calloc(1, sizeof *context);
	struct verbs_context *verbs;

	if (!context)
		return NULL;
	context->number = number;
	verbs = &context->verbs;
	verbs->sz = sizeof *verbs;
	verbs->context.device = device;
	verbs->context.cmd_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	verbs->context.async_fd = open_events(number);
	verbs->context.num_comp_vectors = 1;
	verbs->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	pthread_mutex_init(&verbs->context.mutex, NULL);
	verbs->query_device_ex = query_device_ex;
	verbs->query_port = query_port;
	verbs->query_rt_values = query_rt_values;
	verbs->ibv_create_flow = create_flow;
	verbs->ibv_destroy_flow = destroy_flow;
	verbs->create_counters = create_counters;
	verbs->destroy_counters = destroy_counters;
	verbs->attach_counters_point_flow = attach_counters;
	verbs->read_counters = read_counters;
	verbs->create_flow_action_esp = create_esp;
	verbs->modify_flow_action_esp = modify_esp;
	verbs->destroy_flow_action = destroy_flow_action;
	fill_queue_operations(verbs);
	return &verbs->context;
}

EXPORT struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct made made;

	errno = rpc_ibv_open_device(container_of(device, struct device, public)->index, &made);
	return errno ? NULL : opened(device, made.id);
}

EXPORT struct ibv_context *mlx5dv_open_device(struct ibv_device *device, struct mlx5dv_context_attr *attr)
{
	struct made made;

	errno = rpc_mlx5dv_open_device(container_of(device, struct device, public)->index, attr, &made);
	return errno ? NULL : opened(device, made.id);
}

/* Objects of a closed context may outlive it, and their calls go through it: then it stays. */
EXPORT int ibv_close_device(struct ibv_context *context)
{
	static struct context *_Atomic kept;
	struct context *own = container_of(context, struct context, verbs.context);
	int in_use = 0;

	errno = rpc_ibv_close_device(context, &in_use);
	if (errno)
		return -1;
	close(context->async_fd);
	close(context->cmd_fd);
	if (in_use)
		own->next = atomic_exchange(&kept, own);
	else
		free(own);
	return 0;
}

/* ---- protection domains, memory, addresses ---- */

EXPORT struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct made made;
	struct ibv_pd *pd;

	errno = rpc_ibv_alloc_pd(context, &made);
	pd = errno ? NULL : calloc(1, sizeof *pd);
	if (pd)
		*pd = (struct ibv_pd){ .context = context, .handle = made.id };
	return pd;
}

EXPORT int ibv_dealloc_pd(struct ibv_pd *pd)
{
	int error = rpc_ibv_dealloc_pd(pd);

	if (!error)
		free(pd);
	return error;
}

static struct ibv_mr *register_memory(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, uint32_t access)
{
	struct made made;
	struct ibv_mr *mr;

	errno = rpc_ibv_reg_mr(pd, (uintptr_t)addr, length, access & ~(uint32_t)IBV_ACCESS_OPTIONAL_RANGE, iova, &made);
	mr = errno ? NULL : calloc(1, sizeof *mr);
	if (mr)
		*mr = (struct ibv_mr){ .context = pd->context,
				       .pd = pd,
				       .addr = addr,
				       .length = length,
				       .handle = made.id,
				       .lkey = made.member[0],
				       .rkey = made.member[1] };
	return mr;
}

EXPORT struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	return register_memory(pd, addr, length, (uintptr_t)addr, (uint32_t)access);
}

EXPORT struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access)
{
	return register_memory(pd, addr, length, iova, (uint32_t)access);
}

EXPORT struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access)
{
	return register_memory(pd, addr, length, iova, access);
}

EXPORT int ibv_dereg_mr(struct ibv_mr *mr)
{
	int error = rpc_ibv_dereg_mr(mr);

	if (!error)
		free(mr);
	return error;
}

EXPORT struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct made made;
	struct ibv_ah *ah;

	errno = rpc_ibv_create_ah(pd, attr, &made);
	ah = errno ? NULL : calloc(1, sizeof *ah);
	if (ah)
		*ah = (struct ibv_ah){ .context = pd->context, .pd = pd, .handle = made.id };
	return ah;
}

EXPORT int ibv_destroy_ah(struct ibv_ah *ah)
{
	int error = rpc_ibv_destroy_ah(ah);

	if (!error)
		free(ah);
	return error;
}

/* The sender of a datagram, from the 40 bytes of GRH: an IPv4 header lies in the last 20 (RoCE v2). */
EXPORT int ibv_init_ah_from_wc(struct ibv_context *context, uint8_t port_num, struct ibv_wc *wc, struct ibv_grh *grh,
			       struct ibv_ah_attr *attr)
{
	union ibv_gid own;
	const uint8_t *ip = (const uint8_t *)grh;
	uint8_t sender[16] = { [10] = 0xff, [11] = 0xff }, receiver[16] = { [10] = 0xff, [11] = 0xff };

	memset(attr, 0, sizeof *attr);
	attr->dlid = wc->slid;
	attr->sl = wc->sl;
	attr->src_path_bits = wc->dlid_path_bits;
	attr->port_num = port_num;
	if (!(wc->wc_flags & IBV_WC_GRH))
		return 0;
	if (ip[0] >> 4 == 6) {
		memcpy(sender, ip + 8, 16);
		memcpy(receiver, ip + 24, 16);
	} else {
		memcpy(sender + 12, ip + 20 + 12, 4);
		memcpy(receiver + 12, ip + 20 + 16, 4);
	}
	attr->is_global = 1;
	memcpy(attr->grh.dgid.raw, sender, 16);
	attr->grh.hop_limit = 0xff;
	for (int n = 0; !ibv_query_gid(context, port_num, n, &own); n++)
		if (!memcmp(own.raw, receiver, 16)) {
			attr->grh.sgid_index = (uint8_t)n;
			return 0;
		}
	return -1;
}

EXPORT struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc, struct ibv_grh *grh, uint8_t port_num)
{
	struct ibv_ah_attr attr;

	return ibv_init_ah_from_wc(pd->context, port_num, wc, grh, &attr) ? NULL : ibv_create_ah(pd, &attr);
}

/* ---- flows ---- */

static struct ibv_flow *flow_of(struct ibv_context *context, int error, const struct made *made)
{
	struct ibv_flow *flow = error ? NULL : calloc(1, sizeof *flow);

	errno = error;
	if (flow)
		*flow = (struct ibv_flow){ .context = context, .handle = made->id };
	return flow;
}

/* Puts the number of an object in the place of its pointer. */
static void put_number(uint8_t *at, uint64_t number)
{
	memcpy(at, &number, sizeof number);
}

/* Bytes of a flow: libibverbs walks its specs, whatever attr->size is. A spec that no header declares ends the walk. */
static size_t flow_size(const struct ibv_flow_attr *attr)
{
	enum { HEADER = 8, MAX_SPEC = sizeof(struct ibv_flow_spec) };
	size_t size = sizeof *attr;

	for (int n = 0; n < attr->num_of_specs; n++) {
		uint16_t length;

		memcpy(&length, (const uint8_t *)attr + size + 4, sizeof length);
		if (length < HEADER || length > MAX_SPEC)
			return size + HEADER;
		size += length;
	}
	return size;
}

static struct ibv_flow *create_flow(struct ibv_qp *qp, struct ibv_flow_attr *attr)
{
	size_t size = flow_size(attr);
	uint8_t *copy = malloc(size);
	struct made made = { 0 };
	struct ibv_flow *flow;

	if (!copy)
		return NULL;
	memcpy(copy, attr, size);
	for (size_t at = sizeof *attr; at + sizeof(struct ibv_flow_spec_action_handle) <= size;) {
		struct ibv_flow_spec_action_handle spec;

		memcpy(&spec, copy + at, sizeof spec);
		if (spec.size == sizeof spec && spec.type == IBV_FLOW_SPEC_ACTION_HANDLE)
			put_number(copy + at + 8, number_of_ibv_flow_action(spec.action));
		if (spec.size == sizeof spec && spec.type == IBV_FLOW_SPEC_ACTION_COUNT)
			put_number(copy + at + 8, number_of_ibv_counters((const struct ibv_counters *)spec.action));
		if (spec.size == 0)
			break;
		at += spec.size;
	}
	flow = flow_of(qp->context, rpc_ibv_create_flow(qp, copy, size, &made), &made);
	free(copy);
	return flow;
}

EXPORT struct mlx5dv_flow_matcher *mlx5dv_create_flow_matcher(struct ibv_context *context,
							      struct mlx5dv_flow_matcher_attr *attr)
{
	struct made made;
	struct mlx5dv_flow_matcher *matcher;

	errno = rpc_mlx5dv_create_flow_matcher(context, attr, &made);
	matcher = errno ? NULL : calloc(1, sizeof *matcher);
	if (matcher)
		*matcher = (struct mlx5dv_flow_matcher){ .context = context, .number = made.id };
	return matcher;
}

EXPORT int mlx5dv_destroy_flow_matcher(struct mlx5dv_flow_matcher *matcher)
{
	int error = rpc_mlx5dv_destroy_flow_matcher(matcher);

	if (!error)
		free(matcher);
	return error;
}

EXPORT struct ibv_flow *mlx5dv_create_flow(struct mlx5dv_flow_matcher *matcher, struct mlx5dv_flow_match_parameters *value,
					   size_t num_actions, struct mlx5dv_flow_action_attr actions[])
{
	struct made made = { 0 };
	int error = rpc_mlx5dv_create_flow(matcher, value, num_actions, actions, &made);

	return flow_of(matcher ? matcher->context : NULL, error, &made);
}

static int destroy_flow(struct ibv_flow *flow)
{
	int error = rpc_ibv_destroy_flow(flow);

	if (!error)
		free(flow);
	return error;
}

#define MAKE_NUMBERED(type, context_, call)                        \
	do {                                                       \
		struct made made;                                  \
		struct numbered_##type *object;                    \
                                                                   \
		errno = call;                                      \
		object = errno ? NULL : calloc(1, sizeof *object); \
		if (!object)                                       \
			return NULL;                               \
		object->number = made.id;                          \
		object->public.context = context_;                 \
		return &object->public;                            \
	} while (0)
#define FREE_NUMBERED(type, object, call)                                           \
	do {                                                                        \
		int error = call;                                                   \
                                                                                    \
		if (!error)                                                         \
			free(container_of(object, struct numbered_##type, public)); \
		return error;                                                       \
	} while (0)

static struct ibv_counters *create_counters(struct ibv_context *context, struct ibv_counters_init_attr *attr)
{
	MAKE_NUMBERED(ibv_counters, context, rpc_ibv_create_counters(context, attr, &made));
}

static int destroy_counters(struct ibv_counters *counters)
{
	FREE_NUMBERED(ibv_counters, counters, rpc_ibv_destroy_counters(counters));
}

static int attach_counters(struct ibv_counters *counters, struct ibv_counter_attach_attr *attr, struct ibv_flow *flow)
{
	return rpc_ibv_attach_counters_point_flow(counters, attr, flow);
}

static int read_counters(struct ibv_counters *counters, uint64_t *values, uint32_t count, uint32_t flags)
{
	return rpc_ibv_read_counters(counters, values, count * sizeof *values, flags);
}

static struct ibv_flow_action *create_esp(struct ibv_context *context, struct ibv_flow_action_esp_attr *attr)
{
	MAKE_NUMBERED(ibv_flow_action, context, rpc_ibv_create_flow_action_esp(context, attr, NULL, &made));
}

EXPORT struct ibv_flow_action *mlx5dv_create_flow_action_esp(struct ibv_context *context, struct ibv_flow_action_esp_attr *attr,
							     struct mlx5dv_flow_action_esp *more)
{
	MAKE_NUMBERED(ibv_flow_action, context, rpc_ibv_create_flow_action_esp(context, attr, more, &made));
}

EXPORT struct ibv_flow_action *mlx5dv_create_flow_action_modify_header(struct ibv_context *context, size_t size,
								       uint64_t actions[], enum mlx5dv_flow_table_type type)
{
	MAKE_NUMBERED(ibv_flow_action, context,
		      rpc_mlx5dv_create_flow_action_modify_header(context, size, actions, type, &made));
}

EXPORT struct ibv_flow_action *mlx5dv_create_flow_action_packet_reformat(struct ibv_context *context, size_t size, void *data,
									 enum mlx5dv_flow_action_packet_reformat_type reformat,
									 enum mlx5dv_flow_table_type type)
{
	MAKE_NUMBERED(ibv_flow_action, context,
		      rpc_mlx5dv_create_flow_action_packet_reformat(context, size, data, reformat, type, &made));
}

static int modify_esp(struct ibv_flow_action *action, struct ibv_flow_action_esp_attr *attr)
{
	return rpc_ibv_modify_flow_action_esp(action, attr);
}

static int destroy_flow_action(struct ibv_flow_action *action)
{
	FREE_NUMBERED(ibv_flow_action, action, rpc_ibv_destroy_flow_action(action));
}

EXPORT struct mlx5dv_steering_anchor *mlx5dv_create_steering_anchor(struct ibv_context *context,
								    struct mlx5dv_steering_anchor_attr *attr)
{
	struct made made;
	struct numbered_mlx5dv_steering_anchor *anchor;

	errno = rpc_mlx5dv_create_steering_anchor(context, attr, &made);
	anchor = errno ? NULL : calloc(1, sizeof *anchor);
	if (!anchor)
		return NULL;
	anchor->number = made.id;
	anchor->public.id = made.member[0];
	return &anchor->public;
}

EXPORT int mlx5dv_destroy_steering_anchor(struct mlx5dv_steering_anchor *anchor)
{
	FREE_NUMBERED(mlx5dv_steering_anchor, anchor, rpc_mlx5dv_destroy_steering_anchor(anchor));
}

/* ---- dumps ---- */

#define DUMP(what)                                                                  \
	EXPORT int mlx5dv_dump_dr_##what(FILE *to, struct mlx5dv_dr_##what *object) \
	{                                                                           \
		char *text = NULL;                                                  \
		int error = to ? rpc_mlx5dv_dump_dr_##what(object, &text) : EINVAL; \
                                                                                    \
		if (!error)                                                         \
			fputs(text ? text : "", to);                                \
		free(text);                                                         \
		return -error;                                                      \
	}
DUMP(domain)
DUMP(table)
DUMP(matcher)
DUMP(rule)

/* ---- what needs no host ---- */

EXPORT int ibv_fork_init(void)
{
	return 0;
}

EXPORT enum ibv_fork_status ibv_is_fork_initialized(void)
{
	return IBV_FORK_UNNEEDED;
}

EXPORT int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags)
{
	(void)qp;
	(void)op;
	(void)flags;
	return 0;
}

EXPORT int mlx5dv_set_context_attr(struct ibv_context *context, enum mlx5dv_set_ctx_attr_type type, void *attr)
{
	(void)context;
	(void)type;
	(void)attr;
	return 0;
}

EXPORT int mlx5dv_init_obj(struct mlx5dv_obj *object, uint64_t type)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;

	(void)object;
	(void)type;
	if (!atomic_flag_test_and_set(&said))
		fprintf(stderr,
			"flowsteer: mlx5dv_init_obj: EOPNOTSUPP: queues have no rings in memory here, which DPDK, libvma "
			"and libxlio need\n");
	return EOPNOTSUPP;
}
