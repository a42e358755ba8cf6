/** ibv_rate_to_mbps(3), ibv_rate_to_mult(3), and the UDP source port of a flow label. */
import { inCall } from "../errors.js";
import * as abi from "../abi/verbsConstants.js";
import { unsigned } from "../base/checks.js";
import { sourcePortOf } from "../model/roce/frame.js";

/** `enum ibv_rate`, its multiple of 2.5 Gb/s (null: none), and its Mb/s. */
const RATES: readonly (readonly [rate: number, mult: number | null, mbps: number])[] = [
  [abi.IBV_RATE_2_5_GBPS, 1, 2500],
  [abi.IBV_RATE_5_GBPS, 2, 5000],
  [abi.IBV_RATE_10_GBPS, 4, 10_000],
  [abi.IBV_RATE_20_GBPS, 8, 20_000],
  [abi.IBV_RATE_30_GBPS, 12, 30_000],
  [abi.IBV_RATE_40_GBPS, 16, 40_000],
  [abi.IBV_RATE_60_GBPS, 24, 60_000],
  [abi.IBV_RATE_80_GBPS, 32, 80_000],
  [abi.IBV_RATE_120_GBPS, 48, 120_000],
  [abi.IBV_RATE_14_GBPS, null, 14_062],
  [abi.IBV_RATE_56_GBPS, null, 56_250],
  [abi.IBV_RATE_112_GBPS, null, 112_500],
  [abi.IBV_RATE_168_GBPS, null, 168_750],
  [abi.IBV_RATE_25_GBPS, null, 25_781],
  [abi.IBV_RATE_100_GBPS, null, 103_125],
  [abi.IBV_RATE_200_GBPS, null, 206_250],
  [abi.IBV_RATE_300_GBPS, null, 309_375],
  [abi.IBV_RATE_28_GBPS, 11, 28_125],
  [abi.IBV_RATE_50_GBPS, 20, 53_125],
  [abi.IBV_RATE_400_GBPS, 160, 425_000],
  [abi.IBV_RATE_600_GBPS, 240, 637_500],
  [abi.IBV_RATE_800_GBPS, 320, 850_000],
  [abi.IBV_RATE_1200_GBPS, 480, 1_275_000],
];

/** The multiple of 2.5 Gb/s of a rate (IBV_RATE_*); -1 without one (ibv_rate_to_mult(3)). */
export function ibv_rate_to_mult(rate: number): number {
  return RATES.find(([one]) => one === rate)?.[1] ?? -1;
}

/** The rate of a multiple of 2.5 Gb/s; IBV_RATE_MAX without one (ibv_rate_to_mult(3)). */
export function mult_to_ibv_rate(mult: number): number {
  return RATES.find(([, one]) => one === mult)?.[0] ?? abi.IBV_RATE_MAX;
}

/** The Mb/s of a rate (IBV_RATE_*); -1 for an unknown one (ibv_rate_to_mbps(3)). */
export function ibv_rate_to_mbps(rate: number): number {
  return RATES.find(([one]) => one === rate)?.[2] ?? -1;
}

/** The rate of Mb/s; IBV_RATE_MAX without one (ibv_rate_to_mbps(3)). */
export function mbps_to_ibv_rate(mbps: number): number {
  return RATES.find(([, , one]) => one === mbps)?.[0] ?? abi.IBV_RATE_MAX;
}

/**
 * The UDP source port that frames of this flow label have (ibv_flow_label_to_udp_sport(3)).
 * @param fl 20 bits; 0 gives the lowest port, while frames then have a port made of both queue pair
 *   numbers
 */
export function ibv_flow_label_to_udp_sport(fl: number): number {
  return inCall("ibv_flow_label_to_udp_sport", () => sourcePortOf(unsigned("fl", fl, 32) & abi.IB_GRH_FLOWLABEL_MASK));
}
