/**
 * Encapsulation, decapsulation and VLAN tags on frames, byte by byte; lengths, checksums and ports
 * are computed independently here.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { MAX_FRAME, Op } from "../../../src/abi/engine.js";
import { LINK_TYPES } from "../../../src/index.js";
import { reformatRecord } from "../../../src/model/action/reformat.js";
import { buildFrame, type Layer } from "../../../src/packet/index.js";
import { onesComplementSum } from "../../oracle/wire/checksum.js";
import { EVERY_HEADER } from "../../packet/support/everyHeader.js";
import { headersOf, Lane, readBits, wrongIn, writeBits, type FrameSpec, type Rewritten } from "../support/rewriting.js";
import { settingUnder } from "../../model/support/settings.js";

let lane: Lane;
beforeAll(async () => void (lane = await Lane.open()));

const [L2_TUNNEL_TO_L2, L2_TO_L2_TUNNEL, L3_TUNNEL_TO_L2, L2_TO_L3_TUNNEL] = [0, 1, 2, 3];

const recordOf = (type: number, data: Uint8Array | null): Uint8Array =>
  reformatRecord(settingUnder("manual", "fdb"), type, data, undefined);
const run = (frames: readonly FrameSpec[], type: number, data: Uint8Array | null): Rewritten[] =>
  lane.run(frames, [[Op.reformat, recordOf(type, data)]]);
const runOne = (frame: FrameSpec | Uint8Array, type: number, data: Uint8Array | null = null): Rewritten =>
  run([frame instanceof Uint8Array ? { bytes: frame } : frame], type, data)[0]!;

const joined = (...parts: (Uint8Array | readonly number[])[]): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => [...part]));
const word = (bytes: Uint8Array, at: number): number => readBits(bytes, 8 * at, 16);

const ethernet = { header: "ethernet", destination: "02:00:00:00:00:0b", source: "02:00:00:00:00:0a" } as const;
const ipv4 = { header: "ipv4", source: "192.0.2.1", destination: "192.0.2.2" } as const;
const ipv6 = { header: "ipv6", source: "2001:db8::1", destination: "2001:db8::2" } as const;
const udp = { header: "udp" } as const;
const tcp = { header: "tcp" } as const;
const DATA = Uint8Array.from({ length: 30 }, (_, i) => 3 * i + 1);

/**
 * Headers to prepend, in the form that callers give them: without lengths, checksums and source
 * ports.
 */
interface Tunnel {
  name: string;
  data: Uint8Array;
  ip: number;
  version: 4 | 6;
  udp: number | null;
  entropy: boolean;
  /** The headers that a parser finds after them. */
  inside: "ethernet" | "ip";
}

const blank4 = { ...ipv4, total_length: 0, checksum: 0, identification: 0x1234 } as const;
const blank6 = { ...ipv6, payload_length: 0 } as const;
const blankUdp = (destination_port: number): Layer => ({
  header: "udp",
  source_port: 7,
  destination_port,
  length: 0,
  checksum: 0,
});

function tunnel(
  name: string,
  layers: readonly Layer[],
  inside: "ethernet" | "ip",
  [ip, udpAt]: readonly [number, (number | null)?],
  entropy = true,
): Tunnel {
  const version = layers.some((one) => "header" in one && one.header === "ipv6") ? 6 : 4;
  return { name, data: buildFrame(layers), ip, version, udp: udpAt ?? null, entropy, inside };
}

