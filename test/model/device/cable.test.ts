/** Cables that take time: when frames arrive, which are lost, and what is counted. */
import { describe, expect, test } from "vitest";
import { createDevice, createSink, prometheusText, type CableOptions, type Device } from "../../../src/index.js";
import { buildFrame } from "../../../src/packet/index.js";
import { cloneDevice, snapshotOf } from "../../../src/snapshot/index.js";
import * as v from "../../../src/verbs/index.js";
import { join, openEnd, openPair, post } from "../../verbs/support/connected.js";

/** 100 bytes: 800 ns at 1 Gb/s. */
function frame(n: number): Uint8Array {
  const bytes = buildFrame([
    { header: "ethernet" },
    { header: "ipv4", source: "192.0.2.1", destination: "10.0.0.7", identification: n & 0xffff },
    { header: "udp", destination_port: 9 },
    new Uint8Array(58),
  ]);
  expect(bytes).toHaveLength(100);
  return bytes;
}

interface Pair {
  readonly a: Device;
  readonly b: Device;
  readonly send: (n: number) => void;
  /** Runs until nothing waits; times and numbers of the frames that arrive at b. */
  readonly run: () => [time: bigint, n: number][];
}

async function pair(options: CableOptions, seed = 0): Promise<Pair> {
  const [a, b] = [await createDevice({ name: "a", seed }), await createDevice({ name: "b" })];
  const queue = createSink(v.ibv_open_device(a), "app");
  v.ibv_create_flow(createSink(v.ibv_open_device(b), "app"), { type: v.IBV_FLOW_ATTR_ALL_DEFAULT, port: 1, specs: [] });
  a.connect(1, b, 1, options);
  const arrived: [bigint, number][] = [];
  b.on("frame", ({ frame: bytes }) => arrived.push([b.now(), ((bytes[18] ?? 0) << 8) | (bytes[19] ?? 0)]));
  return {
    a,
    b,
    send: (n) => void a.send(queue, frame(n)),
    run: () => {
      for (let at = b.nextDeadline(); at !== null; at = b.nextDeadline()) b.advanceTo(at);
      return arrived;
    },
  };
}

