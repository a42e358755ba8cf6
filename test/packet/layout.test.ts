/**
 * The table of layouts: complete bytes, unique names, and the name of the first missing field in
 * messages about cut headers.
 */
import { expect, test } from "vitest";
import { Header, Stop } from "../../src/abi/headers.js";
import { firstCutField } from "../../src/packet/cutField.js";
import { LAYOUTS, layoutOf, type LaidOutHeader } from "../../src/packet/layout.js";

/** Sizes of the fixed part in bytes: from the RFCs and the parser. */
const SIZES: Readonly<Record<LaidOutHeader, number>> = {
  ethernet: 14,
  vlan: 4,
  loopback: 4,
  linux_cooked: 16,
  linux_cooked_v2: 20,
  arp: 8,
  ipv4: 20,
  ipv6: 40,
  ipv6_hop_by_hop: 2,
  ipv6_routing: 4,
  ipv6_destination: 2,
  ipv6_fragment: 8,
  ah: 12,
  tcp: 20,
  udp: 8,
  icmp: 4,
  icmpv6: 4,
  vxlan: 8,
  sctp: 12,
  gre: 4,
  vxlan_gpe: 8,
  geneve: 8,
  gtpu: 8,
  gtpu_extension: 2,
  mpls: 4,
  esp: 8,
  bth: 12,
  macsec: 6,
  nsh: 8,
};

test("fields of a header add up to its size, and have names of their own", () => {
  for (const header of Object.keys(LAYOUTS) as LaidOutHeader[]) {
    const layout = layoutOf(header);
    const fixed = layout.filter(([, bits, , detail]) => typeof bits === "number" && detail?.when === undefined);
    expect(fixed.reduce((sum, [, bits]) => sum + Number(bits), 0) / 8, header).toBe(SIZES[header]);
    expect(new Set(layout.map(([name]) => name)).size, header).toBe(layout.length);
    for (const [name] of layout) expect(name).toMatch(/^[a-z][a-z0-9_]*$/);
  }
  expect(layoutOf("ip")).toEqual([]);
});

test("a cut header is cut in the field that holds the first missing byte", () => {
  const cut = (header: Header, had: number): string => firstCutField(header, Stop.truncated, had);
  const cuts: [Header, number[], string[]][] = [
    [Header.ethernet, [0, 5, 6, 12, 13], ["destination", "destination", "source", "type", "type"]],
    [Header.vlan, [0, 1, 2], ["tci", "tci", "type"]],
    [Header.ipv4, [0, 1, 2, 6, 8, 9, 12, 20], ["version", "tos", "total_length", "fragment", "ttl", "protocol", "source", "options"]],
    [Header.ipv6, [0, 3, 4, 6, 7, 8, 24], ["version", "version", "payload_length", "next_header", "hop_limit", "source", "destination"]],
    [Header.tcp, [0, 4, 8, 12, 13, 14, 16, 18, 20], ["source_port", "sequence", "acknowledgement", "flags", "flags", "window", "checksum", "urgent", "options"]],
    [Header.arp, [0, 4, 5, 6, 8, 20], ["hardware_type", "lengths", "lengths", "operation", "addresses", "addresses"]],
    [Header.icmp, [1, 2, 4, 7], ["code", "checksum", "rest", "rest"]],
    [Header.ipv6_routing, [0, 1, 2, 9], ["next_header", "length", "options", "options"]],
    [Header.ah, [1, 2, 11], ["length", "options", "options"]],
    [Header.vxlan, [0, 3, 4, 7], ["flags", "flags", "vni", "vni"]],
    [Header.gre, [0, 2, 4, 9], ["flags", "protocol_type", "options", "options"]],
    [Header.gtpu, [0, 1, 4, 8, 10], ["version", "message_type", "teid", "sequence", "n_pdu"]],
    [Header.gtpu_extension, [0, 1], ["length", "content"]],
    [Header.macsec, [0, 1, 2, 6], ["tci", "short_length", "packet_number", "sci"]],
    [Header.ip, [0], ["version"]],
  ]; // prettier-ignore
  for (const [header, had, names] of cuts) expect(had.map((one) => cut(header, one))).toEqual(names);
  expect(firstCutField(Header.ipv6, Stop.bad_version, 40)).toBe("version");
  expect(firstCutField(Header.ipv4, Stop.bad_header_length, 20)).toBe("ihl");
  expect(firstCutField(Header.gtpu_extension, Stop.bad_header_length, 4)).toBe("length");
});
