/** The bytes of the headers that `set vxlan`, `set mplsogre_encap` and the like describe. */
import type { RawHeader } from "./headers.js";

export type TunnelKind = "vxlan" | "nvgre" | "l2" | "mplsogre" | "mplsoudp";

/** What the commands say, or what testpmd has before them. */
export interface Tunnel {
  ipv6: boolean;
  /** VNI, TNI or MPLS label. */
  id: bigint;
  udpSource: number;
  udpDestination: number;
  source: bigint;
  destination: bigint;
  tos: number;
  ttl: number;
  tci: number | undefined;
  macSource: bigint;
  macDestination: bigint;
}

/** What a driver puts where the text does not say: the mlx5 driver has a TTL of 64 and a hop limit of 255. */
const TTL = 64;
const HOP_LIMIT = 255;

/** The IP protocol of the tunnel; none for an Ethernet header alone. */
const PROTOCOLS: Readonly<Record<TunnelKind, bigint | undefined>> = {
  vxlan: 17n,
  nvgre: 47n,
  l2: undefined,
  mplsogre: 47n,
  mplsoudp: 17n,
};

export function headersOf(kind: TunnelKind, tunnel: Tunnel): RawHeader[] {
  const type = tunnel.ipv6 ? 0x86ddn : 0x0800n;
  const { tci } = tunnel;
  const ethernet = bytes([tunnel.macDestination, 6], [tunnel.macSource, 6], [tci === undefined ? type : 0x8100n, 2]);
  const tag = tci === undefined ? [] : [{ name: "vlan", bytes: bytes([BigInt(tci), 2], [type, 2]) }];
  const protocol = PROTOCOLS[kind];
  const ip = protocol === undefined ? [] : [ipOf(tunnel, protocol)];
  return [{ name: "eth", bytes: ethernet }, ...tag, ...ip, ...tunnelOf(kind, tunnel)];
}

function ipOf({ ipv6, source, destination, tos, ttl }: Tunnel, protocol: bigint): RawHeader {
  if (ipv6) {
    const first = (6n << 28n) | (BigInt(tos) << 20n);
    const limit = BigInt(ttl === 0 ? HOP_LIMIT : ttl);
    return {
      name: "ipv6",
      bytes: bytes([first, 4], [0n, 2], [protocol, 1], [limit, 1], [source, 16], [destination, 16]),
    };
  }
  const first = bytes(
    [0x45n, 1],
    [BigInt(tos), 1],
    [0n, 6],
    [BigInt(ttl === 0 ? TTL : ttl), 1],
    [protocol, 1],
    [0n, 2],
  );
  return { name: "ipv4", bytes: Uint8Array.from([...first, ...bytes([source, 4], [destination, 4])]) };
}

function tunnelOf(kind: TunnelKind, { id, udpSource, udpDestination }: Tunnel): RawHeader[] {
  const udp = { name: "udp", bytes: bytes([BigInt(udpSource), 2], [BigInt(udpDestination), 2], [0n, 4]) };
  // RFC 3032: the last label of the stack. testpmd leaves its TTL at 0.
  const mpls = { name: "mpls", bytes: bytes([((id & 0xfffffn) << 4n) | 1n, 3], [0n, 1]) };
  switch (kind) {
    case "l2":
      return [];
    case "nvgre":
      return [{ name: "nvgre", bytes: bytes([0x20006558n, 4], [id << 8n, 4]) }];
    case "vxlan":
      return [udp, { name: "vxlan", bytes: bytes([0x08000000n, 4], [id << 8n, 4]) }];
    case "mplsogre":
      return [{ name: "gre", bytes: bytes([0x8847n, 4]) }, mpls];
    case "mplsoudp":
      return [udp, mpls];
  }
}

function bytes(...parts: readonly (readonly [value: bigint, length: number])[]): Uint8Array {
  return Uint8Array.from(
    parts.flatMap(([value, length]) =>
      Array.from({ length }, (_, n) => Number((value >> BigInt((length - 1 - n) * 8)) & 0xffn)),
    ),
  );
}
