/* Queues: completions from their rings, and requests to the host. */
#include "flowsteer-verbs.h"
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#undef ibv_create_cq_ex

/* ---- completions ---- */

struct ring *new_ring(uint32_t cqe)
{
	uint64_t capacity = 2;
	struct ring *ring;

	while (capacity < cqe && capacity < 1u << 22)
		capacity *= 2;
	ring = calloc(1, sizeof *ring + capacity * sizeof *ring->entries);
	if (ring)
		ring->capacity = capacity;
	return ring;
}

void free_ring(struct ring *ring)
{
	while (ring) {
		struct ring *next = ring->next;

		free(ring);
		ring = next;
	}
}

/* Counts a completion, and puts the program's own number into it. */
static void completed(struct entry *entry)
{
	struct queue_pair *qp = (struct queue_pair *)(uintptr_t)entry->cookie;
	struct work *receives = entry->received == 2 ? (struct work *)(uintptr_t)entry->cookie : NULL;

	if (entry->received == 1)
		receives = qp->receives;
	if (receives) {
		if (receives->waiting > 0)
			__atomic_fetch_sub(&receives->waiting, 1, __ATOMIC_RELAXED);
	} else if (qp->wr_ids) {
		uint64_t number = entry->wr_id;

		entry->wr_id = qp->wr_ids[number % qp->send.max];
		__atomic_store_n(&qp->done, number + 1, __ATOMIC_RELAXED);
	}
}

/* Takes the oldest completion. Called with the lock of the queue. */
static bool take(struct completion_queue *cq, struct entry *entry)
{
	for (;;) {
		struct ring *ring = cq->ring;
		uint64_t at = atomic_load_explicit(&ring->consumed, memory_order_relaxed);

		if (at == atomic_load_explicit(&ring->produced, memory_order_acquire)) {
			if (!ring->next)
				return false;
			cq->ring = ring->next;
			free(ring);
			continue;
		}
		*entry = ring->entries[at & (ring->capacity - 1)];
		atomic_store_explicit(&ring->consumed, at + 1, memory_order_release);
		/* A destroyed queue pair has lost its completions. */
		if (entry->cookie == 0)
			continue;
		completed(entry);
		return true;
	}
}

void forget_completions(struct completion_queue *cq, const void *cookie)
{
	if (!cq)
		return;
	pthread_mutex_lock(&cq->lock);
	for (struct ring *ring = cq->ring; ring; ring = ring->next)
		for (uint64_t at = ring->consumed; at < ring->produced; at++) {
			struct entry *entry = &ring->entries[at & (ring->capacity - 1)];

			if (entry->cookie == (uintptr_t)cookie)
				entry->cookie = 0;
		}
	pthread_mutex_unlock(&cq->lock);
}

/* A program that polls in a loop leaves the processor to the host from time to time, or lets virtual time go on. */
static void found_nothing(struct completion_queue *cq)
{
	enum { POLLS = 64 };

	if (!clock_went_on((struct ibv_cq *)&cq->public) && ++cq->empty % POLLS == 0)
		sched_yield();
}

static int poll_cq(struct ibv_cq *public, int count, struct ibv_wc *wc)
{
	struct completion_queue *cq = (struct completion_queue *)public;
	struct entry entry;
	int taken = 0;

	pthread_mutex_lock(&cq->lock);
	while (taken < count && take(cq, &entry)) {
		wc[taken++] = (struct ibv_wc){
			.wr_id = entry.wr_id,
			.status = entry.status,
			.opcode = entry.opcode,
			.vendor_err = entry.vendor_err,
			.byte_len = entry.byte_len,
			.imm_data = htobe32(entry.imm_data),
			.qp_num = entry.qp_num,
			.src_qp = entry.src_qp,
			.wc_flags = entry.wc_flags,
			.pkey_index = entry.pkey_index,
			.slid = entry.slid,
			.sl = entry.sl,
			.dlid_path_bits = entry.dlid_path_bits,
		};
	}
	pthread_mutex_unlock(&cq->lock);
	if (taken == 0)
		found_nothing(cq);
	return taken;
}

#define QUEUE(cq) ((struct completion_queue *)(cq))

static int next_poll(struct ibv_cq_ex *cq)
{
	struct entry *entry = &QUEUE(cq)->current;

	if (!QUEUE(cq)->polling)
		return EINVAL;
	if (!take(QUEUE(cq), entry))
		return ENOENT;
	cq->wr_id = entry->wr_id;
	cq->status = entry->status;
	return 0;
}

static void end_poll(struct ibv_cq_ex *cq)
{
	QUEUE(cq)->polling = false;
	pthread_mutex_unlock(&QUEUE(cq)->lock);
}

static int start_poll(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
	int error;

	if (attr && attr->comp_mask)
		return EINVAL;
	pthread_mutex_lock(&QUEUE(cq)->lock);
	QUEUE(cq)->polling = true;
	error = next_poll(cq);
	if (error) {
		end_poll(cq);
		found_nothing(QUEUE(cq));
	}
	return error;
}