const VXLAN = { header: "vxlan", vni: 77 } as const;
const TUNNELS: readonly Tunnel[] = [
  tunnel("vxlan", [ethernet, blank4, blankUdp(4789), VXLAN], "ethernet", [14, 34]),
  tunnel("vxlan over ipv6", [ethernet, blank6, blankUdp(4789), VXLAN], "ethernet", [14, 54]),
  tunnel(
    "vxlan behind tags",
    [ethernet, { header: "vlan", vid: 5 }, { header: "vlan", vid: 6 }, blank4, blankUdp(4789), VXLAN],
    "ethernet",
    [22, 42],
  ),
  tunnel(
    "geneve with an option",
    [
      ethernet,
      blank4,
      blankUdp(6081),
      { header: "geneve", protocol_type: 0x6558, options: [{ class: 1, type: 2, data: DATA.slice(0, 4) }] },
    ],
    "ethernet",
    [14, 34],
  ),
  tunnel(
    "vxlan gpe",
    [ethernet, blank6, blankUdp(4790), { header: "vxlan_gpe", next_protocol: 3 }],
    "ethernet",
    [14, 54],
  ),
  tunnel(
    "nvgre",
    [ethernet, { ...blank4, protocol: 47 }, { header: "gre", key: 0x4d00, protocol_type: 0x6558 }],
    "ethernet",
    [14],
  ),
  tunnel("gtp-u", [ethernet, blank4, blankUdp(2152), { header: "gtpu", teid: 5, length: 0 }], "ip", [14, 34]),
  tunnel(
    "mpls over udp",
    [ethernet, blank6, blankUdp(6635), { header: "mpls", label: 9, s_bos: true }],
    "ip",
    [14, 54],
  ),
  tunnel(
    "options",
    [
      ethernet,
      { ...blank4, checksum: 0xbeef, total_length: 9, ihl: 6, options: new Uint8Array(4).fill(1) },
      blankUdp(4789),
      VXLAN,
    ],
    "ethernet",
    [14, 38],
  ),
  tunnel("a port of nobody", [ethernet, blank4, blankUdp(5555)], "ethernet", [14, 34], false),
];

/** RFC 1071 over a header whose checksum is 0. */
const headerSum = (bytes: Uint8Array): number => 0xffff - onesComplementSum(bytes);

function fnv1a(bytes: readonly number[]): number {
  let hash = 0x811c9dc5n;
  for (const byte of bytes) hash = ((hash ^ BigInt(byte)) * 0x01000193n) % 2n ** 32n;
  return Number(hash);
}

/** The entropy of a frame, from its outer headers in the reference. */
function portOf(frame: FrameSpec): number {
  const { bytes, linkType = 1 } = frame;
  const outer = headersOf(frame).filter(({ level }) => level === "outer");
  const at = (from: number, length: number): number[] => [...bytes.subarray(from, from + length)];
  const ip = outer.find(({ kind }) => kind === "ipv4" || kind === "ipv6");
  const port = outer.find(({ kind }) => kind === "tcp" || kind === "udp");
  let hashed = linkType === LINK_TYPES.ETHERNET ? at(0, 12) : [];
  if (ip?.kind === "ipv4") hashed = [...at(ip.offset + 12, 8), bytes[ip.offset + 9]!];
  if (ip?.kind === "ipv6") {
    const last = outer.findLast(({ kind }) => kind.startsWith("ipv6_") || kind === "ah");
    hashed = [...at(ip.offset + 8, 32), bytes[last === undefined ? ip.offset + 6 : last.offset]!];
  }
  const h = fnv1a([...hashed, ...(port === undefined ? [] : at(port.offset, 4))]);
  return 0xc000 + ((h ^ (h >>> 14) ^ (h >>> 28)) & 0x3fff);
}

/**
 * Start of the payload of the link layer: after Ethernet, or the link header of the capture, and
 * all tags.
 */
function behindLink(frame: FrameSpec): number {
  const links: Readonly<Record<string, number>> = {
    ethernet: 14,
    loopback: 4,
    linux_cooked: 16,
    linux_cooked_v2: 20,
    vlan: 4,
  };
  let end = 0;
  for (const { kind, level } of headersOf(frame)) if (level === "outer") end += links[kind] ?? 0;
  return end;
}

function encapsulated(frame: FrameSpec, { data, ip, version, udp: udpAt, entropy }: Tunnel, type: number): Uint8Array {
  const cut = type === L2_TO_L3_TUNNEL ? behindLink(frame) : 0;
  const bytes = joined(data, frame.bytes.subarray(cut));
  const wire = data.length + (frame.wireLength ?? frame.bytes.length) - cut;
  if (version === 6) writeBits(bytes, 8 * (ip + 4), 16, wire - ip - 40);
  else {
    writeBits(bytes, 8 * (ip + 2), 16, wire - ip);
    writeBits(bytes, 8 * (ip + 10), 16, 0);
    writeBits(bytes, 8 * (ip + 10), 16, headerSum(bytes.subarray(ip, ip + (bytes[ip]! & 15) * 4)));
  }
  if (udpAt !== null) writeBits(bytes, 8 * (udpAt + 4), 16, wire - udpAt);
  if (udpAt !== null && entropy) writeBits(bytes, 8 * udpAt, 16, portOf(frame));
  return bytes;
}

