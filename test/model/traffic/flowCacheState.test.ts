/**
 * The flow cache before actions that the key does not determine (docs/frames.md): ESP actions and
 * samplers. All frames have one key, so each but the first hits; the numbers of the frames alone
 * give the expected outcomes. With few entries, many and none; frames alone, in batches, in bursts.
 */
import { describe, expect, test } from "vitest";
import type { Device, Outcome } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import type { CacheOptions } from "../../../src/model/traffic/flowCache.js";
import * as v from "../../../src/verbs/index.js";
import { ipv4Frame } from "../../mlx5dv/support/directRules.js";
import { counted, enter, openCounter, openSwitch, ruleFor } from "../../mlx5dv/support/switchBench.js";
import { noteNumber, numbersFrom, refusedNumber } from "../../oracle/esp/replayWindow.js";
import { Random } from "../../oracle/generate/random.js";
import { isSampled } from "../../oracle/act/sampler.js";
import {
  BMP,
  create,
  ENCRYPT,
  handle,
  inline,
  numbersOf,
  sealed,
  sealing,
  SPI,
  tunnel,
} from "../../verbs/support/esp.js";
import { DONT_TRAP, dport, FlowBench, IPV4, outcomeText, tag } from "../../verbs/support/flows.js";

/** Passes frames in; reads their outcomes before the next frames come. */
type Way = <T>(device: Device, frames: readonly Uint8Array[], read: (outcome: Outcome) => T) => T[];

/** The number of frames of a batch. */
const batches =
  (most: number): Way =>
  (device, frames, read) => {
    const all = [];
    for (let n = 0; n < frames.length; n += most) {
      all.push(...device.receiveBatch(1, frames.slice(n, n + most)).map(read));
    }
    return all;
  };

/** The number of frames of a burst. */
const bursts =
  (most: number, lies: boolean): Way =>
  (device, frames, read) => {
    const all = [];
    const burst = device.openBurst();
    for (let n = 0; n < frames.length; n += most) {
      burst.clear();
      let at = 3;
      for (const frame of frames.slice(n, n + most)) {
        if (lies) burst.bytes.set(frame, at);
        if (lies) burst.add(at, frame.length);
        else burst.put(frame);
        at += frame.length;
      }
      for (let row = 0, rows = burst.steer(); row < rows; row++) all.push(read(burst.outcome(row)));
    }
    return all;
  };

const WAYS: Record<string, Way> = {
  "one by one": (device, frames, read) => frames.map((frame) => read(device.receive(1, frame))),
  "in batches": batches(256),
  "in batches of three": batches(3),
  "in bursts": bursts(256, false),
  "in bursts of five, where they lie": bursts(5, true),
};

const CACHES: Record<string, CacheOptions | false> = {
  "no cache": false,
  "one entry": { entries: 1 },
  "four entries": { entries: 4 },
  "many entries": {},
};

const CASES = Object.keys(WAYS).flatMap((way) => Object.keys(CACHES).map((cache) => [way, cache] as const));

/** If there is a cache with room for them, all frames but those of the first batch hit. */
function isUsed({ cache }: Device, frames: number): void {
  const { hits, misses, entries } = cache;
  if (entries === 0) expect([hits, misses]).toEqual([0n, 0n]);
  else expect(Number(hits)).toBeGreaterThan(entries < 4 ? 0 : frames / 2);
}

const SEALED = 40;
const FIRST_PORT = 1000;
const WINDOW = 8;
const DROPS = 400;
const PLAIN = ipv4Frame({ dport: 80 });

/** A device and frames that it encrypted, numbered from 1; inner ports start at FIRST_PORT. */
async function sealer(cache: CacheOptions | false): Promise<{ bench: FlowBench; frames: Uint8Array[] }> {
  const bench = await FlowBench.open({ cache });
  const flow = sealing(bench, create(bench, tunnel(ENCRYPT)));
  const frames = Array.from({ length: SEALED }, (_, n) => sealed(bench, ipv4Frame({ dport: FIRST_PORT + n })));
  v.ibv_destroy_flow(flow);
  return { bench, frames };
}

/** Matches encrypted frames only. */
const SEALED_SPEC = { type: v.IBV_FLOW_SPEC_ESP, val: { spi: SPI }, mask: { spi: 0xffffffff } };

/** The same frame with another ICV. */
const forged = (frame: Uint8Array): Uint8Array => frame.map((byte, at) => (at === frame.length - 1 ? byte ^ 1 : byte));

