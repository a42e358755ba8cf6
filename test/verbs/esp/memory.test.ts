/**
 * Memory exhaustion at every possible point: creating and modifying ESP actions fails with ENOMEM,
 * and existing objects still work.
 */
import { expect, test } from "vitest";
import type { Device } from "../../../src/index.js";
import type { EspAction } from "../../../src/model/esp/action.js";
import * as v from "../../../src/verbs/index.js";
import { ipv4Frame } from "../../mlx5dv/support/directRules.js";
import {
  BMP,
  create,
  ENCRYPT,
  FULL,
  handle,
  keymat,
  leftOver,
  OTHER_KEY,
  sealed,
  sealing,
  sent,
  SPI,
  told,
  TRANSPORT,
  tunnel,
} from "../support/esp.js";
import { FlowBench } from "../support/flows.js";

const FRAME = ipv4Frame();
/**
 * 16 KiB each, while a cipher takes 4 KiB, so that each of them and the association fail at
 * different lengths.
 */
const WINDOW = 65_536;
const window = (size: number): v.FlowActionEsp => ({ replay_proto: BMP, replay_ptr: { size } });
const FULL_MEMORY = "ENOMEM no_memory device";

/** Takes all available memory. */
function fill({ core: { exports } }: Device): void {
  exports.limitArena(0);
  for (let blocks = 2 ** 16; blocks > 0; blocks = blocks > 64 ? blocks / 2 : blocks - 1) {
    while (exports.createCounters(blocks) !== 0);
  }
}

/**
 * Gives a device memory in small steps while a call fails with ENOMEM; returns the number of
 * failures.
 */
function grow({ core: { exports } }: Device, run: () => string | undefined): number {
  let refusals = 0;
  for (let limit = 0; limit < 2 ** 24; limit += 1024) {
    exports.limitArena(limit);
    if (run() === undefined) return refusals;
    refusals++;
  }
  throw new Error("refused with any memory");
}

/** Encrypted frames 1 to 3, and an action for them that has decrypted the second one. */
async function opened(): Promise<{ bench: FlowBench; action: EspAction; frames: Uint8Array[] }> {
  const bench = await FlowBench.open();
  const flow = sealing(bench, create(bench, tunnel(ENCRYPT)));
  const frames = [1, 2, 3].map(() => sealed(bench, FRAME));
  v.ibv_destroy_flow(flow);
  const action = create(bench, tunnel(0, window(64)));
  bench.flow("in", [handle(action)]);
  expect(bench.received(frames[1]!)).toBe("in deliver");
  return { bench, action, frames };
}

const texts = (bench: FlowBench, frames: readonly Uint8Array[]): string[] => frames.map((one) => bench.received(one));

test("making one", async () => {
  const bench = await FlowBench.open();
  fill(bench.device);
  const [before, esp] = [bench.state(), tunnel(0, { ...window(WINDOW), keymat_ptr: keymat({ aes_key: OTHER_KEY }) })];
  let action: EspAction | undefined;
  const refusals = grow(bench.device, () => {
    const refusal = told(() => (action = create(bench, esp)));
    if (refusal !== undefined) expect([refusal, bench.state()]).toEqual([FULL_MEMORY, before]);
    return refusal;
  });
  expect(refusals).toBeGreaterThan(20);
  expect(leftOver(bench, OTHER_KEY), "until a packet expands it").toBeGreaterThan(0);
  v.ibv_destroy_flow_action(action as EspAction);
  expect(leftOver(bench, OTHER_KEY)).toBe(-1);
  expect(bench.state()).toBe(before);
});

test("modifying one", async () => {
  const { bench, action, frames } = await opened();
  fill(bench.device);
  const [before, state] = [bench.state(), action.state];
  const wanted = {
    ...window(WINDOW),
    keymat_ptr: keymat({ aes_key: OTHER_KEY }),
    esp_attr: { spi: 1, seq: 9, flags: FULL },
  };
  const refusals = grow(bench.device, () => {
    const refusal = told(() => v.ibv_modify_flow_action_esp(action, wanted));
    if (refusal !== undefined) expect([refusal, bench.state(), action.state]).toEqual([FULL_MEMORY, before, state]);
    return refusal;
  });
  expect(refusals).toBeGreaterThan(4);
  expect(action.state).toMatchObject({ number: 9n, windowSize: WINDOW });
  const back = { ...window(64), keymat_ptr: keymat(), esp_attr: { spi: SPI, seq: 1, flags: FULL } };
  expect(told(() => v.ibv_modify_flow_action_esp(action, back))).toBeUndefined();
  expect(bench.state()).toBe(before);
  expect(texts(bench, frames)).toEqual(["in deliver", "in deliver", "in deliver"]);
});

test("what needs no memory works when there is none", async () => {
  const { bench, action, frames } = await opened();
  fill(bench.device);
  const modify = (esp: v.FlowActionEsp): string | undefined => told(() => v.ibv_modify_flow_action_esp(action, esp));
  expect(modify(window(WINDOW))).toBe(FULL_MEMORY);
  expect(modify({ keymat_ptr: keymat() })).toBe(FULL_MEMORY);
  expect(texts(bench, frames.slice(0, 2))).toEqual(["in deliver", "drop esp_replay"]);
  expect(modify({ ...window(64), esp_attr: { spi: SPI, seq: 3, flags: FULL } })).toBeUndefined();
  expect(texts(bench, frames)).toEqual(["drop esp_replay", "drop esp_replay", "in deliver"]);
});

test.each([
  ["tunnel", tunnel(ENCRYPT)],
  ["transport", tunnel(TRANSPORT | ENCRYPT, { esp_encap: [] })],
])("a packet that grows without memory is dropped, and uses no number, in %s mode", async (_mode, esp) => {
  const bench = await FlowBench.open();
  const action = create(bench, esp);
  sealing(bench, action);
  fill(bench.device);
  expect(sent(bench, FRAME)).toMatchObject({ verdict: "drop", reason: "copy_limit" });
  expect(action.state).toMatchObject({ number: 1n, packets: 0n });
});