const FRAMES = EVERY_HEADER.map(({ name, linkType, layers }) => ({ name, linkType, bytes: buildFrame(layers) }));

describe.each(TUNNELS)("$name", (tunnel) => {
  test.each([L2_TO_L2_TUNNEL, L2_TO_L3_TUNNEL])("encapsulates, type %d", (type) => {
    const results = run(FRAMES, type, tunnel.data);
    for (const [i, frame] of FRAMES.entries()) {
      const { bytes, wireLength } = results[i]!;
      expect(bytes, frame.name).toEqual(encapsulated(frame, tunnel, type));
      expect(wireLength).toBe(bytes.length);
      // Correct for the receiver: the outer packet's own lengths and checksums.
      const found = wrongIn(bytes, headersOf({ bytes })).filter((one) => one.startsWith("outer"));
      expect(found, frame.name).toEqual([]);
    }
  });

  test("a capture that was cut: lengths are of the wire", () => {
    for (const cut of [10, 14, 30, 45]) {
      const frame = { bytes: FRAMES[0]!.bytes.slice(0, cut), wireLength: 1514 };
      for (const type of [L2_TO_L2_TUNNEL, L2_TO_L3_TUNNEL]) {
        const { bytes, wireLength } = runOne(frame, type, tunnel.data);
        expect(bytes).toEqual(encapsulated(frame, tunnel, type));
        expect(wireLength).toBe(1514 + tunnel.data.length - (type === L2_TO_L3_TUNNEL ? behindLink(frame) : 0));
      }
    }
  });

  test("and back", () => {
    const frame = FRAMES[0]!;
    const [on, off] =
      tunnel.inside === "ethernet" ? [L2_TO_L2_TUNNEL, L2_TUNNEL_TO_L2] : [L2_TO_L3_TUNNEL, L3_TUNNEL_TO_L2];
    const macs = off === L3_TUNNEL_TO_L2 ? frame.bytes.slice(0, 14) : null;
    const steps = [recordOf(on, tunnel.data), recordOf(off, macs)].map((record) => [Op.reformat, record] as const);
    const [result] = lane.run([frame], steps);
    if (tunnel.udp === null || tunnel.entropy) expect([...result!.bytes]).toEqual([...frame.bytes]);
    else expect(result!.reason).toBe("not_a_tunnel");
  });
});

test("frames of different flows have different ports, those of one flow the same", () => {
  const flow = (port: number, payload: Uint8Array): number => {
    const bytes = buildFrame([ethernet, ipv4, { ...tcp, source_port: port }, payload]);
    return word(runOne(bytes, L2_TO_L2_TUNNEL, TUNNELS[0]!.data).bytes, 34);
  };
  const ports = Array.from({ length: 64 }, (_, i) => flow(1000 + i, DATA));
  expect(new Set(ports).size).toBeGreaterThan(60);
  for (const port of ports) expect(port).toBeGreaterThanOrEqual(0xc000);
  expect(flow(1000, new Uint8Array(9))).toBe(ports[0]);
});

/**
 * Ports computed with another program, from addresses, protocol and ports, or from the first 12
 * bytes.
 */
test.each<[string, Layer[], number]>([
  ["tcp", [ethernet, ipv4, { ...tcp, source_port: 1, destination_port: 2 }], 0xd125],
  ["icmp", [ethernet, ipv4, { header: "icmp" }], 0xcedf],
  ["arp", [ethernet, { header: "arp" }], 0xc826],
])("the port of %s", (_, layers, port) => {
  expect(word(runOne(buildFrame(layers), L2_TO_L2_TUNNEL, TUNNELS[0]!.data).bytes, 34)).toBe(port);
});

test("FNV-1a is that of its authors' vectors", () => {
  const text = (one: string): number[] => Array.from(one, (letter) => letter.charCodeAt(0));
  expect([fnv1a([]), fnv1a(text("a")), fnv1a(text("foobar"))]).toEqual([0x811c9dc5, 0xe40c292c, 0xbf9cf968]);
});

