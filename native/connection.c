/* The connection to the host: one of the process, on which calls wait for each other. */
#include "flowsteer-verbs.h"
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Functions of messages that no program calls; the host has the same numbers. */
enum { SAYS_HELLO = 0xffff, LISTENS = 0xfffe, CALLED_FROM = 0xfffc, POLLED = 0xfffb, NO_ANSWER = 0x8000 };

static int host = -1;
/* Messages without an answer that were sent. The host reads it, to handle them before what others send later. */
static uint64_t posted;
/* Whether the clock of the devices stands still while this process runs. */
static bool virtual_time;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void before_fork(void)
{
	pthread_mutex_lock(&lock);
}

static void in_parent(void)
{
	pthread_mutex_unlock(&lock);
}

/* A child gets a connection of its own. That of the parent must not outlive the parent: it is the parent's session. */
static void in_child(void)
{
	if (host >= 0)
		close(host);
	host = -1;
	pthread_mutex_unlock(&lock);
}

__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(before_fork, in_parent, in_child);
}

static void more_room(struct message *m, size_t length)
{
	size_t room = 2 * (m->length + length) + 256;
	uint8_t *grown;

	if (m->failed || m->length + length <= m->room)
		return;
	grown = realloc(m->bytes, room);
	if (!grown) {
		m->failed = true;
		return;
	}
	m->bytes = grown;
	m->room = room;
}

void put_raw(struct message *m, const void *data, size_t length)
{
	more_room(m, length);
	if (m->failed || length == 0)
		return;
	memcpy(m->bytes + m->length, data, length);
	m->length += length;
}

void put_bytes(struct message *m, const void *data, size_t length)
{
	put_u32(m, data ? (uint32_t)length : NO_LENGTH);
	if (data)
		put_raw(m, data, length);
}

const void *get_raw(struct message *m, size_t length)
{
	const void *found = m->bytes + m->at;

	if (m->failed || length > m->length - m->at) {
		m->failed = true;
		return NULL;
	}
	m->at += length;
	return found;
}

void get_bytes(struct message *m, void *data, size_t size)
{
	uint32_t length = get_u32(m);
	const void *found = length == NO_LENGTH ? NULL : get_raw(m, length);

	if (found && data)
		memcpy(data, found, length < size ? length : size);
}

char *get_text(struct message *m)
{
	uint32_t length = get_u32(m);
	const void *found = get_raw(m, length);

	return found ? strndup(found, length) : NULL;
}

void message_begin(struct message *m, uint16_t call)
{
	*m = (struct message){ .call = call };
	put_u32(m, 0);
	put_u16(m, call);
}

