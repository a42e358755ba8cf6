/** The place of ESP among IPv6 extension headers (RFC 4303, 3.1.1), and payloads of the least length. */
import { expect, test } from "vitest";
import { create, ENCRYPT, ESP_SPEC, handle, inline, sealing, sent, TRANSPORT, tunnel } from "../support/esp.js";
import { EGRESS, FlowBench, IPV4 } from "../support/flows.js";

const MAC = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
const [HOP_BY_HOP, ROUTING, FRAGMENT, ESP, AH, NOTHING, DESTINATION] = [0, 43, 44, 50, 51, 59, 60] as const;
/** The first byte after the IPv6 header. */
const FIRST = 54;

/** `behind` lies after the end of the packet. */
function ipv6(next: number, content: readonly number[], behind: readonly number[] = []): Uint8Array {
  const addresses = [0x20, 1, ...new Array<number>(14).fill(1), 0x20, 1, ...new Array<number>(14).fill(2)];
  const header = [0x60, 0, 0, 0, content.length >> 8, content.length & 255, next, 64, ...addresses];
  return Uint8Array.of(...MAC, 0x86, 0xdd, ...header, ...content, ...behind);
}

const option = (next: number): number[] => [next, 0, 1, 4, 0, 0, 0, 0];
/** `parts`: the offset, two reserved bits and M. The second byte is reserved. */
const fragment = (next: number, parts: number): number[] => [next, 0xff, parts >> 8, parts & 255, 0, 0, 0, 1];
/** 16 bytes. */
const ah = (next: number): number[] => [next, 2, ...new Array<number>(14).fill(7)];
const esp = [1, 2, 3, 4, 0, 0, 0, 1];
const DATA = [0xaa, 0xbb, 0xcc, 0xdd];

test.each([
  ["nothing", ipv6(NOTHING, DATA), FIRST, 20],
  ["an option header that ends the packet", ipv6(HOP_BY_HOP, option(NOTHING)), FIRST + 8, FIRST],
  ["an atomic fragment", ipv6(FRAGMENT, [...fragment(NOTHING, 6), ...DATA]), FIRST + 8, FIRST],
  ["an atomic fragment that ends the packet", ipv6(FRAGMENT, fragment(NOTHING, 0)), FIRST + 8, FIRST],
  ["destination options", ipv6(DESTINATION, [...option(NOTHING), ...DATA]), FIRST, 20],
  [
    "destination options before routing",
    ipv6(DESTINATION, [...option(ROUTING), ...option(DESTINATION), ...option(NOTHING)]),
    FIRST + 16,
    FIRST + 8,
  ],
  ["AH", ipv6(HOP_BY_HOP, [...option(AH), ...ah(NOTHING), ...DATA]), FIRST + 8, FIRST],
  ["a cut option header", ipv6(HOP_BY_HOP, [...option(ROUTING), NOTHING, 1, ...DATA]), FIRST + 8, FIRST],
  ["a cut AH", ipv6(HOP_BY_HOP, [...option(AH), ...ah(FRAGMENT).slice(0, 15)]), FIRST + 8, FIRST],
])("ESP in transport mode: %s", async (_what, frame, at, protocolAt) => {
  const bench = await FlowBench.open();
  sealing(bench, create(bench, tunnel(TRANSPORT | ENCRYPT, { esp_encap: [] })));
  const packet = sent(bench, frame).to[0]?.frame ?? new Uint8Array();
  const expected = frame.slice(0, at);
  expected[protocolAt] = ESP;
  expected.set(packet.subarray(18, 20), 18);
  expect(packet.slice(0, at)).toEqual(expected);
  expect([...packet.subarray(at, at + 8)]).toEqual([0x12, 0x34, 0x56, 0x78, 0, 0, 0, 1]);
  // IV, payload, trailer to a multiple of 4, ICV.
  const sealed = (frame.length - at + 2 + 3) & ~3;
  expect(packet).toHaveLength(at + 16 + sealed + 16);
});

