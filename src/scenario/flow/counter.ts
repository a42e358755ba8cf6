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

  private constructor({ name, points = [] }: ScenarioFlowCounter, counters: Counters) {
    this.name = name;
    this.points = points;
    this.counters = counters;
  }

  /** @internal Makes the counters object of a document. */
  static create(context: Context, counter: ScenarioFlowCounter): LoadedFlowCounter {
    const counters = new Counters(context, { comp_mask: 0 }).called(counter.name);
    for (const { index, counts } of counter.points ?? []) {
      const counter_desc = counts === "bytes" ? IBV_COUNTER_BYTES : IBV_COUNTER_PACKETS;
      counters.attach({ counter_desc, index }, null);
    }
    return new LoadedFlowCounter(counter, counters);
  }

  /** Takes the counters object of a snapshot. */
  static of(counter: ScenarioFlowCounter, counters: Counters): LoadedFlowCounter {
    return new LoadedFlowCounter(counter, counters);
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
