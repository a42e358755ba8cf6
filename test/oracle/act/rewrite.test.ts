// Tests the rewriting reference on handmade frames, with answers from docs/rules.md and the RFCs.
// Frames with correct checksums must have correct ones afterwards; a full sum checks that.

import { describe, expect, test } from "vitest";
import { onesComplementSum } from "../wire/checksum.js";
import { Random, randomFrame } from "../generate/frame.js";
import { ETH4, ETH6, MACS, TCP, TCP4, UDP4, hex, ip4, ip6, over4, overUdp, size, u16, udp } from "../wire/handmade.js";
import { type Modify, MODIFY_FIELDS, modifyWord } from "./modifyFields.js";
import { byDifference, modifyHeader, noRegisters } from "./modifyHeader.js";
import { type Frame, REFORMAT, entropy, modified, parsed, popVlan, pushVlan, reformatted } from "./rewrite.js";
import { checkReached, rounds } from "../../support/tier.js";

const frameOf = (parts: readonly string[], over: Partial<Frame> = {}): Frame => {
  const bytes = hex(...parts);
  return { bytes, wireLength: bytes.length, linkType: 1, port: 1, parser: {}, ...over };
};
const text = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
const set = (field: string, data: number, length = 0, offset = 0): Modify => ({
  type: "set",
  field,
  data,
  length,
  offset,
});
const bytesOf = (frame: Frame | string): string => (typeof frame === "string" ? frame : text(frame.bytes));
const rewrite = (parts: readonly string[], ...list: Modify[]): string =>
  bytesOf(modified(frameOf(parts), list, noRegisters()));
const same = (...parts: string[]): string => text(hex(...parts));

