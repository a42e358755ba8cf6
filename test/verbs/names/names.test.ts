/** Names of numbers, and conversions of rates. */
import { expect, test } from "vitest";
import * as v from "../../../src/verbs/index.js";

test("numbers have the names that the library prints", () => {
  expect(v.ibv_wc_status_str(v.IBV_WC_SUCCESS)).toBe("success");
  expect(v.ibv_wc_status_str(v.IBV_WC_WR_FLUSH_ERR)).toBe("Work Request Flushed Error");
  expect(v.ibv_wc_status_str(v.IBV_WC_TM_RNDV_INCOMPLETE)).toBe("TM software rendezvous");
  expect(v.ibv_event_type_str(v.IBV_EVENT_SRQ_LIMIT_REACHED)).toBe("SRQ limit reached");
  expect(v.ibv_event_type_str(v.IBV_EVENT_WQ_FATAL)).toBe("WQ fatal");
  expect(v.ibv_node_type_str(v.IBV_NODE_CA)).toBe("InfiniBand channel adapter");
  expect(v.ibv_node_type_str(v.IBV_NODE_UNSPECIFIED)).toBe("unspecified");
  expect(v.ibv_port_state_str(v.IBV_PORT_ACTIVE)).toBe("active");
  expect(v.ibv_wr_opcode_str(v.IBV_WR_DRIVER1)).toBe("driver1");
  expect(v.ibv_wr_opcode_str(v.IBV_WR_ATOMIC_WRITE)).toBe("atomic-write");
  const names = [v.ibv_wc_status_str, v.ibv_event_type_str, v.ibv_node_type_str, v.ibv_port_state_str];
  for (const name of [...names, v.ibv_wr_opcode_str]) expect([name(-1), name(99)]).toEqual(["unknown", "unknown"]);
  expect([v.ibv_wr_opcode_str(12), v.ibv_node_type_str(0)]).toEqual(["unknown", "unknown"]);
});

test("rates convert to multiples of 2.5 Gb/s and to Mb/s, and back", () => {
  expect(v.ibv_rate_to_mult(v.IBV_RATE_40_GBPS)).toBe(16);
  expect(v.ibv_rate_to_mult(v.IBV_RATE_100_GBPS)).toBe(-1);
  expect(v.mult_to_ibv_rate(11)).toBe(v.IBV_RATE_28_GBPS);
  expect(v.mult_to_ibv_rate(7)).toBe(v.IBV_RATE_MAX);
  expect(v.ibv_rate_to_mbps(v.IBV_RATE_100_GBPS)).toBe(103_125);
  expect(v.ibv_rate_to_mbps(v.IBV_RATE_MAX)).toBe(-1);
  expect(v.mbps_to_ibv_rate(1_275_000)).toBe(v.IBV_RATE_1200_GBPS);
  expect(v.mbps_to_ibv_rate(100_000)).toBe(v.IBV_RATE_MAX);
});

test("a flow label gives the UDP source port", () => {
  expect(v.ibv_flow_label_to_udp_sport(0)).toBe(v.IB_ROCE_UDP_ENCAP_VALID_PORT_MIN);
  expect(v.ibv_flow_label_to_udp_sport(0xfffff)).toBe(0xc000 | (0x3fff ^ 0x3f));
  expect(v.ibv_flow_label_to_udp_sport(0xabcc2345)).toBe(v.ibv_flow_label_to_udp_sport(0xc2345));
});
