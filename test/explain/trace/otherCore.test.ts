/** The traced core reads a copy of the device's memory, whichever core made it: nothing in it names static memory of that core. */
import { expect, test } from "vitest";
import debug from "../../../build/debug/core.wasm";
import release from "../../../build/release/core.wasm";
import { createDevice } from "../../../src/index.js";
import { openTracer } from "../../../src/explain/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import { buildFrame } from "../../../src/packet/index.js";

const FIELDS = [
  "outer.dmac",
  "outer.smac",
  "outer.ipv4_dst",
  "outer.ipv4_src",
  "outer.tcp_dport",
  "outer.tcp_sport",
] as const;
const OF_MATCHER = 30;
/** Lookups until a table has candidate bitmaps. */
const FRAMES = 5000;

test.each([
  ["release", release],
  ["debug", debug],
])("a trace finds the rules that frames hit on the %s core", async (_, core) => {
  const device = await createDevice({ core, cache: { entries: 0 } });
  const domain = dv.mlx5dv_dr_domain_create(dv.mlx5dv_open_device(device), dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
  const table = dv.mlx5dv_dr_table_create(domain, 0);
  const drop = [dv.mlx5dv_dr_action_create_drop()];
  // Masks of 28 bytes in all, which are two lanes: lookups read no whole quad of chunks of each.
  for (const [priority, field] of FIELDS.entries()) {
    const { match_criteria_enable, mask } = dv.matchParameters({ [field]: 0 });
    const matcher = dv.mlx5dv_dr_matcher_create(table, priority, match_criteria_enable, mask);
    for (let n = 1; n <= OF_MATCHER; n++) {
      const { value } = dv.matchParameters({ [field]: FIELDS.length * n + priority });
      dv.mlx5dv_dr_rule_create(matcher, value, drop.length, drop);
    }
  }
  const frames = Array.from({ length: FIELDS.length * OF_MATCHER }, (_one, at) => {
    const n = at + FIELDS.length;
    // One rule of the field whose turn it is.
    const of = (field: (typeof FIELDS)[number]): number => (FIELDS[n % FIELDS.length] === field ? n : 1);
    const bytes = (field: (typeof FIELDS)[number], size: number): Uint8Array => {
      const long = new Uint8Array(size);
      long[size - 1] = of(field);
      return long;
    };
    return buildFrame([
      { header: "ethernet", destination: bytes("outer.dmac", 6), source: bytes("outer.smac", 6) },
      { header: "ipv4", destination: bytes("outer.ipv4_dst", 4), source: bytes("outer.ipv4_src", 4) },
      { header: "tcp", destination_port: of("outer.tcp_dport"), source_port: of("outer.tcp_sport") },
    ]);
  });
  for (let n = 0; n < FRAMES; n += frames.length) device.receiveBatch(1, frames);
  const tracer = await openTracer(device);
  for (const frame of frames) {
    const hit = device.receive(1, frame).rules.map(({ name }) => name);
    expect(hit).toHaveLength(1);
    const found = tracer
      .trace(1, frame)
      .steps.flatMap((step) => (step.kind === "lookup" ? (step.rule?.name ?? "no rule") : []));
    expect(found).toEqual(hit);
  }
});
