/**
 * The device: accepted and refused input; a batch gives the same results as its frames one by one.
 */
import { expect, test } from "vitest";
import { createDevice, LINK_TYPES, type Device } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import { ipv4Frame, openBench, refused } from "../../mlx5dv/support/directRules.js";

/** A rule for TCP port 80. */
async function webDevice(): Promise<Device> {
  const { device, root, queue } = await openBench({ ports: 2 });
  const match = dv.matchParameters({ "outer.tcp_dport": 80 });
  const matcher = dv.mlx5dv_dr_matcher_create(root, 0, match.match_criteria_enable, match.mask);
  dv.mlx5dv_dr_rule_create(matcher, match.value, 1, [dv.mlx5dv_dr_action_create_dest_ibv_qp(queue)]);
  return device;
}

test.each([
  [
    { profile: "connectx4" },
    'createDevice: profile = "connectx4": the device does not support this (EINVAL); profiles of this release: manual',
  ],
  [{ ports: 0 }, "createDevice: ports = 0: outside the range that the field can hold (EINVAL); 1 to 4095"],
  [{ limits: { memory: -1 } }, "createDevice: limits.memory = -1: outside the range"],
])("options %j are refused", async (options, message) => {
  const error = await createDevice(options).catch((caught: unknown) => caught);
  expect((error as Error).message).toContain(message);
});

test("a frame that cannot be taken is refused before any is steered", async () => {
  const device = await webDevice();
  const good = ipv4Frame();
  const attempt = (frames: Uint8Array[], options = {}): string | undefined =>
    refused(() => device.receiveBatch(1, frames, options))?.path;
  expect(attempt([good, new Uint8Array(262_145)])).toBe("frames[1].length");
  expect(attempt([good, good], [{}, { wireLength: 63 }])).toBe("frames[1].wireLength");
  expect(attempt([good], { wireLength: 2 ** 32 })).toBe("frames[0].wireLength");
  expect(attempt([good, good], [{}, { linkType: 147 }])).toBe("frames[1].linkType");
  expect(() => device.receiveBatch(1, [good, "frame" as never])).toThrow(TypeError);
  expect(refused(() => device.receive(0, good))?.path).toBe("port");
  expect(refused(() => device.receive(3, good))?.hint).toBe("1 to 2");
  expect(Object.values(device.reasons()).every((count) => count === 0n)).toBe(true);
  expect(device.receive(2, good).verdict).toBe("deliver");
});

test("a link type without a parser is refused by name", async () => {
  const device = await webDevice();
  const error = refused(() => device.receive(1, ipv4Frame(), { linkType: 147 }));
  expect(error).toMatchObject({ code: "EOPNOTSUPP", reason: "bad_link_type", value: "LINKTYPE_147" });
});

test("more frames than one batch of the core holds, by number and by bytes", async () => {
  const device = await webDevice();
  const frames = Array.from({ length: 1000 }, (_, i) => ipv4Frame({ dport: i % 3 === 0 ? 80 : 81 }));
  const outcomes = device.receiveBatch(1, frames);
  expect(outcomes.map(({ verdict }) => verdict)).toEqual(frames.map((_, i) => (i % 3 === 0 ? "deliver" : "miss")));
  const large = Array.from({ length: 40 }, (_, i) => ipv4Frame({ dport: 80, length: i % 2 === 0 ? 262_144 : 64 }));
  expect(device.receiveBatch(1, large).every(({ verdict }) => verdict === "deliver")).toBe(true);
  expect(device.reasons().no_rule).toBe(666n);
});

test("an empty frame, and no frame", async () => {
  const device = await webDevice();
  expect(device.receive(1, new Uint8Array(0))).toMatchObject({ verdict: "miss", reason: "no_rule" });
  expect(device.receiveBatch(1, [])).toEqual([]);
  expect(device.parseBatch([new Uint8Array(3)])[0]?.stopped).toEqual({
    header: "ethernet",
    field: "destination",
    offset: 0,
    wanted: 14,
    had: 3,
    reason: "beyond_packet",
  });
});

test("parsing names where it stopped", async () => {
  const device = await createDevice();
  const stopped = (bytes: Uint8Array, linkType: number = LINK_TYPES.ETHERNET): unknown =>
    device.parseBatch([bytes], { linkType })[0]?.stopped;
  const frame = ipv4Frame();
  expect(stopped(frame)).toBeNull();
  expect(device.parseBatch([frame.subarray(0, 31)], { wireLength: 64 })[0]?.stopped).toMatchObject({
    header: "ipv4",
    field: "destination",
    offset: 14,
    wanted: 20,
    had: 17,
    reason: "truncated",
  });
  expect(stopped(frame.subarray(14, 37), LINK_TYPES.RAW)).toMatchObject({
    header: "tcp",
    reason: "beyond_packet",
    had: 3,
  });
  const version = frame.slice();
  version[14] = 0x65;
  expect(stopped(version)).toMatchObject({ header: "ipv4", field: "version", reason: "bad_version" });
  version[14] = 0x44;
  expect(stopped(version)).toMatchObject({ header: "ipv4", field: "ihl", reason: "bad_header_length" });
});

test("the clock is virtual unless it is given", async () => {
  const device = await createDevice();
  device.advance(5n);
  device.advance(7n);
  expect(device.now()).toBe(12n);
  expect((await createDevice({ now: () => 99n })).now()).toBe(99n);
});

test("a frame whose time is none is refused before any of the call is steered", async () => {
  const device = await webDevice();
  const frames = Array.from({ length: 300 }, () => new Uint8Array(60));
  const timed = (time: unknown) => () =>
    device.receiveBatch(1, frames, [...Array(280).fill({}), { time: time as bigint }]);
  const error = refused(timed(-1n));
  expect(error?.message).toBe(
    "receive: frames[280].time = -1: outside the range that the field can hold (EINVAL); nanoseconds, 0 to 2^64 - 1",
  );
  expect(timed(5)).toThrow(TypeError);
  expect(device.reasons().no_rule).toBe(0n);
});