#define READ(type, name, member)                        \
	static type read_##name(struct ibv_cq_ex *cq)   \
	{                                               \
		return (type)QUEUE(cq)->current.member; \
	}
READ(enum ibv_wc_opcode, opcode, opcode)
READ(uint32_t, vendor_err, vendor_err)
READ(uint32_t, byte_len, byte_len)
READ(uint32_t, qp_num, qp_num)
READ(uint32_t, src_qp, src_qp)
READ(unsigned int, wc_flags, wc_flags)
READ(uint32_t, slid, slid)
READ(uint8_t, sl, sl)
READ(uint8_t, dlid_path_bits, dlid_path_bits)
READ(uint64_t, completion_ts, time)
READ(uint64_t, completion_wallclock_ns, time)
READ(uint32_t, flow_tag, flow_tag)

static __be32 read_imm_data(struct ibv_cq_ex *cq)
{
	return htobe32(QUEUE(cq)->current.imm_data);
}

static uint16_t read_cvlan(struct ibv_cq_ex *cq)
{
	(void)cq;
	return 0;
}

void fill_extended_queue(struct completion_queue *cq)
{
	struct ibv_cq_ex *to = &cq->public;

	to->start_poll = start_poll;
	to->next_poll = next_poll;
	to->end_poll = end_poll;
	to->read_opcode = read_opcode;
	to->read_vendor_err = read_vendor_err;
	to->read_byte_len = read_byte_len;
	to->read_imm_data = read_imm_data;
	to->read_qp_num = read_qp_num;
	to->read_src_qp = read_src_qp;
	to->read_wc_flags = read_wc_flags;
	to->read_slid = read_slid;
	to->read_sl = read_sl;
	to->read_dlid_path_bits = read_dlid_path_bits;
	to->read_completion_ts = read_completion_ts;
	to->read_completion_wallclock_ns = read_completion_wallclock_ns;
	to->read_cvlan = read_cvlan;
	to->read_flow_tag = read_flow_tag;
}

/* ---- completion queues and channels ---- */

static struct completion_queue *prepared_queue(struct ibv_context *context, uint32_t cqe, struct ibv_comp_channel *channel,
					       void *cq_context)
{
	struct completion_queue *cq = calloc(1, sizeof *cq);

	if (!cq)
		return NULL;
	cq->ring = new_ring(cqe);
	if (!cq->ring) {
		free(cq);
		return NULL;
	}
	cq->public.context = context;
	cq->public.channel = channel;
	cq->public.cq_context = cq_context;
	pthread_mutex_init(&cq->public.mutex, NULL);
	pthread_cond_init(&cq->public.cond, NULL);
	pthread_mutex_init(&cq->lock, NULL);
	return cq;
}

static struct completion_queue *made_queue(struct completion_queue *cq, int error, const struct made *made)
{
	errno = error;
	if (error) {
		free_ring(cq->ring);
		free(cq);
		return NULL;
	}
	cq->public.handle = made->id;
	cq->public.cqe = (int)made->member[0];
	cq->cqn = made->member[1];
	if (cq->public.channel)
		cq->public.channel->refcnt++;
	return cq;
}

/* The provider reads it for each queue whose attributes give no size. */
static bool good_entry_size(const struct mlx5dv_cq_init_attr *more)
{
	const char *size = getenv("MLX5_CQE_SIZE");

	if (!size || (more && more->comp_mask & MLX5DV_CQ_INIT_ATTR_MASK_CQE_SIZE))
		return true;
	if (atoi(size) == 64 || atoi(size) == 128)
		return true;
	errno = EINVAL;
	return false;
}

EXPORT struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context, struct ibv_comp_channel *channel,
				    int comp_vector)
{
	struct completion_queue *cq = NULL;
	struct made made;

	if (good_entry_size(NULL))
		cq = prepared_queue(context, cqe > 0 ? (uint32_t)cqe : 1, channel, cq_context);
	if (!cq)
		return NULL;
	cq = made_queue(cq, rpc_ibv_create_cq(context, cqe, channel, comp_vector, (uintptr_t)cq->ring, (uintptr_t)cq, &made),
			&made);
	return (struct ibv_cq *)cq;
}

EXPORT struct ibv_cq_ex *mlx5dv_create_cq(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr,
					  struct mlx5dv_cq_init_attr *more)
{
	struct completion_queue *cq = NULL;
	struct made made;

	if (good_entry_size(more))
		cq = prepared_queue(context, attr->cqe, attr->channel, attr->cq_context);
	if (!cq)
		return NULL;
	cq = made_queue(cq, rpc_ibv_create_cq_ex(context, attr, more, (uintptr_t)cq->ring, (uintptr_t)cq, &made), &made);
	if (!cq)
		return NULL;
	fill_extended_queue(cq);
	return &cq->public;
}

