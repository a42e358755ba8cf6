/** Reasons why an action cannot be in a rule of a domain or a table; undefined for none. */
import type { Refusal } from "../../errors.js";
import type { Action, ActionKind } from "./action.js";
import { AsoAction } from "./asoActions.js";
import type { Domain, Table } from "../table/domain.js";

/** A finding about an action whose place in the call is known to the caller. */
export type Misfit = Omit<Refusal, "call" | "code" | "path" | "value">;

/** It belongs to another device, domain or function. */
export function ownerMisfit(action: Action, domain: Domain): Misfit | undefined {
  if (action.device !== null && action.device !== domain.device) return { reason: "other_device" };
  if (action.domain !== null && action.domain !== domain) {
    return { reason: "other_domain", hint: `it is of ${action.domain.name}` };
  }
  if (action instanceof AsoAction) return linkMisfit(action, domain);
  const { function: owner } = domain.context;
  if (action.function === null || action.function === owner) return undefined;
  const hint = `it belongs to ${action.function.name}, the domain to ${owner.name}`;
  return { reason: "other_device", hint };
}

/** A connection of another domain must be linked to this one. */
function linkMisfit(action: AsoAction, domain: Domain): Misfit | undefined {
  if (action.linkTo(domain) !== undefined) return undefined;
  return { reason: "other_domain", hint: `it is of ${action.home.name}; mlx5dv_dr_aso_other_domain_link` };
}

/** Of a linked connection only one rule of the domain uses an offset. */
export function connectionMisfit(action: Action, domain: Domain): Misfit | undefined {
  const link = action instanceof AsoAction ? action.linkTo(domain) : null;
  if (!(action instanceof AsoAction) || link?.used.has(action.offset) !== true) return undefined;
  return { reason: "in_use", hint: `another rule of the domain uses offset ${action.offset}` };
}

/** The next table of an action must have a higher level. */
export function tableMisfit({ levelBelow }: Action, { level }: Table): Misfit | undefined {
  if (levelBelow === null || level < levelBelow) return undefined;
  const hint = `its next table has level ${levelBelow}, the rule's has ${level}`;
  return { reason: "out_of_range", hint };
}

const OF_A_HOST: ReadonlySet<ActionKind> = new Set<ActionKind>(["tag", "dest_ibv_qp", "dest_devx_tir"]);

/** Only frames for a host carry a tag and reach a queue. */
export function meaningMisfit({ kind }: Action, { type }: Domain): Misfit | undefined {
  if (type === "nic_rx" || !OF_A_HOST.has(kind)) return undefined;
  const hint = "valid only on MLX5DV_DR_DOMAIN_TYPE_NIC_RX";
  return { reason: "bad_action_list", hint, cite: "mlx5dv_dr: Actions" };
}

/** Actions made with MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL are for root tables, others for other tables. */
export function levelMisfit({ rootLevel }: Action, isRoot: boolean): Misfit | undefined {
  if (rootLevel === null || rootLevel === isRoot) return undefined;
  const hint = `make it with${isRoot ? "" : "out"} MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL`;
  return { reason: "root_level", hint, cite: "mlx5dv_dr: Action Flags" };
}
