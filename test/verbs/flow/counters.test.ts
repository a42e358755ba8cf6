/**
 * ibv_create_counters(3), ibv_attach_counters_point_flow(3), ibv_read_counters(3), as in
 * docs/flows.md.
 */
import { beforeEach, describe, expect, test } from "vitest";
import { createDevice } from "../../../src/index.js";
import * as v from "../../../src/verbs/index.js";
import { ipv4Frame, refused } from "../../mlx5dv/support/directRules.js";
import { ALL, attr, count, dport, DROP, FlowBench, SNIFFER, TCP, valuesOf } from "../support/flows.js";

const { IBV_COUNTER_BYTES: BYTES, IBV_COUNTER_PACKETS: PACKETS } = v;
const FRAME = ipv4Frame();

let bench: FlowBench;
beforeEach(async () => {
  bench = await FlowBench.open();
});

type Counters = ReturnType<typeof v.ibv_create_counters>;
type Flow = ReturnType<typeof v.ibv_create_flow>;

const create = (): Counters => v.ibv_create_counters(bench.context, { comp_mask: 0 });
const attach = (counters: Counters, counter_desc: number, index: number, flow: Flow | null = null): 0 =>
  v.ibv_attach_counters_point_flow(counters, { counter_desc, index, comp_mask: 0 }, flow);
function read(counters: Counters, length: number): bigint[] {
  const values = new BigUint64Array(length).fill(99n);
  v.ibv_read_counters(counters, values, undefined, v.IBV_READ_COUNTERS_ATTR_PREFER_CACHED);
  return [...values];
}

describe("counting", () => {
  test("points add up at their indices; the others are 0", () => {
    const counters = create();
    for (const [description, index] of [
      [PACKETS, 3],
      [BYTES, 1],
      [PACKETS, 1],
      [PACKETS, 3],
    ] as const) {
      attach(counters, description, index);
    }
    bench.flow("a", [TCP, count(counters)]);
    bench.device.receiveBatch(1, [FRAME, FRAME, ipv4Frame({ protocol: 17 })]);
    expect(read(counters, 6)).toEqual([0n, 130n, 0n, 4n, 0n, 0n]);
    const long = new BigUint64Array(6).fill(7n);
    v.ibv_read_counters(counters, long, 4, 0);
    expect([...long]).toEqual([0n, 130n, 0n, 4n, 7n, 7n]);
  });

  test("several flows add to one pair; identical ones that name it count a frame once", () => {
    const counters = bench.counters();
    bench.flow("a", [dport(80), count(counters)]);
    bench.flow("b", [dport(80), count(counters)]);
    bench.flow("a", [dport(81), DROP, count(counters)]);
    bench.flow("s", [count(counters)], SNIFFER);
    bench.device.receiveBatch(
      1,
      [80, 81, 82].map((port) => ipv4Frame({ dport: port })),
    );
    expect(valuesOf(counters)).toEqual([5n, 320n]);
  });

  test("values survive, and go on", () => {
    const counters = bench.counters();
    expect(valuesOf(counters)).toEqual([0n, 0n]);
    const used = bench.device.memoryUsed;
    const flow = bench.flow("a", [TCP, count(counters)]);
    bench.device.receive(1, FRAME);
    v.ibv_destroy_flow(flow);
    expect(valuesOf(counters)).toEqual([1n, 64n]);
    attach(counters, PACKETS, 5);
    bench.flow("a", [], { ...ALL, specs: [count(counters)] });
    bench.device.receive(1, FRAME);
    expect(read(counters, 6)).toEqual([2n, 128n, 0n, 0n, 0n, 2n]);
    expect(bench.device.memoryUsed).toBeGreaterThan(used);
  });

  test("64 bits of them", () => {
    const counters = create();
    attach(counters, BYTES, 0);
    attach(counters, BYTES, 0);
    bench.flow("a", [count(counters)]);
    // More than a test can send: almost 2^63 - 32 bytes.
    const { core } = bench.device;
    new DataView(core.u8.buffer).setBigUint64(counters.address + 8, 2n ** 63n - 64n, true);
    bench.device.receive(1, FRAME);
    expect(counters.read()).toEqual({ packets: 1n, bytes: 2n ** 63n });
    expect(read(counters, 1)).toEqual([0n]);
  });

  test("bytes are those on the wire", () => {
    const counters = bench.counters();
    bench.flow("a", [count(counters)]);
    bench.device.receive(1, FRAME, { wireLength: 1500 });
    expect(valuesOf(counters)).toEqual([1n, 1500n]);
  });
});