static struct ibv_cq_ex *create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
	return mlx5dv_create_cq(context, attr, NULL);
}

EXPORT int ibv_destroy_cq(struct ibv_cq *public)
{
	struct completion_queue *cq = (struct completion_queue *)public;
	struct ibv_comp_channel *channel = public->channel;
	int error = rpc_ibv_destroy_cq(public);

	if (error)
		return error;
	if (channel)
		channel->refcnt--;
	free_ring(cq->ring);
	free(cq);
	return 0;
}

EXPORT int ibv_resize_cq(struct ibv_cq *public, int cqe)
{
	struct completion_queue *cq = (struct completion_queue *)public;
	struct ring *ring = new_ring(cqe > 0 ? (uint32_t)cqe : 1), *last;
	int error;

	if (!ring)
		return ENOMEM;
	pthread_mutex_lock(&cq->lock);
	error = rpc_ibv_resize_cq(public, cqe, (uintptr_t)ring);
	if (error)
		free(ring);
	else {
		/* The host writes to the new ring from now on. */
		for (last = cq->ring; last->next; last = last->next)
			;
		last->next = ring;
		public->cqe = cqe;
	}
	pthread_mutex_unlock(&cq->lock);
	return error;
}

static int modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr)
{
	return rpc_ibv_modify_cq(cq, attr);
}

static int req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	return rpc_ibv_req_notify_cq(cq, solicited_only);
}

EXPORT struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct numbered_ibv_comp_channel *channel;
	struct made made;

	errno = rpc_ibv_create_comp_channel(context, &made);
	channel = errno ? NULL : calloc(1, sizeof *channel);
	if (!channel)
		return NULL;
	channel->number = made.id;
	channel->public.context = context;
	channel->public.fd = open_events(made.id);
	return &channel->public;
}

EXPORT int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	int error = channel->refcnt ? EBUSY : rpc_ibv_destroy_comp_channel(channel);

	if (error)
		return error;
	close(channel->fd);
	free(container_of(channel, struct numbered_ibv_comp_channel, public));
	return 0;
}

/* Reads an event as the host writes it. Waits, unless the program made the descriptor non-blocking. */
static int read_event(int from, void *event, size_t size)
{
	ssize_t got;

	do
		got = recv(from, event, size, MSG_WAITALL);
	while (got < 0 && errno == EINTR);
	if (got == 0)
		errno = EIO;
	return got == (ssize_t)size ? 0 : -1;
}

EXPORT int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context)
{
	uint64_t cookie;

	if (read_event(channel->fd, &cookie, sizeof cookie))
		return -1;
	*cq = (struct ibv_cq *)(uintptr_t)cookie;
	*cq_context = (*cq)->cq_context;
	return 0;
}

/* The host acknowledges an event when it writes it. */
EXPORT void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int nevents)
{
	(void)cq;
	(void)nevents;
}

struct async_event {
	uint64_t cookie;
	uint32_t type, port_num;
};

EXPORT int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	struct async_event found;

	if (read_event(context->async_fd, &found, sizeof found))
		return -1;
	memset(event, 0, sizeof *event);
	event->event_type = found.type;
	if (found.cookie)
		event->element.qp = (struct ibv_qp *)(uintptr_t)found.cookie;
	else
		event->element.port_num = (int)found.port_num;
	return 0;
}

EXPORT void ibv_ack_async_event(struct ibv_async_event *event)
{
	(void)event;
}

/* ---- queue pairs ---- */

struct queue_pair *queue_pair_of(struct ibv_qp *qp)
{
	return (struct queue_pair *)qp;
}

static struct queue_pair *prepared_pair(struct ibv_context *context, struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct queue_pair *qp = calloc(1, sizeof *qp);
	struct ibv_qp *public;

	if (!qp)
		return NULL;
	public = &qp->public.qp_base;
	public->context = context;
	public->qp_context = attr->qp_context;
	public->pd = pd;
	public->send_cq = attr->send_cq;
	public->recv_cq = attr->recv_cq;
	public->srq = attr->srq;
	public->qp_type = attr->qp_type;
	public->state = IBV_QPS_RESET;
	pthread_mutex_init(&public->mutex, NULL);
	pthread_cond_init(&public->cond, NULL);
	pthread_mutex_init(&qp->lock, NULL);
	qp->send_cq = (struct completion_queue *)attr->send_cq;
	qp->receive_cq = (struct completion_queue *)attr->recv_cq;
	qp->sq_sig_all = attr->sq_sig_all;
	qp->max_inline_data = attr->cap.max_inline_data;
	qp->send.max = attr->cap.max_send_wr;
	qp->send.max_sge = attr->cap.max_send_sge;
	qp->receive.max = attr->cap.max_recv_wr;
	qp->receive.max_sge = attr->cap.max_recv_sge;
	qp->receives = attr->srq ? &((struct shared_queue *)attr->srq)->receive : &qp->receive;
	qp->wr_ids = calloc(qp->send.max ? qp->send.max : 1, sizeof *qp->wr_ids);
	return qp;
}