describe("decapsulation", () => {
  const MACS = joined([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x81, 0, 0, 9, 8, 0]);

  test.each(FRAMES)("of $name", (frame) => {
    const inner = headersOf(frame).filter(({ level }) => level === "inner");
    const l2 = inner.find(({ kind }) => kind === "ethernet");
    const l3 = inner.find(({ kind }) => kind === "ipv4" || kind === "ipv6");
    const dropped = { verdict: "drop", reason: "not_a_tunnel", wireLength: 0 };
    const first = runOne(frame, L2_TUNNEL_TO_L2);
    if (l2 === undefined) expect(first).toMatchObject(dropped);
    else expect([...first.bytes]).toEqual([...frame.bytes.subarray(l2.offset)]);
    for (const length of [14, 18]) {
      const second = runOne(frame, L3_TUNNEL_TO_L2, MACS.slice(0, length));
      if (l3 === undefined) expect(second).toMatchObject(dropped);
      else expect([...second.bytes]).toEqual([...MACS.subarray(0, length), ...frame.bytes.subarray(l3.offset)]);
    }
  });

  test("of GRE version 1 with a packet of these types, and of no other one", () => {
    const greIn = (fields: object, ...inside: Layer[]): Uint8Array =>
      buildFrame([ethernet, ipv4, { header: "gre", version: 1, ...fields }, ...inside]);
    const inside: Layer[] = [ethernet, ipv6, tcp, DATA];
    for (const fields of [{}, { key: 7 }, { k: 1, s: 1, a: 1, key: 7, sequence: 8 }]) {
      const l2 = greIn(fields, ...inside);
      expect([...runOne(l2, L2_TUNNEL_TO_L2).bytes]).toEqual([...buildFrame(inside)]);
      for (const ip of [ipv4, ipv6]) {
        const packet = buildFrame([ip, tcp, DATA]);
        const l3 = greIn(fields, ip, tcp, DATA);
        expect([...runOne(l3, L3_TUNNEL_TO_L2, MACS).bytes]).toEqual([...MACS, ...packet]);
      }
    }
    for (const protocol_type of [0x880b, 0x88be]) {
      const none = greIn({ protocol_type, key: 7 }, { header: "payload", bytes: buildFrame([ipv4, tcp, DATA]) });
      for (const [type, data] of [[L2_TUNNEL_TO_L2, null] as const, [L3_TUNNEL_TO_L2, MACS] as const])
        expect(runOne(none, type, data)).toMatchObject({ verdict: "drop", reason: "not_a_tunnel" });
    }
  });

  test("padding behind the outer packet stays behind", () => {
    const tunnel = buildFrame([ethernet, ipv4, udp, { header: "vxlan" }, ethernet, { header: "arp" }]);
    const padded = joined(tunnel, [9, 9, 9]);
    expect([...runOne(padded, L2_TUNNEL_TO_L2).bytes]).toEqual([...padded.subarray(50)]);
  });

  test("of what was cut inside the header that it is for", () => {
    const bytes = buildFrame([ethernet, ipv4, udp, { header: "vxlan" }, ethernet, ipv4, udp, DATA]);
    const cut = (length: number, type: number): Rewritten =>
      runOne({ bytes: bytes.slice(0, length), wireLength: bytes.length }, type, type === L3_TUNNEL_TO_L2 ? MACS : null);
    expect([cut(63, 0).reason, cut(64, 0).bytes.length, cut(64, 0).wireLength]).toEqual([
      "not_a_tunnel",
      14,
      bytes.length - 50,
    ]);
    expect([cut(83, 2).reason, cut(84, 2).bytes.length, cut(84, 2).wireLength]).toEqual([
      "not_a_tunnel",
      38,
      bytes.length - 46,
    ]);
  });

  test("twice, and the inner packet is parsed again each time", () => {
    const inside = buildFrame([ethernet, ipv6, tcp, DATA]);
    const [outer] = [TUNNELS[0]!, TUNNELS[1]!];
    const once = encapsulated({ bytes: inside }, outer, L2_TO_L2_TUNNEL);
    const twice = encapsulated({ bytes: once }, TUNNELS[1]!, L2_TO_L2_TUNNEL);
    const off = [Op.reformat, recordOf(L2_TUNNEL_TO_L2, null)] as const;
    expect([...lane.run([{ bytes: twice }], [off])[0]!.bytes]).toEqual([...once]);
    expect([...lane.run([{ bytes: twice }], [off, off])[0]!.bytes]).toEqual([...inside]);
    expect(lane.run([{ bytes: twice }], [off, off, off])[0]!.reason).toBe("not_a_tunnel");
  });
});

