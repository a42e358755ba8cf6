/** Queries: attributes of a device, its ports and their tables. */
import { describe, expect, test } from "vitest";
import { createDevice, createSink, type Device } from "../../../src/index.js";
import type { Context } from "../../../src/model/base/context.js";
import * as v from "../../../src/verbs/index.js";
import { refused } from "../../mlx5dv/support/directRules.js";

async function open(options: Parameters<typeof createDevice>[0] = {}): Promise<{ device: Device; context: Context }> {
  const device = await createDevice(options);
  return { device, context: v.ibv_open_device(device) };
}

const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

describe("the device", () => {
  test("says what it can do and hold", async () => {
    const { context } = await open({ ports: 3 });
    const attributes = v.ibv_query_device(context);
    expect(attributes).toMatchObject({ phys_port_cnt: 3, max_sge: 30, max_cqe: 2 ** 22, max_qp_wr: 2 ** 15 });
    expect(attributes).toMatchObject({ max_mw: 0, max_pkeys: 1, atomic_cap: v.IBV_ATOMIC_HCA });
    expect(attributes.device_cap_flags & v.IBV_DEVICE_MANAGED_FLOW_STEERING).toBe(1 << 29);
    expect(attributes.device_cap_flags & v.IBV_DEVICE_UD_AV_PORT_ENFORCE).not.toBe(0);
    expect(attributes.device_cap_flags & v.IBV_DEVICE_UD_IP_CSUM).toBe(0);
  });

  test("is of the vendor whose devices mlx5dv.h is for, and of the part of its profile", async () => {
    const { context } = await open({ profile: "connectx6dx" });
    expect(v.ibv_query_device(context)).toMatchObject({ vendor_id: 0x02c9, vendor_part_id: 0x101d });
    const other = await open({ name: "other" });
    expect(v.ibv_query_device_ex(other.context).orig_attr.vendor_part_id).toBe(0x1021);
  });

  test("says so where it steers no flows", async () => {
    const { context } = await open({ managedFlowSteering: false });
    expect(v.ibv_query_device(context).device_cap_flags & v.IBV_DEVICE_MANAGED_FLOW_STEERING).toBe(0);
    expect(v.ibv_query_device_ex(context).device_cap_flags_ex & (1n << 29n)).toBe(0n);
  });

  test("has a GUID that follows from its name", async () => {
    const guid = async (name: string): Promise<bigint> => v.ibv_query_device((await open({ name })).context).node_guid;
    expect(await guid("left")).toBe(await guid("left"));
    expect(await guid("left")).not.toBe(await guid("right"));
    // An EUI-64 of a MAC, locally administered.
    expect(((await guid("left")) >> 24n) & 0xffffn).toBe(0xfffen);
    expect((await guid("left")) >> 56n).toBe(2n);
    const { context } = await open();
    expect(v.ibv_query_device(context).sys_image_guid).toBe(v.ibv_query_device(context).node_guid);
  });

  test("returns more on request", async () => {
    const { device, context } = await open({ ports: 300 });
    const more = v.ibv_query_device_ex(context, { comp_mask: 0 });
    expect(more.orig_attr).toEqual(v.ibv_query_device(context));
    // A byte in C.
    expect(more.orig_attr.phys_port_cnt).toBe(255);
    expect(more).toMatchObject({ phys_port_cnt_ex: 300, raw_packet_caps: v.IBV_RAW_PACKET_CAP_IP_CSUM, comp_mask: 0 });
    // A tick of the clock is a nanosecond.
    expect(more).toMatchObject({ hca_core_clock: 1_000_000n, completion_timestamp_mask: 2n ** 64n - 1n });
    expect(more.device_cap_flags_ex).toBe(BigInt(more.orig_attr.device_cap_flags));
    expect(v.ibv_query_device_ex(context, null)).toEqual(v.ibv_query_device_ex(context));
    expect(refused(() => v.ibv_query_device_ex(context, { comp_mask: 1 }))).toMatchObject({
      code: "EINVAL",
      path: "input.comp_mask",
    });
    v.ibv_close_device(context);
    for (const call of [v.ibv_query_device, v.ibv_query_device_ex]) {
      expect(refused(() => call(context))?.reason).toBe("object_destroyed");
      expect(() => call(device as never)).toThrow(TypeError);
    }
  });
});

