// Random frames, payloads of IP: TCP, UDP and the protocols of its ports, ICMP, SCTP, ESP, BTH,
// tunnels.

import { BOGUS, type Checksum, type Draw, type Kind, UPPER_KINDS, VXLAN_PORTS, be, inside } from "./draw.js";
import { putChecksum, some, wrongLength } from "./draw.js";
import { ip } from "./ip.js";
import { mpls } from "./link.js";
import { geneve, gre, gtpu, vxlan, vxlanGpe } from "./tunnels.js";
import { type Random } from "./random.js";

export interface Upper {
  protocol: number;
  bytes: number[];
}

/**
 * OSPF, AH, "no next header", mobility, HIP, Shim6, EtherIP, Ethernet: payload, or the end of
 * parsing.
 */
const OTHERS = [89, 51, 59, 135, 139, 140, 97, 143, 255];

const TUNNELS: readonly Kind[] = ["gre", "vxlan", "vxlan_gpe", "geneve", "gtpu", "mpls_over_udp", "ip_in_ip"];
const INNER_TUNNELS: readonly Kind[] = [...TUNNELS, "gre", "gre", "gre", "mpls_over_udp"];
const PLAIN = UPPER_KINDS.filter((kind) => !TUNNELS.includes(kind));

function kindOf({ random, depth, want }: Draw): Kind {
  if (want !== null && !["arp", "macsec", "mpls", "nsh"].includes(want)) return want;
  // The outer packet is a tunnel half of the time, the inner one rarely: that would be payload,
  // except for a first label.
  if (random.chance([0.5, 0.2][depth] ?? 0)) return random.pick(depth === 0 ? TUNNELS : INNER_TUNNELS);
  return random.chance(0.5) ? random.pick(["tcp", "tcp", "udp"] as const) : random.pick(PLAIN);
}

export function upper(draw: Draw, checksum: Checksum): Upper {
  const { random } = draw;
  const over = (port: number, bytes: number[]): Upper => ({ protocol: 17, bytes: udp(random, port, bytes, checksum) });
  const payload = random.bytes(random.below(40));
  const kind = kindOf(draw);
  switch (kind) {
    case "tcp":
      return { protocol: 6, bytes: tcp(random, payload, checksum) };
    case "udp":
      return over(random.chance(0.8) ? random.pick(PORTS) : random.pick(TUNNEL_PORTS), payload);
    case "icmp":
    case "icmpv6":
      return { protocol: kind === "icmp" ? 1 : 58, bytes: [...random.bytes(8), ...payload] };
    case "sctp":
      return {
        protocol: 132,
        bytes: [...some(random, PORTS, 2), ...some(random, PORTS, 2), ...random.bytes(8), ...payload],
      };
    case "esp":
      return { protocol: 50, bytes: [...random.bytes(8), ...payload] };
    case "esp_in_udp": {
      // Replies through a NAT come from 4500; a known destination port decides all the same.
      const port = random.pick([4500, 4500, random.pick(PORTS), random.pick(TUNNEL_PORTS)]);
      return { protocol: 17, bytes: udp(random, port, behind4500(random), checksum, 4500) };
    }
    case "bth":
      return over(4791, [...random.bytes(12), ...payload]);
    case "gre":
      return { protocol: 47, bytes: gre(draw) };
    case "vxlan":
      return over(random.pick(VXLAN_PORTS), vxlan(draw));
    case "vxlan_gpe":
      return over(4790, vxlanGpe(draw));
    case "geneve":
      return over(6081, geneve(draw));
    case "gtpu":
      return over(2152, gtpu(draw));
    case "mpls_over_udp":
      return over(6635, mpls(inside(draw)));
    case "ip_in_ip": {
      const { ethertype, bytes } = ip(inside(draw));
      const said = random.chance(BOGUS) ? 0 : ethertype;
      return { protocol: said === 0x86dd ? 41 : 4, bytes };
    }
    default:
      return { protocol: random.pick(OTHERS), bytes: payload };
  }
}

const PORTS = [53, 80, 443, 9000];
const TUNNEL_PORTS = [2152, 4500, ...VXLAN_PORTS, 4790, 4791, 6081, 6635];

export function tcp(random: Random, payload: number[], checksum: Checksum): number[] {
  const options = random.pick([0, 0, 4, 12, 40]);
  const dataOffset = random.chance(BOGUS) ? random.below(16) : 5 + options / 4;
  const flags = random.pick([0x002, 0x010, 0x018, random.below(0x1000)]);
  const header = [
    ...some(random, PORTS, 2),
    ...some(random, PORTS, 2),
    ...random.bytes(8),
    ...be((dataOffset << 12) | flags, 2),
    ...random.bytes(2),
    ...[0, 0],
    ...random.bytes(2 + options),
  ];
  const segment = header.concat(payload);
  putChecksum(random, segment, 16, checksum(6, segment));
  return segment;
}

/** `from` is the source port of most. */
function udp(random: Random, port: number, payload: number[], checksum: Checksum, from?: number): number[] {
  const length = wrongLength(random, 8 + payload.length);
  const datagram = [
    ...some(random, from === undefined ? [...PORTS, ...TUNNEL_PORTS] : [from], 2),
    ...be(port, 2),
    ...be(length, 2),
    0,
    0,
    ...payload,
  ];
  // The checksum covers the bytes given by the length; 0 means none (RFC 768).
  const right = checksum(17, datagram.slice(0, length)) || 0xffff;
  if (random.chance(0.9)) putChecksum(random, datagram, 6, right);
  return datagram;
}

/** ESP, keep-alives, IKE after its marker, and near misses of each. */
function behind4500(random: Random): number[] {
  const payload = random.bytes(random.below(30));
  return random.pick([
    [...random.bytes(8), ...payload],
    [...random.bytes(8), ...payload],
    [0, 0, 0, random.below(2), ...random.bytes(4), ...payload],
    [0, 0, 0, 0, ...payload],
    [0xff],
    [0xff, ...payload],
    be(0, random.below(8)),
    random.bytes(random.below(3)),
  ]);
}