static struct queue_pair *made_pair(struct queue_pair *qp, int error, const struct made *made)
{
	errno = error;
	if (error || !qp->wr_ids) {
		free(qp->wr_ids);
		free(qp);
		return NULL;
	}
	qp->public.qp_base.handle = made->id;
	qp->public.qp_base.qp_num = made->member[0];
	return qp;
}

EXPORT struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct queue_pair *qp = prepared_pair(pd->context, pd, attr);
	struct made made;

	if (!qp)
		return NULL;
	qp = made_pair(qp, rpc_ibv_create_qp(pd, attr, (uintptr_t)qp, &made), &made);
	return (struct ibv_qp *)qp;
}

EXPORT struct ibv_qp *mlx5dv_create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
				       struct mlx5dv_qp_init_attr *more)
{
	struct queue_pair *qp = prepared_pair(context, attr->comp_mask & IBV_QP_INIT_ATTR_PD ? attr->pd : NULL,
					      (struct ibv_qp_init_attr *)attr);
	struct made made;

	if (!qp)
		return NULL;
	qp = made_pair(qp, rpc_ibv_create_qp_ex(context, attr, more, (uintptr_t)qp, &made), &made);
	if (qp && attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
		fill_builders(qp);
	return (struct ibv_qp *)qp;
}

static struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	return mlx5dv_create_qp(context, attr, NULL);
}

EXPORT struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	return queue_pair_of(qp)->public.wr_start ? &queue_pair_of(qp)->public : NULL;
}

EXPORT int ibv_modify_qp(struct ibv_qp *public, struct ibv_qp_attr *attr, int attr_mask)
{
	struct queue_pair *qp = queue_pair_of(public);
	int error = rpc_ibv_modify_qp(public, attr, (uint32_t)attr_mask);

	if (error || !(attr_mask & IBV_QP_STATE))
		return error;
	public->state = attr->qp_state;
	if (public->state == IBV_QPS_RESET) {
		forget_completions(qp->send_cq, qp);
		forget_completions(qp->receive_cq, qp);
		qp->posted = qp->done = 0;
		qp->receive.waiting = 0;
	}
	return 0;
}

EXPORT int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask, struct ibv_qp_init_attr *init_attr)
{
	struct ibv_qp_init_attr init = { 0 };
	int error = rpc_ibv_query_qp(qp, attr, (uint32_t)attr_mask, &init);

	if (error)
		return error;
	init.qp_context = qp->qp_context;
	init.send_cq = qp->send_cq;
	init.recv_cq = qp->recv_cq;
	init.srq = qp->srq;
	if (init_attr)
		*init_attr = init;
	qp->state = attr->qp_state;
	return 0;
}

EXPORT int ibv_destroy_qp(struct ibv_qp *public)
{
	struct queue_pair *qp = queue_pair_of(public);
	int error = rpc_ibv_destroy_qp(public);

	if (error)
		return error;
	forget_completions(qp->send_cq, qp);
	forget_completions(qp->receive_cq, qp);
	free_builds(qp);
	free(qp->wr_ids);
	free(qp);
	return 0;
}

EXPORT int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	return rpc_ibv_attach_mcast(qp, (struct gid *)gid, lid);
}

EXPORT int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	return rpc_ibv_detach_mcast(qp, (struct gid *)gid, lid);
}

/* ---- shared receive queues ---- */

static struct ibv_srq *made_shared(struct shared_queue *srq, struct ibv_context *context, struct ibv_pd *pd,
				   const struct ibv_srq_attr *attr, int error, const struct made *made)
{
	errno = error;
	if (error) {
		free(srq);
		return NULL;
	}
	srq->public.context = context;
	srq->public.pd = pd;
	srq->public.handle = made->id;
	srq->receive.max = attr->max_wr;
	srq->receive.max_sge = attr->max_sge;
	pthread_mutex_init(&srq->public.mutex, NULL);
	pthread_cond_init(&srq->public.cond, NULL);
	return &srq->public;
}

EXPORT struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	struct shared_queue *srq = calloc(1, sizeof *srq);
	struct made made;

	if (!srq)
		return NULL;
	srq->public.srq_context = attr->srq_context;
	return made_shared(srq, pd->context, pd, &attr->attr, rpc_ibv_create_srq(pd, attr, (uintptr_t)srq, &made), &made);
}

static struct ibv_srq *create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
	struct shared_queue *srq = calloc(1, sizeof *srq);
	struct made made;

	if (!srq)
		return NULL;
	srq->public.srq_context = attr->srq_context;
	return made_shared(srq, context, attr->comp_mask & IBV_SRQ_INIT_ATTR_PD ? attr->pd : NULL, &attr->attr,
			   rpc_ibv_create_srq_ex(context, attr, (uintptr_t)srq, &made), &made);
}

