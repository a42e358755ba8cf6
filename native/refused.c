/*
 * Functions that are always refused. They are declared without their parameters, which nobody reads; so the headers, which
 * declare them otherwise, are not included here.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

static void say(const char *name, int *said)
{
	if (!__atomic_exchange_n(said, 1, __ATOMIC_RELAXED))
		fprintf(stderr, "flowsteer: %s: EOPNOTSUPP: flowsteer exec does not have it\n", name);
}

#define REFUSED(type, name, result) \
	EXPORT type name(void);     \
	EXPORT type name(void)      \
	{                           \
		static int said;    \
                                    \
		say(#name, &said);  \
		errno = EOPNOTSUPP; \
		return result;      \
	}
#define RETURNS_ERRNO(name) REFUSED(int, name, EOPNOTSUPP)
#define RETURNS_MINUS_1(name) REFUSED(int, name, -1)
#define RETURNS_NULL(name) REFUSED(void *, name, NULL)
/* Frees what no call can make. */
#define RETURNS_NOTHING(name)   \
	EXPORT void name(void); \
	EXPORT void name(void)  \
	{                       \
	}

RETURNS_NULL(ibv_import_device)
RETURNS_NULL(ibv_import_dm)
RETURNS_NULL(ibv_import_mr)
RETURNS_NULL(ibv_import_pd)
RETURNS_NOTHING(ibv_unimport_dm)
RETURNS_NOTHING(ibv_unimport_mr)
RETURNS_NOTHING(ibv_unimport_pd)
RETURNS_ERRNO(ibv_query_ece)
RETURNS_ERRNO(ibv_set_ece)
RETURNS_NULL(ibv_reg_dmabuf_mr)
RETURNS_MINUS_1(ibv_rereg_mr)
RETURNS_ERRNO(ibv_resolve_eth_l2_from_gid)
RETURNS_ERRNO(_mlx5dv_mkey_check)
RETURNS_NULL(mlx5dv_alloc_dm)
RETURNS_NULL(mlx5dv_alloc_var)
RETURNS_NOTHING(mlx5dv_free_var)
RETURNS_NULL(mlx5dv_create_mkey)
RETURNS_ERRNO(mlx5dv_destroy_mkey)
RETURNS_ERRNO(mlx5dv_crypto_login)
RETURNS_NULL(mlx5dv_crypto_login_create)
RETURNS_ERRNO(mlx5dv_crypto_login_destroy)
RETURNS_ERRNO(mlx5dv_crypto_login_query)
RETURNS_ERRNO(mlx5dv_crypto_login_query_state)
RETURNS_ERRNO(mlx5dv_crypto_logout)
RETURNS_ERRNO(mlx5dv_dci_stream_id_reset)
RETURNS_NULL(mlx5dv_dek_create)
RETURNS_ERRNO(mlx5dv_dek_destroy)
RETURNS_ERRNO(mlx5dv_dek_query)
RETURNS_NULL(mlx5dv_devx_alloc_msi_vector)
RETURNS_ERRNO(mlx5dv_devx_free_msi_vector)
RETURNS_NULL(mlx5dv_devx_alloc_uar)
RETURNS_NOTHING(mlx5dv_devx_free_uar)
RETURNS_NULL(mlx5dv_devx_create_cmd_comp)
RETURNS_NOTHING(mlx5dv_devx_destroy_cmd_comp)
RETURNS_NULL(mlx5dv_devx_create_eq)
RETURNS_ERRNO(mlx5dv_devx_destroy_eq)
RETURNS_NULL(mlx5dv_devx_create_event_channel)
RETURNS_NOTHING(mlx5dv_devx_destroy_event_channel)
RETURNS_ERRNO(mlx5dv_devx_get_async_cmd_comp)
RETURNS_MINUS_1(mlx5dv_devx_get_event)
RETURNS_ERRNO(mlx5dv_devx_obj_query_async)
RETURNS_ERRNO(mlx5dv_devx_query_eqn)
RETURNS_ERRNO(mlx5dv_devx_subscribe_devx_event)
RETURNS_ERRNO(mlx5dv_devx_subscribe_devx_event_fd)
RETURNS_NULL(mlx5dv_devx_umem_reg)
RETURNS_NULL(mlx5dv_devx_umem_reg_ex)
RETURNS_ERRNO(mlx5dv_devx_umem_dereg)
RETURNS_NULL(mlx5dv_dm_map_op_addr)
RETURNS_ERRNO(mlx5dv_get_clock_info)
RETURNS_NULL(mlx5dv_get_vfio_device_list)
RETURNS_ERRNO(mlx5dv_map_ah_to_qp)
RETURNS_ERRNO(mlx5dv_modify_qp_lag_port)
RETURNS_ERRNO(mlx5dv_modify_qp_sched_elem)
RETURNS_ERRNO(mlx5dv_modify_qp_udp_sport)
RETURNS_NULL(mlx5dv_pp_alloc)
RETURNS_NOTHING(mlx5dv_pp_free)
RETURNS_MINUS_1(mlx5dv_qp_cancel_posted_send_wrs)
RETURNS_NULL(mlx5dv_qp_ex_from_ibv_qp_ex)
RETURNS_ERRNO(mlx5dv_query_qp_lag_port)
RETURNS_ERRNO(mlx5dv_reserved_qpn_alloc)
RETURNS_ERRNO(mlx5dv_reserved_qpn_dealloc)
RETURNS_NULL(mlx5dv_sched_leaf_create)
RETURNS_ERRNO(mlx5dv_sched_leaf_destroy)
RETURNS_ERRNO(mlx5dv_sched_leaf_modify)
RETURNS_NULL(mlx5dv_sched_node_create)
RETURNS_ERRNO(mlx5dv_sched_node_destroy)
RETURNS_ERRNO(mlx5dv_sched_node_modify)
RETURNS_MINUS_1(mlx5dv_vfio_get_events_fd)
RETURNS_ERRNO(mlx5dv_vfio_process_events)

/*
 * A program that opens the library by its name gets this one. The call must stay the last one: dlopen searches in the name of
 * its caller, whom it knows by the return address.
 */
EXPORT void *dlopen(const char *name, int flags)
{
	static void *(*real)(const char *, int);
	const char *base = name ? strrchr(name, '/') : NULL;
	Dl_info own;

	if (!real)
		real = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
	base = base ? base + 1 : name;
	if (base && (!strncmp(base, "libibverbs.so", 13) || !strncmp(base, "libmlx5.so", 10)) && dladdr((void *)say, &own))
		name = own.dli_fname;
	return real(name, flags);
}