describe("fields", () => {
  test("ids and widths are those of the device's table", () => {
    const of = (name: string): unknown[] => {
      const { id, width } = MODIFY_FIELDS.get(name) ?? { id: 0, width: 0 };
      return [id, width];
    };
    expect(MODIFY_FIELDS.size).toBe(63);
    expect(of("OUT_FIRST_VID")).toEqual([0x17, 16]);
    expect(of("IN_DIPV4")).toEqual([0x46, 32]);
    expect(of("IN_IP_TTL")).toEqual([0x3a, 8]);
    expect(of("METADATA_REG_C_7")).toEqual([0x58, 32]);
    expect(of("OUT_TCP_FLAGS")).toEqual([7, 9]);
  });

  test("the words of the device", () => {
    expect(modifyWord(set("OUT_DMAC_47_16", 0x11223344)).toString(16)).toBe("1004000011223344");
    expect(modifyWord(set("OUT_FIRST_VID", 5, 12, 3)).toString(16)).toBe("1017030c00000005");
    expect(modifyWord({ type: "add", field: "OUT_IP_TTL", data: 0xff }).toString(16)).toBe("200a0000000000ff");
    const copy: Modify = { type: "copy", field: "OUT_SIPV4", src_offset: 8, length: 16, to: "METADATA_REG_C_1" };
    expect(modifyWord({ ...copy, dst_offset: 4 }).toString(16)).toBe("3015081000520400");
  });

  const ETHERNET = "6611 2233 4455  0200 0000 0001";
  test.each<[string, string[], Modify[], string[]]>([
    [
      "MACs",
      [ETHERNET, "0000"],
      [set("OUT_DMAC_47_16", 0xa1a2a3a4), set("OUT_DMAC_15_0", 0xb1b2, 16), set("OUT_SMAC_15_0", 0xc1, 8, 8)],
      ["a1a2 a3a4 b1b2  0200 0000 c101", "0000"],
    ],
    ["the type", [ETHERNET, "1234"], [set("OUT_ETHERTYPE", 0x5678, 16)], [ETHERNET, "5678"]],
    [
      "the type behind all tags, and the first tag",
      [ETHERNET, "8100 6001 88a8 2002 1234"],
      [set("OUT_ETHERTYPE", 0x5678, 16), set("OUT_FIRST_VID", 0xabc, 12)],
      [ETHERNET, "8100 6abc 88a8 2002 5678"],
    ],
    ["no tag", [ETHERNET, "1234"], [set("OUT_FIRST_VID", 7, 12)], [ETHERNET, "1234"]],
    [
      "the type in front of a tag that is cut",
      [ETHERNET, "8100 60"],
      [set("OUT_ETHERTYPE", 7, 16)],
      [ETHERNET, "0007 60"],
    ],
    [
      "bits in the middle, of longer data",
      [ETHERNET, "8100 0000 1234"],
      [set("OUT_FIRST_VID", 0xfffffff5, 3, 4)],
      [ETHERNET, "8100 0050 1234"],
    ],
    [
      "a type that leads elsewhere, and the header that was there when the list began",
      [ETH4, ip4(0, 59)],
      [set("OUT_ETHERTYPE", 0x88b5, 16), set("OUT_IP_TTL", 0x3f, 8)],
      [MACS, "88b5", ip4(0, 59).replace(" 40 3b 0000", " 3f 3b 0100")],
    ],
    [
      "ADD is modulo the width",
      [ETH4, ip4(0, 59)],
      [{ type: "add", field: "OUT_IP_TTL", data: 0x1ff }],
      [ETH4, ip4(0, 59).replace(" 40 3b 0000", " 3f 3b 0100")],
    ],
    [
      "DSCP and ECN of IPv6",
      [ETH6, ip6(0, 59)],
      [set("OUT_IP_DSCP", 0x15, 6), set("OUT_IP_ECN", 2, 2)],
      [ETH6, ip6(0, 59).replace("6 b9 12345", "6 56 12345")],
    ],
    ["TTL is of IPv4 alone", [ETH6, ip6(0, 59)], [set("OUT_IP_TTL", 1, 8)], [ETH6, ip6(0, 59)]],
    ["hop limit", [ETH6, ip6(0, 59)], [set("OUT_IPV6_HOPLIMIT", 1, 8)], [ETH6, ip6(0, 59).replace("3b 40", "3b 01")]],
    [
      "COPY of some bits, from what the one before left",
      [ETHERNET, "1234"],
      [
        set("OUT_SMAC_47_16", 0x89abcdef),
        { type: "copy", field: "OUT_SMAC_47_16", src_offset: 8, length: 12, to: "OUT_ETHERTYPE", dst_offset: 4 },
      ],
      ["6611 2233 4455 89ab cdef 0001", "bcd4"],
    ],
  ])("%s", (_what, before, list, after) => {
    expect(rewrite(before, ...list)).toBe(same(...after));
  });

  test("registers: what is written, and what a missing source leaves alone", () => {
    const registers = noRegisters();
    const frame = frameOf([ETH4, ip4(0, 59)]);
    modified(
      frame,
      [
        { type: "copy", field: "OUT_DIPV4", src_offset: 0, length: 8, to: "METADATA_REG_C_0", dst_offset: 24 },
        { type: "copy", field: "OUT_TCP_SPORT", length: 16, to: "METADATA_REG_C_1" },
        { type: "add", field: "METADATA_REG_C_2", data: 0xffffffff },
        { type: "add", field: "METADATA_REG_C_2", data: 2 },
        { type: "copy", field: "METADATA_REG_C_0", to: "METADATA_REG_A" },
      ],
      registers,
    );
    expect(Object.fromEntries(registers.values)).toEqual({ C0: 0x02000000n, C2: 1n, A: 0x02000000n });
    expect([...registers.written]).toEqual(["C0", "C2", "A"]);
  });
});

