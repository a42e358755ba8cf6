/** The types of domains (mlx5dv_dr(3): Domain). */

/** `enum mlx5dv_dr_domain_type` */
export const DOMAIN_TYPES = ["nic_rx", "nic_tx", "fdb"] as const;
export type DomainType = (typeof DOMAIN_TYPES)[number];
