/**
 * The use of bursts (docs/frames.md): who owns the frames, their times and lengths, the room for
 * them, and what is refused.
 */
import { beforeEach, describe, expect, test } from "vitest";
import type { Burst, Device } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import { ipv4Frame, openBench, refused, type Bench } from "../../mlx5dv/support/directRules.js";
import { counted, openCounter, openSwitch, ruleFor } from "../../mlx5dv/support/switchBench.js";
import { colourOf, GREEN, meterFrames, RED } from "../support/meters.js";

const FRAME = ipv4Frame();
const RAW_IP = 101;

let bench: Bench;
let device: Device;
let burst: Burst;
beforeEach(async () => {
  bench = await openBench({ ports: 2 });
  ({ device } = bench);
  burst = device.openBurst();
});

const why = (run: () => unknown): string => {
  const error = refused(run);
  return error === undefined ? "taken" : `${error.code} ${error.reason} ${error.path}`;
};

/** Puts frames anywhere in the area, without gaps. */
function addAll(frames: readonly Uint8Array[], at = 3): void {
  for (const frame of frames) {
    burst.bytes.set(frame, at);
    burst.add(at, frame.length);
    at += frame.length;
  }
}

describe("somebody else has run frames on the device", () => {
  const others: Record<string, () => unknown> = {
    receive: () => device.receive(2, FRAME),
    receiveBatch: () => device.receiveBatch(1, [FRAME, FRAME]),
    parseBatch: () => device.parseBatch([FRAME]),
    send: () => device.send(bench.queue, FRAME),
    "another burst": () => device.openBurst(),
    "another burst that is cleared": () => other.clear(),
  };
  let other: Burst;
  beforeEach(() => {
    other = device.openBurst();
    ruleFor(bench.root, {}, [dv.mlx5dv_dr_action_create_dest_ibv_qp(bench.queue)]);
    burst.clear();
    expect([burst.put(FRAME), burst.put(FRAME)]).toEqual([0, 1]);
  });

  test.each(Object.keys(others))("before it is steered: %s", (name) => {
    others[name]!();
    const calls = [
      () => burst.put(FRAME),
      () => burst.put(FRAME, 2),
      () => burst.add(0, 64),
      () => burst.stamp(0, 0n),
      () => burst.steer(),
    ];
    expect(calls.map(why)).toEqual(calls.map(() => "EBUSY in_use burst"));
    burst.clear();
    expect([burst.put(FRAME), burst.steer()]).toEqual([0, 1]);
    expect(burst.outcome(0).to.map(({ name }) => name)).toEqual(["qp:web"]);
    expect(why(() => burst.outcome(1))).toBe("EINVAL out_of_range row");
  });

  test.each(Object.keys(others))("when it is steered: %s", (name) => {
    burst.steer();
    const queue = burst.queues[1]!;
    others[name]!();
    expect(why(() => burst.outcome(1))).toBe("EBUSY in_use burst");
    expect([burst.count, burst.queues[1], burst.destinations[1]]).toEqual([2, queue, 1]);
  });
});