test.each([
  ["the first fragment", ipv6(FRAGMENT, [...fragment(NOTHING, 1), ...DATA]), "esp_fragment"],
  ["the second one", ipv6(FRAGMENT, [...fragment(NOTHING, 8), ...DATA]), "esp_fragment"],
  ["a fragment header that ends the packet", ipv6(FRAGMENT, fragment(NOTHING, 1)), "esp_fragment"],
  ["one after AH", ipv6(AH, [...ah(FRAGMENT), ...fragment(NOTHING, 1), ...DATA]), "esp_fragment"],
  ["one after destination options", ipv6(DESTINATION, [...option(FRAGMENT), ...fragment(NOTHING, 1)]), "esp_fragment"],
  ["a header behind the packet", ipv6(HOP_BY_HOP, option(ROUTING), option(NOTHING)), "esp_truncated"],
])("no ESP in transport mode: %s", async (_what, frame, reason) => {
  const bench = await FlowBench.open();
  sealing(bench, create(bench, tunnel(TRANSPORT | ENCRYPT, { esp_encap: [] })));
  expect(sent(bench, frame).reason).toBe(reason);
});

test.each([
  ["ESP", ipv6(ESP, esp), "esp_truncated"],
  ["a cut ESP header", ipv6(ESP, esp.slice(1)), "esp_not_esp"],
  ["ESP after an atomic fragment", ipv6(FRAGMENT, [...fragment(ESP, 0), ...esp]), "esp_truncated"],
  ["ESP in the first fragment", ipv6(FRAGMENT, [...fragment(ESP, 1), ...esp]), "esp_fragment"],
  ["ESP in a later fragment", ipv6(FRAGMENT, [...fragment(ESP, 8), ...esp]), "esp_not_esp"],
  [
    "a fragment header in a later fragment",
    ipv6(FRAGMENT, [...fragment(FRAGMENT, 8), ...fragment(ESP, 0), ...esp]),
    "esp_not_esp",
  ],
  ["ESP after destination options", ipv6(DESTINATION, [...option(ESP), ...esp]), "esp_truncated"],
  ["ESP after AH", ipv6(AH, [...ah(ESP), ...esp]), "esp_not_esp"],
  [
    "a fragment header behind the packet",
    ipv6(HOP_BY_HOP, option(FRAGMENT), [...fragment(ESP, 1), ...esp]),
    "esp_truncated",
  ],
])("decryption in transport mode finds: %s", async (_what, frame, reason) => {
  const bench = await FlowBench.open();
  bench.flow("in", [handle(create(bench, tunnel(TRANSPORT, { esp_encap: [] })))]);
  expect(bench.device.receive(1, frame).reason).toBe(reason);
});

test("a tunnel takes a later fragment as it is: its payload has no headers", async () => {
  const bench = await FlowBench.open();
  sealing(bench, create(bench, tunnel(ENCRYPT)));
  const frame = ipv6(FRAGMENT, [...fragment(HOP_BY_HOP, 8), NOTHING, 1, ...DATA, 0, 0], option(0));
  expect(sent(bench, frame).reason).toBeNull();
});

/** An IPv4 packet, `flags` in its seventh byte. */
function ipv4(protocol: number, content: readonly number[], flags = 0): number[] {
  const total = 20 + content.length;
  return [0x45, 0, 0, total, 0, 0, flags, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, ...content];
}

const ethernet = (packet: readonly number[]): Uint8Array => Uint8Array.of(...MAC, 8, 0, ...packet);

const udp = (length: number, ...content: number[]): number[] => [0, 1, 0, 2, 0, length, 0, 0, ...content];
const PADDING = [0, 0, 0, 0, 0];
const INNER = ipv4(NOTHING, []);
const INNER6 = [...ipv6(NOTHING, []).subarray(14)];