describe("lengths that do not fit", () => {
  const big = (length: number): FrameSpec => ({ bytes: buildFrame([ethernet, ipv4, udp, DATA]), wireLength: length });
  const limit = (tunnel: Tunnel, most: number, cut: number, type: number): void => {
    expect(runOne(big(most + cut), type, tunnel.data)).toMatchObject({
      verdict: "deliver",
      wireLength: most + tunnel.data.length,
    });
    expect(runOne(big(most + cut + 1), type, tunnel.data)).toMatchObject({ verdict: "drop", reason: "frame_too_long" });
  };

  test("of IPv4 the total length, of IPv6 the payload", () => {
    const [v4, v6] = [TUNNELS[0]!, TUNNELS[1]!];
    limit(v4, 0xffff + 14 - v4.data.length, 0, L2_TO_L2_TUNNEL);
    limit(v6, 0xffff + 54 - v6.data.length, 0, L2_TO_L2_TUNNEL);
    limit(v4, 0xffff + 14 - v4.data.length, 14, L2_TO_L3_TUNNEL);
    const edge = runOne(big(0xffff + 14 - v4.data.length), L2_TO_L2_TUNNEL, v4.data).bytes;
    expect([word(edge, 16), word(edge, 38)]).toEqual([0xffff, 0xffff - 20]);
  });

  test("of a frame", () => {
    const push = [Op.push_vlan, 0x81000001] as const;
    expect(lane.run([big(MAX_FRAME - 4)], [push])[0]!.wireLength).toBe(MAX_FRAME);
    expect(lane.run([big(MAX_FRAME - 3)], [push])[0]!.reason).toBe("frame_too_long");
    // A frame that becomes shorter may exceed the maximum.
    const bytes = buildFrame([ethernet, ipv4, udp, { header: "vxlan" }, ethernet, ipv4, udp, DATA]);
    for (const wireLength of [2 * MAX_FRAME, 2 ** 32 - 1]) {
      const [off] = run([{ bytes, wireLength }], L3_TUNNEL_TO_L2, new Uint8Array(18));
      expect(off).toMatchObject({ verdict: "deliver", wireLength: wireLength - 64 + 18 });
      expect(runOne({ bytes, wireLength }, L2_TO_L2_TUNNEL, TUNNELS[1]!.data).reason).toBe("frame_too_long");
    }
  });
});

test("headers longer than the room in front of a frame", () => {
  const options = new Uint8Array(40).fill(1);
  const data = joined(
    buildFrame([ethernet, { ...blank4, ihl: 15, options }, blankUdp(4789), VXLAN]),
    new Uint8Array(934),
  );
  const long = { ...TUNNELS[0]!, data, udp: 74 };
  expect(data.length).toBe(1024);
  const results = run(FRAMES, L2_TO_L2_TUNNEL, data);
  for (const [i, frame] of FRAMES.entries())
    expect(results[i]!.bytes).toEqual(encapsulated(frame, long, L2_TO_L2_TUNNEL));
  // Repeatedly, until it is too long.
  const steps = (times: number): (readonly [Op, Uint8Array])[] =>
    Array.from({ length: times }, () => [Op.reformat, recordOf(L2_TO_L2_TUNNEL, data)] as const);
  const nested = lane.run([FRAMES[0]!], steps(60))[0]!;
  expect(nested.bytes.length).toBe(60 * 1024 + FRAMES[0]!.bytes.length);
  expect([...nested.bytes.subarray(60 * 1024)]).toEqual([...FRAMES[0]!.bytes]);
  expect(lane.run([FRAMES[0]!], steps(64))[0]!.reason).toBe("frame_too_long");
});

