/**
 * Bytes -> key. The journey of one frame through its headers.
 *
 * In: a frame descriptor and the set of groups that rules read. Out: those groups of the key, and the frame map.
 * Groups outside the set are written to a scratch key, so no header asks who reads it. The everyday headers are inlined:
 * a call each cost more than what most of them do.
 */
import { FRAME_ADDRESS, FRAME_LENGTH, FRAME_LINK, FRAME_PORT, FRAME_WIRE_LENGTH } from "../../src/abi/engine";
import {
  LEVEL_INNER,
  LEVEL_OUTER,
  Link,
  MAP_INNER_PAYLOAD,
  MAP_INNER_PAYLOAD_END,
  MAP_PAYLOAD,
  MAP_PAYLOAD_END,
} from "../../src/abi/headers";
import {
  EXT_HERE_INNER,
  EXT_HERE_OUTER,
  EXT_HERE_TUNNEL,
  EXT_PORT,
  GROUP_EXT,
  GROUP_INNER,
  GROUP_MISC,
  GROUP_MISC3,
  GROUP_MISC5,
  GROUP_OUTER,
  GROUP_SIZE,
  INNER,
  OUTER,
  WANT_INNER,
} from "../../src/abi/key";
import { SCRATCH_KEY } from "../memory";
import { arp } from "./arp";
import { Cursor, Key } from "./cursor";
import { ethernet, ETHERTYPE_ARP, ETHERTYPE_IPV4, ETHERTYPE_IPV6 } from "./ethernet";
import { icmp, icmpv6 } from "./icmp";
import { ipv4 } from "./ipv4";
import { ipv6 } from "./ipv6";
import { linuxCooked, linuxCooked2, loopback, rawIp } from "./link";
import { tcp } from "./tcp";
import { NO_PORT, udp } from "./udp";
import { PROTOCOL_ICMP, PROTOCOL_ICMPV6, PROTOCOL_TCP, PROTOCOL_UDP } from "./upper";
import { PORT_VXLAN, vxlan } from "./vxlan";

export function parseFrame(descriptor: usize, key: usize, map: usize, wanted: u32): void {
  const frame: usize = load<u32>(descriptor, FRAME_ADDRESS);
  open(key, wanted);
  Cursor.frame = frame;
  Cursor.at = frame;
  Cursor.end = frame + <usize>load<u32>(descriptor, FRAME_LENGTH);
  Cursor.wireEnd = frame + <usize>load<u32>(descriptor, FRAME_WIRE_LENGTH);
  Cursor.map = map;
  Cursor.tunnels = 0;
  v128.store(map, i64x2.splat(0));
  v128.store(map, i64x2.splat(0), 16);
  store<u16>(key, bswap<u16>(load<u16>(descriptor, FRAME_PORT)), EXT_PORT);

  Cursor.level = LEVEL_OUTER;
  Cursor.here = 0;
  Key.layer = Key.outer;
  const port = network(linkLayer(load<u8>(descriptor, FRAME_LINK)));
  store<u32>(key, bswap(Cursor.here), EXT_HERE_OUTER);
  store<u32>(map, <u32>(Cursor.at - frame), MAP_PAYLOAD);
  store<u32>(map, <u32>(Cursor.end - frame), MAP_PAYLOAD_END);
  if (port == PORT_VXLAN && vxlan() && wanted & WANT_INNER) inner(key, map);
  store<u32>(key, bswap(Cursor.tunnels), EXT_HERE_TUNNEL);
}

/** SPEC: the packet inside a tunnel, one level down; its own tunnels are payload (parsing rulings). */
function inner(key: usize, map: usize): void {
  Cursor.level = LEVEL_INNER;
  Cursor.here = 0;
  Key.layer = Key.inner;
  network(ethernet());
  store<u32>(key, bswap(Cursor.here), EXT_HERE_INNER);
  store<u32>(map, <u32>(Cursor.at - Cursor.frame), MAP_INNER_PAYLOAD);
  store<u32>(map, <u32>(Cursor.end - Cursor.frame), MAP_INNER_PAYLOAD_END);
}

/** Zeroes the groups that will be filled: absent fields are 0, and their presence bits tell. */
// @ts-ignore: decorator
@inline
function open(key: usize, wanted: u32): void {
  clear(key, GROUP_EXT);
  Key.ext = key;
  Key.outer = SCRATCH_KEY + OUTER;
  Key.inner = SCRATCH_KEY + INNER;
  Key.misc = SCRATCH_KEY;
  Key.misc3 = SCRATCH_KEY;
  Key.misc5 = SCRATCH_KEY;
  if (wanted & (1 << GROUP_OUTER)) Key.outer = clear(key, GROUP_OUTER) + OUTER;
  if (wanted & (1 << GROUP_INNER)) Key.inner = clear(key, GROUP_INNER) + INNER;
  if (wanted & (1 << GROUP_MISC)) Key.misc = clear(key, GROUP_MISC);
  if (wanted & (1 << GROUP_MISC3)) Key.misc3 = clear(key, GROUP_MISC3);
  if (wanted & (1 << GROUP_MISC5)) Key.misc5 = clear(key, GROUP_MISC5);
}

// @ts-ignore: decorator
@inline
function clear(key: usize, group: usize): usize {
  const at = key + group * GROUP_SIZE;
  const zero = i64x2.splat(0);
  v128.store(at, zero);
  v128.store(at, zero, 16);
  v128.store(at, zero, 32);
  v128.store(at, zero, 48);
  return key;
}

/** The EtherType of what follows the link header. */
// @ts-ignore: decorator
@inline
function linkLayer(link: u32): u32 {
  switch (link) {
    case Link.ethernet:
      return ethernet();
    case Link.raw_ip:
      return rawIp();
    case Link.ipv4:
      return ETHERTYPE_IPV4;
    case Link.ipv6:
      return ETHERTYPE_IPV6;
    case Link.linux_cooked:
      return linuxCooked();
    case Link.linux_cooked_v2:
      return linuxCooked2();
    default:
      return loopback(link);
  }
}

/** Network and upper layer; the UDP destination port, if there is one, names the tunnel that follows. */
// @ts-ignore: decorator
@inline
function network(ethertype: u32): u32 {
  if (ethertype == ETHERTYPE_IPV4) return upper(ipv4());
  if (ethertype == ETHERTYPE_IPV6) return upper(ipv6());
  if (ethertype == ETHERTYPE_ARP) arp();
  return NO_PORT;
}

// @ts-ignore: decorator
@inline
function upper(protocol: u32): u32 {
  switch (protocol) {
    case PROTOCOL_TCP:
      tcp();
      return NO_PORT;
    case PROTOCOL_UDP:
      return udp();
    case PROTOCOL_ICMP:
      icmp();
      return NO_PORT;
    case PROTOCOL_ICMPV6:
      icmpv6();
      return NO_PORT;
    default:
      return NO_PORT;
  }
}
