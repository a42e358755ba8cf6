/** Device commands. */
import { openCommandWorld, tryCommand } from "../../mlx5dv/support/randomCommands.js";
import type { Target } from "../target.js";

/** Commands of a run. */
const COMMANDS = 100;

export const commands: Target = {
  name: "commands",
  about:
    "device commands of changed and of random bytes and lengths: answered or refused with a status, no memory kept",
  unit: "commands",
  guide: "host",
  open: () =>
    Promise.resolve(async (random) => {
      const world = await openCommandWorld();
      for (let n = 0; n < COMMANDS; n++) tryCommand(world, random);
      return COMMANDS;
    }),
};
