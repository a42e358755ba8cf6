/**
 * Frames with the header of a spec, outer or inside a tunnel, and the value of each field in them.
 */
import { buildFrame, type Layer } from "../../../../src/packet/index.js";
import * as v from "../../../../src/verbs/index.js";
import { ipv4Frame } from "../../../mlx5dv/support/directRules.js";

/** TCP over IPv4, 64 bytes; the same to port 81; with the group bit set; over UDP. */
export const FRAME = ipv4Frame();
export const OTHER = ipv4Frame({ dport: 81 });
export const MULTICAST = Uint8Array.from(FRAME, (byte, i) => (i === 0 ? 0x01 : byte));
export const UDP_FRAME = ipv4Frame({ protocol: 17 });

export type Level = "outer" | "inner";
type Layers = readonly Layer[];

/** A packet from its Ethernet header on. */
interface Packet {
  readonly layers: Layers;
  /** Layers before the IP header. */
  readonly link: number;
  /** As numbers in wire order. */
  readonly values: Readonly<Record<string, bigint>>;
}

export interface Frame {
  readonly bytes: Uint8Array;
  readonly values: Packet["values"];
}

/** Frames to test a spec with. */
export interface Sample {
  /** Frames with the header at the level. */
  readonly frames: readonly Frame[];
  /** Frames without it. */
  readonly without: readonly Uint8Array[];
  /** Frames with the header but without the field. */
  readonly withoutField: Readonly<Record<string, readonly Uint8Array[]>>;
  /** Whether the spec requires its header even with an empty mask. */
  readonly implies: boolean;
}

const ethernet = { header: "ethernet" } as const;
const ipv4 = { header: "ipv4" } as const;
const ipv6 = { header: "ipv6" } as const;
const tcp = { header: "tcp" } as const;
const udp = { header: "udp" } as const;
const gre = { header: "gre" } as const;
const DATA = Uint8Array.from({ length: 24 }, (_, i) => 0xa0 + i);

/** Tunnels; those of the second list carry IP only. */
const ETHERNET_TUNNELS: readonly Layers[] = [
  [ethernet, ipv4, udp, { header: "vxlan", vni: 42 }],
  [ethernet, ipv6, udp, { header: "geneve", vni: 42 }],
  [ethernet, ipv4, { header: "gre", key: 0x00138800 }],
];
const IP_TUNNELS: readonly Layers[] = [
  [ethernet, ipv6, gre],
  [ethernet, ipv4],
  [ethernet, ipv4, udp, { header: "mpls", label: 9 }],
];

const packet = (link: number, layers: Layers, values: Packet["values"]): Packet => ({ link, layers, values });

const MACS = { destination: "66:11:22:33:44:55", source: "02:aa:bb:cc:dd:ee" };
const MAC_VALUES = { dst_mac: 0x661122334455n, src_mac: 0x02aabbccddeen };
const LABELLED = { label: 0xabcde, exp: 5, ttl: 0x3c } as const;
/** The first of two entries: not the bottom of the stack. */
const STACKED = { label: 0x12345, exp: 2, ttl: 0xff } as const;
const ENTRIES: readonly [Layers, bigint][] = [
  [[{ header: "mpls", ...LABELLED }], 0xabcdeb3cn],
  [[{ header: "mpls", ...STACKED }, { header: "mpls" }], 0x123454ffn],
];

const ETH: readonly Packet[] = [
  packet(2, [{ ...ethernet, ...MACS }, { header: "vlan", pcp: 5, dei: 1, vid: 0xabc }, ipv4, udp, DATA], {
    ...MAC_VALUES,
    ether_type: 0x0800n,
    vlan_tag: 0xbabcn,
  }),
  packet(2, [{ ...ethernet, ...MACS }, { header: "vlan", pcp: 2, dei: 0, vid: 0x543 }, ipv6, tcp, DATA], {
    ...MAC_VALUES,
    ether_type: 0x86ddn,
    vlan_tag: 0x4543n,
  }),
];

/** The first tag of ETH, as a provider tag. */
const S_TAGGED: Layers = [
  { ...ethernet, type: 0x88a8 },
  { header: "vlan", pcp: 5, dei: 1, vid: 0xabc },
  ipv4,
  udp,
  DATA,
];