describe("frames", () => {
  test("arrive after the delay, not before", async () => {
    const { a, b, send, run } = await pair({ delay: 2_000n });
    a.advanceTo(500n);
    send(1);
    expect(b.nextDeadline()).toBe(2_500n);
    b.advanceTo(2_499n);
    expect(a.cableCounters(1)).toMatchObject({ sent: 1, arrived: 0, underWay: 1 });
    expect(run()).toEqual([[2_500n, 1]]);
    expect(a.cableCounters(1)).toMatchObject({ sent: 1, arrived: 1, underWay: 0 });
    expect(b.cableCounters(1)).toMatchObject({ sent: 0 });
  });

  test("wait for the bits of those before them", async () => {
    const { a, send, run } = await pair({ delay: 1_000n, rate: 1e9 });
    [1, 2].forEach(send);
    a.advanceTo(1_700n);
    send(3);
    expect(run()).toEqual([
      [1_800n, 1],
      [2_600n, 2],
      [3_500n, 3],
    ]);
  });

  test("are lost where the queue is full, and fit again when it has moved", async () => {
    const { a, send, run } = await pair({ rate: 1e9, queue: 2 });
    [1, 2, 3].forEach(send);
    a.advanceTo(800n);
    [4, 5].forEach(send);
    expect(run().map(([, n]) => n)).toEqual([1, 2, 4]);
    expect(a.cableCounters(1)).toMatchObject({ sent: 5, arrived: 3, overflowed: 2 });
  });

  test("are lost, doubled and overtaken by chance, in about the given parts", async () => {
    const { a, send, run } = await pair({ delay: 100n, jitter: 50n, loss: 0.1, duplicate: 0.2, reorder: 0.3, seed: 5 });
    for (let n = 0; n < 5_000; n++) {
      send(n);
      a.advance(10n);
    }
    const arrived = run();
    const { lost, duplicated, reordered, sent, arrived: count } = a.cableCounters(1) ?? {};
    expect(lost! / sent!).toBeCloseTo(0.1, 1);
    expect(duplicated! / (sent! - lost!)).toBeCloseTo(0.2, 1);
    expect(reordered! / count!).toBeCloseTo(0.3, 1);
    expect(arrived).toHaveLength(sent! - lost! + duplicated!);
    for (const [time, n] of arrived) {
      expect(time).toBeGreaterThanOrEqual(BigInt(10 * n + 100));
      expect(time).toBeLessThanOrEqual(BigInt(10 * n + 150));
    }
    expect(arrived.some(([, n], i) => i > 0 && n < (arrived[i - 1] as [bigint, number])[1])).toBe(true);
  });

  test("have the same fate for the same seed", async () => {
    const fates = async (options: CableOptions, seed?: number): Promise<string> => {
      const { send, run } = await pair({ delay: 9n, loss: 0.5, ...options }, seed);
      for (let n = 0; n < 64; n++) send(n);
      return run().join(" ");
    };
    expect(await fates({ seed: 1 })).toBe(await fates({ seed: 1 }, 7));
    expect(await fates({ seed: 1 })).not.toBe(await fates({ seed: 2 }));
    expect(await fates({}, 7)).toBe(await fates({ seed: 7 }));
  });

  test("that are under way end with the cable", async () => {
    const { a, b, send, run } = await pair({ delay: 10n });
    send(1);
    b.disconnect(1);
    expect(b.nextDeadline()).toBeNull();
    expect(a.cableCounters(1)).toMatchObject({ sent: 1, arrived: 0, removed: 1, underWay: 0 });
    expect(a.metrics().cables).toMatchObject([{ port: 1, removed: 1 }]);
    a.connect(1, b, 1, { delay: 10n });
    expect(a.cableCounters(1)).toMatchObject({ sent: 0, removed: 0 });
    send(2);
    expect(run().map(([, n]) => n)).toEqual([2]);
  });
});

test("options out of range are refused, and both ports stay free", async () => {
  const [a, b] = [await createDevice({ name: "a" }), await createDevice({ name: "b" })];
  const refused: [CableOptions, string][] = [
    [{ delay: -1n }, "options.delay"],
    [{ rate: 0 }, "options.rate"],
    [{ queue: 4 }, "options.queue"],
    [{ queue: 0, rate: 1 }, "options.queue"],
    [{ loss: 1.1 }, "options.loss"],
    [{ duplicate: Number.NaN }, "options.duplicate"],
    [{ reorder: 0.1 }, "options.reorder"],
    [{ seed: 0.5 }, "options.seed"],
  ];
  for (const [options, path] of refused)
    expect(() => a.connect(1, b, 1, options)).toThrow(expect.objectContaining({ path, code: "EINVAL" }));
  expect(() => a.connect(1, b, 1, { delay: 5 as never })).toThrow(TypeError);
  expect(() => a.connect(1, b, 1, { latency: 5n } as never)).toThrow(/latency/);
  a.connect(1, b, 1, { delay: 5n });
  expect(() => b.connect(1, a, 1, {})).toThrow(expect.objectContaining({ code: "EBUSY" }));
});

test("metrics have what cables have counted", async () => {
  const { a, send } = await pair({ delay: 10n });
  send(1);
  expect(a.metrics().cables).toEqual([{ port: 1, ...a.cableCounters(1) }]);
  const text = prometheusText(a.metrics());
  expect(text).toContain('flowsteer_cable_sent_frames_total{device="a",port="1"} 1\n');
  expect(text).toContain('flowsteer_cable_frames{device="a",port="1"} 1\n');
});

test("a device that a frame is under way to is not saved", async () => {
  const { a, b, send, run } = await pair({ delay: 10n });
  send(1);
  expect(() => snapshotOf(b)).toThrow(expect.objectContaining({ path: "port:1", reason: "not_saved" }));
  snapshotOf(a);
  run();
  snapshotOf(b);
});

