/*
 * A program whose library is opened privately, as Python opens extension modules: with PLUGIN the library, else the program.
 * The flow says that it has more specs than it holds; behind it is a secret.
 */
#ifdef PLUGIN
#include <string.h>
#include <infiniband/verbs.h>

static struct {
	struct ibv_flow_attr attr;
	struct ibv_flow_spec_tcp_udp udp;
	char secret[4096];
} flow = { .attr = { .size = sizeof flow.attr + sizeof flow.udp, .num_of_specs = 200, .port = 1 },
	   .udp = { .type = IBV_FLOW_SPEC_UDP, .size = sizeof flow.udp } };

int run(void)
{
	struct ibv_context *context = ibv_open_device(*ibv_get_device_list(NULL));
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RAW_PACKET };

	memset(flow.secret, 0x20, sizeof flow.secret);
	return ibv_create_flow(ibv_create_qp(pd, &attr), &flow.attr) ? 0 : 1;
}
#else
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **words)
{
	void *library = dlopen(words[count - 1], RTLD_NOW | RTLD_LOCAL);
	int (*run)(void) = library ? (int (*)(void))dlsym(library, "run") : NULL;

	if (!run)
		fprintf(stderr, "%s\n", dlerror());
	return run ? run() : 2;
}
#endif
