/** A rule that is refused, and one that is destroyed, leave nothing of the actions that were made for it. */
import { expect, it } from "vitest";
import debug from "../../../build/debug/core.wasm";
import { createRule, destroyRule, loadScenario } from "../../../src/scenario/index.js";
import { changesSince, stateOf } from "../../faults/support/everyAllocation.js";
import { Countdown, faultyCore, isFull } from "../../faults/support/faultyCore.js";

const METER = { flow_meter: { next_table: "coloured", reg_c_index: 1, meter_mode: "pkt", cir: 2000, cbs: 2 } };

const BASE = {
  flowsteer: 1,
  queues: [{ name: "web" }],
  counters: [{ name: "all" }],
  tables: [
    { name: "root", level: 0 },
    { name: "metered", level: 1 },
    { name: "coloured", level: 2 },
  ],
  // A device is stateful from its first meter on.
  actions: [{ name: "shared", ...METER }],
  rules: [{ name: "on", table: "root", actions: [{ table: "metered" }] }],
};
const SAMPLER = {
  flow_sampler: { sample_ratio: 2, default_next_table: "coloured", sample_actions: [{ count: "all" }] },
};
const CHANGES = { modify: [{ set: "outer.ip_ttl_hoplimit", to: 3 }] };

it.each([
  ["a meter of its own", [METER]],
  ["a sampler of its own", [SAMPLER]],
  ["header changes that later rules share", [CHANGES, { queue: "web" }]],
])("%s", async (_, actions) => {
  const loaded = await loadScenario(BASE, { core: faultyCore(debug) });
  const { device } = loaded;
  const faults = new Countdown(device);
  const rule = { name: "one", table: "metered", match: { "outer.tcp_dport": 80 }, actions };
  const before = stateOf(device, [loaded.objects]);
  let refused = 0;
  for (;;) {
    const { error } = faults.run(refused + 1, () => createRule(loaded, rule));
    // It makes fewer allocations, or does without this one.
    if (error === undefined) break;
    refused++;
    expect(isFull(error)).toBe(true);
    const changed = changesSince(before, device, [loaded.objects]);
    // The numbers in the names of objects are not given again.
    expect(changed.filter((one) => !one.startsWith("device._numbers"))).toEqual([]);
  }
  expect(refused).toBeGreaterThan(1);
  // A table keeps room for the rules that it had once.
  destroyRule(loaded, "one");
  const used = device.memoryUsed;
  for (let n = 0; n < 20; n++) {
    createRule(loaded, rule);
    destroyRule(loaded, "one");
  }
  expect(device.memoryUsed).toBe(used);
});
