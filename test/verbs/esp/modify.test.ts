/**
 * One action in many flows, and the effects of modifying it (ibv_flow_action_esp(3), docs/esp.md
 * "Create, modify, destroy").
 */
import { beforeEach, describe, expect, test } from "vitest";
import type { EspAction } from "../../../src/model/esp/action.js";
import * as v from "../../../src/verbs/index.js";
import { ipv4Frame } from "../../mlx5dv/support/directRules.js";
import {
  BMP,
  create,
  ENCRYPT,
  ESN,
  FULL,
  handle,
  inline,
  IPV4_ENCAP,
  iv,
  keymat,
  leftOver,
  NEW_WINDOW,
  NONE,
  numbersOf,
  KEY,
  OTHER_KEY,
  SALT,
  sealed,
  sealing,
  sent,
  SPI,
  told,
  tunnel,
  UDP_ENCAP,
} from "../support/esp.js";
import { dport, FlowBench, EGRESS, outcomeText, valuesOf } from "../support/flows.js";

const FRAME = ipv4Frame();
const OTHER_SALT = Uint8Array.of(0x9f, 0x1b, 0xc3, 0x77);
const WINDOW = { replay_proto: BMP, replay_ptr: { size: 64 } };
let bench: FlowBench;

beforeEach(async () => {
  bench = await FlowBench.open();
});

const modify = (action: EspAction, esp: v.FlowActionEsp): string | undefined =>
  told(() => v.ibv_modify_flow_action_esp(action, esp));

/**
 * Parameters of an action that decrypts the frames of `tunnel(ENCRYPT)`, and a flow of queue "in"
 * with it.
 */
function opening(over: v.FlowActionEsp = {}, attr: v.FlowActionEspAttr = {}): EspAction {
  const action = create(bench, tunnel(0, over, attr));
  bench.flow("in", [handle(action)]);
  return action;
}

describe("an action and its flows", () => {
  test("what is sealed can be opened", () => {
    sealing(bench, create(bench, tunnel(ENCRYPT)));
    const [first, second] = [sealed(bench, FRAME), sealed(bench, FRAME)];
    const action = opening(WINDOW);
    expect([first, second].map((frame) => numbersOf(frame))).toEqual([
      { spi: SPI, seq: 1, iv: 0n },
      { spi: SPI, seq: 2, iv: 1n },
    ]);
    for (const frame of [second, first]) {
      const outcome = bench.device.receive(1, frame);
      expect(outcome.verdict).toBe("deliver");
      expect(outcome.to[0]?.frame.slice()).toEqual(FRAME);
    }
    expect(bench.received(first)).toBe("drop esp_replay");
    expect(action.state).toEqual({
      number: 2n,
      iv: 0n,
      packets: 2n,
      numbersUsedUp: false,
      ivsUsedUp: false,
      windowSize: 64,
    });
  });

  test("share its numbers, and flows of the same match one entry", () => {
    const action = create(bench, tunnel(ENCRYPT));
    const specs = [handle(action)];
    const flows = [
      bench.flow("a", [dport(80), ...specs], EGRESS),
      bench.flow("b", [dport(80), ...specs], EGRESS),
      bench.flow("c", specs, { ...EGRESS, priority: 1 }),
    ];
    expect(action.users).toBe(3);
    const other = ipv4Frame({ dport: 81 });
    expect([FRAME, other, FRAME].map((frame) => numbersOf(sealed(bench, frame)).seq)).toEqual([1, 2, 3]);
    expect(sent(bench, FRAME).rules).toEqual(flows.slice(0, 2));
    expect(bench.refused("d", [dport(80), handle(create(bench, tunnel(ENCRYPT)))], EGRESS)).toBe("EEXIST");
    expect(told(() => v.ibv_destroy_flow_action(action))).toBe("EBUSY in_use action");
    for (const flow of flows) v.ibv_destroy_flow(flow);
    v.ibv_destroy_flow_action(action);
  });

  test("are counted as they were matched", () => {
    const counters = bench.counters();
    const action = create(bench, tunnel(ENCRYPT));
    bench.flow("out", [handle(action), { type: v.IBV_FLOW_SPEC_ACTION_COUNT, counters }], EGRESS);
    const frame = sealed(bench, FRAME);
    expect(valuesOf(counters)).toEqual([1n, BigInt(FRAME.length)]);
    const received = bench.counters();
    bench.flow("in", [
      handle(create(bench, tunnel(0, WINDOW))),
      { type: v.IBV_FLOW_SPEC_ACTION_COUNT, counters: received },
    ]);
    bench.received(frame);
    expect(bench.received(frame)).toBe("drop esp_replay");
    expect(valuesOf(received)).toEqual([2n, BigInt(2 * frame.length)]);
  });

  test("keys are overwritten", () => {
    const key = OTHER_KEY.slice();
    const esp = tunnel(0, { keymat_ptr: keymat({ aes_key: OTHER_KEY }) });
    const bytes = v.flowActionEspBytes(esp);
    const made = [create(bench, esp), v.ibv_create_flow_action_esp(bench.context, bytes)];
    expect(leftOver(bench, OTHER_KEY)).toBeGreaterThan(0);
    expect(leftOver(bench, SALT)).toBeGreaterThan(0);
    modify(made[0]!, { keymat_ptr: keymat({ salt: OTHER_SALT }) });
    expect(leftOver(bench, SALT)).toBeGreaterThan(0);
    for (const action of made) v.ibv_destroy_flow_action(action);
    expect([SALT, OTHER_SALT, OTHER_KEY].map((secret) => leftOver(bench, secret))).toEqual([-1, -1, -1]);
    // The caller's data stays the caller's.
    expect(esp.keymat_ptr).toEqual(keymat({ aes_key: key }));
    expect(v.flowActionEspBytes(esp)).toEqual(bytes);
  });
});

