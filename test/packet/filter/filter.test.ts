/** Filters made of what a frame shows, values of all kinds of fields, and filters that are no filters. */
import { beforeAll, describe, expect, it } from "vitest";
import { createDevice, type Device, type ParsedHeaders } from "../../../src/index.js";
import {
  buildFrame,
  filterNameOf,
  filterOfBytes,
  filterOfField,
  filterValues,
  frameTree,
  holds,
  packetFilterFields,
  parseDisplayFilter,
  parsePacket,
  passes,
} from "../../../src/packet/index.js";
import { Random } from "../../oracle/generate/random.js";
import { rounds } from "../../support/tier.js";

let device: Device;
beforeAll(async () => {
  device = await createDevice();
});

const NOTATIONS = [
  "ethernet / vlan vid 5 pcp 3 / ipv4 source 10.0.0.1 destination 10.0.0.2 dscp 8 flags df / tcp source_port 80",
  "ethernet / ipv6 source 2001:db8::1 flow_label 0x12345 / udp destination_port 4789 / vxlan vni 77 / ethernet / ipv4 / icmp type 8",
  "ethernet / arp",
  "ethernet / mpls label 16 ttl 9 / ipv4 / gre k 1 key 0x12345678 / ipv4 / sctp",
  "ethernet / ipv4 / udp destination_port 2152 / gtpu teid 0x99 / ipv4 / esp spi 0x1234 sequence 5",
  "ethernet / ipv4 / udp destination_port 4791 / bth dst_qp 0x12 psn 3 opcode 4",
];

function parsed(notation: string): { readonly frame: Uint8Array; readonly headers: ParsedHeaders } {
  const frame = buildFrame(parsePacket(notation).layers);
  return { frame, headers: device.parseHeaders([frame])[0] as ParsedHeaders };
}

function isPassed(filter: string, { frame, headers }: ReturnType<typeof parsed>): boolean {
  const found = parseDisplayFilter(filter, packetFilterFields());
  if (found.fault !== null) throw new Error(`${filter}: ${found.fault.text}`);
  return holds(found.expression!, (leaf) => passes(leaf, filterValues(leaf.field, frame, headers)));
}

describe.each(NOTATIONS)("%s", (notation) => {
  it("passes the filter of each of its fields, and of its bytes", () => {
    const one = parsed(notation);
    const tree = frameTree(one.frame, one.headers);
    for (const node of tree.nodes) {
      const header = filterNameOf(node.header);
      if (header !== null) expect(isPassed(header, one), header).toBe(true);
      for (const field of node.fields) {
        const filter = filterOfField(one.frame, node, field);
        expect(isPassed(filter, one), filter).toBe(true);
        expect(isPassed(`!(${filter})`, one), filter).toBe(false);
      }
    }
    expect(isPassed(filterOfBytes(one.frame, 12, 2), one)).toBe(true);
    expect(isPassed(filterOfBytes(one.frame, 12, 2), parsed("ethernet type 0x1234"))).toBe(false);
  });
});

it("says of any text either what it means or what is wrong, and where", () => {
  const random = new Random(4789);
  const parts =
    'ip.dst == != in { } .. 10.0.0.0/8 && || ! ( ) tcp udp.port 80 contains "a" frame [ 0:2 ] & 0x , " ~ -'.split(" ");
  let faults = 0;
  for (let i = 0; i < rounds(20_000); i++) {
    const text = Array.from({ length: 1 + random.below(8) }, () => random.pick(parts)).join(random.pick(["", " "]));
    const found = parseDisplayFilter(text, packetFilterFields());
    if (found.fault === null) continue;
    faults++;
    const { from, to, text: message } = found.fault;
    expect(0 <= from && from <= to && to <= text.length, `${text}: ${message} ${from} ${to}`).toBe(true);
  }
  expect(faults).toBeGreaterThan(0);
});

it("knows each field once, by the header that it is in", () => {
  for (const [name, field] of packetFilterFields()) {
    expect(field.name).toBe(name);
    const types = new Set(field.places?.map(({ bits }) => bits));
    if (field.type === "number")
      expect(
        [...types].every((bits) => bits <= 32),
        name,
      ).toBe(true);
  }
});

it.each([
  ["ip.src = 10.0.0.1", '"=" is no operator: use ==, !=, <, >, in, contains', "="],
  ["IP.SRC == 10.0.0.1", 'there is no field "IP.SRC"; did you mean "ip.src"?', "IP.SRC"],
  ["TCP", 'there is no field "TCP"; did you mean "tcp"?', "TCP"],
  ["ip AND tcp", '"AND" is no operator: use ==, !=, <, >, in, contains', "AND"],
  ["count(ip)", '"count" needs a comparison, such as == 2', "count"],
  ["all ip.addr", '"all" needs a comparison, such as == 2', "all"],
  ["Len(ip.src) == 4", 'there is no function "Len": did you mean "len"?', "Len"],
  ["len(udp) == 8", "udp is a header: len takes a field, or frame", "len"],
  ["max(tcp.srcport, tcp.dstport) > 9", 'max takes one field: ")" is missing', ","],
  ["lower(ip.src) == 4", "ip.src is no text, which lower takes", "lower"],
  ["ip.src == tcp.port", "ip.src is an IPv4 address, tcp.port is a number: fields of one type are compared", "=="],
  ["tcp == udp", "tcp is a header, udp is a header: fields of one type are compared", "=="],
  ["ip.src in ip.dst", '"in" compares no fields: use ==, !=, <, >', "in"],
])("refuses %s, as Wireshark does", (filter, message, at) => {
  const found = parseDisplayFilter(filter, packetFilterFields());
  const { text, from, to } = found.fault ?? { text: "", from: 0, to: 0 };
  expect([text, filter.slice(from, to)]).toEqual([message, at]);
});
