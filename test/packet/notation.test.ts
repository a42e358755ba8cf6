/** Packet notation: what it reads, what it refuses and where, and round trips. */
import { expect, test } from "vitest";
import { LINK_TYPES, SteeringError } from "../../src/index.js";
import { buildFrame, packetText, parsePacket, printFrame, type Layer } from "../../src/packet/index.js";
import { hexOf } from "../../src/packet/bytes.js";
import { framesOfEachKind, jumbogram, Random, randomFrame } from "../oracle/generate/frame.js";
import { frameText, seedFor, type TestFrame } from "../assembly/support/core.js";
import { EVERY_HEADER, WRONG } from "./support/everyHeader.js";
import { draw, drawOne } from "./support/frames.js";
import { rounds } from "../support/tier.js";

const ethernet = { header: "ethernet" } as const;
const ipv4 = { header: "ipv4" } as const;
const udp = { header: "udp" } as const;

/** Texts and the headers that they stand for. */
const READ: readonly (readonly [text: string, layers: readonly Layer[]])[] = [
  [
    "ipv4 10.0.0.1 > 10.0.0.7 / tcp 40000 > 443",
    [
      ethernet,
      { header: "ipv4", source: "10.0.0.1", destination: "10.0.0.7" },
      { header: "tcp", source_port: 40000, destination_port: 443 },
    ],
  ],
  ["tcp > 443 [S.], ack 7", [ethernet, ipv4, { header: "tcp", destination_port: 443, flags: "syn,ack", acknowledgement: 7 }]], // prettier-ignore
  ["tcp syn ack seq 0x10", [ethernet, ipv4, { header: "tcp", flags: 0x12, sequence: 16 }]],
  ["TCP flags syn+fin win 9", [ethernet, ipv4, { header: "tcp", flags: ["syn", "fin"], window: 9 }]],
  ["tcp [none]", [ethernet, ipv4, { header: "tcp", flags: 0 }]],
  [
    "ethernet 02:00:00:00:00:09 > ff:ff:ff:ff:ff:ff / vlan vid 7 pcp 3 dei / ipv6 fe80::1 > ff02::1, hop limit 255 / icmpv6 neighbor solicitation rest 5",
    [
      { header: "ethernet", source: "02:00:00:00:00:09", destination: "ff:ff:ff:ff:ff:ff" },
      { header: "vlan", vid: 7, pcp: 3, dei: 1 },
      { header: "ipv6", source: "fe80::1", destination: "ff02::1", hop_limit: 255 },
      { header: "icmpv6", type: 135, rest: 5 },
    ],
  ],
  [
    "eth src 02:00:00:00:00:09 / ipv4 dst 10.0.0.7 / udp dport 4789 / vxlan vni 5001",
    [
      { header: "ethernet", source: "02:00:00:00:00:09" },
      { header: "ipv4", destination: "10.0.0.7" },
      { header: "udp", destination_port: 4789 },
      { header: "vxlan", vni: 5001 },
    ],
  ],
  [
    "vxlan vni 5001 / tcp > 80 / payload 3 bytes",
    [
      ethernet,
      ipv4,
      udp,
      { header: "vxlan", vni: 5001 },
      ethernet,
      ipv4,
      { header: "tcp", destination_port: 80 },
      new Uint8Array(3),
    ],
  ],
  [
    "ipv4 192.0.2.1 > 10.0.0.7 / udp > 8472 / payload 0x0800000000138900",
    [
      ethernet,
      { header: "ipv4", source: "192.0.2.1", destination: "10.0.0.7" },
      { header: "udp", destination_port: 8472 },
      { header: "payload", bytes: "0800000000138900" },
    ],
  ],
  [
    "geneve vni 6 oam [class 0x0102 type 0x80 data 0xcafebabe] / ipv6 / tcp",
    [
      ethernet,
      ipv4,
      udp,
      { header: "geneve", vni: 6, oam: 1, options: [{ class: 0x102, type: 0x80, data: "cafebabe" }] },
      { header: "ipv6" },
      { header: "tcp" },
    ],
  ],
  [
    "ipv6 / gre key 0x77 sequence 2 / ethernet / udp > 53",
    [
      ethernet,
      { header: "ipv6" },
      { header: "gre", key: 0x77, sequence: 2 },
      ethernet,
      ipv4,
      { header: "udp", destination_port: 53 },
    ],
  ],
  ["gtpu teid 9 / tcp", [ethernet, ipv4, udp, { header: "gtpu", teid: 9 }, ipv4, { header: "tcp" }]],
  ["mpls label 100 ttl 3 / mpls label 200 / udp", [ethernet, { header: "mpls", label: 100, ttl: 3 }, { header: "mpls", label: 200 }, ipv4, udp]], // prettier-ignore
  ["esp spi 0x1000 seq 5 / payload 0xab", [ethernet, ipv4, { header: "esp", spi: 0x1000, sequence: 5 }, Uint8Array.of(0xab)]], // prettier-ignore
  ["bth qp 0x11 opcode 10 psn 3 ack wanted", [ethernet, ipv4, udp, { header: "bth", dst_qp: 0x11, opcode: 10, psn: 3, a: 1 }]], // prettier-ignore
  [
    "arp reply 10.0.0.1 (02:00:00:00:00:05) > 10.0.0.2 / trailer 18 bytes",
    [
      ethernet,
      {
        header: "arp",
        operation: 2,
        sender_protocol: "10.0.0.1",
        sender_hardware: "02:00:00:00:00:05",
        target_protocol: "10.0.0.2",
      },
      { header: "trailer", bytes: new Uint8Array(18) },
    ],
  ],
  ["icmp echo reply id 4 seq 5", [ethernet, ipv4, { header: "icmp", type: 0, identifier: 4, sequence: 5 }]],
  ["ipv4 protocol ospf ttl 1", [ethernet, { header: "ipv4", protocol: 89, ttl: 1 }]],
  ["ipv4 df tcp", [ethernet, { header: "ipv4", flags: "df", protocol: 6 }]],
  [
    "ipv4 fragment 0x0005 at 1480+ udp / payload 2 bytes",
    [
      ethernet,
      { header: "ipv4", identification: 5, fragment_offset: 185, flags: "mf", protocol: 17 },
      new Uint8Array(2),
    ],
  ],
  ["ipv6_fragment id 9 m / udp", [ethernet, { header: "ipv6" }, { header: "ipv6_fragment", identification: 9, m: 1 }, udp]], // prettier-ignore
  ["udp > vxlan", [ethernet, ipv4, { header: "udp", destination_port: 4789 }]],
  ["ethernet type 0x88cc / payload 0x01", [{ header: "ethernet", type: 0x88cc }, Uint8Array.of(1)]],
  ["ipv4 bytes 0x4500", [ethernet, { header: "ipv4", bytes: "4500" }]],
  ["raw / ipv4 / udp", [ipv4, udp]],
  ["raw", []],
  ["loopback / udp", [{ header: "loopback" }, ipv4, udp]],
];

