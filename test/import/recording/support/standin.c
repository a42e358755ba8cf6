/* Stand-ins for the functions of libibverbs and libmlx5 that steering programs call: each call succeeds. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/mlx5dv.h>

#undef ibv_get_device_list
#undef ibv_open_device

static struct ibv_device device = { .name = "standin0" };
static struct ibv_device *devices[] = { &device, NULL };

struct ibv_device **ibv_get_device_list(int *num) { if (num) *num = 1; return devices; }
void ibv_free_device_list(struct ibv_device **list) { (void)list; }
const char *ibv_get_device_name(struct ibv_device *of) { return of->name; }

static struct ibv_flow *create_flow(struct ibv_qp *qp, struct ibv_flow_attr *attr)
{
	struct ibv_flow *flow = calloc(1, sizeof *flow);
	flow->context = qp->context;
	return attr->port ? flow : (errno = EINVAL, free(flow), NULL);
}
static int destroy_flow(struct ibv_flow *flow) { free(flow); return 0; }
static struct ibv_counters *create_counters(struct ibv_context *context, struct ibv_counters_init_attr *attr)
{
	struct ibv_counters *counters = calloc(1, sizeof *counters);
	(void)attr;
	counters->context = context;
	return counters;
}
static int attach_point(struct ibv_counters *c, struct ibv_counter_attach_attr *a, struct ibv_flow *f)
{
	(void)c; (void)a; (void)f;
	return 0;
}
static int destroy_counters(struct ibv_counters *counters) { free(counters); return 0; }

static struct ibv_wq *create_wq(struct ibv_context *context, struct ibv_wq_init_attr *attr)
{
	static uint32_t last = 0x200;
	struct ibv_wq *wq = calloc(1, sizeof *wq);
	(void)attr;
	wq->context = context;
	wq->wq_num = ++last;
	return wq;
}
static int destroy_wq(struct ibv_wq *wq) { free(wq); return 0; }
static struct ibv_flow_action *create_esp(struct ibv_context *context, struct ibv_flow_action_esp_attr *attr)
{
	struct ibv_flow_action *action = calloc(1, sizeof *action);
	(void)attr;
	action->context = context;
	return action;
}
static int modify_esp(struct ibv_flow_action *action, struct ibv_flow_action_esp_attr *attr)
{
	(void)action; (void)attr;
	return 0;
}
static int destroy_flow_action(struct ibv_flow_action *action) { free(action); return 0; }

struct ibv_context *mlx5dv_open_device(struct ibv_device *of, struct mlx5dv_context_attr *attr)
{
	struct verbs_context *made = calloc(1, sizeof *made);
	(void)attr;
	made->sz = sizeof *made;
	made->context.device = of;
	made->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	made->ibv_create_flow = create_flow;
	made->ibv_destroy_flow = destroy_flow;
	made->create_counters = create_counters;
	made->attach_counters_point_flow = attach_point;
	made->destroy_counters = destroy_counters;
	made->create_wq = create_wq;
	made->destroy_wq = destroy_wq;
	made->create_flow_action_esp = create_esp;
	made->modify_flow_action_esp = modify_esp;
	made->destroy_flow_action = destroy_flow_action;
	return &made->context;
}
struct ibv_context *ibv_open_device(struct ibv_device *of) { return mlx5dv_open_device(of, NULL); }
int ibv_close_device(struct ibv_context *context) { free(verbs_get_ctx(context)); return 0; }

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct ibv_pd *pd = calloc(1, sizeof *pd);
	pd->context = context;
	return pd;
}
int ibv_dealloc_pd(struct ibv_pd *pd) { free(pd); return 0; }
struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *of, struct ibv_comp_channel *channel, int vector)
{
	struct ibv_cq *cq = calloc(1, sizeof *cq);
	(void)cqe; (void)of; (void)channel; (void)vector;
	cq->context = context;
	return cq;
}
int ibv_destroy_cq(struct ibv_cq *cq) { free(cq); return 0; }
struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	static uint32_t last = 0x100;
	struct ibv_qp *qp = calloc(1, sizeof *qp);
	qp->context = pd->context;
	qp->qp_num = ++last;
	qp->qp_type = attr->qp_type;
	return qp;
}
int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask) { (void)qp; (void)attr; (void)mask; return 0; }
int ibv_destroy_qp(struct ibv_qp *qp) { free(qp); return 0; }

/* The output of a device command has the number of the object in its bytes 9 to 11. */
struct mlx5dv_devx_obj *mlx5dv_devx_obj_create(struct ibv_context *c, const void *in, size_t n, void *out, size_t m)
{
	static uint8_t last = 0x30;
	(void)c; (void)in; (void)n;
	memset(out, 0, m);
	((uint8_t *)out)[11] = ++last;
	return malloc(64);
}

