/*
 * libibverbs and libmlx5 whose devices are those of a flowsteer host: each call becomes a message on a Unix socket.
 *
 * Completions come without a call: the host writes them into rings in the memory of the program, as a NIC does.
 */
#ifndef FLOWSTEER_VERBS_H
#define FLOWSTEER_VERBS_H
#define _GNU_SOURCE
#include <endian.h>
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define ARRAY_SIZE(list) (sizeof(list) / sizeof(*(list)))
#define container_of(pointer, type, member) ((type *)((char *)(pointer)-offsetof(type, member)))

/* ---- messages ---- */

/* The length of memory that is not there. */
#define NO_LENGTH UINT32_MAX

/* A request that grows, then its answer. */
struct message {
	uint8_t *bytes;
	size_t length, room, at;
	uint16_t call;
	bool failed;
};

void message_begin(struct message *m, uint16_t call);
/* Sends the request and waits for the answer. Returns an errno. */
int message_end(struct message *m);
/* Sends the request; the host does not answer. */
int message_post(struct message *m);
/* Frees the message, and reports who made a call that failed. Returns error. */
int finish(struct message *m, int error);

void put_bytes(struct message *m, const void *data, size_t length);
void put_raw(struct message *m, const void *data, size_t length);
const void *get_raw(struct message *m, size_t length);
/* Reads bytes with their length into memory of this size, which may be null. */
void get_bytes(struct message *m, void *data, size_t size);
char *get_text(struct message *m);

#define INTEGER(bits)                                                           \
	static inline void put_u##bits(struct message *m, uint##bits##_t value) \
	{                                                                       \
		put_raw(m, &value, sizeof value);                               \
	}                                                                       \
	static inline uint##bits##_t get_u##bits(struct message *m)             \
	{                                                                       \
		uint##bits##_t value = 0;                                       \
		const void *found = get_raw(m, sizeof value);                   \
                                                                                \
		if (found)                                                      \
			memcpy(&value, found, sizeof value);                    \
		return value;                                                   \
	}
INTEGER(8)
INTEGER(16)
INTEGER(32)
INTEGER(64)

/* Another connection, whose descriptor becomes readable at events of the object. Returns -1 and sets errno. */
int open_events(uint32_t number);

/* ---- objects ---- */

/* What a call that makes an object answers. */
struct made {
	uint32_t id;
	uint32_t member[2];
};

/* A completion as the host writes it. */
struct entry {
	uint64_t wr_id, cookie, time;
	uint32_t status, opcode, vendor_err, byte_len, imm_data, qp_num, src_qp, wc_flags, flow_tag;
	uint16_t pkey_index, slid;
	uint8_t sl, dlid_path_bits, received, unused[9];
};
_Static_assert(sizeof(struct entry) == 80, "the host writes entries of 80 bytes");

/* The host writes entries and then `produced`; this process alone writes `consumed`. Both only grow. */
struct ring {
	_Atomic uint64_t produced;
	_Atomic uint64_t consumed;
	uint64_t capacity;
	struct ring *next;
	struct entry entries[];
};

/* Requests that wait for their completions: as many as a post may add is bounded by `max`. */
struct work {
	uint32_t max, max_sge;
	uint32_t waiting;
};

struct context {
	uint32_t number;
	struct context *next; /* of those that are closed and in use */
	struct verbs_context verbs;
};

struct completion_queue {
	struct ibv_cq_ex public; /* begins as struct ibv_cq does */
	struct ring *ring;
	pthread_mutex_t lock;
	uint32_t cqn;
	struct entry current;
	bool polling;
	uint32_t empty; /* polls that found nothing */
};

/* What `ibv_wr_*` calls have built of a request. */
struct built {
	struct ibv_send_wr wr;
	struct ibv_sge *list;
	void *copy;
};

struct queue_pair {
	struct ibv_qp_ex public; /* begins with struct ibv_qp */
	struct work send, receive;
	struct work *receives; /* its own, or that of its shared receive queue */
	uint64_t *wr_ids;      /* of send requests, by number */
	uint64_t posted, done; /* send requests */
	uint32_t max_inline_data;
	bool sq_sig_all;
	pthread_mutex_t lock;
	struct built *built;
	size_t builds, builds_room;
	int build_error;
	struct completion_queue *send_cq, *receive_cq;
};

struct shared_queue {
	struct ibv_srq public;
	struct work receive;
};

struct work_queue {
	struct ibv_wq public;
	struct work receive;
};

/* Public structs without room for a number. */
#define NUMBERED(type)                                                                            \
	struct numbered_##type {                                                                  \
		struct type public;                                                               \
		uint32_t number;                                                                  \
	};                                                                                        \
	static inline uint32_t number_of_##type(const struct type *object)                        \
	{                                                                                         \
		return object ? container_of(object, struct numbered_##type, public)->number : 0; \
	}
NUMBERED(ibv_comp_channel)
NUMBERED(ibv_counters)
NUMBERED(ibv_flow_action)
NUMBERED(mlx5dv_steering_anchor)

#define HANDLED(type, member)                                              \
	static inline uint32_t number_of_##type(const struct type *object) \
	{                                                                  \
		return object ? (uint32_t)object->member : 0;              \
	}
HANDLED(ibv_pd, handle)
HANDLED(ibv_mr, handle)
HANDLED(ibv_cq, handle)
HANDLED(ibv_qp, handle)
HANDLED(ibv_srq, handle)
HANDLED(ibv_ah, handle)
HANDLED(ibv_wq, handle)
HANDLED(ibv_flow, handle)
HANDLED(ibv_rwq_ind_table, ind_tbl_handle)

static inline uint32_t number_of_ibv_context(const struct ibv_context *context)
{
	return context ? container_of(context, struct context, verbs.context)->number : 0;
}

/* Opaque in mlx5dv.h. */
struct mlx5dv_flow_matcher {
	struct ibv_context *context;
	uint32_t number;
};
static inline uint32_t number_of_mlx5dv_flow_matcher(const struct mlx5dv_flow_matcher *matcher)
{
	return matcher ? matcher->number : 0;
}

/* Structs whose public ones are unions, or differ among releases. */
struct gid {
	uint8_t raw[16];
};
struct gid_entry {
	struct gid gid;
	uint32_t gid_index, port_num, gid_type, ndev_ifindex;
};
struct port {
	uint64_t flags, vport_steering_icm_rx, vport_steering_icm_tx;
	uint16_t vport, vport_vhca_id, esw_owner_vhca_id;
	struct {
		uint32_t value, mask;
	} reg_c0;
};

/* connection.c: waits until the clock of the devices has gone on, where it waits for a poll that finds nothing. */
bool clock_went_on(const struct ibv_cq *cq);

/* queues.c */
void fill_queue_operations(struct verbs_context *verbs);
struct ring *new_ring(uint32_t cqe);
void free_ring(struct ring *ring);
struct queue_pair *queue_pair_of(struct ibv_qp *qp);
void forget_completions(struct completion_queue *cq, const void *cookie);
void fill_extended_queue(struct completion_queue *cq);
void fill_builders(struct queue_pair *qp);
void free_builds(struct queue_pair *qp);
int post_wq_recv(struct ibv_wq *wq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

#include "generated.h"
#endif