test("texts stand for headers", () => {
  for (const [text, layers] of READ) {
    expect(hexOf(buildFrame(parsePacket(text).layers)), text).toBe(hexOf(buildFrame(layers)));
  }
  expect(parsePacket("tcp").linkType).toBe(LINK_TYPES.ETHERNET);
  expect(parsePacket("raw / ipv4").linkType).toBe(LINK_TYPES.RAW);
  expect(parsePacket("loopback / ipv4").linkType).toBe(LINK_TYPES.LOOP);
  expect(parsePacket("linux_cooked / ipv4").linkType).toBe(LINK_TYPES.LINUX_SLL);
  expect(parsePacket("linux_cooked_v2 / ipv4").linkType).toBe(LINK_TYPES.LINUX_SLL2);
});

/** Texts with a mark in front of the place of the refusal, its reason, and a part of its hint. */
const REFUSED: readonly (readonly [text: string, reason: string, hint: RegExp])[] = [
  ["|ipv5 10.0.0.1 > 10.0.0.2", "bad_header", /did you mean "ipv4"\? headers: ethernet, .*trailer, raw/],
  ["|", "bad_packet", /a header comes here: ethernet/],
  ["ipv4 / |", "bad_packet", /a header comes here/],
  ["ipv4 / |/ tcp", "bad_packet", /a header comes here/],
  ["ipv4 10.0.0.1 > 10.0.0.2 |tll 5", "bad_field", /did you mean "ttl"\? words of ipv4/],
  ["ipv4 ttl |256", "out_of_range", /8 bits: 0 to 255/],
  ["ipv4 ttl |many", "bad_number", /ttl is a number/],
  ["ipv4 ttl|", "bad_packet", /a value of ttl follows it/],
  ["ipv4 ttl 3 ttl |4", "contradiction", /leave one out/],
  ["ipv4 |10.0.0 > 10.0.0.2", "bad_address", /an IPv4 address/],
  ["vlan |vid=7", "bad_field", /its field: vid 7/],
  ["ipv4 |dst=10.0.0.2", "bad_field", /its field: dst 10.0.0.2/],
  ["ipv4 |10.0.0.2", "bad_field", /source > destination/],
  ["tcp |443", "bad_field", /source_port > destination_port/],
  ["tcp 40000 > |70000", "out_of_range", /16 bits/],
  ["tcp [mss 1460, |msss 3]", "bad_option", /options: end, nop, mss/],
  ["tcp [|mss]", "bad_option", /a number/],
  ["tcp [|wscale 3 4]", "bad_option", /wscale takes shift/],
  ["tcp flags |sin", "bad_field", /"syn"/],
  ["tcp |[S", "bad_packet", /no \] closes it/],
  ["tcp S|]", "bad_packet", /nothing opens it/],
  ["udp |[S]", "bad_packet", /udp takes no list/],
  ["vxlan vni 5 |> 6", "bad_packet", /vxlan has no source and destination/],
  ["payload |12", "bad_number", /0x0102.*12 bytes/],
  ["payload |99999999 bytes", "out_of_range", /at most/],
  ["payload |0x123", "bad_number", /pairs of hexadecimal digits/],
  ["tcp / |ipv4", "not_derived", /tcp has no field that says so/],
  ["ethernet / sctp / |sctp", "not_derived", /sctp has no field/],
  ["ipv4 / |raw", "bad_packet", /raw comes first/],
  ["ipv4 |fragment 5 at 3", "bad_packet", /multiple of 8/],
  ["geneve [|clas 1 type 2]", "bad_option", /class N type N/],
];

