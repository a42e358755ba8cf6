/** Queries: what a device says of itself, its ports and their tables. */
import { describe, expect, test } from "vitest";
import { createDevice, type Device } from "../../src/index.js";
import type { Context } from "../../src/model/context.js";
import * as v from "../../src/verbs/index.js";
import { refused } from "../mlx5dv/support.js";

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
    expect(attributes).toMatchObject({ max_srq: 0, max_mw: 0, max_mcast_grp: 0, max_pkeys: 1, atomic_cap: 0 });
    expect(attributes.device_cap_flags & v.IBV_DEVICE_MANAGED_FLOW_STEERING).toBe(1 << 29);
    expect(attributes.device_cap_flags & v.IBV_DEVICE_UD_AV_PORT_ENFORCE).not.toBe(0);
    expect(attributes.device_cap_flags & v.IBV_DEVICE_UD_IP_CSUM).toBe(0);
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

  test("says more when asked for more", async () => {
    const { device, context } = await open({ ports: 255 });
    const more = v.ibv_query_device_ex(context, { comp_mask: 0 });
    expect(more.orig_attr).toEqual(v.ibv_query_device(context));
    expect(more).toMatchObject({ phys_port_cnt_ex: 255, raw_packet_caps: v.IBV_RAW_PACKET_CAP_IP_CSUM, comp_mask: 0 });
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
    // fe80::/64; the universal bit of 02 is turned over; the last byte is the port.
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
    // What is handed out is a copy.
    entry.gid.raw.fill(0);
    expect(v.ibv_query_gid(context, 2, 0).raw[0]).toBe(0xfe);
  });
});
