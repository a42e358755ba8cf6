/** What the presence words of a key and the list of headers must say of each other, whatever the frame. */
import { Header, LEVEL_INNER, LEVEL_OUTER } from "../../../../src/abi/headers.js";
import * as key from "../../../../src/abi/key.js";
import type { FoundHeader } from "./mutate.js";

/** One bit is there when, and only when, the header is listed. */
const LEVEL_BITS: readonly [bit: number, header: Header][] = [
  [key.HERE_ETH, Header.ethernet],
  [key.HERE_IPV4, Header.ipv4],
  [key.HERE_IPV6, Header.ipv6],
  [key.HERE_TCP, Header.tcp],
  [key.HERE_UDP, Header.udp],
  [key.HERE_SCTP, Header.sctp],
  [key.HERE_ESP, Header.esp],
];
/** Of the outer packet only. */
const OUTER_BITS: readonly [bit: number, header: Header][] = [
  [key.HERE_ICMP, Header.icmp],
  [key.HERE_ICMPV6, Header.icmpv6],
];
const TUNNEL_BITS: readonly [bit: number, header: Header][] = [
  [key.HERE_VXLAN, Header.vxlan],
  [key.HERE_GRE, Header.gre],
  [key.HERE_VXLAN_GPE, Header.vxlan_gpe],
  [key.HERE_GENEVE, Header.geneve],
  [key.HERE_GTPU, Header.gtpu],
  [key.HERE_GTPU_EXTENSION, Header.gtpu_extension],
  [key.HERE_BTH, Header.bth],
  [key.HERE_MACSEC, Header.macsec],
];
/** The first bit brings the second. */
const LEVEL_IMPLIES: readonly [bit: number, other: number][] = [
  [key.HERE_ETHERTYPE, key.HERE_ETH],
  [key.HERE_VLAN, key.HERE_ETH],
  [key.HERE_VLAN2, key.HERE_VLAN],
  [key.HERE_IPV4, key.HERE_L3 | key.HERE_PROTOCOL],
  [key.HERE_IPV6, key.HERE_L3],
  [key.HERE_PROTOCOL, key.HERE_L3],
  ...[key.HERE_TCP, key.HERE_UDP, key.HERE_ICMP, key.HERE_ICMPV6, key.HERE_SCTP, key.HERE_ESP].map(
    (bit) => [bit, key.HERE_PROTOCOL] as [number, number],
  ),
];
const INNER_IMPLIES: readonly [bit: number, other: number][] = [
  [key.HERE_INNER_MPLS_OVER_UDP, key.HERE_UDP],
  [key.HERE_INNER_MPLS_OVER_GRE, key.HERE_PROTOCOL],
];
const INNER_ONLY = key.HERE_INNER_MPLS_OVER_UDP | key.HERE_INNER_MPLS_OVER_GRE;
const TUNNEL_IMPLIES: readonly [bit: number, other: number][] = [
  [key.HERE_GRE_KEY, key.HERE_GRE],
  [key.HERE_GENEVE_OPTION_0, key.HERE_GENEVE],
  [key.HERE_GTPU_DW_2, key.HERE_GTPU],
  [key.HERE_GTPU_EXTENSION, key.HERE_GTPU_DW_2],
  [key.HERE_MPLS_OVER_GRE, key.HERE_GRE],
  [key.HERE_MACSEC_SCI, key.HERE_MACSEC],
];
const WITH_DWORDS = key.HERE_VXLAN | key.HERE_GRE | key.HERE_VXLAN_GPE | key.HERE_GENEVE | key.HERE_GTPU;
const UPPER = key.HERE_TCP | key.HERE_UDP | key.HERE_ICMP | key.HERE_ICMPV6 | key.HERE_SCTP;
const INNER_TAGS2 = 0x50;

