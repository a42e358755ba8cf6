/**
 * Destination arrays: the members that a device accepts, and the record that the core gets (ARRAY_*
 * in src/abi/engine.ts).
 */
import { MLX5DV_DR_ACTION_DEST, MLX5DV_DR_ACTION_DEST_REFORMAT } from "../../abi/mlx5dv.js";
import {
  ARRAY_COUNT,
  ARRAY_FIRST,
  MAX_MEMBERS,
  MEMBER_OP,
  MEMBER_OPERAND,
  MEMBER_REFORMAT,
  MEMBER_SIZE,
  type Op,
} from "../../abi/engine.js";
import { refuse, type ErrnoName } from "../../errors.js";
import { checkArray, objectArgument, unsigned, member } from "../../base/checks.js";
import { operationOf } from "./operations.js";
import type { ActionSetting } from "./modifyHeader.js";

/** `struct mlx5dv_dr_action_dest_attr` */
export interface DestAttr<A> {
  type: number;
  dest?: A;
  dest_reformat?: { reformat: A; dest: A };
}

/** An action as a member of an array. */
export interface ArrayAction {
  readonly op: Op;
  readonly operand: number;
  /** An encapsulation for tables that are not root. */
  readonly encapsulates: boolean;
}

export interface ArrayMember<A> {
  readonly dest: A;
  readonly reformat: A | null;
}

/** The caller's checks of an action in an array. */
export interface MemberChecks<A> {
  /** The living action at a path, or a refusal. */
  readonly take: (path: string, value: unknown) => A;
  /** Refuses an action that does not fit the domain. */
  readonly fits: (path: string, action: A) => void;
}

/**
 * Checks the members of an array.
 * @throws EINVAL the number of members, entry types; EOPNOTSUPP an action that cannot be a member
 */
export function arrayMembers<A extends ArrayAction>(
  { domainType, refuses }: ActionSetting,
  num_dest: number | undefined,
  dests: readonly DestAttr<A>[],
  { take, fits }: MemberChecks<A>,
): ArrayMember<A>[] {
  checkArray("dests", dests);
  const count = unsigned("num_dest", num_dest ?? dests.length, 32);
  const badCount = (hint: string): never =>
    refuse({ code: "EINVAL", reason: "out_of_range", path: "num_dest", value: count, hint, cite: CITE });
  if (count < 2) badCount("two destinations at the least");
  if (count > dests.length) badCount(`the array has ${dests.length}`);
  if (count > MAX_MEMBERS) badCount(`at most ${MAX_MEMBERS}`);
  if (refuses.arrayInNicTx !== undefined && domainType === "nic_tx") {
    unfit("domain", domainType, "NIC_TX has no destination arrays", refuses.arrayInNicTx);
  }
  return dests.slice(0, count).map((entry: unknown, i) => {
    const member = memberOf(`dests[${i}]`, entry, take);
    const { dest, reformat, path } = member;
    // The library asks for the kind of a member only.
    if (refuses.memberOfFdb !== undefined && domainType !== "fdb" && operationOf(dest.op).member === "fdb") {
      unfit(path, dest, "of the FDB alone", refuses.memberOfFdb);
    }
    if (reformat !== null) fits(`dests[${i}].dest_reformat.reformat`, reformat);
    fits(path, dest);
    if (operationOf(dest.op).member === undefined) {
      unfit(path, dest, "default miss, QP, vport, IB port, flow counter or table");
    }
    if (reformat !== null && !reformat.encapsulates) {
      unfit(`dests[${i}].dest_reformat.reformat`, reformat, "an encapsulation made without ROOT_LEVEL");
    }
    return { dest, reformat };
  });
}

const CITE = "mlx5dv_dr: Destination array";

function unfit(path: string, value: unknown, hint: string, code: ErrnoName = "EOPNOTSUPP"): never {
  return refuse({ code, reason: "bad_action_list", path, value, hint, cite: CITE });
}

function memberOf<A>(
  path: string,
  entry: unknown,
  take: (path: string, value: unknown) => A,
): ArrayMember<A> & { path: string } {
  const { type, dest, dest_reformat } = objectArgument<DestAttr<A>>(path, entry);
  switch (member(`${path}.type`, type, 32)) {
    case MLX5DV_DR_ACTION_DEST:
      return { dest: take(`${path}.dest`, dest), reformat: null, path: `${path}.dest` };
    case MLX5DV_DR_ACTION_DEST_REFORMAT: {
      const inside = `${path}.dest_reformat`;
      const both = objectArgument<{ reformat: A; dest: A }>(inside, dest_reformat);
      const reformat = take(`${inside}.reformat`, both.reformat);
      return { dest: take(`${inside}.dest`, both.dest), reformat, path: `${inside}.dest` };
    }
    default: {
      const hint = "MLX5DV_DR_ACTION_DEST or MLX5DV_DR_ACTION_DEST_REFORMAT";
      return refuse({
        code: "EINVAL",
        reason: "out_of_range",
        path: `${path}.type`,
        value: type,
        hint,
        cite: CITE,
      });
    }
  }
}

/** The record of an array. The operand of a reformat is the address of its record. */
export function arrayRecord(members: readonly ArrayMember<Pick<ArrayAction, "op" | "operand">>[]): Uint8Array {
  const record = new Uint8Array(ARRAY_FIRST + members.length * MEMBER_SIZE);
  const view = new DataView(record.buffer);
  view.setUint32(ARRAY_COUNT, members.length, true);
  members.forEach(({ dest, reformat }, i) => {
    const at = ARRAY_FIRST + i * MEMBER_SIZE;
    view.setUint32(at + MEMBER_OP, dest.op, true);
    view.setUint32(at + MEMBER_OPERAND, dest.operand, true);
    view.setUint32(at + MEMBER_REFORMAT, reformat?.operand ?? 0, true);
  });
  return record;
}