test("frames that a device has under way to itself are saved", async () => {
  const device = await createDevice({ ports: 2 });
  const queue = createSink(v.ibv_open_device(device), "app");
  v.ibv_create_flow(queue, { type: v.IBV_FLOW_ATTR_ALL_DEFAULT, port: 2, specs: [] });
  device.connect(1, device, 2, { delay: 10n, rate: 1e9, loss: 0.2 });
  for (let n = 0; n < 9; n++) device.send(queue, frame(n));
  const { device: copy } = await cloneDevice(device);
  for (const one of [device, copy]) one.advanceTo(100_000n);
  expect(copy.cableCounters(1)).toEqual(device.cableCounters(1));
  expect(copy.cableCounters(1)?.arrived).toBeGreaterThan(0);
});

test("a connection saved while it waits goes on", async () => {
  const [left, right] = await openPair();
  const [sender, peer] = [openEnd(left), openEnd(right)];
  join(sender, peer, { timeout: 4, retry_cnt: 2 });
  left.connect(1, () => undefined, { delays: true });
  post(sender, Uint8Array.of(1, 2, 3));
  const { device, kept } = await cloneDevice(left, { keep: { cq: sender.sent }, attach: { "port:1": null } });
  expect(device.nextDeadline()).toBe(65_536n);
  expect(left.nextDeadline()).toBe(65_536n);
  left.advanceTo(3n * 65_536n - 1n);
  expect(v.ibv_poll_cq(sender.sent, 1)).toEqual([]);
  left.advanceTo(3n * 65_536n);
  const [failed] = v.ibv_poll_cq(sender.sent, 1);
  expect(failed?.status).not.toBe(v.IBV_WC_SUCCESS);
  device.advanceTo(65_536n);
  // Without a cable no frame is under way: the copy repeats at once.
  expect(v.ibv_poll_cq(kept.cq, 1)[0]?.status).toBe(failed?.status);
});

test("each RNR timer waits as long as ibv_modify_qp(3) says", async () => {
  // Units of 10 us, by min_rnr_timer.
  const units = [
    ...[65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768],
    ...[1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152],
  ];
  for (const [min_rnr_timer, unit] of units.entries()) {
    const [left, right] = await openPair();
    const [sender, peer] = [openEnd(left), openEnd(right)];
    join(sender, peer, { min_rnr_timer, rnr_retry: 1 });
    left.connect(1, right, 1, { delay: 500n });
    post(sender, Uint8Array.of(1));
    for (const time of [500n, 1_000n]) for (const device of [left, right]) device.advanceTo(time);
    // The peer has no receive request, and its NAK is back.
    expect(left.nextDeadline(), `timer ${min_rnr_timer}`).toBe(1_000n + 10_000n * BigInt(unit));
  }
});

test("messages cross a cable that loses frames, and complete in its time", async () => {
  const [left, right] = await openPair();
  const [sender, peer] = [openEnd(left), openEnd(right)];
  join(sender, peer, { timeout: 5, retry_cnt: 7 });
  left.connect(1, right, 1, { delay: 1_000n, rate: 10e9, loss: 0.2, seed: 3 });
  const [from, to] = [new Uint8Array(9_000).map((_, i) => i * 7), peer.memory.subarray(0, 16_384)];
  v.ibv_post_recv(peer.qp, { wr_id: 1n, sg_list: [{ addr: to, lkey: peer.mr.lkey }], num_sge: 1 });
  post(sender, from);
  expect(v.ibv_poll_cq(sender.sent, 1)).toEqual([]);
  for (;;) {
    const times = [left.nextDeadline(), right.nextDeadline()].filter((time) => time !== null);
    if (times.length === 0) break;
    const next = times.reduce((a, b) => (a < b ? a : b));
    left.advanceTo(next);
    right.advanceTo(next);
  }
  expect(v.ibv_poll_cq(sender.sent, 1)[0]?.status).toBe(v.IBV_WC_SUCCESS);
  expect(to.subarray(0, from.length)).toEqual(from);
  expect(left.cableCounters(1)?.lost).toBeGreaterThan(0);
});