describe("ports", () => {
  test("are up, Ethernet, and need a GRH", async () => {
    const { context } = await open({ ports: 2 });
    for (const port of [1, 2]) {
      expect(v.ibv_query_port(context, port)).toMatchObject({
        state: v.IBV_PORT_ACTIVE,
        max_mtu: v.IBV_MTU_4096,
        active_mtu: v.IBV_MTU_4096,
        link_layer: v.IBV_LINK_LAYER_ETHERNET,
        flags: v.IBV_QPF_GRH_REQUIRED,
        gid_tbl_len: 256,
        pkey_tbl_len: 1,
        max_msg_sz: 262_144,
        lid: 0,
      });
    }
    for (const port of [0, 3, 1.5, -1]) {
      const error = refused(() => v.ibv_query_port(context, port));
      expect(error).toMatchObject({ code: "EINVAL", call: "ibv_query_port", path: "port_num" });
    }
    expect(() => v.ibv_query_port(context, "1" as never)).toThrow(TypeError);
    expect(() => v.ibv_query_port(null as never, 1)).toThrow(TypeError);
  });

  test("have a link-local GID of their MAC first", async () => {
    const { context } = await open({ name: "mlx", ports: 2 });
    const gid = v.ibv_query_gid(context, 2, 0);
    // fe80::/64; the universal bit of 02 is inverted; the last byte is the port.
    expect(hex(gid.raw)).toMatch(/^fe80000000000000(00[0-9a-f]{4}fffe[0-9a-f]{4}02)$/);
    expect(gid.global.subnet_prefix).toBe(0xfe80n << 48n);
    expect(gid.global.interface_id).toBe(BigInt(`0x${hex(gid.raw.subarray(8))}`));
    expect(v.ibv_query_gid(context, 1, 0).raw).not.toEqual(gid.raw);
    const again = await open({ name: "mlx", ports: 2 });
    expect(v.ibv_query_gid(again.context, 2, 0)).toEqual(gid);
    const other = await open({ name: "mly", ports: 2 });
    expect(v.ibv_query_gid(other.context, 2, 0)).not.toEqual(gid);
  });

  test("have tables that end", async () => {
    const { context } = await open();
    const zero = v.ibv_query_gid(context, 1, 255);
    expect(zero).toEqual({ raw: new Uint8Array(16), global: { subnet_prefix: 0n, interface_id: 0n } });
    for (const index of [256, -1]) {
      expect(refused(() => v.ibv_query_gid(context, 1, index))).toMatchObject({ code: "EINVAL", path: "index" });
      expect(refused(() => v.ibv_query_gid_ex(context, 1, index))).toMatchObject({ code: "EINVAL", path: "gid_index" });
    }
    expect(refused(() => v.ibv_query_gid(context, 2, 0))?.path).toBe("port_num");
    expect(refused(() => v.ibv_query_gid_ex(context, 1, 1))).toMatchObject({ code: "ENODATA", errno: 61 });
    expect(refused(() => v.ibv_query_gid_ex(context, 1, 0, 1))).toMatchObject({ code: "EINVAL", path: "flags" });
    expect(v.ibv_query_pkey(context, 1, 0)).toBe(0xffff);
    expect(refused(() => v.ibv_query_pkey(context, 1, 1))).toMatchObject({ code: "EINVAL", path: "index" });
    expect(refused(() => v.ibv_query_pkey(context, 2, 0))?.path).toBe("port_num");
  });

  test("list their entries", async () => {
    const { context } = await open({ ports: 2 });
    const entry = v.ibv_query_gid_ex(context, 2, 0, 0);
    expect(entry).toEqual({
      gid: v.ibv_query_gid(context, 2, 0),
      gid_index: 0,
      port_num: 2,
      gid_type: v.IBV_GID_TYPE_ROCE_V2,
      ndev_ifindex: 0,
    });
    expect(v.ibv_query_gid_table(context, 2)).toEqual([v.ibv_query_gid_ex(context, 1, 0), entry]);
    expect(refused(() => v.ibv_query_gid_table(context, 1))).toMatchObject({ code: "EINVAL", path: "max_entries" });
    expect(refused(() => v.ibv_query_gid_table(context, 9, 1))?.path).toBe("flags");
    // The results are copies.
    entry.gid.raw.fill(0);
    expect(v.ibv_query_gid(context, 2, 0).raw[0]).toBe(0xfe);
  });
});

