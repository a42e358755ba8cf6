/** Frames of outcomes: the array of the caller, or with `copyFrames` a copy. */
import { describe, expect, test } from "vitest";
import {
  createDevice,
  createDevicePool,
  createSink,
  type Device,
  type DeviceOptions,
  type Outcome,
} from "../../../src/index.js";
import { openBench, ipv4Frame } from "../../mlx5dv/support/directRules.js";
import * as dv from "../../../src/mlx5dv/index.js";
import * as v from "../../../src/verbs/index.js";

type Way = (device: Device, frame: Uint8Array) => Outcome;

/** Each call that gives an outcome for a frame of the caller. */
const WAYS: Readonly<Record<string, Way>> = {
  receive: (device, frame) => device.receive(1, frame),
  receiveBatch: (device, frame) => device.receiveBatch(1, [frame])[0]!,
  send: (device, frame) => device.send(createSink(v.ibv_open_device(device), "sender"), frame),
  "burst.outcome": (device, frame) => {
    const burst = device.openBurst();
    burst.put(frame);
    burst.steer();
    return burst.outcome(0, frame);
  },
};

const OPENERS: Readonly<Record<string, typeof createDevice>> = {
  createDevice,
  createDevicePool: (options) => createDevicePool({ ...options, workers: 2 }),
};

describe.each(Object.keys(OPENERS))("%s", (opener) => {
  describe.each(Object.keys(WAYS))("%s", (way) => {
    test.each([true, false])("copyFrames: %s", async (copyFrames) => {
      const device = await OPENERS[opener]!({ copyFrames });
      const queue = createSink(v.ibv_open_device(device), "web");
      if (way !== "send") v.ibv_create_flow(queue, { type: v.IBV_FLOW_ATTR_NORMAL, port: 1, specs: [] });
      const left: Uint8Array[] = [];
      device.connect(1, (bytes) => void left.push(bytes));
      const frame = ipv4Frame();
      const before = frame.slice();
      const arrived = WAYS[way]!(device, frame).to[0]!.frame;
      expect(arrived).toEqual(before);
      frame.fill(0xff);
      const expected = copyFrames ? before : frame;
      expect(arrived).toEqual(expected);
      for (const bytes of left) expect(bytes).toEqual(expected);
      expect(left).toHaveLength(way === "send" ? 1 : 0);
    });
  });
});

describe("a frame that a rule changed", () => {
  /** A device whose rule sets the TTL of each frame to 1. */
  async function openChanging(options: DeviceOptions = {}): Promise<Device> {
    const { device, domain, root, queue } = await openBench(options);
    const changes = [{ type: "set", field: "OUT_IP_TTL", data: 1 }] as const;
    const level = dv.MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL;
    const ttl = dv.mlx5dv_dr_action_create_modify_header(domain, level, undefined, changes);
    const matcher = dv.mlx5dv_dr_matcher_create(root, 0, 0, null);
    dv.mlx5dv_dr_rule_create(matcher, null, 2, [ttl, dv.mlx5dv_dr_action_create_dest_ibv_qp(queue)]);
    return device;
  }
  const frameOf = (length: number, first: number): Uint8Array => {
    const bytes = new Uint8Array(length).fill(first);
    bytes.set(ipv4Frame());
    return bytes;
  };
  const LENGTHS = [64, 65, 1000, 2047, 2048, 2049, 9000];

  test("is a copy in any case", async () => {
    const device = await openChanging();
    const frame = ipv4Frame();
    const { to } = device.receive(1, frame);
    const arrived = to[0]!.frame.slice();
    frame.fill(0xff);
    expect(to[0]!.frame).toEqual(arrived);
  });

  test("stays as it was when others follow, of all lengths", async () => {
    const device = await openChanging();
    const frames = Array.from({ length: 200 }, (_, i) => frameOf(LENGTHS[i % LENGTHS.length]!, i));
    const arrived = [
      ...device.receiveBatch(1, frames.slice(0, 150)),
      ...frames.slice(150).map((one) => device.receive(1, one)),
    ];
    for (const [i, { to }] of arrived.entries()) {
      const { frame } = to[0]!;
      const ours = frames[i]!.slice();
      // TTL and checksum.
      ours[22] = 1;
      ours.set(frame.subarray(24, 26), 24);
      expect(frame).toEqual(ours);
    }
  });

  test("has a buffer of its own with copyFrames, or if it is long", async () => {
    for (const copyFrames of [true, false]) {
      const device = await openChanging({ copyFrames });
      for (const length of LENGTHS) {
        const { frame } = device.receive(1, frameOf(length, 7)).to[0]!;
        expect(frame.buffer.byteLength === length).toBe(copyFrames || length > 2048);
      }
    }
  });

  test("may be transferred: later frames get a new buffer", async () => {
    const device = await openChanging();
    const { frame } = device.receive(1, frameOf(64, 7)).to[0]!;
    const moved = structuredClone(frame, { transfer: [frame.buffer] });
    expect(frame).toHaveLength(0);
    const later = device.receive(1, frameOf(64, 7)).to[0]!.frame;
    expect(later).toEqual(moved);
  });
});