describe("checksums by difference", () => {
  test("the example of RFC 1624 section 4", () => {
    const word = (value: number): Uint8Array => Uint8Array.of(value >> 8, value & 0xff);
    expect(byDifference(0xdd2f, word(0x5555), word(0x3285))).toBe(0);
  });

  // Pseudo header and UDP: c0a8 + 0001 + c0a8 + 00c7 + 0011 + 0008 + 1234 + 0035 + 0008 = 194a2, folded 94a3; 6b5c is missing.
  const IP = "4500 001c 0000 4000 4011 b8b8 c0a8 0001 c0a8 00c7";
  test("IPv4 and UDP, right ones and wrong ones", () => {
    expect(onesComplementSum(hex(IP))).toBe(0xffff);
    const right = onesComplementSum(hex("c0a8 0001 c0a8 00c7 0011 0008"), hex("1234 0035 0008 0000"));
    expect(right).toBe(0x94a3);
    const list = [set("OUT_IP_TTL", 0x3f, 8), set("OUT_SIPV4", 0xc0a80003), set("OUT_UDP_DPORT", 0x36, 16)];
    // TTL: +1 in the header. Source: -2 in both. Port: -1 in UDP.
    const after = "4500 001c 0000 4000 3f11 b9b6 c0a8 0003 c0a8 00c7";
    expect(rewrite([ETH4, IP, "1234 0035 0008 6b5c"], ...list)).toBe(same(ETH4, after, "1234 0036 0008 6b59"));
    // A checksum that is too large by one stays too large by one.
    const wrong = IP.replace("b8b8", "b8b9");
    const kept = after.replace("b9b6", "b9b7");
    expect(rewrite([ETH4, wrong, "1234 0035 0008 6b5d"], ...list)).toBe(same(ETH4, kept, "1234 0036 0008 6b5a"));
  });

  test("a UDP checksum of 0 stays, one that would be 0 is ffff; one of TCP may be 0", () => {
    const to = (port: number): Modify => set("OUT_UDP_SPORT", port, 16);
    expect(rewrite([ETH4, IP, "1234 0035 0008 0000"], to(7))).toBe(same(ETH4, IP, "0007 0035 0008 0000"));
    // 1234 + 6b5c = 7d90 uses up the whole remainder.
    expect(rewrite([ETH4, IP, "1234 0035 0008 6b5c"], to(0x7d90))).toBe(same(ETH4, IP, "7d90 0035 0008 ffff"));
    const tcp = IP.replace("001c", "0028").replace("4011 b8b8", "4006 b8b7");
    const segment = (port: string, sum: string): string => `${port} 0035 0000 0000 0000 0000 5000 0000 ${sum} 0000`;
    expect(rewrite([ETH4, tcp, segment("1234", "0005")], set("OUT_TCP_SPORT", 0x1239, 16))).toBe(
      same(ETH4, tcp, segment("1239", "0000")),
    );
  });

  test("a later fragment has no upper layer, a first one has", () => {
    const later = ip4(8, 17, 1).replace("0000 0a", "1111 0a");
    expect(rewrite([ETH4, later, udp(53, 8)], set("OUT_SIPV4", 0x0a000009), set("OUT_UDP_DPORT", 1, 16))).toBe(
      same(ETH4, later.replace("1111 0a000001", "1109 0a000009"), udp(53, 8)),
    );
    const first = ip4(8, 17, 0x2000).replace("0000 0a", "1111 0a");
    expect(rewrite([ETH4, first, "1234 0035 0008 2222"], set("OUT_SIPV4", 0x0a000009))).toBe(
      same(ETH4, first.replace("1111 0a000001", "1109 0a000009"), "1234 0035 0008 221a"),
    );
  });

  test("a destination behind a routing header is not the final one, a source is", () => {
    const routing = (left: number): string => `3a00 00 ${u16(left).slice(2)} 0000 0000`;
    const icmp = "8000 2222 0001 0002";
    const addresses = [set("OUT_SIPV6_31_0", 0x11), set("OUT_DIPV6_31_0", 0x22)];
    const six = ip6(16, 43);
    const six2 = six.replace(/0001 {2}/, "0011  ").replace(/0002$/, "0022");
    expect(rewrite([ETH6, six, routing(1), icmp], ...addresses)).toBe(
      same(ETH6, six2, routing(1), "8000 2212 0001 0002"),
    );
    expect(rewrite([ETH6, six, routing(0), icmp], ...addresses)).toBe(
      same(ETH6, six2, routing(0), "8000 21f2 0001 0002"),
    );
  });

  test("inside a tunnel the inner ones, then UDP or GRE around it", () => {
    const vxlan = "0800 0000 00002a 00";
    const inner = [MACS, "0800", "45 00 001c 0000 0000 40 11 0000 0a000003 0a000004", "1234 0035 0008 3333"];
    const around = `1234 12b5 ${u16(8 + 8 + 14 + 28)} 4444`;
    const before = over4(17, around, vxlan, ...inner);
    // The inner sum and its TTL cancel each other. Destination MAC: + 1.
    expect(rewrite(before, set("IN_IP_TTL", 0x41, 8), set("IN_DMAC_15_0", 0x4456, 16))).toBe(
      same(...before)
        .replace("003a4444", "003a4443")
        .replace(/(?<all>.*66112233)4455/, "$<all>4456")
        .replace("401100000a000003", "4111feff0a000003"),
    );
  });

  test("GTP-U is payload of UDP", () => {
    const before = overUdp(2152, "30 01 0000 00000001").map((part) => part.replace("0010 0000", "0010 5555"));
    expect(rewrite(before, set("GTPU_TEID", 0x00020003))).toBe(
      same(...before)
        .replace("00105555", "00105551")
        .replace(/00000001$/, "00020003"),
    );
  });

  test("GRE, which may begin at an odd place", () => {
    // A source route of one byte gives the inner packet an odd offset; then the entry that ends the
    // list.
    const route = "0800 00 01 99  0000 00 00";
    const gre = (sum: string): string => `c000 0800 ${sum} 0000 ${route}`;
    const inner = "45 00 0014 0000 0000 40 3b 0000 0a000001 0a000002";
    // Inner TTL + 1: the inner sum - 0100. From an odd place the one is + 0001, the other - 0001: nothing is left.
    expect(rewrite([ETH4, ip4(size(gre("4444"), inner), 47), gre("4444"), inner], set("IN_IP_TTL", 0x41, 8))).toBe(
      same(ETH4, ip4(size(gre("4444"), inner), 47), gre("4444"), inner.replace("40 3b 0000", "41 3b feff")),
    );
    const bridged = (sum: string): string => gre(sum).replace("c000 0800", "c000 6558");
    expect(rewrite([ETH4, ip4(31, 47), bridged("4444"), MACS, "88b5"], set("IN_DMAC_15_0", 0x4456, 16))).toBe(
      same(ETH4, ip4(31, 47), bridged("4344"), MACS.replace("44 55", "44 56"), "88b5"),
    );
  });
});