describe("when frames come in", () => {
  const AT = [0n, 63n, 64n, 127n, 128n, 1n << 32n, (1n << 32n) + 1n];
  const COLOURS = [GREEN, RED, GREEN, RED, GREEN, GREEN, RED];
  beforeEach(() => {
    meterFrames(bench);
    expect(device.stateful).toBe(true);
    burst.clear();
  });
  const colours = (): (number | undefined)[] => {
    const rows = Array.from({ length: burst.steer() }, (_, row) => row);
    return rows.map((row) => colourOf(burst.outcome(row)));
  };
  const rows = AT.map((time, row) => [row, time] as const);

  test.each([
    ["in the order of their rows", rows],
    ["backwards", [...rows].reverse()],
    ["again and again", rows.flatMap(([row, time]) => [[row, 5n] as const, [row, time] as const])],
  ])("is what their rows are stamped with, %s", (_, stamps) => {
    for (const enter of [() => burst.put(FRAME), () => burst.add(64, 64)]) {
      burst.clear();
      burst.bytes.set(FRAME, 64);
      for (const _ of AT) enter();
      // The bucket is full again in each pass.
      const later = device.now();
      for (const [row, time] of stamps) burst.stamp(row, later + time);
      expect(colours()).toEqual(COLOURS);
      device.advance(1n << 41n);
    }
  });

  test("is by the clock of the device when they are put, and not when frames of their rows came before", () => {
    for (const usual of [true, false]) {
      burst.clear();
      for (const _ of AT) burst.stamp(burst.put(FRAME, 2), device.now());
      burst.steer();
      device.advance(1n << 33n);
      burst.clear();
      const clock: bigint[] = [];
      for (const [n, time] of AT.entries()) {
        device.advance(time - (AT[n - 1] ?? 0n));
        clock.push(device.now());
        expect(usual ? burst.put(FRAME) : burst.put(FRAME, 1 + (n % 2))).toBe(n);
      }
      expect(colours()).toEqual(COLOURS);
    }
  });
});

describe("lengths", () => {
  test.each(["put", "add"] as const)("on the wire are counted: %s", (enter) => {
    const counter = openCounter(bench.context);
    ruleFor(bench.root, {}, [
      dv.mlx5dv_dr_action_create_flow_counter(counter, 0),
      dv.mlx5dv_dr_action_create_dest_ibv_qp(bench.queue),
    ]);
    burst.clear();
    burst.bytes.set(FRAME, 0);
    const one = (wireLength?: number): number =>
      enter === "put" ? burst.put(FRAME, 1, 1, wireLength) : burst.add(0, 64, 1, 1, wireLength);
    expect([one(), one(1500), one(64), one(0xffff_ffff)]).toEqual([0, 1, 2, 3]);
    burst.steer();
    expect(counted(counter)).toEqual([4, 64 + 1500 + 64 + 0xffff_ffff]);
    // Rows do not keep the times.
    burst.clear();
    for (let n = 0; n < 4; n++) one();
    burst.steer();
    expect(counted(counter)).toEqual([8, 64 + 1500 + 64 + 0xffff_ffff + 4 * 64]);
  });

  test("and link types reach the parser", () => {
    ruleFor(bench.root, { "outer.tcp_dport": 80 }, [dv.mlx5dv_dr_action_create_dest_ibv_qp(bench.queue)]);
    const packet = FRAME.subarray(14);
    for (let pass = 0; pass < 2; pass++) {
      burst.clear();
      burst.put(FRAME);
      burst.put(packet, 1, RAW_IP);
      burst.put(packet);
      burst.put(FRAME.subarray(0, 36), 1, 1, 64);
      burst.put(FRAME, 1, RAW_IP);
      burst.put(FRAME);
      expect(burst.steer()).toBe(6);
      expect(Array.from(burst.destinations.subarray(0, 6))).toEqual([1, 1, 0, 0, 0, 1]);
    }
  });
});