EXPORT int ibv_modify_srq(struct ibv_srq *public, struct ibv_srq_attr *attr, int attr_mask)
{
	int error = rpc_ibv_modify_srq(public, attr, attr_mask);

	if (!error && attr_mask & IBV_SRQ_MAX_WR)
		((struct shared_queue *)public)->receive.max = attr->max_wr;
	return error;
}

EXPORT int ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
	return rpc_ibv_query_srq(srq, attr);
}

EXPORT int ibv_destroy_srq(struct ibv_srq *srq)
{
	int error = rpc_ibv_destroy_srq(srq);

	if (!error)
		free(srq);
	return error;
}

/* ---- work queues ---- */

static struct ibv_wq *create_wq(struct ibv_context *context, struct ibv_wq_init_attr *attr)
{
	struct work_queue *wq = calloc(1, sizeof *wq);
	struct made made;

	errno = wq ? rpc_ibv_create_wq(context, attr, (uintptr_t)&wq->receive, &made) : ENOMEM;
	if (errno) {
		free(wq);
		return NULL;
	}
	wq->public.context = context;
	wq->public.wq_context = attr->wq_context;
	wq->public.pd = attr->pd;
	wq->public.cq = attr->cq;
	wq->public.wq_num = made.member[0];
	wq->public.handle = made.id;
	wq->public.state = IBV_WQS_RESET;
	wq->public.wq_type = attr->wq_type;
	wq->public.post_recv = post_wq_recv;
	wq->receive.max = attr->max_wr;
	wq->receive.max_sge = attr->max_sge;
	return &wq->public;
}

EXPORT struct ibv_wq *mlx5dv_create_wq(struct ibv_context *context, struct ibv_wq_init_attr *attr,
				       struct mlx5dv_wq_init_attr *more)
{
	if (more && more->comp_mask) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return create_wq(context, attr);
}

static int modify_wq(struct ibv_wq *public, struct ibv_wq_attr *attr)
{
	struct work_queue *wq = (struct work_queue *)public;
	int error = rpc_ibv_modify_wq(public, attr);

	if (error || !(attr->attr_mask & IBV_WQ_ATTR_STATE))
		return error;
	public->state = attr->wq_state;
	if (public->state == IBV_WQS_RESET) {
		forget_completions((struct completion_queue *)public->cq, &wq->receive);
		wq->receive.waiting = 0;
	}
	return 0;
}

static int destroy_wq(struct ibv_wq *public)
{
	struct work_queue *wq = (struct work_queue *)public;
	int error = rpc_ibv_destroy_wq(public);

	if (error)
		return error;
	forget_completions((struct completion_queue *)public->cq, &wq->receive);
	free(wq);
	return 0;
}

static struct ibv_rwq_ind_table *create_ind_table(struct ibv_context *context, struct ibv_rwq_ind_table_init_attr *attr)
{
	struct ibv_rwq_ind_table *table = calloc(1, sizeof *table);
	struct made made;

	errno = table ? rpc_ibv_create_rwq_ind_table(context, attr, &made) : ENOMEM;
	if (errno) {
		free(table);
		return NULL;
	}
	table->context = context;
	table->ind_tbl_handle = (int)made.id;
	table->ind_tbl_num = (int)made.member[0];
	return table;
}

static int destroy_ind_table(struct ibv_rwq_ind_table *table)
{
	int error = rpc_ibv_destroy_rwq_ind_table(table);

	if (!error)
		free(table);
	return error;
}

/* ---- requests ---- */

static void put_entries(struct message *m, const struct ibv_sge *list, int count)
{
	put_u32(m, (uint32_t)count);
	for (int n = 0; n < count; n++) {
		put_u64(m, list[n].addr);
		put_u32(m, list[n].length);
		put_u32(m, list[n].lkey);
	}
}

static int checked_receive(const struct work *work, const struct ibv_recv_wr *wr, uint32_t more)
{
	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > work->max_sge)
		return EINVAL;
	return work->waiting + more >= work->max ? ENOMEM : 0;
}

