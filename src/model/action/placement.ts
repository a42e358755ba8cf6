/** What keeps an action from standing in a rule of a domain or a table: undefined when nothing does. */
import type { Refusal } from "../../errors.js";
import type { Action, ActionKind } from "./action.js";
import { AsoAction } from "./asoActions.js";
import type { Domain, Table } from "../table/domain.js";

export type Misfit = Omit<Refusal, "call" | "path" | "value">;

/** It belongs to another device, domain or function. */
export function ownerMisfit(action: Action, domain: Domain): Misfit | undefined {
  if (action.device !== null && action.device !== domain.device) return { code: "EINVAL", reason: "other_device" };
  if (action.domain !== null && action.domain !== domain) {
    return { code: "EINVAL", reason: "other_domain", hint: `it is of ${action.domain.name}` };
  }
  if (action instanceof AsoAction) return connectionMisfit(action, domain);
  const { function: owner } = domain.context;
  if (action.function === null || action.function === owner) return undefined;
  const hint = `it belongs to ${action.function.name}, the domain to ${owner.name}`;
  return { code: "EINVAL", reason: "other_device", hint };
}

/** A connection of another domain is linked to this one, and no other rule of it uses it. */
function connectionMisfit(action: AsoAction, domain: Domain): Misfit | undefined {
  const link = action.linkTo(domain);
  if (link === null) return undefined;
  if (link === undefined) {
    const hint = `it is of ${action.home.name}; mlx5dv_dr_aso_other_domain_link`;
    return { code: "EINVAL", reason: "other_domain", hint };
  }
  if (!link.used.has(action.offset)) return undefined;
  return { code: "EBUSY", reason: "in_use", hint: `another rule of the domain uses offset ${action.offset}` };
}

/** It leads on to a table of a level that is not above. */
export function tableMisfit({ levelBelow }: Action, { level }: Table): Misfit | undefined {
  if (levelBelow === null || level < levelBelow) return undefined;
  const hint = `its next table has level ${levelBelow}, the rule's has ${level}`;
  return { code: "EINVAL", reason: "out_of_range", hint };
}

const OF_A_HOST: ReadonlySet<ActionKind> = new Set<ActionKind>(["tag", "dest_ibv_qp", "dest_devx_tir"]);

/** Only frames for a host have a tag and a queue. */
export function meaningMisfit({ kind }: Action, { type }: Domain): Misfit | undefined {
  if (type === "nic_rx" || !OF_A_HOST.has(kind)) return undefined;
  const hint = "valid only on MLX5DV_DR_DOMAIN_TYPE_NIC_RX";
  return { code: "EINVAL", reason: "bad_action_list", hint, cite: "mlx5dv_dr: Actions" };
}

/** It was made with MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL and the table is not root, or the other way round. */
export function levelMisfit({ rootLevel }: Action, isRoot: boolean): Misfit | undefined {
  if (rootLevel === null || rootLevel === isRoot) return undefined;
  const hint = `make it with${isRoot ? "" : "out"} MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL`;
  return { code: "EINVAL", reason: "root_level", hint, cite: "mlx5dv_dr: Action Flags" };
}
