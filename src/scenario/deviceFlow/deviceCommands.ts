/**
 * Objects that a scenario creates by device commands, so that other commands can name them by
 * number.
 */
import type { CommandFor } from "../../mlx5dv/devx/commandBytes.js";
import type { Context } from "../../model/base/context.js";
import { Command } from "../../model/devx/command.js";
import { createObject } from "../../model/devx/commands.js";
import type { DevxObject } from "../../model/base/devxObject.js";

const OUTPUT_SIZE = 16;

/** @throws EREMOTEIO the device refuses the command */
export function madeBy<T extends DevxObject>(context: Context, command: CommandFor<T>, name: string): T {
  const output = new Uint8Array(OUTPUT_SIZE);
  const made = createObject(new Command(context, command, undefined, output, undefined));
  // The opcode determines T; the encoders declare it.
  return made.called(name) as T;
}