describe("VLAN tags", () => {
  const PLAIN = buildFrame([ethernet, ipv4, udp, DATA]);
  const tags = (bytes: Uint8Array, ...steps: (readonly [Op, number])[]): number[] => [
    ...lane.run([{ bytes }], steps)[0]!.bytes,
  ];
  const push = (tag: number): readonly [Op, number] => [Op.push_vlan, tag];
  const pop: readonly [Op, number] = [Op.pop_vlan, 0];

  test("are put behind the addresses, the last one outermost", () => {
    const one = joined(PLAIN.subarray(0, 12), [0x81, 0, 0x60, 0x05], PLAIN.subarray(12));
    expect(tags(PLAIN, push(0x81006005))).toEqual([...one]);
    const two = joined(PLAIN.subarray(0, 12), [0x88, 0xa8, 0, 7], one.subarray(12));
    expect(tags(PLAIN, push(0x81006005), push(0x88a80007))).toEqual([...two]);
    expect(tags(two, pop)).toEqual([...one]);
    expect(tags(two, pop, pop)).toEqual([...PLAIN]);
    expect(tags(two, pop, pop, pop)).toEqual([...PLAIN]);
    expect(tags(one, pop, push(0x88a80fff)).slice(12, 16)).toEqual([0x88, 0xa8, 0x0f, 0xff]);
  });

  test("change the length on the wire", () => {
    const [pushed] = lane.run([{ bytes: PLAIN.slice(0, 20), wireLength: 1000 }], [push(0x81000001)]);
    expect([pushed!.bytes.length, pushed!.wireLength]).toEqual([24, 1004]);
    const [popped] = lane.run([{ bytes: pushed!.bytes, wireLength: 1004 }], [pop]);
    expect([popped!.bytes.length, popped!.wireLength]).toEqual([20, 1000]);
  });

  test("of frames without Ethernet, without tags, and of other tags", () => {
    for (const frame of FRAMES) {
      const one = frame.linkType === LINK_TYPES.ETHERNET;
      const [pushed] = lane.run([frame], [push(0x81000001)]);
      expect(pushed!.bytes.length - frame.bytes.length, frame.name).toBe(one ? 4 : 0);
      const [popped] = lane.run([frame], [pop]);
      const tagged = one && [0x8100, 0x88a8].includes(word(frame.bytes, 12));
      expect(popped!.bytes.length - frame.bytes.length, frame.name).toBe(tagged ? -4 : 0);
    }
    const old = PLAIN.slice();
    old.set([0x91, 0x00], 12);
    expect(tags(old, pop)).toEqual([...old]);
    const short = PLAIN.slice(0, 13);
    expect(tags(short, push(0x81000001), pop)).toEqual([...short]);
    // A tag with a missing TCI or type.
    const cut = joined(PLAIN.subarray(0, 12), [0x81, 0, 0]);
    expect(tags(cut, pop)).toEqual([...cut]);
  });

  test("of captures that have got an Ethernet header on their way", () => {
    const raw = { bytes: buildFrame([ipv4, udp, DATA]), linkType: LINK_TYPES.RAW };
    const { data } = TUNNELS[6]!;
    const [tagged] = lane.run([raw], [[Op.reformat, recordOf(L2_TO_L3_TUNNEL, data)], push(0x81000005)]);
    expect([...tagged!.bytes.subarray(0, 20)]).toEqual([...data.subarray(0, 12), 0x81, 0, 0, 5, 8, 0, 0x45, 0]);
    const vxlan = { bytes: buildFrame([ipv4, udp, { header: "vxlan" }, ethernet, ipv4]), linkType: LINK_TYPES.RAW };
    const [inside] = lane.run([vxlan], [[Op.reformat, recordOf(L2_TUNNEL_TO_L2, null)], push(0x81000005)]);
    expect([...inside!.bytes.subarray(12, 18)]).toEqual([0x81, 0, 0, 5, 8, 0]);
  });

  test("and then everything behind them", () => {
    const data = TUNNELS[0]!.data;
    const steps = [push(0x81000005), [Op.reformat, recordOf(L2_TO_L3_TUNNEL, data)]] as const;
    const [result] = lane.run([{ bytes: PLAIN }], steps);
    expect([...result!.bytes.subarray(data.length)]).toEqual([...PLAIN.subarray(14)]);
  });
});
