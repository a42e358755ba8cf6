#include <infiniband/mlx5dv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = ibv_open_device(list[0]);
	struct mlx5dv_dr_domain *domain = mlx5dv_dr_domain_create(ctx, MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
	struct mlx5dv_dr_table *table = mlx5dv_dr_table_create(domain, 1);
	size_t size = 64;
	struct mlx5dv_flow_match_parameters *mask = calloc(1, sizeof(*mask) + size);
	mask->match_sz = size;
	((unsigned char *)mask->match_buf)[44] = 0xff;
	((unsigned char *)mask->match_buf)[45] = 0xff;
	struct mlx5dv_dr_matcher *matcher = mlx5dv_dr_matcher_create(table, 0, 1, mask);
	printf("%p %s\n", (void *)matcher, strerror(errno));
	return 0;
}
