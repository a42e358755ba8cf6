/** What a list of actions asks of those before it: groups of the key that the parser fills, room for branches. */
import { ACTION_SIZE, Op } from "../../src/abi/engine";
import { WANT_INNER } from "../../src/abi/key";
import { Splits } from "../steer/walk";
import { programWants } from "./modify";
import { takesOff } from "./reformat";

/** What the parser has to fill for `count` actions (steer/wants.ts). */
export function actionsWant(actions: usize, count: u32): u32 {
  let wants: u32 = 0;
  for (let n: u32 = 0; n < count; n++) {
    const action = actions + <usize>n * ACTION_SIZE;
    const operand: usize = load<u32>(action, 4);
    const op = load<u32>(action);
    if (op == Op.modify) wants |= programWants(operand);
    else if (op == Op.reformat && takesOff(operand)) wants |= WANT_INNER;
    else if (op == Op.array) Splits.any = true;
  }
  return wants;
}