/* Posts the requests up to the first bad one; the host checks the others and reports what C cannot return. */
static int post_receives(uint16_t call, uint32_t number, struct work *work, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct message m;
	uint32_t count = 0;
	size_t start;
	int error = 0;

	message_begin(&m, call);
	put_u32(&m, number);
	start = m.length;
	put_u32(&m, 0);
	for (; wr && !error; wr = wr->next) {
		error = checked_receive(work, wr, count);
		if (error) {
			*bad = wr;
			break;
		}
		put_u64(&m, wr->wr_id);
		put_entries(&m, wr->sg_list, wr->num_sge);
		count++;
	}
	if (!m.failed) {
		uint32_t size = (uint32_t)(m.length - start - 4);

		memcpy(m.bytes + start, &size, 4);
		put_u64(&m, size);
	}
	__atomic_fetch_add(&work->waiting, count, __ATOMIC_RELAXED);
	if (count == 0)
		free(m.bytes);
	else if (message_post(&m))
		return EIO;
	return error;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	if (qp->state == IBV_QPS_RESET || qp->srq) {
		*bad = wr;
		return EINVAL;
	}
	return post_receives(CALL_post_recv, qp->handle, &queue_pair_of(qp)->receive, wr, bad);
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	return post_receives(CALL_post_srq_recv, srq->handle, &((struct shared_queue *)srq)->receive, wr, bad);
}

int post_wq_recv(struct ibv_wq *wq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	if (wq->state == IBV_WQS_RESET) {
		*bad = wr;
		return EINVAL;
	}
	return post_receives(CALL_post_wq_recv, wq->handle, &((struct work_queue *)wq)->receive, wr, bad);
}

/* Whether the bytes of the request go to the host: those of a READ or an atomic come from there. */
static bool has_data(enum ibv_wr_opcode opcode)
{
	return opcode != IBV_WR_RDMA_READ && opcode != IBV_WR_ATOMIC_CMP_AND_SWP && opcode != IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static bool is_known(const struct ibv_qp *qp, enum ibv_wr_opcode opcode)
{
	switch (opcode) {
	case IBV_WR_SEND:
		return true;
	case IBV_WR_SEND_WITH_IMM:
		return qp->qp_type != IBV_QPT_RAW_PACKET;
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return qp->qp_type == IBV_QPT_RC || qp->qp_type == IBV_QPT_UC;
	case IBV_WR_RDMA_READ:
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return qp->qp_type == IBV_QPT_RC;
	default:
		return false;
	}
}

static int checked_send(struct queue_pair *qp, const struct ibv_send_wr *wr)
{
	uint64_t length = 0;

	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > qp->send.max_sge || !is_known(&qp->public.qp_base, wr->opcode))
		return EINVAL;
	if (qp->posted - __atomic_load_n(&qp->done, __ATOMIC_RELAXED) >= qp->send.max)
		return ENOMEM;
	for (int n = 0; n < wr->num_sge; n++)
		length += wr->sg_list[n].length;
	return wr->send_flags & IBV_SEND_INLINE && length > qp->max_inline_data ? EINVAL : 0;
}

/*
 *     | number of the request 8 | opcode 4 | flags 4 | immediate 4 | remote address 8 | rkey 4 | compare or add 8 |
 *     | swap 8 | address handle 4 | remote QPN 4 | Q_Key 4 | entries | length of the data 4 | data |
 */
static void put_send(struct message *m, const struct queue_pair *qp, const struct ibv_send_wr *wr)
{
	bool is_atomic = wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
	bool is_datagram = qp->public.qp_base.qp_type == IBV_QPT_UD;
	uint32_t length = 0;

	put_u64(m, qp->posted);
	put_u32(m, wr->opcode);
	put_u32(m, wr->send_flags);
	put_u32(m, be32toh(wr->imm_data));
	put_u64(m, is_datagram ? 0 : is_atomic ? wr->wr.atomic.remote_addr : wr->wr.rdma.remote_addr);
	put_u32(m, is_datagram ? 0 : is_atomic ? wr->wr.atomic.rkey : wr->wr.rdma.rkey);
	put_u64(m, is_atomic ? wr->wr.atomic.compare_add : 0);
	put_u64(m, is_atomic ? wr->wr.atomic.swap : 0);
	put_u32(m, is_datagram ? number_of_ibv_ah(wr->wr.ud.ah) : 0);
	put_u32(m, is_datagram ? wr->wr.ud.remote_qpn : 0);
	put_u32(m, is_datagram ? wr->wr.ud.remote_qkey : 0);
	put_entries(m, wr->sg_list, wr->num_sge);
	for (int n = 0; has_data(wr->opcode) && n < wr->num_sge; n++)
		length += wr->sg_list[n].length;
	put_u32(m, length);
	for (int n = 0; length > 0 && n < wr->num_sge; n++)
		put_raw(m, (const void *)(uintptr_t)wr->sg_list[n].addr, wr->sg_list[n].length);
}

static int post_send(struct ibv_qp *public, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct queue_pair *qp = queue_pair_of(public);
	struct message m;
	uint32_t count = 0;
	size_t start;
	int error = 0;

	if (public->state == IBV_QPS_RESET || public->state == IBV_QPS_INIT || public->state == IBV_QPS_RTR) {
		*bad = wr;
		return EINVAL;
	}
	pthread_mutex_lock(&qp->lock);
	message_begin(&m, CALL_post_send);
	put_u32(&m, public->handle);
	start = m.length;
	put_u32(&m, 0);
	for (; wr; wr = wr->next) {
		error = checked_send(qp, wr);
		if (error) {
			*bad = wr;
			break;
		}
		put_send(&m, qp, wr);
		qp->wr_ids[qp->posted++ % qp->send.max] = wr->wr_id;
		count++;
	}
	if (!m.failed) {
		uint32_t size = (uint32_t)(m.length - start - 4);

		memcpy(m.bytes + start, &size, 4);
		put_u64(&m, size);
	}
	if (count == 0)
		free(m.bytes);
	else if (message_post(&m))
		error = EIO;
	pthread_mutex_unlock(&qp->lock);
	return error;
}

