/* A thread makes calls while the process forks. Parent and child have sessions of their own. */
#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 20 };

static struct ibv_device **list;
static struct ibv_context *context;
static atomic_bool stops;

static void *calls(void *none)
{
	while (!stops) {
		struct ibv_pd *pd = ibv_alloc_pd(context);

		if (!pd || ibv_dealloc_pd(pd))
			exit(3);
	}
	return none;
}

/* The objects of the parent are not those of the child. */
static int child(void)
{
	struct ibv_context *own;

	if (ibv_alloc_pd(context) || errno != EINVAL)
		return 1;
	own = ibv_open_device(list[0]);
	return own && ibv_alloc_pd(own) ? 0 : 2;
}

int main(void)
{
	pthread_t thread;
	int fine = 0;

	list = ibv_get_device_list(NULL);
	context = ibv_open_device(list[0]);
	if (!context || pthread_create(&thread, NULL, calls, NULL))
		return 1;
	for (int n = 0; n < CHILDREN; n++) {
		pid_t pid = fork();
		int status = 0;

		if (pid == 0)
			_exit(child());
		waitpid(pid, &status, 0);
		fine += status == 0;
	}
	stops = true;
	pthread_join(thread, NULL);
	printf("%d of %d children\n", fine, CHILDREN);
	return ibv_close_device(context);
}