describe("what a device is given", () => {
  test("MACs and GIDs", async () => {
    const gids = [[], ["10.0.0.1", "2001:db8::1", v.ibv_query_gid((await open()).context, 1, 0)]];
    const { context } = await open({ ports: 3, macs: ["02:00:00:00:00:09", Uint8Array.of(0, 1, 2, 3, 4, 5)], gids });
    const gid = (port: number, index: number): string => hex(v.ibv_query_gid(context, port, index).raw);
    expect(gid(1, 0)).toBe("fe80000000000000000000fffe000009");
    expect(gid(2, 0)).toBe("fe80000000000000020102fffe030405");
    expect(gid(2, 1)).toBe("00000000000000000000ffff0a000001");
    expect(gid(2, 2)).toBe("20010db8000000000000000000000001");
    expect(gid(2, 3)).toMatch(/^fe80.*01$/);
    expect(gid(1, 1)).toBe("0".repeat(32));
    expect(gid(3, 0)).toMatch(/^fe80.*03$/);
    expect(v.ibv_query_gid_table(context, 9).map(({ port_num, gid_index }) => [port_num, gid_index])).toEqual([
      [1, 0],
      [2, 0],
      [2, 1],
      [2, 2],
      [2, 3],
      [3, 0],
    ]);
  });

  test.each<[object, string]>([
    [{ macs: ["02:00:00:00:00:01", "02:00:00:00:00:02"] }, "macs.length"],
    [{ macs: ["03:00:00:00:00:01"] }, "macs[0]"],
    [{ macs: ["02:00"] }, "macs[0]"],
    [{ gids: [[], []] }, "gids.length"],
    [{ gids: [["fe80::1", "10.0.0.256"]] }, "gids[0][1]"],
    [{ gids: [Array.from({ length: 256 }, () => "::1")] }, "gids[0].length"],
    [{ limits: { max_pd: 0 } }, "limits.max_pd"],
    [{ limits: { max_qp: 2 ** 17 + 1 } }, "limits.max_qp"],
    [{ limits: { max_sge: 1.5 } }, "limits.max_sge"],
  ])("%j is refused", async (options, path) => {
    const error = await createDevice(options).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: "EINVAL", call: "createDevice", path });
  });

  test("of another type is refused", async () => {
    for (const options of [{ macs: "02:00:00:00:00:01" }, { macs: [5] }, { gids: ["::1"] }, { gids: [[5]] }]) {
      await expect(createDevice(options as never)).rejects.toThrow(TypeError);
    }
  });

  test("limits, which are reported and enforced", async () => {
    const limits = { max_qp: 3, max_cq: 2, max_mr: 1, max_pd: 2, max_ah: 1, max_qp_wr: 5, max_sge: 2, max_cqe: 7 };
    const { device, context } = await open({ limits });
    expect(v.ibv_query_device(context)).toMatchObject(limits);
    const pd = v.ibv_alloc_pd(context);
    const cq = v.ibv_create_cq(context, 7);
    const qp = (cap: object = {}): ReturnType<typeof v.ibv_create_qp> =>
      v.ibv_create_qp(pd, { send_cq: cq, recv_cq: cq, cap, qp_type: v.IBV_QPT_RAW_PACKET });
    expect(refused(() => v.ibv_create_cq(context, 8))).toMatchObject({ code: "EINVAL", path: "cqe" });
    for (const cap of [{ max_send_wr: 6 }, { max_recv_wr: 6 }, { max_send_sge: 3 }, { max_recv_sge: 3 }]) {
      expect(refused(() => qp(cap))).toMatchObject({ code: "EINVAL", path: `cap.${Object.keys(cap)[0]}` });
    }
    // One by one up to the limit; one more is ENOMEM, and each removal makes room for one.
    const ah = { grh: { dgid: "ff02::1" }, is_global: 1, port_num: 1 };
    const kinds: [string, () => never, (object: never) => 0][] = [
      ["max_pd", () => v.ibv_alloc_pd(context) as never, v.ibv_dealloc_pd],
      ["max_cq", () => v.ibv_create_cq(context, 1) as never, v.ibv_destroy_cq],
      ["max_cq", () => v.ibv_create_cq_ex(context, { cqe: 1 }) as never, v.ibv_destroy_cq],
      ["max_mr", () => v.ibv_reg_mr(pd, new Uint8Array(1), undefined, 0) as never, v.ibv_dereg_mr],
      ["max_ah", () => v.ibv_create_ah(pd, ah) as never, v.ibv_destroy_ah],
      ["max_qp", () => qp() as never, v.ibv_destroy_qp],
      ["max_qp", () => createSink(context, "sink") as never, v.ibv_destroy_qp],
    ];
    for (const [limit, make, destroy] of kinds) {
      const made: never[] = [];
      const used = limit === "max_pd" || limit === "max_cq" ? 1 : 0;
      for (let i = used; i < limits[limit as keyof typeof limits]; i++) made.push(make());
      const memory = device.memoryUsed;
      for (let i = 0; i < 3; i++) {
        const error = refused(make);
        expect(error).toMatchObject({ code: "ENOMEM", reason: "no_memory" });
        expect(error?.hint).toContain(limit);
      }
      expect(device.memoryUsed).toBe(memory);
      for (const object of made.splice(-1)) destroy(object);
      made.push(make());
      expect(refused(make)?.code).toBe("ENOMEM");
      for (const object of made) destroy(object);
    }
    expect([pd.users, cq.users]).toEqual([0, 0]);
  });
});
