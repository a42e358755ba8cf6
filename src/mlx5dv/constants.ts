/** Numbers of infiniband/mlx5dv.h, spelt as there. */

export const MLX5DV_CONTEXT_FLAGS_DEVX = 1;

export const MLX5DV_DR_DOMAIN_TYPE_NIC_RX = 0;
export const MLX5DV_DR_DOMAIN_TYPE_NIC_TX = 1;
export const MLX5DV_DR_DOMAIN_TYPE_FDB = 2;
