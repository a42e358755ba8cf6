/** Out parameters of C: filled where a program gives them; the call then returns what C returns. */
import { beforeEach, describe, expect, test } from "vitest";
import { createDevice, type Gid } from "../../../src/index.js";
import type { Context } from "../../../src/model/base/context.js";
import * as v from "../../../src/verbs/index.js";
import { refused } from "../../mlx5dv/support/directRules.js";

let context: Context;

beforeEach(async () => {
  context = v.ibv_open_device(await createDevice({ ports: 2 }));
});

describe("a struct that a query fills", () => {
  test("has all members of the value that the query returns without it", () => {
    const device: v.Out<v.DeviceAttributes> = { max_qp: 1 };
    expect(v.ibv_query_device(context, device)).toBe(0);
    expect(device).toEqual(v.ibv_query_device(context));

    const extended: v.Out<v.DeviceAttributesEx> = {};
    expect(v.ibv_query_device_ex(context, null, extended)).toBe(0);
    expect(extended).toEqual(v.ibv_query_device_ex(context));

    const port: v.Out<v.PortAttributes> = {};
    expect(v.ibv_query_port(context, 2, port)).toBe(0);
    expect(port).toEqual(v.ibv_query_port(context, 2, null));

    const entry: v.Out<v.GidEntry> = {};
    expect(v.ibv_query_gid_ex(context, 2, 0, entry, 0)).toBe(0);
    expect(entry).toEqual(v.ibv_query_gid_ex(context, 2, 0));
  });

  test("stays as it was when the call is refused", () => {
    const port: v.Out<v.PortAttributes> = { state: 7 };
    expect(refused(() => v.ibv_query_port(context, 3, port))?.path).toBe("port_num");
    const entry: v.Out<v.GidEntry> = {};
    expect(refused(() => v.ibv_query_gid_ex(context, 1, 0, entry, 1))?.path).toBe("flags");
    expect(refused(() => v.ibv_query_gid_ex(context, 1, 1, entry, 0))?.code).toBe("ENODATA");
    expect([port, entry]).toEqual([{ state: 7 }, {}]);
  });

  test("is an object", () => {
    expect(() => v.ibv_query_device(context, 5 as never)).toThrow("device_attr must be an object, not number");
    expect(() => v.ibv_query_port(context, 1, new Uint8Array(52) as never)).toThrow(TypeError);
  });
});

test("a GID is the union or its bytes", () => {
  const union: v.Out<Gid> = {};
  const bytes = new Uint8Array(20).fill(7);
  expect([v.ibv_query_gid(context, 1, 0, union), v.ibv_query_gid(context, 1, 0, bytes)]).toEqual([0, 0]);
  const gid = v.ibv_query_gid(context, 1, 0);
  expect(union).toEqual(gid);
  expect([...bytes]).toEqual([...gid.raw, 7, 7, 7, 7]);
  const short = refused(() => v.ibv_query_gid(context, 1, 0, new Uint8Array(15)));
  expect(short).toMatchObject({ code: "EINVAL", path: "gid", reason: "too_short" });
});

test("a GID table is filled from its start, and its length returned", () => {
  const first: v.Out<v.GidEntry> = {};
  const kept = { gid_index: 99 };
  const entries = [first, {}, kept];
  expect(v.ibv_query_gid_table(context, entries, 3, 0)).toBe(2);
  expect(entries.slice(0, 2)).toEqual(v.ibv_query_gid_table(context, 3));
  expect(entries[0]).toBe(first);
  expect(kept).toEqual({ gid_index: 99 });
  expect(refused(() => v.ibv_query_gid_table(context, [], 1, 0))?.path).toBe("max_entries");
  expect(refused(() => v.ibv_query_gid_table(context, [], 2, 1))?.path).toBe("flags");
  expect(() => v.ibv_query_gid_table(context, "" as never, 2, 0)).toThrow(TypeError);
});

test("the type of a GID is that of sysfs", () => {
  expect(v.ibv_query_gid_type(context, 1, 0)).toBe(v.IBV_GID_TYPE_SYSFS_ROCE_V2);
  const type = [7];
  expect([v.ibv_query_gid_type(context, 2, 0, type), type[0]]).toEqual([0, v.IBV_GID_TYPE_SYSFS_ROCE_V2]);
  expect(refused(() => v.ibv_query_gid_type(context, 1, 1))).toMatchObject({ code: "ENODATA", path: "index" });
  expect(refused(() => v.ibv_query_gid_type(context, 1, 256))).toMatchObject({ code: "EINVAL", path: "index" });
});

test("a partition key is two wire bytes, and is found again by its value", () => {
  const pkey = new Uint8Array(2);
  expect(v.ibv_query_pkey(context, 1, 0, pkey)).toBe(0);
  expect([...pkey]).toEqual([0xff, 0xff]);
  expect(v.ibv_get_pkey_index(context, 1, 0xffff)).toBe(0);
  expect(refused(() => v.ibv_get_pkey_index(context, 1, 0x7fff))).toMatchObject({ code: "ENOENT", path: "pkey" });
  expect(refused(() => v.ibv_get_pkey_index(context, 3, 0xffff))?.path).toBe("port_num");
});

test("ibv_query_qp fills both structs, ibv_poll_cq an array or one completion", () => {
  const pd = v.ibv_alloc_pd(context);
  const cq = v.ibv_create_cq(context, 8);
  const cap = { max_recv_wr: 4, max_recv_sge: 1 };
  const qp = v.ibv_create_qp(pd, { qp_type: v.IBV_QPT_RAW_PACKET, send_cq: cq, recv_cq: cq, cap });
  const attr: v.Out<v.QueuePairReport> = {};
  const init_attr: v.Out<v.QueuePairAttributes> = {};
  expect(v.ibv_query_qp(qp, attr, v.IBV_QP_STATE, init_attr)).toBe(0);
  expect({ attr, init_attr }).toEqual(v.ibv_query_qp(qp));
  expect(v.ibv_query_qp(qp, attr, v.IBV_QP_STATE, null)).toBe(0);

  v.ibv_modify_qp(qp, { qp_state: v.IBV_QPS_ERR }, v.IBV_QP_STATE);
  const memory = new Uint8Array(64);
  const { lkey } = v.ibv_reg_mr(pd, memory, 64, v.IBV_ACCESS_LOCAL_WRITE);
  for (const wr_id of [1n, 2n, 3n, 4n]) v.ibv_post_recv(qp, { wr_id, sg_list: [{ addr: memory, lkey }] });
  const wc: v.Out<v.WorkCompletion> = {};
  expect(v.ibv_poll_cq(cq, 1, wc)).toBe(1);
  expect(wc).toMatchObject({ wr_id: 1n, status: v.IBV_WC_WR_FLUSH_ERR, qp_num: qp.qp_num });
  // A struct has room for one completion, whatever the number.
  expect([v.ibv_poll_cq(cq, 9, wc), wc.wr_id]).toEqual([1, 2n]);
  const list: v.Out<v.WorkCompletion>[] = [];
  expect(v.ibv_poll_cq(cq, 9, list)).toBe(2);
  expect(list.map(({ wr_id }) => wr_id)).toEqual([3n, 4n]);
  expect(v.ibv_poll_cq(cq, 9, list)).toBe(0);
  expect(() => v.ibv_poll_cq(cq, 1, 3 as never)).toThrow(TypeError);
});
