/** What the presence words of a key and the list of headers must say of each other, whatever the frame. */
import { Header, LEVEL_INNER, LEVEL_OUTER } from "../../../../src/abi/headers.js";
import * as key from "../../../../src/abi/key.js";
import type { FoundHeader } from "./mutate.js";

/** One bit is there when, and only when, the header is listed. */
const LEVEL_BITS: readonly [bit: number, header: Header][] = [
  [key.PRESENT_ETH, Header.ethernet],
  [key.PRESENT_IPV4, Header.ipv4],
  [key.PRESENT_IPV6, Header.ipv6],
  [key.PRESENT_TCP, Header.tcp],
  [key.PRESENT_UDP, Header.udp],
  [key.PRESENT_SCTP, Header.sctp],
  [key.PRESENT_ESP, Header.esp],
];
/** Of the outer packet only. */
const OUTER_BITS: readonly [bit: number, header: Header][] = [
  [key.PRESENT_ICMP, Header.icmp],
  [key.PRESENT_ICMPV6, Header.icmpv6],
];
const TUNNEL_BITS: readonly [bit: number, header: Header][] = [
  [key.PRESENT_VXLAN, Header.vxlan],
  [key.PRESENT_GRE, Header.gre],
  [key.PRESENT_VXLAN_GPE, Header.vxlan_gpe],
  [key.PRESENT_GENEVE, Header.geneve],
  [key.PRESENT_GTPU, Header.gtpu],
  [key.PRESENT_GTPU_EXTENSION, Header.gtpu_extension],
  [key.PRESENT_BTH, Header.bth],
  [key.PRESENT_MACSEC, Header.macsec],
];
/** The first bit brings the second. */
const LEVEL_IMPLIES: readonly [bit: number, other: number][] = [
  [key.PRESENT_ETHERTYPE, key.PRESENT_ETH],
  [key.PRESENT_VLAN, key.PRESENT_ETH],
  [key.PRESENT_VLAN2, key.PRESENT_VLAN],
  [key.PRESENT_IPV4, key.PRESENT_L3 | key.PRESENT_PROTOCOL],
  [key.PRESENT_IPV6, key.PRESENT_L3],
  [key.PRESENT_PROTOCOL, key.PRESENT_L3],
  ...[key.PRESENT_TCP, key.PRESENT_UDP, key.PRESENT_ICMP, key.PRESENT_ICMPV6, key.PRESENT_SCTP, key.PRESENT_ESP].map(
    (bit) => [bit, key.PRESENT_PROTOCOL] as [number, number],
  ),
];
const INNER_IMPLIES: readonly [bit: number, other: number][] = [
  [key.PRESENT_INNER_MPLS_OVER_UDP, key.PRESENT_UDP],
  [key.PRESENT_INNER_MPLS_OVER_GRE, key.PRESENT_PROTOCOL],
];
const INNER_ONLY = key.PRESENT_INNER_MPLS_OVER_UDP | key.PRESENT_INNER_MPLS_OVER_GRE;
const TUNNEL_IMPLIES: readonly [bit: number, other: number][] = [
  [key.PRESENT_GRE_KEY, key.PRESENT_GRE],
  [key.PRESENT_GENEVE_OPTION_0, key.PRESENT_GENEVE],
  [key.PRESENT_GTPU_DW_2, key.PRESENT_GTPU],
  [key.PRESENT_GTPU_EXTENSION, key.PRESENT_GTPU_DW_2],
  [key.PRESENT_MPLS_OVER_GRE, key.PRESENT_GRE],
  [key.PRESENT_MACSEC_SCI, key.PRESENT_MACSEC],
];
const WITH_DWORDS = key.PRESENT_VXLAN | key.PRESENT_GRE | key.PRESENT_VXLAN_GPE | key.PRESENT_GENEVE | key.PRESENT_GTPU;
const UPPER = key.PRESENT_TCP | key.PRESENT_UDP | key.PRESENT_ICMP | key.PRESENT_ICMPV6 | key.PRESENT_SCTP;
const INNER_TAGS2 = 0x50;

/** The first thing that is wrong, if anything is. `all`: every header is listed. */
export function presenceFault(bytes: Uint8Array, headers: readonly FoundHeader[], all: boolean): string | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const outer = view.getUint32(key.EXT_PRESENT_OUTER);
  const inner = view.getUint32(key.EXT_PRESENT_INNER);
  const tunnels = view.getUint32(key.EXT_PRESENT_TUNNEL);
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
  const expected = here & key.PRESENT_IPV4 ? 4 : here & key.PRESENT_IPV6 ? 6 : 0;
  if (version !== expected) return `${name}: IP version ${version}, presence ${here.toString(16)}`;
  if ((here & key.PRESENT_IPV4) !== 0 && (here & key.PRESENT_IPV6) !== 0) return `${name}: two IP versions`;
  const uppers = here & UPPER;
  if ((uppers & (uppers - 1)) !== 0) return `${name}: two upper layers, ${here.toString(16)}`;
  const brings = (bits: number, presence: number): boolean => (ok & bits) === 0 || (here & presence) !== 0;
  const right =
    brings(key.OK_L3, key.PRESENT_L3) &&
    brings(key.OK_L4, key.PRESENT_TCP | key.PRESENT_UDP) &&
    brings(0xf0 | key.OK_IPV4_CHECKSUM, key.PRESENT_IPV4) &&
    ((ok & key.OK_L4_CHECKSUM) === 0 || (ok & (key.OK_L3 | key.OK_L4)) === (key.OK_L3 | key.OK_L4));
  return right ? undefined : `${name}: ok byte ${ok.toString(16)}, presence ${here.toString(16)}`;
}

function tunnelFault(bytes: Uint8Array, outer: number, inner: number, tunnels: number): string | undefined {
  const dwords = (tunnels / key.PRESENT_TUNNEL_DWORD) & 15;
  if ((dwords & (dwords + 1)) !== 0) return `tunnel dwords ${dwords.toString(2)}`;
  const owners = tunnels & WITH_DWORDS;
  if ((dwords !== 0) !== (owners !== 0) || (owners & (owners - 1)) !== 0) return `tunnels ${tunnels.toString(16)}`;
  if ((outer & INNER_ONLY) !== 0) return `bits of the inner packet in the outer word, ${outer.toString(16)}`;
  if (inner !== 0 && (outer & key.PRESENT_L3) === 0) return "an inner packet that nothing carries";
  if (inner === 0 && (bytes[key.MISC_TAGS2]! & INNER_TAGS2) !== 0) return "second tags of no inner packet";
  for (let id = 0; id < 8; id++) {
    const value = key.MISC4 + id * key.MISC4_SAMPLE_SIZE;
    const absent = (tunnels & (key.PRESENT_SAMPLE << id)) === 0;
    if (absent && bytes.subarray(value, value + 4).some((byte) => byte !== 0)) return `sample ${id} without presence`;
    if (bytes.subarray(value + 4, value + 8).some((byte) => byte !== 0)) return `sample ${id} has an id`;
  }
  return undefined;
}