describe("refused, whatever was taken before", () => {
  const cases: Record<string, [run: () => unknown, why: string]> = {
    "a port that is not there": [() => burst.put(FRAME, 3), "EINVAL out_of_range port"],
    "port 0": [() => burst.add(0, 64, 0), "EINVAL out_of_range port"],
    "a link type without a parser": [() => burst.put(FRAME, 1, 147), "EOPNOTSUPP bad_link_type linkType"],
    "the same of a frame that lies there": [() => burst.add(0, 64, 1, 147), "EOPNOTSUPP bad_link_type linkType"],
    "a wire length below the length": [() => burst.put(FRAME, 1, 1, 63), "EINVAL out_of_range wireLength"],
    "a wire length of more than 32 bits": [() => burst.add(0, 64, 1, 1, 2 ** 32), "EINVAL out_of_range wireLength"],
    "more than a frame can have": [() => burst.add(0, 262_145), "EINVAL out_of_range length"],
    "less than nothing": [() => burst.add(0, -1), "EINVAL out_of_range length"],
    "half a byte": [() => burst.add(0, 63.5), "EINVAL out_of_range length"],
    "an offset below 0": [() => burst.add(-1, 64), "EINVAL out_of_range offset"],
    "half an offset": [() => burst.add(0.5, 64), "EINVAL out_of_range offset"],
    "the end of the area": [() => burst.add(burst.bytes.length - 63, 64), "EINVAL out_of_range offset"],
    "a stamp for a row that is not there": [() => burst.stamp(1, 0n), "EINVAL out_of_range row"],
    "a stamp before all time": [() => burst.stamp(0, -1n), "EINVAL out_of_range time"],
    "a stamp of more than 64 bits": [() => burst.stamp(0, 1n << 64n), "EINVAL out_of_range time"],
    "an outcome too early": [() => burst.outcome(0), "EINVAL burst_state burst"],
  };
  test.each(Object.keys(cases))("%s", (name) => {
    const [run, expected] = cases[name]!;
    burst.clear();
    burst.put(FRAME, 1);
    expect([why(run), why(run)]).toEqual([expected, expected]);
    expect(burst.count).toBe(1);
    expect(burst.put(FRAME, 1)).toBe(1);
    expect(burst.steer()).toBe(2);
  });

  test("a stamp that is no bigint", () => {
    burst.clear();
    burst.put(FRAME);
    expect(() => burst.stamp(0, 5 as unknown as bigint)).toThrow(TypeError);
    for (const none of [[1, 2, 3], "frame", { length: 64 }, new Uint16Array(64)]) {
      expect(() => burst.put(none as unknown as Uint8Array)).toThrow(/burst\.put: frame must be a Uint8Array, not /);
    }
    burst.stamp(0, (1n << 64n) - 1n);
  });

  test("frames for a burst that is steered, and for a device that is closed", () => {
    burst.put(FRAME);
    burst.steer();
    const calls = [() => burst.put(FRAME), () => burst.add(0, 64), () => burst.stamp(0, 0n), () => burst.steer()];
    expect(calls.map(why)).toEqual(calls.map(() => "EINVAL burst_state burst"));
    burst.clear();
    burst.put(FRAME);
    device.users = 0;
    device.close();
    expect(why(() => burst.put(FRAME))).toBe("EINVAL object_destroyed device");
    expect(why(() => burst.add(0, 64))).toBe("EINVAL object_destroyed device");
  });
});

