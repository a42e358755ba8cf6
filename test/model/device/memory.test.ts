/** The memory of a device grows with its use, and where it cannot grow the call is refused and changes nothing. */
import { beforeEach, describe, expect, test } from "vitest";
import release from "../../../build/release/core.wasm";
import { createDevice, createDeviceSync, createSink, type Device } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import { ibv_open_device } from "../../../src/verbs/index.js";
import { ipv4Frame, refused } from "../../mlx5dv/support/directRules.js";
import { withPages } from "../../support/smallMemory.js";

const PAGE = 65_536;
const RULES = 100;
const FRAMES = Array.from({ length: 200 }, (_, n) => ipv4Frame({ dport: n % RULES }));

const declared = (device: Device): number => device.core.u8.length;

/** A device with rules that deliver frames by their destination port. */
function withRules(device: Device): Device {
  const { table, queue } = openTable(device);
  const matches = Array.from({ length: RULES }, (_, n) => dv.matchParameters({ "outer.tcp_dport": n }));
  const { match_criteria_enable, mask } = matches[0]!;
  const matcher = dv.mlx5dv_dr_matcher_create(table, 0, match_criteria_enable, mask);
  const deliver = [dv.mlx5dv_dr_action_create_dest_ibv_qp(queue)];
  for (const { value } of matches) dv.mlx5dv_dr_rule_create(matcher, value, 1, deliver);
  return device;
}

function openTable(device: Device): {
  table: ReturnType<typeof dv.mlx5dv_dr_table_create>;
  queue: ReturnType<typeof createSink>;
} {
  const context = ibv_open_device(device);
  const domain = dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
  return { table: dv.mlx5dv_dr_table_create(domain, 0), queue: createSink(context, "app") };
}

describe("many devices", () => {
  test("a device that gets its frames one by one declares a few pages, the thousandth as the first", async () => {
    await createDevice();
    const sizes = Array.from({ length: 50 }, (_, n) => {
      const device = createDeviceSync({ name: `nic${n}` });
      const idle = declared(device);
      withRules(device);
      for (const frame of FRAMES) expect(device.receive(1, frame).verdict).toBe("deliver");
      return [idle / PAGE, declared(device) / PAGE];
    });
    expect(new Set(sizes.map(String))).toEqual(new Set([String(sizes[0])]));
    expect(sizes[0]![0]).toBeLessThanOrEqual(2);
    expect(sizes[0]![1]).toBeLessThanOrEqual(5);
  });

  test("use does not make it larger again", async () => {
    const device = withRules(await createDevice());
    for (const frame of FRAMES) device.receive(1, frame);
    device.receiveBatch(1, FRAMES);
    const before = declared(device);
    for (let n = 0; n < 20; n++) device.receiveBatch(1, FRAMES);
    expect(declared(device)).toBe(before);
  });
});

test("an area that takes the memory of the flow cache back begins with zeros", async () => {
  const device = withRules(await createDevice());
  for (const frame of FRAMES) device.receive(1, frame);
  const { core } = device;
  const lent = core.u8.subarray(core.exports.arenaTop()).filter((byte) => byte !== 0).length;
  expect(lent).toBeGreaterThan(FRAMES.length);
  expect(core.openBytes(1 << 16)).toBe(true);
  expect(core.u8.subarray(core.bytes, core.bytes + core.bytesSize).filter((byte) => byte !== 0).length).toBe(0);
});

describe("memory that does not grow", () => {
  let device: Device;

  beforeEach(async () => {
    device = withRules(await createDevice({ core: withPages(release, 4), cache: false }));
  });

  const noMemory = (call: string): object => ({ code: "ENOMEM", call, reason: "no_memory" });

  test("refuses a burst, and frames go on one by one and in batches", () => {
    const used = device.memoryUsed;
    expect(refused(() => device.openBurst())).toMatchObject(noMemory("device.openBurst"));
    expect(device.memoryUsed).toBe(used);
    const alone = FRAMES.map((frame) => device.receive(1, frame).to[0]?.name);
    expect(device.receiveBatch(1, FRAMES).map(({ to }) => to[0]?.name)).toEqual(alone);
    expect(new Set(alone)).toEqual(new Set(["qp:app"]));
  });

  test("refuses a frame that does not fit, before any frame of the call is steered", () => {
    const large = ipv4Frame({ length: 250_000 });
    const before = device.core.steered;
    expect(refused(() => device.receiveBatch(1, [FRAMES[0]!, large]))).toMatchObject(noMemory("receive"));
    expect(device.core.steered).toBe(before);
    expect(device.receive(1, FRAMES[1]!).verdict).toBe("deliver");
  });

  test("refuses rules in bulk, and makes none of them", () => {
    const domain = dv.mlx5dv_dr_domain_create(ibv_open_device(device), dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
    const table = dv.mlx5dv_dr_table_create(domain, 1);
    const { match_criteria_enable, mask } = dv.matchParameters({ "outer.ipv4_dst": "10.0.0.1" });
    const matcher = dv.mlx5dv_dr_matcher_create(table, 0, match_criteria_enable, mask);
    const size = mask.match_buf.length;
    const values = { match_sz: size, match_buf: new Uint8Array(20_000 * size) };
    const used = device.memoryUsed;
    const drop = dv.mlx5dv_dr_action_create_drop();
    expect(refused(() => dv.createRules(matcher, values, [drop]))).toMatchObject(noMemory("createRules"));
    expect([device.memoryUsed, matcher.users]).toEqual([used, 0]);
  });
});