static int write_all(int to, const uint8_t *bytes, size_t length)
{
	while (length > 0) {
		ssize_t sent = send(to, bytes, length, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return EIO;
		bytes += sent;
		length -= sent;
	}
	return 0;
}

static int read_all(int from, uint8_t *bytes, size_t length)
{
	while (length > 0) {
		ssize_t got = recv(from, bytes, length, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return EIO;
		bytes += got;
		length -= got;
	}
	return 0;
}

static int sent(int to, struct message *m)
{
	uint32_t size = (uint32_t)(m->length - 4);

	if (m->failed)
		return ENOMEM;
	memcpy(m->bytes, &size, 4);
	return write_all(to, m->bytes, m->length);
}

/* Reads an answer in place of the request. Returns its errno. */
static int answered(int from, struct message *m)
{
	uint32_t size;

	m->length = 0;
	m->at = 0;
	if (read_all(from, (uint8_t *)&size, 4))
		return EIO;
	more_room(m, size);
	if (m->failed)
		return ENOMEM;
	if (read_all(from, m->bytes, size))
		return EIO;
	m->length = size;
	return (int)get_u32(m);
}

static int connected(void)
{
	const char *path = getenv("FLOWSTEER_SOCKET");
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct ucred peer;
	socklen_t size = sizeof peer;
	int to;

	if (!path || strlen(path) >= sizeof address.sun_path) {
		errno = ENODEV;
		return -1;
	}
	strcpy(address.sun_path, path);
	to = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (to < 0)
		return -1;
	if (connect(to, (struct sockaddr *)&address, sizeof address)) {
		fprintf(stderr, "flowsteer: no host at %s: %s\n", path, strerror(errno));
		close(to);
		errno = ENODEV;
		return -1;
	}
	/* The host writes received bytes into this process; a kernel with Yama allows it if the process does. */
	if (!getsockopt(to, SOL_SOCKET, SO_PEERCRED, &peer, &size))
		prctl(PR_SET_PTRACER, peer.pid, 0, 0, 0);
	return to;
}

static int hello(int to, uint16_t call, uint64_t number)
{
	struct message m;
	int error;

	message_begin(&m, call);
	put_u32(&m, TABLE_HASH);
	put_u32(&m, (uint32_t)getpid());
	put_u64(&m, number);
	error = sent(to, &m);
	if (!error)
		error = answered(to, &m);
	if (!error)
		virtual_time = get_u32(&m) != 0;
	else {
		char *text = error == EIO ? NULL : get_text(&m);

		fprintf(stderr, "flowsteer: the host refused this process: %s\n", text ? text : strerror(error));
		free(text);
	}
	free(m.bytes);
	return error;
}

/* The connection of this process. Called with the lock. */
static int connection(void)
{
	if (host >= 0)
		return host;
	host = connected();
	posted = 0;
	if (host >= 0 && hello(host, SAYS_HELLO, (uintptr_t)&posted)) {
		close(host);
		host = -1;
		errno = ENODEV;
	}
	return host;
}

int message_end(struct message *m)
{
	int error, to;

	pthread_mutex_lock(&lock);
	to = connection();
	error = to < 0 ? ENODEV : sent(to, m);
	if (!error)
		error = answered(to, m);
	pthread_mutex_unlock(&lock);
	return error;
}

int message_post(struct message *m)
{
	uint16_t call = m->call | NO_ANSWER;
	int error, to;

	if (!m->failed)
		memcpy(m->bytes + 4, &call, 2);
	pthread_mutex_lock(&lock);
	to = connection();
	if (to >= 0 && !m->failed)
		__atomic_fetch_add(&posted, 1, __ATOMIC_RELEASE);
	error = to < 0 ? ENODEV : sent(to, m);
	pthread_mutex_unlock(&lock);
	free(m->bytes);
	return error;
}

bool clock_went_on(const struct ibv_cq *cq)
{
	struct message m;

	if (!virtual_time)
		return false;
	message_begin(&m, POLLED);
	put_u32(&m, number_of_ibv_cq(cq));
	message_end(&m);
	free(m.bytes);
	return true;
}

/* Reports the return addresses outside of this library, for the sentence that the person reads. */
static void report_callers(uint16_t call)
{
	void *frames[24];
	int count = backtrace(frames, ARRAY_SIZE(frames));
	struct message m;
	Dl_info own, found;

	if (!dladdr((void *)report_callers, &own))
		return;
	message_begin(&m, CALLED_FROM);
	put_u16(&m, call);
	for (int n = 0; n < count; n++) {
		if (!dladdr(frames[n], &found) || found.dli_fbase == own.dli_fbase)
			continue;
		put_bytes(&m, found.dli_fname, strlen(found.dli_fname));
		put_u64(&m, (uintptr_t)frames[n] - (uintptr_t)found.dli_fbase);
		put_bytes(&m, found.dli_sname, found.dli_sname ? strlen(found.dli_sname) : 0);
	}
	message_post(&m);
}

int finish(struct message *m, int error)
{
	free(m->bytes);
	if (error && error != EIO && error != ENODEV && error != EAGAIN && error != ENODATA && error != ENOENT)
		report_callers(m->call);
	return error;
}

int open_events(uint32_t number)
{
	int to = connected();

	if (to >= 0 && hello(to, LISTENS, number)) {
		close(to);
		errno = EIO;
		return -1;
	}
	return to;
}
