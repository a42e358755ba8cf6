/** The model of SimScript in examples/simulator has the times and deliveries of the same network in a plain loop. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createDevice, createSink, type Device } from "../../src/index.js";
import { buildFrame } from "../../src/packet/index.js";
import { loadScenario } from "../../src/scenario/index.js";
import { IBV_FLOW_ATTR_ALL_DEFAULT, ibv_create_flow, ibv_open_device } from "../../src/verbs/index.js";
import { printed } from "../support/programs.js";
import { ROOT } from "../support/root.js";

const source = readFileSync(join(ROOT, "examples/simulator/simscript.ts"), "utf8");

const packet = (to: number, from: number, identification: number): Uint8Array =>
  buildFrame([
    { header: "ethernet" },
    { header: "ipv4", source: `10.0.0.${from}`, destination: `10.0.0.${to}`, identification },
    { header: "udp" },
  ]);

async function openHost(n: number): Promise<{ n: number; device: Device; send: (frame: Uint8Array) => void }> {
  const device = await createDevice({ name: `host${n}` });
  const queue = createSink(ibv_open_device(device), "app");
  ibv_create_flow(queue, { type: IBV_FLOW_ATTR_ALL_DEFAULT, port: 1, specs: [] });
  return { n, device, send: (frame) => void device.send(queue, frame) };
}

/** The network without a simulator: a list of events, and the CPU as the time until which it is busy. */
async function plainLoop(): Promise<string[]> {
  const hosts = await Promise.all([1, 2, 3].map(openHost));
  const rules = hosts.map(({ n }) => ({
    name: `${n}`,
    table: "b",
    match: { "outer.ipv4_dst": `10.0.0.${n}` },
    actions: [{ port: n }],
  }));
  const { device: middle } = await loadScenario({
    flowsteer: 1,
    device: { ports: 3 },
    tables: ["a", "b"].map((name, level) => ({ name, domain: "fdb" as const, level })),
    rules: [{ name: "all", table: "a", actions: [{ table: "b" }] }, ...rules],
  });
  for (const { n, device } of hosts) device.connect(1, middle, n, { delay: 1_000n, rate: 10e9 });
  const devices = [middle, ...hosts.map(({ device }) => device)];
  const [server, ...clients] = hosts as [(typeof hosts)[0], ...typeof hosts];

  const events: { at: bigint; run: () => void }[] = [];
  const lines: string[] = [];
  let busyUntil = 0n;
  for (let request = 1; request <= 4; request++) {
    for (const { n, send } of clients)
      events.push({ at: 1_000n * BigInt(request), run: () => send(packet(1, n, request)) });
  }
  server.device.on("delivery", ({ destination: { frame } }) => {
    const [client, request] = [frame[29]!, frame[19]!];
    const now = server.device.now();
    busyUntil = (busyUntil > now ? busyUntil : now) + 900n;
    events.push({ at: busyUntil, run: () => server.send(packet(client, 1, request)) });
  });
  for (const { n, device } of clients) {
    device.on("delivery", ({ destination: { frame } }) => {
      lines.push(`${device.now()} ns: host ${n}, answer ${frame[19]!}`);
    });
  }
  for (;;) {
    events.sort((a, b) => Number(a.at - b.at));
    const times = devices.map((device) => device.nextDeadline()).filter((time) => time !== null);
    if (events[0] !== undefined) times.push(events[0].at);
    if (times.length === 0) return lines;
    const next = times.reduce((a, b) => (a < b ? a : b));
    for (const device of devices) device.advanceTo(next);
    while (events[0]?.at === next) events.shift()?.run();
  }
}

test("its answers come when they do in a plain loop", { timeout: 60_000 }, async () => {
  const expected = await plainLoop();
  expect(expected.length).toBe(8);
  const lines = (await printed(source)).trimEnd().split("\n");
  expect(lines.slice(0, -1)).toEqual(expected);
  // It works 900 ns for each answer, and ends when the last one has arrived.
  const last = Number(expected.at(-1)?.split(" ")[0]);
  expect(lines.at(-1)).toBe(`cpu: 8 answers, busy ${((100 * 8 * 900) / last).toFixed(0)} % of the time`);
});

test("it answers other times and services too", { timeout: 60_000 }, async () => {
  // A CPU that is faster than the requests come: no answer waits, so each comes at the same time after its request.
  const fast = source.replace("= [4, 1_000, 900]", "= [4, 1_000, 100]");
  expect(fast).not.toBe(source);
  const lines = (await printed(fast)).trimEnd().split("\n");
  const times = lines.slice(0, -1).map((line) => Number(line.split(" ")[0]));
  const ofHost2 = times.filter((_, n) => n % 2 === 0);
  expect(ofHost2.map((time) => time - (ofHost2[0] as number))).toEqual([0, 1_000, 2_000, 3_000]);
});