describe("ESP, full offload", () => {
  test.each(CASES)("%s, %s: what is inside decides behind it, and the window sees every frame", async (way, cache) => {
    const { bench, frames } = await sealer(CACHES[cache]!);
    const { device } = bench;
    bench.flow(
      "in",
      [IPV4, SEALED_SPEC, handle(create(bench, tunnel(0, { replay_proto: BMP, replay_ptr: { size: WINDOW } })))],
      DONT_TRAP,
    );
    for (let n = 0; n < SEALED; n++) bench.flow(`q${n % 3}`, [dport(FIRST_PORT + n), tag(n + 1)], { priority: 1 });
    bench.flow("web", [dport(80), tag(99)], { priority: 1 });

    const random = new Random(7);
    const numbers = numbersFrom(1n, WINDOW);
    const [input, expected]: [Uint8Array[], string[]] = [[], []];
    for (let n = 0; n < DROPS; n++) {
      if (random.chance(0.2)) {
        input.push(PLAIN);
        expected.push("web99 deliver");
        continue;
      }
      // Near the window, which moves from the first number to the last.
      const which = Math.max(0, Math.min(SEALED - 1, Math.floor((n * SEALED) / DROPS) + random.between(-9, 6)));
      const [bad, number] = [random.chance(0.3), BigInt(which + 1)];
      const why = refusedNumber(numbers, number) ?? (bad ? "esp_authentication" : null);
      input.push(bad ? forged(frames[which]!) : frames[which]!);
      expected.push(why === null ? `(in) q${which % 3}${which + 1} deliver` : `drop ${why}`);
      if (why === null) noteNumber(numbers, number);
    }
    const { hits, misses } = device.cache;
    expect(WAYS[way]!(device, input, outcomeText)).toEqual(expected);
    for (const why of ["drop esp_replay", "drop esp_authentication", "deliver"])
      expect(expected.filter((text) => text.endsWith(why)).length).toBeGreaterThan(20);
    const asked = Number(device.cache.hits + device.cache.misses - hits - misses);
    expect(asked).toBe(device.cache.entries === 0 ? 0 : DROPS);
    if (way === "one by one") isUsed(device, DROPS);
  });

  test.each(Object.keys(CACHES))("%s: frames that are sealed have the next number each", async (cache) => {
    const { bench, frames } = await sealer(CACHES[cache]!);
    const numbers = frames.map((frame) => numbersOf(frame));
    expect(numbers.map(({ spi, seq }) => [spi, seq])).toEqual(frames.map((_, n) => [SPI, n + 1]));
    expect(new Set(numbers.map(({ iv }) => iv)).size).toBe(SEALED);
    isUsed(bench.device, SEALED);
  });
});

test.each(CASES)("inline ESP, %s, %s: each frame is told of by itself", async (way, cache) => {
  const { bench, frames } = await sealer(CACHES[cache]!);
  bench.flow("in", [IPV4, SEALED_SPEC, handle(create(bench, inline(0)))]);
  const random = new Random(8);
  const bad = Array.from({ length: DROPS }, () => random.chance(0.4));
  const input = bad.map((one, n) => (one ? forged(frames[n % SEALED]!) : frames[n % SEALED]!));
  const told = WAYS[way]!(bench.device, input, ({ to }) => [to[0]?.name, to[0]?.espFault]);
  expect(told).toEqual(bad.map((one) => ["qp:in", one ? "icv" : undefined]));
});

describe("samplers", () => {
  const RATIO = 3;
  const NUMBERED = 600;

  test.each(CASES)("%s, %s: chance is of the numbers of all frames", async (way, cache) => {
    const seed = 77;
    const bench = await openSwitch({ seed, cache: CACHES[cache]! });
    const { device, context, rx, queues } = bench;
    const toQueue = (n: number) => dv.mlx5dv_dr_action_create_dest_ibv_qp(queues[n]!);
    const samples = openCounter(context);
    enter(rx);
    const [next, last] = [2, 3].map((level) => dv.mlx5dv_dr_table_create(rx.domain, level));
    const sampler = dv.mlx5dv_dr_action_create_flow_sampler({
      sample_ratio: RATIO,
      default_next_table: next!,
      sample_actions: [dv.mlx5dv_dr_action_create_flow_counter(samples, 0), toQueue(0)],
      action: [{ type: "set", field: "METADATA_REG_C_0", data: 5, offset: 0, length: 8 }],
    });
    ruleFor(rx.table, { "outer.tcp_dport": 80 }, [sampler]);
    ruleFor(rx.table, { "outer.tcp_dport": 81 }, [dv.mlx5dv_dr_action_create_tag(8), toQueue(0)]);
    ruleFor(next!, { "misc2.metadata_reg_c_0": 5 }, [dv.mlx5dv_dr_action_create_dest_table(last!)]);
    ruleFor(last!, { "outer.tcp_dport": 80 }, [dv.mlx5dv_dr_action_create_tag(9), toQueue(0)]);

    // Some frames were sent before in another way: numbers go on.
    const random = new Random(9);
    const ports = Array.from({ length: NUMBERED }, () => random.pick([80, 80, 80, 81, 82]));
    const frames = ports.map((dport) => ipv4Frame({ dport }));
    const of = ({ copies, tag }: Outcome): unknown => [copies.length, tag];
    const before = frames.splice(0, 50).map((frame) => of(device.receive(1, frame)));
    const told = [...before, ...WAYS[way]!(device, frames, of)];
    const sampled = ports.map((dport, n) => dport === 80 && isSampled(BigInt(seed), BigInt(n), 0n, RATIO));
    const tags: Readonly<Record<number, number>> = { 80: 9, 81: 8 };
    expect(told).toEqual(ports.map((dport, n) => [sampled[n] ? 1 : 0, tags[dport] ?? null]));
    const count = sampled.filter((one) => one).length;
    expect(count).toBeGreaterThan(50);
    expect(counted(samples)).toEqual([count, 64 * count]);
    isUsed(device, NUMBERED);
  });
});