const IPV4: readonly Packet[] = [
  packet(
    1,
    [
      ethernet,
      { ...ipv4, source: "198.51.100.7", destination: "10.200.3.129", dscp: 46, ecn: 1, ttl: 9, flags: "df" },
      tcp,
      DATA,
    ],
    { src_ip: 0xc6336407n, dst_ip: 0x0ac80381n, proto: 6n, tos: 0xb9n, ttl: 9n, flags: 2n },
  ),
  packet(
    1,
    [
      ethernet,
      { ...ipv4, source: "172.16.254.1", destination: "11.134.200.6", dscp: 17, ecn: 2, ttl: 0xf6, flags: "mf" },
      udp,
      DATA,
    ],
    { src_ip: 0xac10fe01n, dst_ip: 0x0b86c806n, proto: 17n, tos: 0x46n, ttl: 0xf6n, flags: 4n },
  ),
];

const IPV6: readonly Packet[] = [
  packet(
    1,
    [
      ethernet,
      {
        ...ipv6,
        source: "2001:db8:1122:3344:5566:7788:99aa:bbcc",
        destination: "fe80::f0e1:d2c3:b4a5:9687",
        dscp: 46,
        ecn: 1,
        flow_label: 0xabcde,
        hop_limit: 9,
      },
      udp,
      DATA,
    ],
    {
      src_ip: 0x20010db8_11223344_55667788_99aabbccn,
      dst_ip: 0xfe800000_00000000_f0e1d2c3_b4a59687n,
      flow_label: 0xabcden,
      next_hdr: 17n,
      traffic_class: 0xb9n,
      hop_limit: 9n,
    },
  ),
];

const ports = (header: "tcp" | "udp"): Packet[] =>
  [ipv4, ipv6].map((ip) =>
    packet(1, [ethernet, ip, { header, source_port: 0xa5c3, destination_port: 0x0f1e }, DATA], {
      dst_port: 0x0f1en,
      src_port: 0xa5c3n,
    }),
  );

const ESP: readonly Packet[] = [[ipv4], [ipv6], [ipv4, udp]].map((below) =>
  packet(1, [ethernet, ...below, { header: "esp", spi: 0xdeadbeef, sequence: 0x12345678 }, DATA], {
    spi: 0xdeadbeefn,
    seq: 0x12345678n,
  }),
);

const GRE: readonly Packet[] = [
  packet(1, [ethernet, ipv4, { ...gre, c: true, key: 0xcafef00d, sequence: 3 }, ipv4, udp, DATA], {
    c_ks_res0_ver: 0xb000n,
    protocol: 0x0800n,
    key: 0xcafef00dn,
  }),
  packet(1, [ethernet, ipv6, { ...gre, key: 0x00138801 }, ethernet, ipv6, tcp, DATA], {
    c_ks_res0_ver: 0x2000n,
    protocol: 0x6558n,
    key: 0x00138801n,
  }),
];

const VXLAN: readonly Packet[] = [
  packet(1, [ethernet, ipv4, udp, { header: "vxlan", vni: 0xa1b2c3 }, ethernet, ipv4, tcp, DATA], {
    tunnel_id: 0xa1b2c3n,
  }),
  packet(1, [ethernet, ipv6, udp, { header: "vxlan", vni: 7 }, ethernet, ipv6, udp, DATA], { tunnel_id: 7n }),
];

/** The packet's own stack, the stack over its UDP, the stack over its GRE. */
const stacked = (below: Layers, link: number): Packet[] =>
  ENTRIES.map(([entries, label]) => packet(link, [ethernet, ...below, ...entries, ipv4, udp, DATA], { label }));
const MPLS = stacked([], 2);
const MPLS_OVER_UDP = [...stacked([ipv4, udp], 1), ...stacked([ipv6, udp], 1)];
const MPLS_OVER_GRE = [...stacked([ipv4, gre], 1), ...stacked([ipv6, gre], 1)];

const ARP: Layers = [ethernet, { header: "arp" }];
const layersOf = (packets: readonly Packet[]): Layers[] => packets.map(({ layers }) => layers);

interface Kind {
  readonly packets: readonly Packet[];
  readonly without?: readonly Layers[];
  readonly withoutField?: Readonly<Record<string, readonly Layers[]>>;
  readonly implies?: boolean;
  /** The header cannot be inside a tunnel that carries IP. */
  readonly linked?: boolean;
}