/** The first thing that is wrong, if anything is. `all`: every header is listed. */
export function presenceFault(bytes: Uint8Array, headers: readonly FoundHeader[], all: boolean): string | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const outer = view.getUint32(key.EXT_HERE_OUTER);
  const inner = view.getUint32(key.EXT_HERE_INNER);
  const tunnels = view.getUint32(key.EXT_HERE_TUNNEL);
  const listed = (level: number, kind: Header): boolean =>
    headers.some((header) => header.kind === kind && header.level === level);
  const fault = (level: number, here: number, bits: readonly [number, Header][]): string | undefined => {
    const wrong = bits.find(
      ([bit, kind]) => ((here & bit) !== 0) !== listed(level, kind) && (all || listed(level, kind)),
    );
    return wrong && `presence word ${level}, ${here.toString(16)}: ${Header[wrong[1]]}`;
  };
  const implied = (name: string, here: number, rules: readonly [number, number][]): string | undefined => {
    const wrong = rules.find(([bit, other]) => (here & bit) !== 0 && (here & other) !== other);
    return wrong && `${name}, ${here.toString(16)}: bit ${wrong[0]} without ${wrong[1]}`;
  };
  return (
    fault(LEVEL_OUTER, outer, [...LEVEL_BITS, ...OUTER_BITS]) ??
    fault(LEVEL_INNER, inner, LEVEL_BITS) ??
    fault(LEVEL_OUTER, tunnels, TUNNEL_BITS) ??
    implied("outer", outer, LEVEL_IMPLIES) ??
    implied("inner", inner, [...LEVEL_IMPLIES, ...INNER_IMPLIES]) ??
    implied("tunnels", tunnels, TUNNEL_IMPLIES) ??
    layerFault("outer", bytes.subarray(key.OUTER, key.OUTER + key.GROUP_SIZE), outer) ??
    layerFault("inner", bytes.subarray(key.INNER, key.INNER + key.GROUP_SIZE), inner) ??
    tunnelFault(bytes, outer, inner, tunnels)
  );
}

function layerFault(name: string, layer: Uint8Array, here: number): string | undefined {
  const version = (layer[key.LAYER_STATE]! >> key.STATE_VERSION_SHIFT) & 15;
  const ok = layer[key.LAYER_OK]!;
  const expected = here & key.HERE_IPV4 ? 4 : here & key.HERE_IPV6 ? 6 : 0;
  if (version !== expected) return `${name}: IP version ${version}, presence ${here.toString(16)}`;
  if ((here & key.HERE_IPV4) !== 0 && (here & key.HERE_IPV6) !== 0) return `${name}: two IP versions`;
  const uppers = here & UPPER;
  if ((uppers & (uppers - 1)) !== 0) return `${name}: two upper layers, ${here.toString(16)}`;
  const brings = (bits: number, presence: number): boolean => (ok & bits) === 0 || (here & presence) !== 0;
  const right =
    brings(key.OK_L3, key.HERE_L3) &&
    brings(key.OK_L4, key.HERE_TCP | key.HERE_UDP) &&
    brings(0xf0 | key.OK_IPV4_CHECKSUM, key.HERE_IPV4) &&
    ((ok & key.OK_L4_CHECKSUM) === 0 || (ok & (key.OK_L3 | key.OK_L4)) === (key.OK_L3 | key.OK_L4));
  return right ? undefined : `${name}: ok byte ${ok.toString(16)}, presence ${here.toString(16)}`;
}

function tunnelFault(bytes: Uint8Array, outer: number, inner: number, tunnels: number): string | undefined {
  const dwords = (tunnels / key.HERE_TUNNEL_DWORD) & 15;
  if ((dwords & (dwords + 1)) !== 0) return `tunnel dwords ${dwords.toString(2)}`;
  const owners = tunnels & WITH_DWORDS;
  if ((dwords !== 0) !== (owners !== 0) || (owners & (owners - 1)) !== 0) return `tunnels ${tunnels.toString(16)}`;
  if ((outer & INNER_ONLY) !== 0) return `bits of the inner packet in the outer word, ${outer.toString(16)}`;
  if (inner !== 0 && (outer & key.HERE_L3) === 0) return "an inner packet that nothing carries";
  if (inner === 0 && (bytes[key.MISC_TAGS2]! & INNER_TAGS2) !== 0) return "second tags of no inner packet";
  for (let id = 0; id < 8; id++) {
    const value = key.MISC4 + id * key.MISC4_SAMPLE_SIZE;
    const absent = (tunnels & (key.HERE_SAMPLE << id)) === 0;
    if (absent && bytes.subarray(value, value + 4).some((byte) => byte !== 0)) return `sample ${id} without presence`;
    if (bytes.subarray(value + 4, value + 8).some((byte) => byte !== 0)) return `sample ${id} has an id`;
  }
  return undefined;
}