/* ---- ibv_wr_*: requests are built, and posted by wr_complete ---- */

static struct queue_pair *building(struct ibv_qp_ex *qp)
{
	return container_of(qp, struct queue_pair, public);
}

static struct built *build(struct ibv_qp_ex *public, enum ibv_wr_opcode opcode)
{
	static struct built nowhere;
	struct queue_pair *qp = building(public);
	struct built *one;

	if (qp->builds == qp->builds_room) {
		size_t room = 2 * qp->builds_room + 8;
		struct built *grown = realloc(qp->built, room * sizeof *grown);

		if (!grown) {
			qp->build_error = ENOMEM;
			return &nowhere;
		}
		qp->built = grown;
		qp->builds_room = room;
	}
	one = &qp->built[qp->builds++];
	*one = (struct built){ .wr = { .wr_id = public->wr_id, .opcode = opcode, .send_flags = public->wr_flags } };
	return one;
}

static struct built *last(struct ibv_qp_ex *public)
{
	static struct built nowhere;
	struct queue_pair *qp = building(public);

	if (qp->builds > 0)
		return &qp->built[qp->builds - 1];
	qp->build_error = EINVAL;
	return &nowhere;
}

static void wr_send(struct ibv_qp_ex *qp)
{
	build(qp, IBV_WR_SEND);
}

static void wr_send_imm(struct ibv_qp_ex *qp, __be32 imm_data)
{
	build(qp, IBV_WR_SEND_WITH_IMM)->wr.imm_data = imm_data;
}

static struct built *remote(struct built *one, uint32_t rkey, uint64_t remote_addr)
{
	one->wr.wr.rdma.rkey = rkey;
	one->wr.wr.rdma.remote_addr = remote_addr;
	return one;
}

static void wr_rdma_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
	remote(build(qp, IBV_WR_RDMA_WRITE), rkey, remote_addr);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, __be32 imm_data)
{
	remote(build(qp, IBV_WR_RDMA_WRITE_WITH_IMM), rkey, remote_addr)->wr.imm_data = imm_data;
}

static void wr_rdma_read(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr)
{
	remote(build(qp, IBV_WR_RDMA_READ), rkey, remote_addr);
}

static void wr_atomic(struct built *one, uint32_t rkey, uint64_t remote_addr, uint64_t compare_add, uint64_t swap)
{
	one->wr.wr.atomic.rkey = rkey;
	one->wr.wr.atomic.remote_addr = remote_addr;
	one->wr.wr.atomic.compare_add = compare_add;
	one->wr.wr.atomic.swap = swap;
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, uint64_t compare, uint64_t swap)
{
	wr_atomic(build(qp, IBV_WR_ATOMIC_CMP_AND_SWP), rkey, remote_addr, compare, swap);
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr, uint64_t add)
{
	wr_atomic(build(qp, IBV_WR_ATOMIC_FETCH_AND_ADD), rkey, remote_addr, add, 0);
}

static void refused(struct ibv_qp_ex *qp)
{
	building(qp)->build_error = EOPNOTSUPP;
}

static void wr_bind_mw(struct ibv_qp_ex *qp, struct ibv_mw *mw, uint32_t rkey, const struct ibv_mw_bind_info *info)
{
	(void)mw, (void)rkey, (void)info;
	refused(qp);
}

static void wr_local_inv(struct ibv_qp_ex *qp, uint32_t rkey)
{
	(void)rkey;
	refused(qp);
}

static void wr_send_inv(struct ibv_qp_ex *qp, uint32_t rkey)
{
	(void)rkey;
	refused(qp);
}

static void wr_send_tso(struct ibv_qp_ex *qp, void *header, uint16_t size, uint16_t mss)
{
	(void)header, (void)size, (void)mss;
	refused(qp);
}

static void wr_set_xrc_srqn(struct ibv_qp_ex *qp, uint32_t number)
{
	(void)number;
	refused(qp);
}

static void wr_set_ud_addr(struct ibv_qp_ex *qp, struct ibv_ah *ah, uint32_t remote_qpn, uint32_t remote_qkey)
{
	struct built *one = last(qp);

	one->wr.wr.ud.ah = ah;
	one->wr.wr.ud.remote_qpn = remote_qpn;
	one->wr.wr.ud.remote_qkey = remote_qkey;
}

