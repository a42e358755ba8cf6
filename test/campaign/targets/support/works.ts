/** What programs do with a device, for targets that make their steps fail. */
import { type Device, type DeviceOptions, type ErrnoName, SteeringError } from "../../../../src/index.js";
import { createRule, destroyRule, type LoadedScenario, updateScenario } from "../../../../src/scenario/index.js";
import { objectsIn } from "../../../faults/support/digest.js";
import { randomFrame } from "../../../oracle/generate/frame.js";
import type { Random } from "../../../oracle/generate/random.js";
import type { Calls } from "../../../support/everyCall.js";
import { drawnCall, isRefusalOf } from "../calls.js";
import { type AnsweredError, answered, controlOf, drawnMessage } from "../control.js";
import type { Step, Work } from "./failing.js";

/** Frames of a batch at most. */
const FRAMES = 40;

/** Calls whose error leaves a message unfinished, which the next one then finishes (docs/queues.md). */
const SENDING = /^ibv_(post_send|wr_complete)$/;
const DESTROYING = /destroy|dealloc|dereg|close|free/;

type Functions = Readonly<Record<string, (...args: readonly unknown[]) => unknown>>;

/** Calls of a facade in any order, with arguments as in the target `calls`. */
export async function callsWork(
  facade: object,
  makeCalls: (options: DeviceOptions) => Promise<Calls>,
  options: DeviceOptions,
): Promise<Work> {
  const made = await makeCalls(options);
  const [device] = (made["ibv_get_device_name"] ?? made["mlx5dv_is_supported"]) as readonly Device[];
  const list = Object.entries(made);
  const objects = [...objectsIn(list.map(([, args]) => args))];
  const run = (name: string, args: readonly unknown[]): unknown => (facade as Functions)[name]?.(...args);
  return {
    device: device as Device,
    objects,
    draw: (random) => {
      // Wrong arguments are refused before anything is allocated.
      const [name, args] = random.chance(0.7) ? random.pick(list) : drawnCall(random, list);
      const isRefusal = (error: unknown): boolean => isRefusalOf(name, error);
      return { name, run: () => run(name, args), isRefusal, makesSeveral: SENDING.test(name) };
    },
    end: () => {
      for (const [name, args] of list.filter(([one]) => DESTROYING.test(one))) {
        try {
          run(name, args);
        } catch (error) {
          // It is destroyed, or in use.
          if (!isRefusalOf(name, error) || error.message.includes("ENOMEM")) throw error;
        }
      }
    },
  };
}

const isSteeringError = (error: unknown): boolean => error instanceof SteeringError;

/** Messages to the control of a served device. */
export async function controlWork(loaded: LoadedScenario): Promise<Work> {
  const { board, server } = await controlOf(loaded);
  return {
    device: loaded.device,
    objects: [loaded.objects],
    draw: (random) => {
      const message = drawnMessage(random);
      const run = async (): Promise<void> => {
        const [error] = await answered(server, message);
        if (error !== undefined) throw refusalOf(error);
      };
      return { name: message, run, isRefusal: isSteeringError, makesSeveral: message.startsWith("[") };
    },
    end: () => {
      board.end();
      destroyRules(loaded);
    },
  };
}

/** The refusal in an answer, as the device gave it. */
function refusalOf({ message, data }: AnsweredError): SteeringError {
  const { code = "EINVAL", call = "the control" } = data ?? {};
  const reason = code === "ENOMEM" ? "no_memory" : "bad_usage";
  return new SteeringError({ code: code as ErrnoName, call, reason, hint: message });
}

/** Frames through a loaded scenario, rules that are added, and updates that leave rules out. */
export function loadedWork(loaded: LoadedScenario): Work {
  return {
    device: loaded.device,
    objects: [loaded.objects],
    draw: (random) => drawnStep(loaded, random),
    end: () => destroyRules(loaded),
  };
}

function drawnStep(loaded: LoadedScenario, random: Random): Step {
  const { device, scenario } = loaded;
  const { rules = [] } = scenario;
  const isRefusal = isSteeringError;
  switch (random.below(rules.length === 0 ? 3 : 5)) {
    case 0:
      return { name: "loaded.run", run: () => loaded.run(), isRefusal, makesSeveral: true };
    case 1: {
      const [frame] = drawnFrames(random, 1);
      return { name: "device.receive", run: () => frame && device.receive(1, frame), isRefusal };
    }
    case 2: {
      const frames = drawnFrames(random, random.below(FRAMES));
      // Frames before the refused one have arrived.
      return { name: "device.receiveBatch", run: () => device.receiveBatch(1, frames), isRefusal, makesSeveral: true };
    }
    case 3: {
      const rule = { ...random.pick(rules), name: `again ${random.word()}` };
      return { name: "createRule", run: () => createRule(loaded, rule), isRefusal, takesNumbers: true };
    }
    default: {
      const next = { ...scenario, rules: rules.filter(() => random.chance(0.8)) };
      return { name: "updateScenario", run: () => updateScenario(loaded, next), isRefusal, makesSeveral: true };
    }
  }
}

function drawnFrames(random: Random, count: number): Uint8Array[] {
  const frames = Array.from({ length: count }, () => randomFrame(random));
  return frames.filter(({ linkType }) => linkType === 1).map(({ bytes }) => bytes);
}

function destroyRules(loaded: LoadedScenario): void {
  for (const name of [...loaded.rules.keys()]) destroyRule(loaded, name);
}