describe("room", () => {
  const arrived = (row: number): Uint8Array => burst.outcome(row).to[0]!.frame;

  test("frames that are copied until the area is full arrive as they are, again and again", () => {
    ruleFor(bench.root, {}, [dv.mlx5dv_dr_action_create_dest_ibv_qp(bench.queue)]);
    const large = ipv4Frame({ length: 60_000 });
    const sizes: number[] = [];
    for (let pass = 0; pass < 3; pass++) {
      burst.clear();
      let count = 0;
      for (;;) {
        large.fill(count, 54);
        if (burst.put(large) < 0) break;
        count++;
      }
      sizes.push(count);
      expect(burst.steer()).toBe(count);
      for (let row = 0; row < count; row++) {
        const frame = arrived(row);
        expect([frame.length, frame[54], frame[59_999]]).toEqual([60_000, row, row]);
      }
    }
    // The area grows in the first pass; frames before stay in the smaller ones.
    expect(sizes.slice(1)).toEqual([69, 69]);
    expect(sizes[0]).toBeGreaterThanOrEqual(69);
  });

  test("a frame more than there are rows is not in it", () => {
    for (const enter of [() => burst.put(FRAME), () => burst.add(0, 64)]) {
      burst.clear();
      for (let row = 0; row < burst.rows; row++) expect(enter()).toBe(row);
      expect([enter(), enter()]).toEqual([-1, -1]);
      expect(burst.steer()).toBe(burst.rows);
    }
  });

  test("frames that rules make longer leave those around them alone", async () => {
    const { device, context, rx, queues } = await openSwitch();
    const push = dv.mlx5dv_dr_action_create_push_vlan(rx.domain, 0x8100_0005);
    const [table, queue] = [rx.table, dv.mlx5dv_dr_action_create_dest_ibv_qp(queues[0]!)];
    ruleFor(rx.root, {}, [dv.mlx5dv_dr_action_create_dest_table(table)]);
    ruleFor(table, { "outer.tcp_dport": 81 }, [push, queue]);
    ruleFor(table, {}, [queue], 1);
    expect(context.device).toBe(device);
    burst = device.openBurst();
    const frames = Array.from({ length: 60 }, (_, n) => ipv4Frame({ dport: 80 + (n % 2), length: 60 + (n % 7) }));
    for (const [n, frame] of frames.entries()) frame.fill(n, 54);
    const isRight = (bytes: Uint8Array, row: number): void => {
      const frame = frames[row]!;
      expect(bytes.length).toBe(frame.length + 4 * (row % 2));
      expect(bytes.subarray(-frame.length + 12)).toEqual(frame.subarray(12));
    };
    for (const enter of [() => addAll(frames), () => frames.forEach((frame) => burst.put(frame))]) {
      burst.clear();
      enter();
      burst.steer();
      for (const row of frames.keys()) isRight(arrived(row), row);
    }
    // Only frames of a batch that changed are read back.
    const odd = frames.filter((_, row) => row % 2 === 1);
    for (const [n, { to }] of device.receiveBatch(1, odd).entries()) isRight(to[0]!.frame, 2 * n + 1);
  });
});

test("rows do not keep who has sent the frame before them, from which queue, and with what in register A", async () => {
  const { device, queues, fdb } = await openSwitch({ ports: 3 });
  const fromWire = { "misc.source_port": 0xffff, "misc.source_sqn": 0, "misc2.metadata_reg_a": 0 };
  ruleFor(fdb.root, fromWire, [dv.mlx5dv_dr_action_create_dest_ib_port(fdb.domain, 3)]);
  burst = device.openBurst();
  for (const enter of [() => burst.put(FRAME, 2), () => burst.put(FRAME, 2), () => burst.add(0, 64)]) {
    expect(device.send(queues[1]!, FRAME, { metadata: 0x5eed }).rules).toEqual([]);
    burst.clear();
    burst.bytes.set(FRAME, 0);
    enter();
    burst.steer();
    expect(burst.outcome(0).verdict).toBe("forward");
  }
});

test("rows do not keep the port of the frame before them, nor its link type", async () => {
  const { device, fdb } = await openSwitch();
  const packet = FRAME.subarray(14);
  for (const port of [1, 2]) {
    const tcp = { "misc.source_vhca_port": port, "outer.tcp_dport": 80 };
    ruleFor(fdb.root, tcp, [dv.mlx5dv_dr_action_create_dest_ib_port(fdb.domain, 3 - port)]);
  }
  burst = device.openBurst();
  for (const first of [0, 1, 0, 1]) {
    burst.clear();
    for (let row = 0; row < 8; row++) {
      const port = 1 + ((row + first) % 2);
      if ((row + first) % 4 < 2) burst.put(FRAME, port);
      else burst.put(packet, port, RAW_IP);
    }
    burst.steer();
    const ports = Array.from({ length: 8 }, (_, row) => burst.queues[row]);
    expect(ports).toEqual(ports.map((_, row) => 2 - ((row + first) % 2)));
    expect(Array.from(burst.destinations.subarray(0, 8))).toEqual(ports.map(() => 1));
  }
});