test("a refusal names the column and what is possible", () => {
  for (const [marked, reason, hint] of REFUSED) {
    const column = marked.indexOf("|") + 1;
    const text = marked.replace("|", "");
    let refused: unknown;
    try {
      parsePacket(text);
    } catch (error) {
      refused = error;
    }
    expect(refused, text).toBeInstanceOf(SteeringError);
    const { path, hint: said, reason: why, call, code } = refused as SteeringError;
    expect({ path, why, call, code }, text).toEqual({
      path: `column ${column}`,
      why: reason,
      call: "parsePacket",
      code: "EINVAL",
    });
    expect(said, text).toMatch(hint);
    expect(said, text).not.toContain("layers[");
  }
  expect(() => parsePacket(5 as unknown as string)).toThrow(TypeError);
});

/** The headers of a frame as `flowsteer parse` prints them, on one line. */
function summary(text: string): string {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => line.slice(9).trim())
    .join(" / ");
}

test("the lines that printFrame prints of every header are read", async () => {
  for (const { name, linkType, layers } of EVERY_HEADER) {
    const { tree } = await drawOne(buildFrame(layers), linkType);
    const text = summary(printFrame(tree, { width: 1000 }));
    const link = [LINK_TYPES.RAW, LINK_TYPES.IPV4, LINK_TYPES.IPV6].includes(linkType as 101) ? "raw / " : "";
    const { tree: again } = await drawOne(buildFrame(parsePacket(link + text).layers), linkType);
    const shown = summary(printFrame(again, { width: 1000 }));
    expect(shown.replace(/ bad checksum.*?\)/g, ""), name).toBe(text);
  }
});