/* The other objects are opaque. */
#define MAKES(type, name, ...) struct type *name(__VA_ARGS__) { return malloc(64); }
#define FREES(type, name) int name(struct type *object) { free(object); return 0; }
#pragma GCC diagnostic ignored "-Wunused-parameter"
MAKES(ibv_flow_action, mlx5dv_create_flow_action_modify_header, struct ibv_context *c, size_t n, uint64_t a[], enum mlx5dv_flow_table_type t)
MAKES(ibv_flow_action, mlx5dv_create_flow_action_packet_reformat, struct ibv_context *c, size_t n, void *d, enum mlx5dv_flow_action_packet_reformat_type r, enum mlx5dv_flow_table_type t)
MAKES(ibv_flow_action, mlx5dv_create_flow_action_esp, struct ibv_context *c, struct ibv_flow_action_esp_attr *e, struct mlx5dv_flow_action_esp *m)
MAKES(mlx5dv_flow_matcher, mlx5dv_create_flow_matcher, struct ibv_context *c, struct mlx5dv_flow_matcher_attr *a)
MAKES(ibv_flow, mlx5dv_create_flow, struct mlx5dv_flow_matcher *m, struct mlx5dv_flow_match_parameters *v, size_t n, struct mlx5dv_flow_action_attr a[])
FREES(mlx5dv_flow_matcher, mlx5dv_destroy_flow_matcher)
MAKES(mlx5dv_dr_domain, mlx5dv_dr_domain_create, struct ibv_context *c, enum mlx5dv_dr_domain_type t)
MAKES(mlx5dv_dr_table, mlx5dv_dr_table_create, struct mlx5dv_dr_domain *d, uint32_t level)
MAKES(mlx5dv_dr_matcher, mlx5dv_dr_matcher_create, struct mlx5dv_dr_table *t, uint16_t p, uint8_t c, struct mlx5dv_flow_match_parameters *m)
MAKES(mlx5dv_dr_rule, mlx5dv_dr_rule_create, struct mlx5dv_dr_matcher *m, struct mlx5dv_flow_match_parameters *v, size_t n, struct mlx5dv_dr_action *a[])
MAKES(mlx5dv_dr_action, mlx5dv_dr_action_create_drop, void)
MAKES(mlx5dv_dr_action, mlx5dv_dr_action_create_default_miss, void)
MAKES(mlx5dv_dr_action, mlx5dv_dr_action_create_pop_vlan, void)
MAKES(mlx5dv_dr_action, mlx5dv_dr_action_create_tag, uint32_t t)
MAKES(mlx5dv_dr_action, mlx5dv_dr_action_create_dest_ibv_qp, struct ibv_qp *q)
MAKES(mlx5dv_dr_action, mlx5dv_dr_action_create_dest_table, struct mlx5dv_dr_table *t)
MAKES(mlx5dv_dr_action, mlx5dv_dr_action_create_dest_root_table, struct mlx5dv_dr_table *t, uint16_t p)
MAKES(mlx5dv_dr_action, mlx5dv_dr_action_create_dest_vport, struct mlx5dv_dr_domain *d, uint32_t v)
MAKES(mlx5dv_dr_action, mlx5dv_dr_action_create_dest_ib_port, struct mlx5dv_dr_domain *d, uint32_t p)
MAKES(mlx5dv_dr_action, mlx5dv_dr_action_create_dest_array, struct mlx5dv_dr_domain *d, size_t n, struct mlx5dv_dr_action_dest_attr *a[])
MAKES(mlx5dv_dr_action, mlx5dv_dr_action_create_flow_counter, struct mlx5dv_devx_obj *o, uint32_t offset)
MAKES(mlx5dv_dr_action, mlx5dv_dr_action_create_packet_reformat, struct mlx5dv_dr_domain *d, uint32_t f, enum mlx5dv_flow_action_packet_reformat_type t, size_t n, void *data)
MAKES(mlx5dv_dr_action, mlx5dv_dr_action_create_modify_header, struct mlx5dv_dr_domain *d, uint32_t f, size_t n, __be64 a[])
MAKES(mlx5dv_dr_action, mlx5dv_dr_action_create_push_vlan, struct mlx5dv_dr_domain *d, __be32 h)
FREES(mlx5dv_devx_obj, mlx5dv_devx_obj_destroy)
FREES(mlx5dv_dr_domain, mlx5dv_dr_domain_destroy)
FREES(mlx5dv_dr_table, mlx5dv_dr_table_destroy)
FREES(mlx5dv_dr_matcher, mlx5dv_dr_matcher_destroy)
FREES(mlx5dv_dr_rule, mlx5dv_dr_rule_destroy)
FREES(mlx5dv_dr_action, mlx5dv_dr_action_destroy)
