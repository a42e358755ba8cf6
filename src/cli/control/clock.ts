/** The methods of a device whose clock its client moves (`--virtual-time`). */
import { SteeringError } from "../../index.js";
import type { Switchboard } from "../serve/switchboard.js";
import { only, timeParam } from "./params.js";
import type { Call } from "./rpc.js";

/** Nanoseconds: the clock of the device, and when something is due on it; null while nothing waits. */
interface Reading {
  readonly time: bigint;
  readonly next: bigint | null;
}

export function clockMethods(board: Switchboard): Readonly<Record<string, Call>> {
  const { device } = board.loaded;
  const reading = (): Reading => ({ time: device.now(), next: device.nextDeadline() });
  const advanceTo = (call: string, time: bigint): Reading => {
    if (!board.isVirtual) {
      const hint = "the clock follows that of the machine: start flowsteer serve with --virtual-time";
      throw new SteeringError({ code: "EINVAL", call, reason: "own_clock", hint });
    }
    board.advanceTo(time);
    return reading();
  };
  return {
    nextDeadline: (params) => {
      only(params, []);
      board.settle();
      return reading();
    },
    advance: (params) => {
      only(params, ["nanoseconds"]);
      return advanceTo("advance", device.now() + timeParam(params, "nanoseconds"));
    },
    advanceTo: (params) => {
      only(params, ["time"]);
      return advanceTo("advanceTo", timeParam(params, "time"));
    },
  };
}