describe("attaching", () => {
  test("while a flow uses the counters only with a flow", () => {
    const counters = create();
    const flow = bench.flow("a", [TCP, count(counters)]);
    expect(refused(() => attach(counters, PACKETS, 0))).toMatchObject({ code: "EBUSY", path: "counters" });
    attach(counters, PACKETS, 0, flow);
    bench.device.receive(1, FRAME);
    expect(read(counters, 1)).toEqual([1n]);
    v.ibv_destroy_flow(flow);
    attach(counters, BYTES, 1);
    expect(read(counters, 2)).toEqual([1n, 64n]);
  });

  test("to a live flow, which counts from then on", () => {
    const [counters, other] = [create(), create()];
    const [one, two] = [bench.flow("a", [TCP]), bench.flow("b", [TCP])];
    bench.device.receive(1, FRAME);
    attach(counters, PACKETS, 0, one);
    expect([counters.users, one.counts]).toEqual([1, counters]);
    bench.device.receive(1, FRAME);
    attach(counters, PACKETS, 0, two);
    bench.device.receive(1, FRAME);
    expect(read(counters, 1)).toEqual([4n]);
    expect(refused(() => attach(other, PACKETS, 0, one))).toMatchObject({ code: "EINVAL", path: "flow" });
    expect(other.users).toBe(0);
    v.ibv_destroy_flow(one);
    bench.device.receive(1, FRAME);
    expect(read(counters, 1)).toEqual([6n]);
    expect(refused(() => v.ibv_destroy_counters(counters))?.code).toBe("EBUSY");
    v.ibv_destroy_flow(two);
    v.ibv_destroy_counters(counters);
    expect(refused(() => attach(other, PACKETS, 0, two))?.reason).toBe("object_destroyed");
  });

  test("to both halves of a flow", () => {
    const counters = create();
    const flow = bench.flow("a", [], ALL);
    attach(counters, PACKETS, 0, flow);
    const multicast = Uint8Array.from(FRAME, (byte, i) => (i === 0 ? 1 : byte));
    bench.device.receiveBatch(1, [FRAME, multicast]);
    expect(read(counters, 1)).toEqual([2n]);
  });

  test("an entry counts on 60 objects, then ENOMEM", () => {
    const flows = Array.from({ length: 61 }, () => bench.flow("a", [TCP]));
    for (const flow of flows.slice(1)) attach(create(), PACKETS, 0, flow);
    const counters = create();
    expect(refused(() => attach(counters, PACKETS, 0, flows[0]))?.code).toBe("ENOMEM");
    expect([counters.users, flows[0]?.counts]).toEqual([0, null]);
  });

  test("what is refused", async () => {
    const counters = create();
    const with_ = (over: object): unknown =>
      v.ibv_attach_counters_point_flow(counters, { counter_desc: PACKETS, index: 0, ...over }, null);
    expect(refused(() => with_({ counter_desc: 2 }))).toMatchObject({ code: "ENOTSUP", errno: 95 });
    expect(refused(() => with_({ counter_desc: 2, comp_mask: 1 }))).toMatchObject({ code: "EOPNOTSUPP", errno: 95 });
    expect(refused(() => with_({ index: -1 }))?.path).toBe("counter_attach_attr.index");
    expect(() => with_({ index: "0" })).toThrow(TypeError);
    expect(read(counters, 1)).toEqual([0n]);
    const other = await FlowBench.open();
    const far = v.ibv_create_flow(other.qp("a"), attr([TCP]));
    expect(refused(() => attach(counters, PACKETS, 0, far))?.reason).toBe("other_device");
    expect(() => attach(counters, PACKETS, 0, {} as never)).toThrow(TypeError);
    expect(refused(() => v.ibv_create_counters(bench.context, { comp_mask: 1 }))?.code).toBe("EOPNOTSUPP");
  });

  test("structs are taken as C bytes too", () => {
    const counters = v.ibv_create_counters(bench.context, new Uint8Array(4));
    v.ibv_attach_counters_point_flow(counters, Uint8Array.of(1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0), null);
    const flow = v.flowAttrBytes(attr([TCP, count(counters)]), (object) => (object as Counters).handle);
    v.ibv_create_flow(bench.qp("a"), flow);
    bench.device.receive(1, FRAME);
    expect(read(counters, 3)).toEqual([0n, 0n, 64n]);
    expect(refused(() => v.ibv_create_counters(bench.context, new Uint8Array(3)))?.reason).toBe("too_short");
    const wrong = v.flowAttrBytes(attr([TCP, count(counters)]), () => 77);
    expect(refused(() => v.ibv_create_flow(bench.qp("a"), wrong))).toMatchObject({ code: "EINVAL", value: "0x4d" });
  });
});