test.each([
  ["a UDP datagram without data", 17, udp(8), 8],
  ["a UDP datagram and a byte", 17, udp(9, 1), 9],
  ["too short a length of UDP", 17, udp(7), 13],
  ["too long a length of UDP", 17, udp(14), 13],
  ["an IPv4 packet without data", 4, INNER, 20],
  ["too short a length of IPv4", 4, INNER.with(3, 19), 25],
  ["another version than IPv4", 4, INNER.with(0, 0x65), 25],
  ["too short an IPv4 header", 4, INNER.with(0, 0x44).with(3, 16), 25],
  ["an IPv6 packet without data", 41, INNER6, 40],
  ["an IPv6 packet and a byte", 41, INNER6.with(5, 1).concat(1), 41],
  ["another version than IPv6", 41, INNER6.with(0, 0x40), 45],
])("TFC padding after a payload that is its own length: %s", async (_what, protocol, content, length) => {
  const [bench, there] = [await FlowBench.open(), await FlowBench.open()];
  sealing(bench, create(bench, tunnel(TRANSPORT | ENCRYPT, { esp_encap: [] }, { tfc_pad: PADDING.length })));
  there.flow("in", [handle(create(there, tunnel(TRANSPORT, { esp_encap: [] })))]);
  const packet = sent(bench, ethernet(ipv4(protocol, content))).to[0]?.frame ?? new Uint8Array();
  const [opened] = there.device.receive(1, packet.slice()).to;
  expect([...(opened?.frame.subarray(34) ?? [])]).toEqual([...content, ...PADDING].slice(0, length));
});

test.each([
  ["IPv4 of the least length", 4, INNER, null],
  ["IPv6 of the least length", 41, INNER6, null],
  ["cut IPv4", 4, INNER.slice(1), "esp_trailer"],
  ["cut IPv6", 41, INNER6.slice(1), "esp_trailer"],
  ["IPv6 longer than its bytes", 41, INNER6.with(5, 1), "esp_trailer"],
  ["UDP", 17, udp(8), "esp_trailer"],
])("a packet in a tunnel: %s", async (_what, protocol, content, reason) => {
  const [bench, there] = [await FlowBench.open(), await FlowBench.open()];
  sealing(bench, create(bench, tunnel(TRANSPORT | ENCRYPT, { esp_encap: [] })));
  there.flow("in", [handle(create(there, tunnel(0)))]);
  const packet = sent(bench, ethernet(ipv4(protocol, content))).to[0]?.frame ?? new Uint8Array();
  const { reason: why, to } = there.device.receive(1, packet.slice());
  expect(why).toBe(reason);
  if (reason === null) expect([...(to[0]?.frame.subarray(14) ?? [])]).toEqual(content);
});

test.each([
  ["UDP without data", udp(8), null],
  ["UDP and a byte", udp(9, 1), null],
  ["seven bytes", udp(7).slice(1), "esp_dummy"],
  ["UDP of another length", udp(8, 1), "esp_dummy"],
])("inline encryption in transport mode knows UDP by its length: %s", async (_what, content, why) => {
  const [bench, there] = [await FlowBench.open(), await FlowBench.open()];
  bench.flow("out", [IPV4, ESP_SPEC, handle(create(bench, inline(TRANSPORT | ENCRYPT)))], EGRESS);
  there.flow("in", [handle(create(there, tunnel(TRANSPORT, { esp_encap: [] })))]);
  const header = [0x12, 0x34, 0x56, 0x78, 0, 0, 0, 1, ...PADDING, 0, 0, 0];
  const packet = sent(bench, ethernet(ipv4(ESP, [...header, ...content]))).to[0]?.frame ?? new Uint8Array();
  const { reason, to } = there.device.receive(1, packet.slice());
  expect(reason).toBe(why);
  if (why === null) expect([...(to[0]?.frame.subarray(23) ?? [])].toSpliced(1, 10)).toEqual([17, ...content]);
});
