/** What frames have added to the counters of a scenario. */
import type { CounterValue } from "../../model/action/counter.js";
import type { LoadedScenario } from "../../scenario/load.js";

/** What a counter has counted. */
export interface CounterChange {
  readonly name: string;
  /** The counter of a bulk; null for a counters object of the verbs. */
  readonly offset: number | null;
  readonly packets: number;
  readonly bytes: number;
}

/** Counters that are not zero, by a key of their own. */
export type Counts = ReadonlyMap<string, CounterValue & Pick<CounterChange, "name" | "offset">>;

/** The counters of a scenario that are not zero. */
export function readCounts({ counters, flowCounters }: LoadedScenario): Counts {
  const counts = new Map<string, CounterValue & Pick<CounterChange, "name" | "offset">>();
  for (const [name, counter] of counters) {
    for (const offset of counter.counted()) {
      counts.set(JSON.stringify([name, offset]), { name, offset, ...counter.read(offset) });
    }
  }
  for (const [name, { counters: pair }] of flowCounters) {
    counts.set(JSON.stringify([name]), { name, offset: null, ...pair.read() });
  }
  return counts;
}

/** What was counted between two readings. */
export function countsSince(before: Counts, after: Counts): CounterChange[] {
  return [...after].flatMap(([key, { name, offset, packets, bytes }]) => {
    const was = before.get(key) ?? { packets: 0n, bytes: 0n };
    const change = { name, offset, packets: Number(packets - was.packets), bytes: Number(bytes - was.bytes) };
    return change.packets === 0 ? [] : [change];
  });
}

/** Adds what counters of the same scenario have counted. */
export function addCounts({ counters, flowCounters }: LoadedScenario, changes: readonly CounterChange[]): void {
  for (const { name, offset, packets, bytes } of changes) {
    const counted = { packets: BigInt(packets), bytes: BigInt(bytes) };
    if (offset === null) flowCounters.get(name)?.counters.add(counted);
    else counters.get(name)?.add(offset, counted);
  }
}
