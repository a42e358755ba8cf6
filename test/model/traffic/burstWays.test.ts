/**
 * Bursts of frames for several ports that leave by cables, are changed by rules, and whose device
 * grows its memory meanwhile.
 */
import { beforeEach, describe, expect, test } from "vitest";
import { createDevice, VERDICTS, type Burst, type Device, type Outcome } from "../../../src/index.js";
import { hexOf } from "../../../src/packet/bytes.js";
import { AsoObject } from "../../../src/model/action/asoObject.js";
import { ipv4Frame, openBench } from "../../mlx5dv/support/directRules.js";
import { counted, openCounter, ruleFor } from "../../mlx5dv/support/switchBench.js";
import * as dv from "../../../src/mlx5dv/index.js";
import { outcomeText } from "../../verbs/support/flows.js";
import { colourOf, GREEN, meterFrames, RED } from "../support/meters.js";
import { pushVlan, set, Switch, toAll, toPort, toVport } from "../support/eswitch.js";

/** Counters that take more memory than there is. */
const MANY = 1 << 20;

/** A switch with another device at its second port. */
interface Site {
  one: Switch;
  other: Device;
}

async function site(): Promise<Site> {
  const one = await Switch.open();
  const other = await createDevice({ name: "other", ports: 2 });
  one.device.connect(2, other, 1);
  other.hostRules.add({ application: "nic", action: { queue: 4 }, match: { "outer.tcp_dport": 80 } });
  one.fdb(80, toPort(2));
  one.fdb(81, toPort(2));
  one.fdb(82, pushVlan(0x8100_0005), toPort(2));
  one.fdb(83, set({ OUT_IP_TTL: 9 }), toVport(1));
  one.fdb(84, toAll(toVport(1), toVport(2), toPort(2)));
  return { one, other };
}

let alone: Site;
let together: Site;
let burst: Burst;
beforeEach(async () => {
  [alone, together] = [await site(), await site()];
  burst = together.one.device.openBurst();
});

interface Input {
  bytes: Uint8Array;
  port: number;
}

/** Frames for all rules and none, of lengths that put the next frame at an odd address. */
function inputs(count: number): Input[] {
  return Array.from({ length: count }, (_, i) => {
    const frame = ipv4Frame({ dport: 80 + (i % 7) });
    const bytes = new Uint8Array(frame.length + (i % 5));
    bytes.set(frame);
    bytes.fill(i, frame.length);
    return { bytes, port: 1 + (i % 3 === 0 ? 1 : 0) };
  });
}

/** An outcome with its bytes, and its outcome at the other end of a cable. */
function told(outcome: Outcome): unknown {
  const bytes = [...outcome.copies, ...outcome.to].map(({ frame }) => hexOf(frame));
  const far = outcome.to.map((to) => (to.kind === "port" && to.outcome !== null ? told(to.outcome) : null));
  return { text: outcomeText(outcome), bytes, far };
}

/** The burst gives for its rows what the device gives for the frames one by one. */
function agree(some: readonly Input[]): void {
  expect(burst.steer()).toBe(some.length);
  for (const [row, { bytes, port }] of some.entries()) {
    const expected = alone.one.device.receive(port, bytes);
    expect(told(burst.outcome(row))).toEqual(told(expected));
    expect(VERDICTS[burst.verdicts[row]!]).toBe(expected.verdict);
    expect(burst.destinations[row]).toBe(expected.to.length + expected.copies.length);
  }
  expect(together.other.reasons()).toEqual(alone.other.reasons());
  expect(together.one.device.reasons()).toEqual(alone.one.device.reasons());
}

/** Frames without a gap, from an odd address on, and the bytes around them. */
function lay(some: readonly Input[], first: number): void {
  let at = first;
  for (const { bytes, port } of some) {
    burst.bytes.set(bytes, at);
    expect(burst.add(at, bytes.length, port)).toBeGreaterThanOrEqual(0);
    at += bytes.length;
  }
}

test.each(["put", "add"])("frames of several ports, over cables: %s", (how) => {
  const some = inputs(200);
  for (const part of [some.slice(0, 1), some.slice(1, 8), some.slice(8)]) {
    burst.clear();
    if (how === "put") for (const { bytes, port } of part) burst.put(bytes, port);
    else lay(part, 3);
    agree(part);
  }
});

test("frames whose neighbours rules change stay as they are in the area", () => {
  const some = inputs(64);
  burst.clear();
  lay(some, 1);
  const before = burst.bytes.slice(0, 1 + some.reduce((sum, { bytes }) => sum + bytes.length, 0));
  agree(some);
  expect(burst.bytes.slice(0, before.length)).toEqual(before);
});

/** Another device is at the other end of a cable. */
describe("what is said of frames goes over cables with them", () => {
  const RAW_IP = 101;
  const FRAME = ipv4Frame({ dport: 80 });
  const beyond = (row: number): Outcome => {
    const [to] = burst.outcome(row).to;
    return (to?.kind === "port" ? to.outcome : null) as Outcome;
  };

  test("when they came", async () => {
    const far = await openBench();
    meterFrames(far);
    const { device, contexts } = together.one;
    // A device with stateful actions has times of frames.
    AsoObject.create(contexts[0], "first_hit", 0, new Uint8Array(64));
    device.disconnect(2);
    device.connect(2, far.device, 1);
    burst.clear();
    for (const time of [0n, 63n, 64n, 65n, 1n << 40n]) burst.stamp(burst.put(FRAME), time);
    expect(burst.steer()).toBe(5);
    expect([0, 1, 2, 3, 4].map((row) => colourOf(beyond(row)))).toEqual([GREEN, RED, GREEN, RED, GREEN]);
  });

  test("lengths and link types", async () => {
    const far = await openBench();
    const counter = openCounter(far.context);
    const actions = [dv.mlx5dv_dr_action_create_flow_counter(counter, 0), dv.mlx5dv_dr_action_create_drop()];
    ruleFor(far.root, { "outer.tcp_dport": 80 }, actions);
    together.one.device.disconnect(2);
    together.one.device.connect(2, far.device, 1);
    burst.clear();
    burst.put(FRAME);
    burst.put(FRAME, 1, 1, 1500);
    burst.put(FRAME.subarray(14), 1, RAW_IP);
    burst.steer();
    expect([0, 1, 2].map((row) => beyond(row).reason)).toEqual(Array(3).fill("drop_action"));
    expect(counted(counter)).toEqual([3, 64 + 1500 + 50]);
  });
});

test("memory that grows between frames and before they are steered", () => {
  const { device } = together.one;
  const size = (): number => device.core.exports.memory.buffer.byteLength;
  const grow = (): void => {
    const before = size();
    device.core.exports.createCounters(MANY);
    expect(size()).toBeGreaterThan(before);
  };
  const some = inputs(20);
  burst.clear();
  lay(some, 5);
  agree(some);
  burst.clear();
  lay(some.slice(0, 10), 7);
  const end = 7 + some.slice(0, 10).reduce((sum, { bytes }) => sum + bytes.length, 0);
  grow();
  lay(some.slice(10), end);
  agree(some);
  burst.clear();
  for (const { bytes, port } of some) burst.put(bytes, port);
  agree(some);
});