const KINDS: ReadonlyMap<number, Kind> = new Map<number, Kind>([
  [
    v.IBV_FLOW_SPEC_ETH,
    { packets: ETH, withoutField: { vlan_tag: [[ethernet, ipv4, udp, DATA], S_TAGGED] }, linked: true },
  ],
  [v.IBV_FLOW_SPEC_IPV4, { packets: IPV4, without: layersOf(IPV6), implies: true }],
  [v.IBV_FLOW_SPEC_IPV4_EXT, { packets: IPV4, without: layersOf(IPV6), implies: true }],
  [v.IBV_FLOW_SPEC_IPV6, { packets: IPV6, without: layersOf(IPV4), implies: true }],
  [v.IBV_FLOW_SPEC_ESP, { packets: ESP, without: layersOf(ports("tcp")) }],
  [v.IBV_FLOW_SPEC_TCP, { packets: ports("tcp"), without: layersOf(ports("udp")), implies: true }],
  [v.IBV_FLOW_SPEC_UDP, { packets: ports("udp"), without: layersOf(ports("tcp")), implies: true }],
  [
    v.IBV_FLOW_SPEC_GRE,
    {
      packets: GRE,
      without: [...layersOf(ports("tcp")), [ethernet, ipv4, ipv4, tcp, DATA]],
      withoutField: { key: [[ethernet, ipv4, { ...gre, sequence: 3 }, ipv4, udp, DATA]] },
      implies: true,
    },
  ],
  [v.IBV_FLOW_SPEC_MPLS, { packets: MPLS, without: layersOf([...MPLS_OVER_UDP, ...MPLS_OVER_GRE]), linked: true }],
  [v.IBV_FLOW_SPEC_VXLAN_TUNNEL, { packets: VXLAN, without: [[ethernet, ipv4, udp, { header: "geneve" }, ethernet]] }],
]);

/** MPLS specs after a spec of the carrier of the stack. */
const STACKS: Readonly<Record<"UDP" | "GRE", Kind>> = {
  UDP: { packets: MPLS_OVER_UDP, without: layersOf([...MPLS, ...MPLS_OVER_GRE]) },
  GRE: { packets: MPLS_OVER_GRE, without: layersOf([...MPLS, ...MPLS_OVER_UDP]) },
};

const samples = new Map<string, Sample>();

/** Frames for a type of spec, or for an MPLS spec after one of UDP or GRE. */
export function sampleOf(type: number | "UDP" | "GRE", level: Level): Sample {
  const name = `${type} ${level}`;
  let made = samples.get(name);
  if (made === undefined) {
    samples.set(name, (made = sample(typeof type === "number" ? (KINDS.get(type) as Kind) : STACKS[type], level)));
  }
  return made;
}

/** For the inner level, the frames without the header include untunnelled frames that have it. */
function sample(
  { packets, without = [], withoutField = {}, implies = false, linked = false }: Kind,
  level: Level,
): Sample {
  if (level === "outer") {
    return {
      frames: packets.map(({ layers, values }) => ({ bytes: buildFrame(layers), values })),
      without: [ARP, ...without].map((layers) => buildFrame(layers)),
      withoutField: built(withoutField, []),
      implies,
    };
  }
  const [tunnel] = ETHERNET_TUNNELS as [Layers];
  const inEthernet = packets.flatMap(({ layers, values }) =>
    ETHERNET_TUNNELS.map((outer) => ({ bytes: buildFrame([...outer, ...layers]), values })),
  );
  const inIp = (linked ? [] : packets).flatMap(({ layers, link, values }) =>
    IP_TUNNELS.map((outer) => ({ bytes: buildFrame([...outer, ...layers.slice(link)]), values })),
  );
  return {
    frames: [...inEthernet, ...inIp],
    without: [...[ARP, ...without].map((layers) => [...tunnel, ...layers]), ...layersOf(packets)].map((layers) =>
      buildFrame(layers),
    ),
    withoutField: built(withoutField, tunnel),
    implies,
  };
}

function built(named: Readonly<Record<string, readonly Layers[]>>, below: Layers): Sample["withoutField"] {
  return Object.fromEntries(
    Object.entries(named).map(([name, list]) => [name, list.map((layers) => buildFrame([...below, ...layers]))]),
  );
}
