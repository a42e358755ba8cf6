/** The records of headers against the parser of the core and the constants of src/abi. */
import { expect, test } from "vitest";
import { FRAME_ADDRESS, FRAME_LENGTH, FRAME_LINK, FRAME_PORT, FRAME_WIRE_LENGTH } from "../../src/abi/engine.js";
import { Header, Link, MAP_COUNT, MAP_ENTRY_SIZE, MAP_FIRST } from "../../src/abi/headers.js";
import * as key from "../../src/abi/key.js";
import * as protocols from "../../src/abi/protocols.js";
import type { Core } from "../../src/engine/core.js";
import { hexOf } from "../../src/base/hex.js";
import { matchFieldsOf, plainHeader, type WireHeader } from "../../src/headers/fields.js";
import { fieldNamed, readField, type Field } from "../../src/model/match/fields.js";
import { layoutOf, type LaidOutHeader } from "../../src/packet/layout.js";
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

function parse(
  core: Core,
  bytes: Uint8Array,
  link: Link,
): { key: Uint8Array; word: (at: number) => number; headers: number[] } {
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
    key: u8.slice(keys, keys + key.KEY_SIZE),
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
  const own: Present | undefined =
    by === "port" && header === "mpls" ? HEADERS.mpls.variants.mpls_over_udp.present : record.present;
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
  expect(word(WORDS.tunnel)).toBe(
    key.PRESENT_GRE | HEADERS.mpls.variants.mpls_over_gre.present.tunnel | key.PRESENT_TUNNEL_DWORD,
  );
});

/** Presence bits that no record has: parts of headers, and bits of several headers. */
const PARTS: Readonly<Record<keyof Present, number>> = {
  outer: key.PRESENT_ETHERTYPE | key.PRESENT_L3 | key.PRESENT_PROTOCOL,
  inner: key.PRESENT_ETHERTYPE | key.PRESENT_L3 | key.PRESENT_PROTOCOL,
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
    const bits = HEADER_LIST.flatMap(([, { present, variants = {} }]) =>
      [present, ...Object.values(variants).map((one) => one.present)].map((one) => one?.[place] ?? 0),
    );
    expect(
      bits.reduce((sum, bit) => sum + bit, PARTS[place]),
      place,
    ).toBe(ALL[place]);
  }
});

/** Headers of a frame in which the last one is of this kind. */
const FRAMES: readonly (readonly [WireHeader, readonly Layer[]])[] = [
  ["ethernet", []],
  ["vlan", [ETHERNET]],
  ["vlan2", [ETHERNET, { header: "vlan" }]],
  ["mpls", [ETHERNET]],
  ["ipv4", [ETHERNET]],
  ["ipv6", [ETHERNET]],
  ...(["tcp", "udp", "sctp", "icmp", "esp", "gre"] as const).map((one) => [one, [ETHERNET, IPV4]] as const),
  ["icmpv6", [ETHERNET, { header: "ipv6" }]],
  ["mpls_over_gre", [ETHERNET, IPV4, { header: "gre" }]],
  ...(["mpls_over_udp", "vxlan", "vxlan_gpe", "geneve", "gtpu", "bth"] as const).map(
    (one) => [one, [ETHERNET, IPV4, UDP]] as const,
  ),
];

/** Fields on which the place of what follows depends keep the value that the builder derives. */
const DERIVED = /^(ihl|opt_len|protocol|protocol_type|next_protocol|flags)$/;

test.for(
  FRAMES.flatMap(([header, before]) => (["outer", "inner"] as const).map((level) => [level, header, before] as const)),
)("the parser fills the match fields of the %s %s", async ([level, header, before]) => {
  const fields = matchFieldsOf(level, header).filter(([wire]) => Number.isNaN(Number(wire)));
  const own = plainHeader(header) as LaidOutHeader;
  const values = Object.fromEntries(
    layoutOf(own).flatMap(([name, bits, kind]) => {
      if (typeof bits !== "number" || DERIVED.test(name) || !fields.some(([wire]) => wire === name)) return [];
      const isNumber = ["number", "hex", "flag", "flags"].includes(kind);
      return [[name, isNumber ? 0xa5a5a5a5 >>> (32 - bits) : new Uint8Array(bits / 8).fill(0x5a)]];
    }),
  );
  const outside: readonly Layer[] = level === "inner" ? [ETHERNET, IPV4, UDP, { header: "vxlan" }] : [];
  const core = await loadOpenCore();
  const { key: parsed } = parse(
    core,
    buildFrame([...outside, ...before, { header: own, ...values } as Layer, new Uint8Array(64)]),
    Link.ethernet,
  );
  const found = Object.fromEntries(
    fields.flatMap(([wire, match]) => (wire in values ? [[wire, readField(parsed, fieldNamed(match) as Field)]] : [])),
  );
  const expected = Object.entries(values).map(([wire, value]) => [
    wire,
    BigInt(typeof value === "number" ? value : `0x${hexOf(value)}`),
  ]);
  expect(found).toEqual(Object.fromEntries(expected));
});

test("each name of a match field is one of the model", () => {
  const names = HEADER_LIST.flatMap(([, { match, reads, variants }]) =>
    [match, reads, ...Object.values(variants ?? {}).flatMap((one) => [one.match, one.innerMatch])].flatMap((fields) =>
      Object.values(fields ?? {}).flatMap((name) => [name.replace("*", "outer"), name.replace("*", "inner")]),
    ),
  );
  expect(names.filter((name) => fieldNamed(name) === undefined)).toEqual([]);
  expect(names.length).toBeGreaterThan(150);
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