describe("random frames keep right checksums", () => {
  test("full sums", () => {
    const random = new Random(20_240);
    const names = [...MODIFY_FIELDS.keys()].filter((name) => !name.endsWith("ETHERTYPE") && !/UDP_DPORT/.test(name));
    const kept = new Map<string, number>();
    for (let n = 0; n < rounds(6000); n++) {
      const { bytes, linkType, wireLength, port } = randomFrame(random);
      const frame: Frame = { bytes, linkType, wireLength, port, parser: {} };
      const before = parsed(frame);
      const list = Array.from({ length: random.between(1, 6) }, () => randomSet(random, random.pick(names)));
      const after = parsed({ ...frame, bytes: modifyHeader(bytes, before, list, noRegisters()) });
      for (const level of ["outer", "inner"] as const) {
        for (const sum of ["ipv4_checksum_ok", "l4_checksum_ok"]) {
          const name = `${level}.${sum}`;
          if (before.fields.get(name) === 0n || (sum.startsWith("l4") && partly(frame, level))) continue;
          expect([n, name, after.fields.get(name)]).toEqual([n, name, 1n]);
          kept.set(name, (kept.get(name) ?? 0) + 1);
        }
      }
    }
    checkReached(() => {
      for (const name of ["outer.ipv4", "outer.l4", "inner.ipv4", "inner.l4"])
        expect(kept.get(`${name}_checksum_ok`) ?? 0).toBeGreaterThan(100);
    });
  });

  function randomSet(random: Random, field: string): Modify {
    const { width } = MODIFY_FIELDS.get(field) ?? { width: 1 };
    const offset = random.below(width);
    return set(field, random.word(), random.between(1, width - offset) & 31, width === 32 ? 0 : offset);
  }

  /**
   * A UDP length that ends before the packet does: the checksum does not cover the bytes after it.
   */
  function partly(frame: Frame, level: "outer" | "inner"): boolean {
    const { headers, fields, payload } = parsed(frame);
    const at = headers.find((one) => one.kind === "udp" && one.level === level)?.offset;
    if (at === undefined || !fields.has(`${level}.udp_dport`)) return false;
    const length = ((frame.bytes[at + 4] ?? 0) << 8) | (frame.bytes[at + 5] ?? 0);
    return at + length < payload.end;
  }
});

