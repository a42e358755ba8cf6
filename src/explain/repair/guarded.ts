/** Rules that no repair may move or weaken: they drop what a meter, a connection or a flag stopped. */
import { Op } from "../../abi/engine.js";
import { termsOf } from "../match/terms.js";
import type { RepairContext, RuleInTable } from "./context.js";

/** Whether a rule matches the result of a stateful action, and drops. */
export function isGuarded({ holdsState }: Pick<RepairContext, "holdsState">, rule: RuleInTable): boolean {
  if (!rule.actions.some((op, i) => i % 2 === 0 && op === (Op.drop as number))) return false;
  return termsOf(rule).some(({ field: { name } }) => {
    const [, register] = /metadata_reg_c_(\d)$/.exec(name) ?? [];
    return register !== undefined && holdsState(Number(register));
  });
}

/** The registers C that stateful actions of rules write, from pairs of operation and operand. */
export function stateRegisters(actions: readonly number[]): number[] {
  return actions.flatMap((op, i) =>
    i % 2 === 0 && op === (Op.state as number) ? [(actions[i + 1] as number) & 0xff] : [],
  );
}
