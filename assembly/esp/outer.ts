/**
 * Writes the outer headers of a tunnel (RFC 4301, 5.1.2; RFC 3948, 2.1). In: the headers of the
 * association and the inner packet. Out: the same headers with length, checksum, ID, DF, DSCP and
 * ECN of this packet.
 *
 *     | [ETH] | IPv4 or IPv6 | [UDP] |
 */
import {
  ESP_BYTES,
  ESP_DF,
  ESP_HEADERS,
  ESP_IP,
  ESP_NUMBER,
  ESP_TRAFFIC,
  ESP_UDP,
  ESP_VERSION,
} from "../../src/abi/esp";
import { be16 } from "../wire/cursor";
import { setLength } from "./packet";

/** DF in the third word of an IPv4 header, in memory order. */
const DF: u32 = 0x40;
const ECN: u32 = 3;

/**
 * Writes the outer headers at `at`, for the packet at `inner`; the outer packet has `total` bytes.
 */
export function fillOuter(association: usize, at: usize, inner: usize, innerVersion: u32, total: u32): void {
  memory.copy(at, association + ESP_HEADERS, load<u32>(association, ESP_BYTES));
  const offset: u32 = load<u16>(association, ESP_IP);
  const version: u32 = load<u8>(association, ESP_VERSION);
  const ip = at + offset;
  const mask: u32 = load<u8>(association, ESP_TRAFFIC) ? 0xff : ECN;
  setTraffic(ip, version, (traffic(ip, version) & ~mask) | (traffic(inner, innerVersion) & mask));
  if (version == 4) {
    store<u16>(ip, bswap<u16>(<u16>load<u64>(association, ESP_NUMBER)), 4);
    if (load<u8>(association, ESP_DF) && innerVersion == 4) {
      store<u8>(ip, <u8>(load<u8>(ip, 6) | (load<u8>(inner, 6) & DF)), 6);
    }
  }
  setLength(ip, version, total);
  const udp: u32 = load<u16>(association, ESP_UDP);
  if (udp != 0) fillUdp(at + udp, total - (udp - offset));
}

/** The checksum is 0 (RFC 3948, 2.1; RFC 6935). */
export function fillUdp(udp: usize, length: u32): void {
  store<u16>(udp, bswap<u16>(<u16>length), 4);
  store<u16>(udp, 0, 6);
}

/** DSCP and ECN of a header. */
// @ts-ignore: decorator
@inline
export function traffic(ip: usize, version: u32): u32 {
  return version == 6 ? (be16(ip) >> 4) & 0xff : load<u8>(ip, 1);
}

// @ts-ignore: decorator
@inline
export function setTraffic(ip: usize, version: u32, value: u32): void {
  if (version == 6) store<u16>(ip, bswap<u16>(<u16>((be16(ip) & 0xf00f) | (value << 4))));
  else store<u8>(ip, <u8>value, 1);
}