describe("VLAN tags", () => {
  const behind = "0800 45";
  test("pop: the outermost, of either kind", () => {
    const tagged = frameOf([MACS, "88a8 0001 8100 0002", behind], { wireLength: 100 });
    const once = popVlan(tagged) as Frame;
    expect([text(once.bytes), once.wireLength]).toEqual([same(MACS, "8100 0002", behind), 96]);
    const twice = popVlan(once) as Frame;
    expect([text(twice.bytes), twice.wireLength]).toEqual([same(MACS, behind), 92]);
    expect(popVlan(twice)).toBe(twice);
  });

  test("push: right behind the MACs", () => {
    const frame = frameOf([MACS, behind]);
    const once = pushVlan(frame, 0x8100e001) as Frame;
    expect([text(once.bytes), once.wireLength]).toEqual([same(MACS, "8100 e001", behind), frame.bytes.length + 4]);
    expect(bytesOf(pushVlan(once, 0x88a80002))).toBe(same(MACS, "88a8 0002 8100 e001", behind));
  });

  test("not without Ethernet, not beyond the longest frame", () => {
    const raw = frameOf(["45"], { linkType: 101 });
    expect(pushVlan(raw, 0x81000001)).toBe(raw);
    const cut = frameOf([MACS, "08"]);
    expect(pushVlan(cut, 0x81000001)).toBe(cut);
    expect(pushVlan(frameOf([MACS, "0000"], { wireLength: 262_141 }), 0x81000001)).toBe("frame_too_long");
    expect(typeof pushVlan(frameOf([MACS, "0000"], { wireLength: 262_140 }), 0x81000001)).toBe("object");
  });
});