static void wr_set_sge_list(struct ibv_qp_ex *qp, size_t count, const struct ibv_sge *list)
{
	struct built *one = last(qp);
	struct ibv_sge *copy = calloc(count ? count : 1, sizeof *copy);

	if (!copy || one->list) {
		free(copy);
		building(qp)->build_error = copy ? EINVAL : ENOMEM;
		return;
	}
	memcpy(copy, list, count * sizeof *copy);
	one->list = copy;
	one->wr.num_sge = (int)count;
}

static void wr_set_sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr, uint32_t length)
{
	struct ibv_sge one = { .addr = addr, .length = length, .lkey = lkey };

	wr_set_sge_list(qp, 1, &one);
}

static void wr_set_inline_data_list(struct ibv_qp_ex *qp, size_t count, const struct ibv_data_buf *list)
{
	size_t length = 0;
	uint8_t *copy;

	for (size_t n = 0; n < count; n++)
		length += list[n].length;
	copy = malloc(length ? length : 1);
	if (!copy) {
		building(qp)->build_error = ENOMEM;
		return;
	}
	wr_set_sge(qp, 0, (uintptr_t)copy, (uint32_t)length);
	last(qp)->copy = copy;
	last(qp)->wr.send_flags |= IBV_SEND_INLINE;
	for (size_t n = 0; n < count; n++) {
		memcpy(copy, list[n].addr, list[n].length);
		copy += list[n].length;
	}
}

static void wr_set_inline_data(struct ibv_qp_ex *qp, void *addr, size_t length)
{
	struct ibv_data_buf one = { .addr = addr, .length = length };

	wr_set_inline_data_list(qp, 1, &one);
}

static void forget_builds(struct queue_pair *qp)
{
	for (size_t n = 0; n < qp->builds; n++) {
		free(qp->built[n].list);
		free(qp->built[n].copy);
	}
	qp->builds = 0;
	qp->build_error = 0;
}

void free_builds(struct queue_pair *qp)
{
	forget_builds(qp);
	free(qp->built);
}

static void wr_start(struct ibv_qp_ex *qp)
{
	forget_builds(building(qp));
}

static int wr_complete(struct ibv_qp_ex *public)
{
	struct queue_pair *qp = building(public);
	struct ibv_send_wr *bad;
	int error = qp->build_error;

	for (size_t n = 0; n < qp->builds; n++) {
		qp->built[n].wr.sg_list = qp->built[n].list;
		qp->built[n].wr.next = n + 1 < qp->builds ? &qp->built[n + 1].wr : NULL;
	}
	if (!error && qp->builds > 0)
		error = post_send(&public->qp_base, &qp->built[0].wr, &bad);
	forget_builds(qp);
	return error;
}

static void wr_abort(struct ibv_qp_ex *qp)
{
	forget_builds(building(qp));
}

void fill_builders(struct queue_pair *qp)
{
	struct ibv_qp_ex *to = &qp->public;

	to->wr_atomic_cmp_swp = wr_atomic_cmp_swp;
	to->wr_atomic_fetch_add = wr_atomic_fetch_add;
	to->wr_bind_mw = wr_bind_mw;
	to->wr_local_inv = wr_local_inv;
	to->wr_rdma_read = wr_rdma_read;
	to->wr_rdma_write = wr_rdma_write;
	to->wr_rdma_write_imm = wr_rdma_write_imm;
	to->wr_send = wr_send;
	to->wr_send_imm = wr_send_imm;
	to->wr_send_inv = wr_send_inv;
	to->wr_send_tso = wr_send_tso;
	to->wr_set_ud_addr = wr_set_ud_addr;
	to->wr_set_xrc_srqn = wr_set_xrc_srqn;
	to->wr_set_inline_data = wr_set_inline_data;
	to->wr_set_inline_data_list = wr_set_inline_data_list;
	to->wr_set_sge = wr_set_sge;
	to->wr_set_sge_list = wr_set_sge_list;
	to->wr_start = wr_start;
	to->wr_complete = wr_complete;
	to->wr_abort = wr_abort;
}

void fill_queue_operations(struct verbs_context *verbs)
{
	struct ibv_context_ops *ops = &verbs->context.ops;

	ops->poll_cq = poll_cq;
	ops->req_notify_cq = req_notify_cq;
	ops->post_send = post_send;
	ops->post_recv = post_recv;
	ops->post_srq_recv = post_srq_recv;
	verbs->create_cq_ex = create_cq_ex;
	verbs->modify_cq = modify_cq;
	verbs->create_qp_ex = create_qp_ex;
	verbs->create_srq_ex = create_srq_ex;
	verbs->create_wq = create_wq;
	verbs->modify_wq = modify_wq;
	verbs->destroy_wq = destroy_wq;
	verbs->create_rwq_ind_table = create_ind_table;
	verbs->destroy_rwq_ind_table = destroy_ind_table;
}
