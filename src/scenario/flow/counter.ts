/** The flow counters of a scenario. */
import { IBV_COUNTER_BYTES, IBV_COUNTER_PACKETS } from "../../abi/verbs.js";
import type { Context } from "../../model/base/context.js";
import { Counters } from "../../model/flow/counters.js";
import type { ScenarioCounterPoint, ScenarioFlowCounter } from "./definition.js";

/** A flow counter of a scenario that is loaded. */
export class LoadedFlowCounter {
  readonly name: string;
  readonly counters: Counters;
  readonly points: readonly ScenarioCounterPoint[];

  constructor(call: string, context: Context, { name, points = [] }: ScenarioFlowCounter) {
    this.name = name;
    this.points = points;
    this.counters = new Counters(call, context, { comp_mask: 0 });
    for (const { index, counts } of points) {
      const counter_desc = counts === "bytes" ? IBV_COUNTER_BYTES : IBV_COUNTER_PACKETS;
      this.counters.attach(call, { counter_desc, index }, null);
    }
  }

  /** What ibv_read_counters gives, as long as the points want it; of a profile that reads only while a flow counts, too. */
  values(): bigint[] {
    const { packets, bytes } = this.counters.read();
    const values: bigint[] = [];
    for (const { index, counts } of this.points) {
      while (values.length <= index) values.push(0n);
      values[index] = (values[index] ?? 0n) + (counts === "bytes" ? bytes : packets);
    }
    return values;
  }
}
