// Random stateful actions for rules of random devices.

import { type Places, randomDestination } from "./actions.js";
import { emptyConnection } from "../act/connection.js";
import { randomMeter } from "./meter.js";
import { newMeter } from "../act/meter.js";
import { type Destination, type PipelineAction, type Sampler } from "../walk/pipeline.js";
import { type PipelineState } from "../walk/pipelineState.js";
import { type Random } from "./random.js";

/** Few objects, so that frames share them. */
export const FLAGS = 6;
export const METERS = 4;
export const CONNECTIONS = 2;
/** Objects that ASO actions can name. */
export const REGISTERS = [1, 3, 5];

/** Objects shared by rules of all domains. */
export function fillState(random: Random, state: PipelineState): void {
  for (let n = 0; n < METERS; n++) state.meters.set(`aso${n}`, newMeter(randomMeter(random), state.now));
  state.flags = Array.from({ length: FLAGS }, () => random.chance(0.2));
  state.connections = Array.from({ length: CONNECTIONS }, () => ({ context: emptyConnection(), time: null }));
}

/** Adds some to a list of actions; a terminal one replaces the existing one. */
export function addState(random: Random, state: PipelineState, places: Places, list: PipelineAction[]): void {
  const put = (action: PipelineAction): void => void list.splice(random.below(list.length + 1), 0, action);
  const register = (): number => random.pick(REGISTERS);
  for (const chance of [0.3, 0.1]) {
    if (!random.chance(chance)) continue;
    put({ kind: "firstHit", flag: random.below(FLAGS), set: random.chance(0.7), register: register() });
  }
  for (const chance of [0.3, 0.15]) {
    if (!random.chance(chance)) continue;
    const start = random.pick([0, 1, 2, 2, 3, 3]);
    put({ kind: "meter", meter: `aso${random.below(METERS)}`, start, register: register() });
  }
  if (random.chance(0.25)) {
    put({ kind: "track", connection: random.below(CONNECTIONS), original: random.chance(0.6), register: register() });
  }
  if (places.behind.length === 0 || !random.chance(0.3)) return;
  const end = list.findIndex(({ kind }) => ENDS.has(kind));
  if (end >= 0) list.splice(end, 1);
  const table = random.pick(places.behind);
  put(
    places.domain === "nic_tx" || random.chance(0.4)
      ? flowMeter(random, state, table)
      : randomSampler(random, places, table),
  );
}

const ENDS: ReadonlySet<PipelineAction["kind"]> = new Set(
  (["drop", "rootTable", "array", "defaultMiss", "qp", "table", "vport", "port"] as const).values(),
);

function flowMeter(random: Random, state: PipelineState, table: string): PipelineAction {
  const parameters = randomMeter(random);
  const meter = `own${state.meters.size}`;
  state.meters.set(meter, newMeter(parameters, state.now, random.chance(0.9)));
  return { kind: "flowMeter", meter, start: parameters.start, register: random.below(8), table };
}

function randomSampler(random: Random, places: Places, table: string): Sampler {
  const width = random.pick([32, 32, 8]);
  const offset = random.below(33 - width);
  return {
    kind: "sampler",
    number: 0n,
    table,
    ratio: random.pick([1, 2, 2, 3, 7, 1000, 0xffffffff]),
    sample: {
      ...(places.domain === "nic_rx" && random.chance(0.4) ? { tag: random.word() } : {}),
      ...(random.chance(0.4) ? { counter: random.pick(places.counters) } : {}),
      dest: sampleDestination(random, places),
    },
    set: random.chance(0.4)
      ? { type: "set", field: "METADATA_REG_C_0", data: random.word(), offset, length: width & 31 }
      : null,
  };
}

function sampleDestination(random: Random, places: Places): Destination {
  for (;;) {
    const dest = randomDestination(random, places);
    if (dest.kind === "qp" || (places.domain === "fdb" && (dest.kind === "vport" || dest.kind === "defaultMiss"))) {
      return dest;
    }
  }
}
