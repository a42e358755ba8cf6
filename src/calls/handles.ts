/** The objects that programs hold: how C has them, and what a call that makes one returns besides its number. */

export interface HandleKind {
  /** How C finds the number: the pointer is the number, or a member of the public struct or of the one around it has it. */
  readonly in: "pointer" | "object";
  /** The call that destroys it. */
  readonly destroy: string;
  /** Members, in 32 bits, that a program or its library reads. */
  readonly returns: readonly string[];
}

const object = (destroy: string, ...returns: readonly string[]): HandleKind => ({ in: "object", destroy, returns });
const pointer = (destroy: string): HandleKind => ({ in: "pointer", destroy, returns: [] });

export const HANDLES = {
  ibv_context: object("ibv_close_device"),
  ibv_pd: object("ibv_dealloc_pd"),
  ibv_mr: object("ibv_dereg_mr", "lkey", "rkey"),
  ibv_comp_channel: object("ibv_destroy_comp_channel"),
  ibv_cq: object("ibv_destroy_cq", "cqe", "cqn"),
  ibv_qp: object("ibv_destroy_qp", "qp_num"),
  ibv_srq: object("ibv_destroy_srq"),
  ibv_ah: object("ibv_destroy_ah"),
  ibv_wq: object("ibv_destroy_wq", "wq_num"),
  ibv_rwq_ind_table: object("ibv_destroy_rwq_ind_table", "ind_tbl_num"),
  ibv_flow: object("ibv_destroy_flow"),
  ibv_counters: object("ibv_destroy_counters"),
  ibv_flow_action: object("ibv_destroy_flow_action"),
  mlx5dv_flow_matcher: object("mlx5dv_destroy_flow_matcher"),
  mlx5dv_steering_anchor: object("mlx5dv_destroy_steering_anchor", "id"),
  mlx5dv_dr_domain: pointer("mlx5dv_dr_domain_destroy"),
  mlx5dv_dr_table: pointer("mlx5dv_dr_table_destroy"),
  mlx5dv_dr_matcher: pointer("mlx5dv_dr_matcher_destroy"),
  mlx5dv_dr_rule: pointer("mlx5dv_dr_rule_destroy"),
  mlx5dv_dr_action: pointer("mlx5dv_dr_action_destroy"),
  mlx5dv_devx_obj: pointer("mlx5dv_devx_obj_destroy"),
  mlx5dv_devx_cmd_comp: pointer("mlx5dv_devx_destroy_cmd_comp"),
} as const satisfies Readonly<Record<string, HandleKind>>;

export type HandleName = keyof typeof HANDLES;
