/** Properties that programs ask for: the clock, the order of data, keys, moderation, and fields that no completion has. */
import { beforeEach, expect, test } from "vitest";
import * as v from "../../../src/verbs/index.js";
import { refused } from "../../mlx5dv/support/directRules.js";
import { openStation, type Station } from "../support/queuePairs.js";

let station: Station;

beforeEach(async () => {
  station = await openStation();
});

test("the clock is that of the device", () => {
  station.device.advance(5_000_000_000n);
  const values: v.DeviceValues = { comp_mask: v.IBV_VALUES_MASK_RAW_CLOCK };
  expect(v.ibv_query_rt_values_ex(station.context, values)).toBe(0);
  expect(values.raw_clock).toEqual({ tv_sec: 0n, tv_nsec: 5_000_000_000n });
  const none = { comp_mask: 0 };
  v.ibv_query_rt_values_ex(station.context, none);
  expect(none).toEqual({ comp_mask: 0 });
  const error = refused(() => v.ibv_query_rt_values_ex(station.context, { comp_mask: 2 }));
  expect(error).toMatchObject({ code: "EOPNOTSUPP", path: "values.comp_mask" });
});

test("data are in order for the operations of the queue pair", () => {
  const { qp } = station;
  expect(v.ibv_query_qp_data_in_order(qp, v.IBV_WR_SEND)).toBe(1);
  expect(v.ibv_query_qp_data_in_order(qp, v.IBV_WR_SEND, v.IBV_QUERY_QP_DATA_IN_ORDER_RETURN_CAPS)).toBe(3);
  expect(v.ibv_query_qp_data_in_order(qp, v.IBV_WR_RDMA_WRITE, 0)).toBe(0);
  expect(refused(() => v.ibv_query_qp_data_in_order(qp, v.IBV_WR_SEND, 4))?.path).toBe("flags");
});

test("keys, types and forks are those of the inline functions of C", () => {
  expect([v.ibv_inc_rkey(0x12345678), v.ibv_inc_rkey(0xffffffff), v.ibv_inc_rkey(0)]).toEqual([
    0x12345679, 0xffffff00, 1,
  ]);
  const { rss_caps } = v.ibv_query_device_ex(station.context);
  expect(v.ibv_is_qpt_supported(rss_caps.supported_qpts, v.IBV_QPT_RAW_PACKET)).toBe(1);
  expect(v.ibv_is_qpt_supported(rss_caps.supported_qpts, v.IBV_QPT_UD)).toBe(0);
  expect([v.ibv_fork_init(), v.ibv_is_fork_initialized()]).toEqual([0, v.IBV_FORK_UNNEEDED]);
});

test("a completion queue takes the moderation that the device has", () => {
  const { cq, context } = station;
  const { max_cq_count, max_cq_period } = v.ibv_query_device_ex(context).cq_mod_caps;
  const moderate = { cq_count: max_cq_count, cq_period: max_cq_period };
  expect(v.ibv_modify_cq(cq, { attr_mask: v.IBV_CQ_ATTR_MODERATE, moderate })).toBe(0);
  const change = (attr: v.CompletionQueueChange): unknown => {
    const error = refused(() => v.ibv_modify_cq(cq, attr));
    return [error?.code, error?.path];
  };
  expect(change({ attr_mask: 0 })).toEqual(["EINVAL", "cq_attr.attr_mask"]);
  expect(change({ attr_mask: 3, moderate })).toEqual(["EOPNOTSUPP", "cq_attr.attr_mask"]);
  const more = { cq_count: 0, cq_period: max_cq_period + 1 };
  expect(change({ attr_mask: 1, moderate: more })).toEqual(["EINVAL", "cq_attr.moderate.cq_period"]);
  expect(v.ibv_modify_cq(cq, { attr_mask: 1 })).toBe(0);
});

test("completions have no VLAN tag, no tag matching and no invalidated key", () => {
  const cq = v.ibv_create_cq_ex(station.context, { cqe: 1, wc_flags: v.IBV_WC_EX_WITH_IMM });
  expect(refused(() => v.ibv_wc_read_cvlan(cq))).toMatchObject({ code: "EINVAL", reason: "not_requested" });
  expect(refused(() => v.ibv_wc_read_tm_info(cq, {}))?.reason).toBe("not_requested");
  expect(refused(() => v.ibv_wc_read_invalidated_rkey(cq))?.reason).toBe("no_completion");
  expect(() => v.ibv_wc_read_cvlan(null as never)).toThrow(TypeError);
});
