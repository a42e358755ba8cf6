/** Faults that programs have and scenario files cannot express: masks in bytes, criteria, values outside masks. */
import { describe, expect, it } from "vitest";
import { createDevice, createSink, type Device } from "../../../src/index.js";
import { lint } from "../../../src/explain/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import * as ib from "../../../src/verbs/index.js";
import { CALLS } from "../../explain/catalogue/calls.js";

const SHARED = ["criteria-leave-out-group", "prefix-with-host-bits", "value-outside-mask"];

const idsOf = async (device: Device): Promise<string[]> => (await lint(device)).map(({ id }) => id);

describe("a mistake of the catalogue", () => {
  it.each(CALLS.filter(({ mistake }) => SHARED.includes(mistake ?? "")))("$name", async ({ mistake, build }) => {
    expect(await idsOf((await build(false)).device)).toContain(mistake);
    expect(await idsOf((await build(true)).device)).not.toContain(mistake);
  });

  it("of each kind is there", () => {
    const planted = CALLS.map(({ mistake }) => mistake);
    expect(SHARED.filter((id) => !planted.includes(id))).toEqual([]);
  });
});

type Fields = Parameters<typeof dv.matchParameters>[0];

/** A device with one rule of these match parameters. */
async function deviceWith(
  fields: Fields,
  change: (mask: Uint8Array, value: Uint8Array) => number = () => 0,
): Promise<Device> {
  const device = await createDevice();
  const context = ib.ibv_open_device(device);
  const root = dv.mlx5dv_dr_table_create(dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX), 0);
  const { match_criteria_enable, mask, value } = dv.matchParameters(fields, { root: true });
  const more = change(mask.match_buf, value.match_buf);
  const matcher = dv.mlx5dv_dr_matcher_create(root, 0, match_criteria_enable | more, mask);
  dv.mlx5dv_dr_rule_create(matcher, value, 1, [dv.mlx5dv_dr_action_create_dest_ibv_qp(createSink(context, "web"))]);
  return device;
}

/** Clears the byte of outer.ip_version and its neighbours in a mask and a value. */
function withoutVersion(mask: Uint8Array, value: Uint8Array): number {
  for (const bytes of [mask, value]) bytes[16] = 0;
  for (const bytes of [mask, value]) bytes[17] = 0;
  for (const bytes of [mask, value]) bytes[18] = 0;
  for (const bytes of [mask, value]) bytes[19] = 0;
  return 0;
}

describe("a mask in bytes", () => {
  it("of an IPv4 address takes IPv6 packets too, without a version", async () => {
    const found = await lint(await deviceWith({ "outer.ipv4_dst": "192.0.2.1" }, withoutVersion));
    expect(found).toMatchObject([
      { id: "address-without-version", field: "outer.ipv4_dst", objects: [{ kind: "matcher" }] },
    ]);
    expect(await idsOf(await deviceWith({ "outer.ipv4_dst": "192.0.2.1" }))).toEqual([]);
    expect(await idsOf(await deviceWith({ "outer.ipv6_dst": "2001:db8::1" }, withoutVersion))).toEqual([]);
  });

  it("has nothing of a group that the criteria name", async () => {
    const found = await lint(await deviceWith({ "outer.ip_version": 4 }, () => 0x2));
    expect(found).toMatchObject([{ id: "criteria-without-mask", severity: "note" }]);
    expect(found[0]?.sentence).toContain("the group misc in match_criteria_enable 0x3");
  });
});

describe("lint", () => {
  it("names counters that nothing counts on, until they are destroyed", async () => {
    const device = await createDevice();
    const context = ib.ibv_open_device(device);
    const counters = ib.ibv_create_counters(context, { comp_mask: 0 });
    expect(await lint(device)).toMatchObject([{ id: "unused-counter", objects: [{ kind: "flow counter" }] }]);
    ib.ibv_destroy_counters(counters);
    expect(await lint(device)).toEqual([]);
  });

  it("knows that queues have a use that send", async () => {
    const device = await createDevice();
    const queue = createSink(ib.ibv_open_device(device), "sender");
    expect(await idsOf(device)).toEqual(["unused-queue"]);
    expect(await lint(device, { senders: [queue] })).toEqual([]);
  });

  it("leaves the device as it is, and gives plain data", async () => {
    const device = await deviceWith({ "outer.tcp_dport": 80 });
    const memory = device.memoryUsed;
    const findings = await lint(device);
    expect(device.memoryUsed).toBe(memory);
    expect(structuredClone(findings)).toEqual(JSON.parse(JSON.stringify(findings)));
  });

  it("refuses what is no device, and unknown options", async () => {
    await expect(lint(JSON.parse("{}"))).rejects.toThrow(TypeError);
    const device = await createDevice();
    await expect(lint(device, { queues: [] } as object)).rejects.toThrow(/queues/);
  });
});