describe("reading", () => {
  test("an array that is too short, flags that do not exist", () => {
    const counters = create();
    attach(counters, PACKETS, 2);
    const values = new BigUint64Array(4).fill(5n);
    const from = (count_: number | undefined, flags = 0): unknown =>
      refused(() => v.ibv_read_counters(counters, values, count_, flags))?.path;
    expect([from(2), from(5), from(4, 2)]).toEqual(["ncounters", "ncounters", "flags"]);
    expect([...values]).toEqual([5n, 5n, 5n, 5n]);
    expect(from(undefined)).toBeUndefined();
    expect(() => v.ibv_read_counters(counters, [0n] as never, 1, 0)).toThrow(TypeError);
    expect(v.ibv_read_counters(create(), new BigUint64Array(0), 0, 0)).toBe(0);
  });

  test("the memory of the device bounds points, which give it back", async () => {
    const device = await createDevice({ limits: { memory: 1 << 20 } });
    const context = v.ibv_open_device(device);
    const counters = v.ibv_create_counters(context, {});
    const used = device.memoryUsed;
    let points = 0;
    let error: unknown = null;
    while (error === null && points < 1e6) {
      error = refused(() => v.ibv_attach_counters_point_flow(counters, { index: points % 9 }, null)) ?? null;
      points++;
    }
    expect(error).toMatchObject({ code: "ENOMEM", reason: "no_memory" });
    expect(counters.points).toHaveLength(points - 1);
    v.ibv_destroy_counters(counters);
    expect(device.memoryUsed).toBe(used);
  });

  test("nothing can be read of what is gone", () => {
    const counters = create();
    const used = bench.device.memoryUsed;
    v.ibv_destroy_flow(bench.flow("a", [TCP, count(counters)]));
    v.ibv_destroy_counters(counters);
    v.ibv_destroy_qp(bench.qp("a"));
    expect(bench.device.memoryUsed).toBe(used);
    expect(refused(() => valuesOf(counters))?.reason).toBe("object_destroyed");
  });
});

test("ConnectX devices do as their drivers do", async () => {
  bench = await FlowBench.open({ profile: "connectx7" });
  const counters = create();
  expect(bench.refused("a", [TCP, count(counters)])).toBe("EINVAL");
  attach(counters, PACKETS, 0);
  expect(refused(() => read(counters, 1))).toMatchObject({ code: "EINVAL", path: "counters" });
  const flow = bench.flow("a", [TCP, count(counters)]);
  expect(refused(() => attach(counters, PACKETS, 0, flow))?.code).toBe("ENOTSUP");
  bench.device.receive(1, FRAME);
  expect(read(counters, 1)).toEqual([1n]);
});