describe("modify: sealing", () => {
  let action: EspAction;
  beforeEach(() => {
    action = create(bench, tunnel(ENCRYPT, { keymat_ptr: keymat({ iv: iv(5n) }) }));
    sealing(bench, action);
    sealed(bench, FRAME);
    sealed(bench, FRAME);
  });
  const next = (): { spi: number; seq: number; iv: bigint } => numbersOf(sealed(bench, FRAME));

  test("nothing", () => {
    const { state } = action;
    expect(modify(action, {})).toBeUndefined();
    expect(action.state).toEqual(state);
    expect(next()).toEqual({ spi: SPI, seq: 3, iv: 7n });
  });

  test("attributes, of which the number as it was given goes on", () => {
    expect(modify(action, { esp_attr: { spi: 9, seq: 1, flags: FULL | ENCRYPT, hard_limit_pkts: 4 } })).toBeUndefined();
    expect(next()).toEqual({ spi: 9, seq: 3, iv: 7n });
    sealed(bench, FRAME);
    expect(outcomeText(sent(bench, FRAME))).toBe("drop esp_hard_limit");
    expect(modify(action, { esp_attr: { spi: 9, seq: 1000, flags: FULL | ENCRYPT } })).toBeUndefined();
    expect(next()).toEqual({ spi: 9, seq: 1000, iv: 9n });
    expect(action.state.packets).toBe(5n);
  });

  test("key and salt: another key has its own count and IVs, the same one goes on", () => {
    const set = (over: Partial<v.FlowActionEspAesGcm>): string | undefined =>
      modify(action, { keymat_ptr: keymat(over) });
    for (const used of [0n, 5n, 6n]) expect(set({ iv: iv(used) })).toBe("EINVAL bad_attribute esp.keymat_ptr.iv");
    expect(action.state).toMatchObject({ iv: 7n, packets: 2n });
    expect(set({ iv: iv(7n), icv_len: 8 })).toBeUndefined();
    expect(next().iv).toBe(7n);
    expect(set({ iv: iv(100n) })).toBeUndefined();
    expect(next()).toEqual({ spi: SPI, seq: 4, iv: 100n });
    expect(set({ iv: iv(0n), salt: Uint8Array.of(1, 2, 3, 4) })).toBeUndefined();
    expect(next().iv).toBe(0n);
    expect(action.state.packets).toBe(5n);
    expect(set({ iv: iv(0n), aes_key: OTHER_KEY })).toBeUndefined();
    expect(next()).toEqual({ spi: SPI, seq: 6, iv: 0n });
    expect(action.state).toMatchObject({ number: 7n, iv: 1n, packets: 1n });
  });

  test("keys that come back: the IVs that they have used stay used", () => {
    const set = (key: Uint8Array, first: bigint, salt = new Uint8Array(4)): string | undefined =>
      modify(action, { keymat_ptr: keymat({ aes_key: key, salt, iv: iv(first) }) });
    const refused = "EINVAL bad_attribute esp.keymat_ptr.iv";
    const other = Uint8Array.of(0, 0, 0, 1);
    expect(set(OTHER_KEY, 0n)).toBeUndefined();
    expect([next().iv, next().iv]).toEqual([0n, 1n]);
    expect(set(KEY, 0n, other)).toBeUndefined();
    expect(next().iv).toBe(0n);
    // SPEC: an IV above those of a key and salt is free, however many keys came between.
    for (const used of [0n, 1n]) expect(set(OTHER_KEY, used)).toBe(refused);
    expect(action.state.iv).toBe(1n);
    expect(set(OTHER_KEY, 2n)).toBeUndefined();
    expect(set(KEY, 0n, other)).toBe(refused);
    expect(set(KEY, 1n, other)).toBeUndefined();
    // The first key and salt of the action.
    expect(modify(action, { keymat_ptr: keymat({ iv: iv(6n) }) })).toBe(refused);
    expect(modify(action, { keymat_ptr: keymat({ iv: iv(7n) }) })).toBeUndefined();
    expect(set(OTHER_KEY, 2n ** 64n - 1n)).toBeUndefined();
    expect(next().iv).toBe(2n ** 64n - 1n);
    expect(set(KEY, 1n, other)).toBeUndefined();
    expect(set(OTHER_KEY, 2n ** 64n - 1n)).toBe(refused);
  });

  test("an IV behind the last one", () => {
    expect(modify(action, { keymat_ptr: keymat({ iv: iv(2n ** 64n - 1n) }) })).toBeUndefined();
    expect(next().iv).toBe(2n ** 64n - 1n);
    expect(outcomeText(sent(bench, FRAME))).toBe("drop esp_iv_exhausted");
    expect(action.state.ivsUsedUp).toBe(true);
    expect(modify(action, { keymat_ptr: keymat({ iv: iv(2n ** 64n - 1n) }) })).toBe(
      "EINVAL bad_attribute esp.keymat_ptr.iv",
    );
    expect(modify(action, { keymat_ptr: keymat({ salt: new Uint8Array(4) }) })).toBeUndefined();
    expect(next().iv).toBe(0n);
    expect(action.state.ivsUsedUp).toBe(false);
  });

  test("a number behind the last one", () => {
    const attr = { spi: SPI, flags: FULL | ENCRYPT };
    expect(modify(action, { esp_attr: { ...attr, seq: 2 ** 32 - 1 } })).toBeUndefined();
    expect(next().seq).toBe(2 ** 32 - 1);
    expect(outcomeText(sent(bench, FRAME))).toBe("drop esp_sequence_exhausted");
    expect(action.state.numbersUsedUp).toBe(true);
    expect(modify(action, { esp_attr: { ...attr, seq: 1 } })).toBeUndefined();
    expect(next().seq).toBe(1);
    expect(action.state.numbersUsedUp).toBe(false);
  });

  test("ESN", () => {
    expect(modify(action, { comp_mask: ESN, esn: 3 })).toBeUndefined();
    expect(action.state.number).toBe((3n << 32n) | 1n);
    sealed(bench, FRAME);
    expect(modify(action, { comp_mask: ESN, esn: 3 })).toBeUndefined();
    expect(action.state.number).toBe((3n << 32n) | 2n);
    expect(modify(action, { esn: 9 })).toBeUndefined();
    expect(action.state.number).toBe((3n << 32n) | 2n);
  });

  test("headers", () => {
    const other = { ...IPV4_ENCAP, val: { src_ip: "203.0.113.1", dst_ip: "203.0.113.2" } };
    expect(modify(action, { esp_encap: [other, UDP_ENCAP] })).toBeUndefined();
    const frame = sealed(bench, FRAME);
    expect([...frame.subarray(26, 34)]).toEqual([203, 0, 113, 1, 203, 0, 113, 2]);
    expect(numbersOf(frame, true)).toEqual({ spi: SPI, seq: 3, iv: 7n });
  });
});

