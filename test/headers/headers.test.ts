/** The records of headers against the parser of the core and the constants of src/abi. */
import { expect, test } from "vitest";
import { FRAME_ADDRESS, FRAME_LENGTH, FRAME_LINK, FRAME_PORT, FRAME_WIRE_LENGTH } from "../../src/abi/engine.js";
import { Header, Link, MAP_COUNT, MAP_ENTRY_SIZE, MAP_FIRST } from "../../src/abi/headers.js";
import * as key from "../../src/abi/key.js";
import * as protocols from "../../src/abi/protocols.js";
import type { Core } from "../../src/engine/core.js";
import { HEADER_LIST, HEADERS } from "../../src/headers/headers.js";
import type { Announced, HeaderName, HeaderRecord, Present } from "../../src/headers/record.js";
import { buildFrame, type Layer } from "../../src/packet/index.js";
import { loadOpenCore } from "../support/openCore.js";

const WORDS = {
  outer: key.EXT_PRESENT_OUTER,
  inner: key.EXT_PRESENT_INNER,
  tunnel: key.EXT_PRESENT_TUNNEL,
} as const;

const ETHERNET = { header: "ethernet" } as const;
const IPV4 = { header: "ipv4" } as const;
const UDP = { header: "udp" } as const;

/** What lies before a header that such a number announces. */
const BEFORE: Readonly<Record<keyof Announced, readonly Layer[]>> = {
  etherType: [ETHERNET],
  tunnelType: [ETHERNET, IPV4, { header: "gre" }],
  protocol: [ETHERNET, IPV4],
  port: [ETHERNET, IPV4, UDP],
  gpe: [ETHERNET, IPV4, UDP, { header: "vxlan_gpe" }],
  family: [{ header: "loopback" }],
  gtpuExtension: [ETHERNET, IPV4, UDP, { header: "gtpu" }],
};

function before(by: keyof Announced, header: HeaderName, { layer }: HeaderRecord): readonly Layer[] {
  const isIpv6 = by === "protocol" && (layer === "extension" || header === "icmpv6");
  return isIpv6 ? [ETHERNET, { header: "ipv6" }] : BEFORE[by];
}

function parse(core: Core, bytes: Uint8Array, link: Link): { word: (at: number) => number; headers: number[] } {
  const { exports, u8, u32, frames, keys, maps } = core;
  u8.set(bytes, core.bytes);
  const descriptor = frames >> 2;
  u32[descriptor + (FRAME_ADDRESS >> 2)] = core.bytes;
  u32[descriptor + (FRAME_LENGTH >> 2)] = bytes.length;
  u32[descriptor + (FRAME_WIRE_LENGTH >> 2)] = bytes.length;
  u32[descriptor + (FRAME_PORT >> 2)] = 1 | (link << (8 * (FRAME_LINK - FRAME_PORT)));
  exports.parse(1, key.NEEDS_ALL);
  const view = new DataView(u8.buffer);
  const count = view.getUint16(maps + MAP_COUNT, true);
  return {
    word: (at) => view.getUint32(keys + at),
    headers: Array.from({ length: count }, (_, i) => u8[maps + MAP_FIRST + MAP_ENTRY_SIZE * i] as number),
  };
}

const CASES = HEADER_LIST.flatMap(([header, record]) =>
  Object.keys(record.announced ?? {}).map((by) => [header, by as keyof Announced, record] as const),
);

test.for(CASES)("the parser finds %s by its %s", async ([header, by, record]) => {
  const core = await loadOpenCore();
  const layers = before(by, header, record);
  const bytes = buildFrame([...layers, { header } as Layer, new Uint8Array(64)]);
  const { word, headers } = parse(core, bytes, by === "family" ? Link.loop : Link.ethernet);
  const isInside = by === "tunnelType" || by === "gpe" || (by === "protocol" && record.layer === undefined);
  const level = isInside && record.tunnel === undefined ? "inner" : "outer";
  expect(headers.slice(layers.length)[0], "listed").toBe(Header[header]);
  const own = by === "port" && record.over !== undefined ? record.over.udp.present : record.present;
  if (own === undefined) return;
  const place: keyof Present = own.tunnel === undefined ? level : "tunnel";
  const bit = own[place] ?? 0;
  expect(bit, "a bit").not.toBe(0);
  expect(word(WORDS[place]) & bit, place).toBe(bit);
  const without = parse(core, buildFrame([ETHERNET, new Uint8Array(64)]), Link.ethernet);
  if (header !== "ethernet") expect(without.word(WORDS[place]) & bit).toBe(0);
});

test("labels over GRE have presence bits of their own", async () => {
  const labels = [{ header: "gre" }, { header: "mpls" }] as const;
  const { word } = parse(
    await loadOpenCore(),
    buildFrame([ETHERNET, IPV4, ...labels, new Uint8Array(64)]),
    Link.ethernet,
  );
  expect(word(WORDS.tunnel)).toBe(key.PRESENT_GRE | HEADERS.mpls.over.gre.present.tunnel | key.PRESENT_TUNNEL_DWORD);
});

/** Presence bits that no record has: parts of headers, and bits of several headers. */
const PARTS: Readonly<Record<keyof Present, number>> = {
  outer: key.PRESENT_ETHERTYPE | key.PRESENT_VLAN2 | key.PRESENT_L3 | key.PRESENT_PROTOCOL,
  inner: key.PRESENT_ETHERTYPE | key.PRESENT_VLAN2 | key.PRESENT_L3 | key.PRESENT_PROTOCOL,
  tunnel:
    (15 * key.PRESENT_TUNNEL_DWORD) |
    key.PRESENT_GRE_KEY |
    key.PRESENT_GENEVE_OPTION_0 |
    key.PRESENT_GTPU_DW_2 |
    key.PRESENT_MACSEC_SCI,
};
const ALL: Readonly<Record<keyof Present, number>> = {
  outer: 2 * key.PRESENT_MPLS - 1,
  inner: (2 * key.PRESENT_INNER_MPLS_OVER_GRE - 1) & ~(key.PRESENT_ICMP | key.PRESENT_ICMPV6),
  tunnel: key.PRESENT_SAMPLE - 1,
};

test("each presence bit is that of one record, or of a part", () => {
  for (const place of ["outer", "inner", "tunnel"] as const) {
    const bits = HEADER_LIST.flatMap(([, { present, over }]) =>
      [present, over?.gre.present, over?.udp.present].map((one) => one?.[place] ?? 0),
    );
    expect(
      bits.reduce((sum, bit) => sum + bit, PARTS[place]),
      place,
    ).toBe(ALL[place]);
  }
});

test("each protocol number of src/abi announces a header", () => {
  const announced = new Set<number>(HEADER_LIST.flatMap(([, record]) => Object.values(record.announced ?? {})));
  const others = Object.entries(protocols).filter(([, number]) => !announced.has(number));
  expect(others.map(([name]) => name).sort()).toEqual([
    "ETHERTYPE_ESP_METADATA",
    "ETHERTYPE_MPLS_UPSTREAM",
    "PROTOCOL_NONE",
    "TPID_SVLAN",
  ]);
});

test("records stand in the order of the kinds of header", () => {
  expect(Object.keys(HEADERS)).toEqual(
    Object.keys(HEADERS).sort((a, b) => Header[a as HeaderName] - Header[b as HeaderName]),
  );
});