test("a frame printed and read is the frame again", async () => {
  const random = new Random(seedFor("notation"));
  const frames: TestFrame[] = [
    ...EVERY_HEADER.map(({ layers, linkType }) => ({ bytes: buildFrame(layers), linkType })),
    ...WRONG.map(({ layers }) => ({ bytes: buildFrame(layers) })),
    ...framesOfEachKind(random, rounds(2000)),
    ...Array.from({ length: rounds(1000) }, () => randomFrame(random)),
  ] as TestFrame[];
  for (const frame of framesOfEachKind(random, 8)) {
    const { bytes } = frame;
    frames.push({ ...frame, bytes: bytes.slice(0, random.below(bytes.length + 1)) });
    // A generated frame may be empty.
    if (bytes.length === 0) continue;
    const at = random.below(bytes.length);
    frames.push({ ...frame, bytes: bytes.with(at, random.below(256)) });
  }
  frames.push(jumbogram(random));
  for (const [i, { bytes, tree }] of (await draw(frames)).entries()) {
    const text = packetText(tree);
    const { layers } = parsePacket(text);
    if (hexOf(buildFrame(layers)) !== hexOf(bytes)) expect.fail(`${frameText(frames[i] as TestFrame)}\n${text}`);
  }
});

test("what follows from the rest is not printed", async () => {
  const texts = [
    "ipv4 10.0.0.1 > 10.0.0.7 / tcp 40000 > 443",
    "ethernet 02:00:00:00:00:09 > ff:ff:ff:ff:ff:ff / arp 10.0.0.1 > 10.0.0.2",
    "ipv4 192.0.2.1 > 192.0.2.2 df ttl 3 / udp 49152 > 4789 / vxlan vni 5001 / ethernet / ipv6 2001:db8::1 > 2001:db8::2 / tcp 1 > 2 [P.] seq 5 [mss 1460, nop, wscale 7] / payload 12 bytes",
    "ipv4 192.0.2.1 > 192.0.2.2 / udp 49152 > 6081 / geneve [class 0x0102 type 0x80 data 0xcafebabe] / ipv4 192.0.2.1 > 192.0.2.2 / icmp",
    "ipv4 192.0.2.1 > 192.0.2.2 id 0x0005 mf fragment_offset 2 protocol 17 / payload 0x0102",
    "raw / ipv4 192.0.2.1 > 192.0.2.2 checksum 0x0001 / udp 1 > 2",
  ];
  for (const text of texts) {
    const { layers, linkType } = parsePacket(text);
    expect(packetText((await drawOne(buildFrame(layers), linkType)).tree)).toBe(text);
  }
});

test("fields in parentheses are refused, and notes of printed lines are none", () => {
  const said = (text: string): string => {
    try {
      return JSON.stringify(parsePacket(text).layers.at(-1));
    } catch (error) {
      return (error as Error).message;
    }
  };
  const hint = 'fields follow the name of their header without parentheses and "="';
  expect(said("ipv6(hop_limit=2) / udp")).toContain(`column 5 = "(hop_limit=2)": not the notation of a packet`);
  expect(said("ipv6(hop_limit=2)")).toContain(`${hint}: ipv6 hop_limit 2`);
  expect(said("ipv4 ttl 3 (dscp=4)")).toContain(`${hint}: ipv4 dscp 4`);
  expect(said("udp(4789)")).toContain(`${hint}: udp 4789`);
  expect(said("icmp type 3 (unreachable)")).toBe('{"header":"icmp","type":3}');
});

test("any text is read or refused", () => {
  const random = new Random(seedFor("notation text"));
  const words = READ.flatMap(([text]) => text.split(" ")).concat(
    "[",
    "]",
    "(x)",
    ">",
    "",
    "0x",
    "bytes",
    "rest",
    "option",
  );
  for (let i = 0; i < rounds(8000); i++) {
    const text = Array.from({ length: random.below(9) }, () => words[random.below(words.length)]).join(" ");
    try {
      buildFrame(parsePacket(text).layers);
    } catch (error) {
      if (!(error instanceof SteeringError)) throw new Error(text, { cause: error });
      expect(error.path, text).toMatch(/^column \d+$/);
      expect(Number(error.path?.slice(7)), text).toBeLessThanOrEqual(text.length + 1);
    }
  }
});
