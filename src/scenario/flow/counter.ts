/** The flow counters of a scenario (ibv_create_counters(3)). */
import { IBV_COUNTER_BYTES, IBV_COUNTER_PACKETS } from "../../abi/verbs.js";
import type { Context } from "../../model/base/context.js";
import { Counters } from "../../model/flow/counters.js";
import type { ScenarioCounterPoint, ScenarioFlowCounter } from "./definition.js";

/** A loaded flow counter. */
export class LoadedFlowCounter {
  readonly name: string;
  readonly counters: Counters;
  readonly points: readonly ScenarioCounterPoint[];

  constructor(call: string, context: Context, { name, points = [] }: ScenarioFlowCounter) {
    this.name = name;
    this.points = points;
    this.counters = new Counters(call, context, { comp_mask: 0 }).called(name);
    for (const { index, counts } of points) {
      const counter_desc = counts === "bytes" ? IBV_COUNTER_BYTES : IBV_COUNTER_PACKETS;
      this.counters.attach(call, { counter_desc, index }, null);
    }
  }

  /**
   * The array that ibv_read_counters fills, as long as its points need; also where the profile
   * reads only while a flow counts.
   */
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
