/** An imported eSwitch with a queue in each function, and where its frames go. */
import { importRules, type ImportOptions } from "../../../../src/import/index.js";
import { QueuePair } from "../../../../src/model/queuePair/queuePair.js";
import { loadScenario, type LoadedScenario, type Scenario } from "../../../../src/scenario/index.js";
import { hexOf } from "../../../../src/base/hex.js";

/** Imports a text whose elements all have an equal. */
export function imported(text: string, options: ImportOptions = {}): Scenario {
  const { scenario, findings } = importRules(text, { format: "tc", ...options });
  if (scenario === null) throw new Error(findings.map(({ text: what, reason }) => `${what}: ${reason}`).join("\n"));
  return scenario;
}

/** The scenario with a queue and a default flow in each function, in place of what drivers receive. */
export function withQueues(scenario: Scenario): Scenario {
  const functions = Array.from({ length: (scenario.device?.vports ?? 0) + 1 }, (_, n) => n);
  const nameOf = (n: number): string => (n === 0 ? "pf" : `vf${n}`);
  return {
    ...scenario,
    hostRules: [],
    queues: functions.map((n) => ({ name: nameOf(n), ...(n === 0 ? {} : { function: n }) })),
    flows: functions.map((n) => ({ queue: nameOf(n), type: "all_default" as const })),
  };
}

export interface Arrival {
  readonly name: string;
  readonly hex: string;
}

export class Switch {
  constructor(private readonly loaded: LoadedScenario) {}

  static async of(scenario: Scenario): Promise<Switch> {
    return new Switch(await loadScenario(withQueues(scenario)));
  }

  /** Where a frame arrives that comes from the wire (0), or that a VF sends. */
  steer(from: number, frame: Uint8Array): Arrival[] {
    const { device, queues } = this.loaded;
    const queue = queues.get(`vf${from}`)?.queue;
    const outcome = queue instanceof QueuePair && from > 0 ? device.send(queue, frame) : device.receive(1, frame);
    return outcome.to.map(({ name, frame: bytes }) => ({ name, hex: hexOf(bytes) }));
  }

  names(from: number, frame: Uint8Array): string[] {
    return this.steer(from, frame).map(({ name }) => name);
  }
}
