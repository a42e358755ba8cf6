/** Switches with thousands of ports. */
import { expect, test } from "vitest";
import { loadScenario } from "../../../src/scenario/index.js";

const PORTS = 2000;

test("a device forwards between any of 2,000 ports, and counts each", async () => {
  const { device } = await loadScenario({
    flowsteer: 1,
    device: { ports: PORTS },
    tables: [
      { name: "root", domain: "fdb", level: 0 },
      { name: "ports", domain: "fdb", level: 1 },
    ],
    rules: [
      { name: "all", table: "root", actions: [{ table: "ports" }] },
      ...Array.from({ length: PORTS }, (_, n) => ({
        name: `to ${n + 1}`,
        table: "ports",
        match: {
          "outer.dmac": `02:00:00:00:${(n >> 8).toString(16).padStart(2, "0")}:${(n & 255).toString(16).padStart(2, "0")}`,
        },
        actions: [{ port: n + 1 }],
      })),
    ],
  });
  device.countHits();
  const arrived: string[] = [];
  for (const port of [256, PORTS]) device.connect(port, (_, info) => arrived.push(`port ${info.port}`));
  for (const [from, to] of [
    [1, 256],
    [257, PORTS],
    [PORTS, 1],
  ] as const) {
    const frame = new Uint8Array(60);
    frame.set([2, 0, 0, 0, (to - 1) >> 8, (to - 1) & 255]);
    expect(device.receive(from, frame)).toMatchObject({ verdict: "forward", to: [{ name: `port:${to}` }] });
  }
  expect(arrived).toEqual(["port 256", `port ${PORTS}`]);
  const counted = device
    .metrics()
    .hits?.ports.filter(({ received, transmitted }) => received.packets + transmitted.packets > 0n);
  expect(counted?.map(({ port, received, transmitted }) => [port, received.packets, transmitted.packets])).toEqual([
    [1, 1n, 1n],
    [256, 0n, 1n],
    [257, 1n, 0n],
    [PORTS, 1n, 1n],
  ]);
  const macs = device.hardware.ports.map(({ mac }) => mac.join());
  expect(new Set(macs).size).toBe(PORTS);
  expect(macs[255 - 1]!.startsWith("2,")).toBe(true);
});
