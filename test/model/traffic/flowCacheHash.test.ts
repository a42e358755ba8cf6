/** Flows that differ in a single byte have entries all over the flow cache. */
import { expect, test } from "vitest";
import { buildFrame } from "../../../src/packet/index.js";
import { loadScenario } from "../../../src/scenario/index.js";

const FLOWS = 256;
const TUPLE = { source: "10.0.0.1", destination: "10.0.0.2", source_port: 1000, destination_port: 443 };
const FLOW_OF: Record<string, (n: number) => Partial<typeof TUPLE>> = {
  "the first byte of the source": (n) => ({ source: `${n}.0.0.1` }),
  "the last byte of the source": (n) => ({ source: `10.0.0.${n}` }),
  "the first byte of the destination": (n) => ({ destination: `${n}.0.0.2` }),
  "the last byte of the destination": (n) => ({ destination: `10.0.0.${n}` }),
  "the high byte of the source port": (n) => ({ source_port: n * 256 }),
  "the low byte of the source port": (n) => ({ source_port: n }),
  "the high byte of the destination port": (n) => ({ destination_port: n * 256 }),
  "the low byte of the destination port": (n) => ({ destination_port: n }),
};

test.each(Object.keys(FLOW_OF))("%s", async (name) => {
  const { device } = await loadScenario({
    flowsteer: 1,
    queues: [{ name: "web" }],
    tables: [{ name: "root", level: 0 }],
    rules: [
      {
        name: "exact",
        table: "root",
        match: {
          "outer.ipv4_src": TUPLE.source,
          "outer.ipv4_dst": TUPLE.destination,
          "outer.tcp_sport": TUPLE.source_port,
          "outer.tcp_dport": TUPLE.destination_port,
        },
        actions: [{ queue: "web" }],
      },
      { name: "tcp", table: "root", match: { "outer.ip_protocol": "tcp" }, actions: [{ queue: "web" }] },
    ],
  });
  const frames = Array.from({ length: FLOWS }, (_, n) => {
    const { source, destination, ...ports } = { ...TUPLE, ...FLOW_OF[name]!(n) };
    return buildFrame([{ header: "ethernet" }, { header: "ipv4", source, destination }, { header: "tcp", ...ports }]);
  });
  // The cache grows as it fills.
  for (let n = 0; n < 8; n++) device.receiveBatch(1, frames);
  const { hits } = device.cache;
  device.receiveBatch(1, frames);
  expect(Number(device.cache.hits - hits)).toBeGreaterThan(0.8 * FLOWS);
});