describe("modify: opening", () => {
  /** Encrypted frames by sequence number, from 1 on. */
  function frames(count: number, esp: v.FlowActionEsp = tunnel(ENCRYPT)): Uint8Array[] {
    const action = create(bench, esp);
    const flow = sealing(bench, action);
    const made = Array.from({ length: count }, () => sealed(bench, FRAME));
    v.ibv_destroy_flow(flow);
    return [new Uint8Array(0), ...made];
  }
  const text = (frame: Uint8Array): string => bench.received(frame);
  const GOOD = "in deliver";

  test.each([
    [64, 200],
    [200, 64],
    [64, 65],
    [1000, 1],
  ])("a window of %i that becomes one of %i keeps what it knew", (from, to) => {
    const all = frames(300);
    const action = opening({ replay_proto: BMP, replay_ptr: { size: from } });
    const seen = new Set<number>();
    const take = (n: number): string => {
      seen.add(n);
      return text(all[n]!);
    };
    for (let n = 3; n <= 150; n += 3) expect(take(n)).toBe(GOOD);
    const top = 150;
    expect(modify(action, { replay_proto: BMP, replay_ptr: { size: to } })).toBeUndefined();
    expect(action.state.windowSize).toBe(to);
    const known = Math.min(from, to);
    for (let n = 1; n <= top; n++) {
      const welcome = n > top - known && !seen.has(n);
      expect([n, text(all[n]!)]).toEqual([n, welcome ? GOOD : "drop esp_replay"]);
    }
    for (let n = top + 1; n <= 300; n++) expect([n, text(all[n]!)]).toEqual([n, GOOD]);
    for (let n = 290; n <= 300; n++) expect([n, text(all[n]!)]).toEqual([n, "drop esp_replay"]);
  });

  test("NONE switches it off, and what comes then counts as seen", () => {
    const all = frames(12);
    const action = opening(WINDOW);
    const used = bench.device.memoryUsed;
    expect([text(all[5]!), text(all[5]!)]).toEqual([GOOD, "drop esp_replay"]);
    expect(modify(action, { replay_proto: NONE })).toBeUndefined();
    expect(action.state.windowSize).toBeNull();
    expect(bench.device.memoryUsed).toBeLessThan(used);
    expect([5, 8, 2, 8].map((n) => text(all[n]!))).toEqual([GOOD, GOOD, GOOD, GOOD]);
    expect(modify(action, WINDOW)).toBeUndefined();
    expect(bench.device.memoryUsed).toBe(used);
    expect([7, 8, 9, 9, 3].map((n) => text(all[n]!))).toEqual([
      "drop esp_replay",
      "drop esp_replay",
      GOOD,
      "drop esp_replay",
      "drop esp_replay",
    ]);
  });

  test("NULL keeps the window; a window where nothing came yet begins with the first number", () => {
    const all = frames(4);
    const action = opening({}, { seq: 2 });
    expect(modify(action, WINDOW)).toBeUndefined();
    expect(modify(action, { replay_proto: NONE, replay_ptr: null })).toBeUndefined();
    expect([1, 2, 2, 3].map((n) => text(all[n]!))).toEqual(["drop esp_replay", GOOD, "drop esp_replay", GOOD]);
  });

  test("a new number restarts the window", () => {
    const all = frames(10);
    const action = opening(WINDOW);
    expect([4, 4].map((n) => text(all[n]!))).toEqual([GOOD, "drop esp_replay"]);
    const attr = { spi: SPI, flags: FULL };
    expect(modify(action, { esp_attr: { ...attr, seq: 1 } })).toBeUndefined();
    expect(text(all[4]!)).toBe("drop esp_replay");
    expect(modify(action, { esp_attr: { ...attr, seq: 3 } })).toBeUndefined();
    expect([2, 4, 3, 4].map((n) => text(all[n]!))).toEqual(["drop esp_replay", GOOD, GOOD, "drop esp_replay"]);
  });

  test("another key, for all flows at once", () => {
    const other = { keymat_ptr: keymat({ aes_key: OTHER_KEY, icv_len: 12 }) };
    const [old, all] = [frames(3), frames(3, tunnel(ENCRYPT, other))];
    const action = opening(WINDOW);
    bench.flow("first", [dport(4), handle(action)]);
    expect(text(old[1]!)).toBe(GOOD);
    expect(modify(action, other)).toBeUndefined();
    expect([text(old[2]!), text(all[1]!), text(all[2]!)]).toEqual(["drop esp_authentication", "drop esp_replay", GOOD]);
    expect(action.state).toMatchObject({ number: 2n, packets: 1n });
  });

  test("a refusal changes nothing", () => {
    const all = frames(5);
    const action = opening(WINDOW);
    text(all[2]!);
    const { state } = action;
    const before = bench.state();
    const bad: v.FlowActionEsp = {
      esp_attr: { spi: 1, seq: 4, flags: FULL },
      keymat_ptr: keymat({ aes_key: OTHER_KEY }),
      replay_proto: BMP,
      replay_ptr: { size: 128 },
      esp_encap: [UDP_ENCAP],
    };
    expect(modify(action, bad)).toBe("EINVAL bad_spec esp.esp_encap");
    expect([action.state, bench.state()]).toEqual([state, before]);
    expect([1, 2, 3].map((n) => text(all[n]!))).toEqual([GOOD, "drop esp_replay", GOOD]);
  });
});

describe("modify: inline", () => {
  test("ESN and its window", () => {
    const action = create(bench, inline(0, { comp_mask: ESN, esn: 7 }));
    expect(action.state.number).toBe(7n << 32n);
    expect(modify(action, { esp_attr: { flags: NEW_WINDOW } })).toBeUndefined();
    expect(modify(action, { comp_mask: ESN, esn: 8, esp_attr: { flags: 0 } })).toBeUndefined();
    expect(action.state.number).toBe(8n << 32n);
    const plain = create(bench, inline(0));
    expect(modify(plain, { esp_attr: { flags: NEW_WINDOW } })).toBe("EINVAL bad_attribute esp.esp_attr.flags");
    expect(modify(plain, { comp_mask: ESN, esn: 2, esp_attr: { flags: NEW_WINDOW } })).toBeUndefined();
    expect(modify(plain, { keymat_ptr: keymat() })).toBeUndefined();
  });
});