describe("reformat", () => {
  const { L2_TO_L2_TUNNEL, L2_TO_L3_TUNNEL, L2_TUNNEL_TO_L2, L3_TUNNEL_TO_L2 } = REFORMAT;
  const VXLAN = "0800 0000 00002a 00";
  const NEW = "0a0a 0a0a 0a0a 0b0b 0b0b 0b0b 0800";

  test("the entropy port", () => {
    // FNV-1a of 0a000001 0a000002 11 1234 0035, folded to 14 bits; computed with a separate
    // program.
    expect(entropy(frameOf([ETH4, UDP4]))).toBe(0xced1);
    expect(entropy(frameOf([]))).toBe(0xc000 | ((0x811c9dc5 ^ (0x811c9dc5 >>> 14) ^ 8) & 0x3fff));
    expect(entropy(frameOf([MACS, "0000"]))).toBe(0xe146);
  });

  test("L2_TO_L2_TUNNEL: lengths, header checksum, port", () => {
    const inside = frameOf([ETH4, UDP4], { wireLength: 60 });
    const data = hex(NEW, "4500 0000 1234 0000 4011 0000 c0a8 0001 c0a8 00c7", "0000 12b5 0000 0000", VXLAN);
    const frame = reformatted(inside, { type: L2_TO_L2_TUNNEL, data }) as Frame;
    expect(frame.wireLength).toBe(60 + 50);
    const udpLength = 60 + 16;
    const ip = `4500 ${u16(udpLength + 20)} 1234 0000 4011`;
    const header = frame.bytes.subarray(14, 34);
    expect(onesComplementSum(header)).toBe(0xffff);
    header.fill(0, 10, 12);
    expect(text(frame.bytes)).toBe(
      same(NEW, ip, "0000 c0a8 0001 c0a8 00c7", u16(0xced1), "12b5", u16(udpLength), "0000", VXLAN, ETH4, UDP4),
    );
  });

  test("L2_TO_L3_TUNNEL: without the MACs and all tags; ports of other protocols stay", () => {
    const inside = frameOf([MACS, "88a8 0001 8100 0002 0800", UDP4]);
    const six = `6000 0000 0000 1140 ${"00".repeat(15)}01 ${"00".repeat(15)}02`;
    const data = hex(NEW.replace("0800", "8100 0003 86dd"), six, "4444 0035 0000 7777");
    const frame = reformatted(inside, { type: L2_TO_L3_TUNNEL, data }) as Frame;
    const length = u16(8 + 28);
    expect(text(frame.bytes)).toBe(
      same(
        NEW.replace("0800", "8100 0003 86dd"),
        six.replace("0000 1140", `${length} 1140`),
        "4444 0035",
        length,
        "7777",
        UDP4,
      ),
    );
  });

  test("IP in IP, from a capture without Ethernet", () => {
    const data = hex(NEW, "4500 0000 0000 0000 4004 0000 c0a8 0001 c0a8 00c7");
    const inside = frameOf([UDP4], { linkType: 101 });
    const frame = reformatted(inside, { type: L2_TO_L3_TUNNEL, data }) as Frame;
    expect(frame.linkType).toBe(1);
    expect(text(frame.bytes)).toBe(same(NEW, "4500 0030 0000 0000 4004 f8b1 c0a8 0001 c0a8 00c7", UDP4));
    const { headers } = parsed(frame);
    expect(headers.map(({ kind, level }) => `${level} ${kind}`)).toEqual([
      ...["outer ethernet", "outer ipv4", "inner ipv4", "inner udp"],
    ]);
  });

  test("too long", () => {
    const data = hex(NEW, "4500 0000 0000 0000 4004 0000 c0a8 0001 c0a8 00c7");
    const long = (wireLength: number): Frame => frameOf([ETH4, UDP4], { wireLength });
    expect(bytesOf(reformatted(long(65_516), { type: L2_TO_L2_TUNNEL, data }))).toBe("frame_too_long");
    expect((reformatted(long(65_515), { type: L2_TO_L2_TUNNEL, data }) as Frame).bytes.subarray(16, 18)).toEqual(
      Uint8Array.of(0xff, 0xff),
    );
  });

  test("decapsulation: inner Ethernet, or inner IP behind new bytes; padding stays", () => {
    const inner = [ETH4, TCP4];
    const tunnel = frameOf([...overUdp(4789, VXLAN, ...inner), "eeee"], { wireLength: 200 });
    const l2 = reformatted(tunnel, { type: L2_TUNNEL_TO_L2, data: hex() }) as Frame;
    const before = tunnel.bytes.length - size(...inner) - 2;
    expect([text(l2.bytes), l2.wireLength]).toEqual([same(...inner, "eeee"), 200 - before]);
    const l3 = reformatted(tunnel, { type: L3_TUNNEL_TO_L2, data: hex(NEW) }) as Frame;
    expect(text(l3.bytes)).toBe(same(NEW, TCP4, "eeee"));
    const raw = frameOf([ip4(size(TCP4), 4), TCP4], { linkType: 228 });
    const got = reformatted(raw, { type: L3_TUNNEL_TO_L2, data: hex(NEW) }) as Frame;
    expect([text(got.bytes), got.linkType]).toEqual([same(NEW, TCP4), 1]);
  });

  test("no tunnel, or not that one", () => {
    const plain = frameOf([ETH4, ip4(20, 6), TCP]);
    expect(reformatted(plain, { type: L3_TUNNEL_TO_L2, data: hex(NEW) })).toBe("not_a_tunnel");
    const routed = frameOf(over4(4, TCP4));
    expect(reformatted(routed, { type: L2_TUNNEL_TO_L2, data: hex() })).toBe("not_a_tunnel");
    expect(bytesOf(reformatted(routed, { type: L3_TUNNEL_TO_L2, data: hex(NEW) }))).toBe(same(NEW, TCP4));
  });
});
