/** Trees printed as text. */
import { expect, test } from "vitest";
import { LINK_TYPES } from "../../src/index.js";
import { buildFrame, printFrame, type Layer, type PrintOptions } from "../../src/packet/index.js";
import { framesOfEachKind, Random } from "../oracle/generate/frame.js";
import { seedFor } from "../assembly/support/core.js";
import { EVERY_HEADER } from "./support/everyHeader.js";
import { draw, drawOne } from "./support/frames.js";

async function text(layers: readonly Layer[], options: PrintOptions = {}, linkType = 1): Promise<string[]> {
  const { tree } = await drawOne(buildFrame(layers), linkType);
  const lines = printFrame(tree, options);
  expect(lines.endsWith("\n")).toBe(true);
  return lines.slice(0, -1).split("\n");
}

test("a tunnel, as people read it", async () => {
  const lines = await text([
    { header: "ethernet" },
    { header: "vlan", vid: 100, pcp: 3 },
    { header: "ipv4", dscp: 46, flags: "df" },
    { header: "udp" },
    { header: "vxlan", vni: 42 },
    { header: "ethernet" },
    { header: "ipv6", hop_limit: 3 },
    { header: "ipv6_fragment", identification: 7, fragment_offset: 0, m: true },
    {
      header: "tcp",
      checksum: 0x1234,
      flags: "syn ack",
      acknowledgement: 9,
      options: [{ option: "mss", size: 1460 }, { option: "nop" }, { option: "wscale", shift: 7 }],
    },
    new Uint8Array(5),
    { header: "trailer", bytes: new Uint8Array(4) },
  ]);
  expect(lines).toEqual([
    "      0  ethernet         02:00:00:00:00:01 > 02:00:00:00:00:02, vlan",
    "     14  vlan             vid 100, pcp 3, ipv4",
    "     18  ipv4             192.0.2.1 > 192.0.2.2, ttl 64, dscp 46, df, udp, length 131",
    "     38  udp              49152 > 4789, length 111",
    "     46  vxlan            vni 42",
    "     54    ethernet       02:00:00:00:00:01 > 02:00:00:00:00:02, ipv6",
    "     68    ipv6           2001:db8::1 > 2001:db8::2, hop limit 3, ipv6_fragment, length 41",
    "    108    ipv6_fragment  fragment 0x00000007 at 0+, tcp",
    "    116    tcp            49152 > 9 [S.], seq 0, ack 9, win 65535, [mss 1460, nop, wscale 7]",
    "    144    payload        5 bytes",
    "    149  trailer          4 bytes",
  ]);
});

test("each header has a line of its own", async () => {
  for (const { name, linkType, layers } of EVERY_HEADER) {
    const lines = await text(layers, { width: 1000 }, linkType);
    expect(lines.length, name).toBe(layers.length);
    // Each line has content after the name of its header.
    for (const line of lines) expect(line, name).toMatch(/^ +\d+ {2} *\w+ {2,}\S/);
  }
});

test("headers in a line", async () => {
  const last = async (layers: readonly Layer[], linkType?: number): Promise<string | undefined> =>
    (await text(layers, { width: 200 }, linkType)).at(-1)?.replace(/^ +\d+ +/, "");
  const ethernet = { header: "ethernet" } as const;
  const ipv4 = { header: "ipv4" } as const;
  const udp = { header: "udp" } as const;
  const lines: [readonly Layer[], string, number?][] = [
    [[ethernet, { header: "arp" }], "arp       request, 192.0.2.1 (02:00:00:00:00:01) > 192.0.2.2 (00:00:00:00:00:00)"],
    [[{ ...ethernet, type: 46 }], "ethernet  02:00:00:00:00:01 > 02:00:00:00:00:02, length 46"],
    [[ethernet, ipv4, { header: "icmp", type: 3, code: 1 }], "icmp      type 3 (unreachable), code 1"],
    [[ethernet, ipv4, { header: "icmp", type: 0 }], "icmp      echo reply, id 1, seq 1"],
    [[ethernet, ipv4, { header: "gre", key: 5, sequence: 2 }], "gre       key 0x00000005, sequence 2, experimental"],
    [[ethernet, ipv4, { header: "esp", spi: 0xabcdef }], "esp       spi 0x00abcdef, seq 1"],
    [[ethernet, ipv4, { header: "sctp" }], "sctp      49152 > 9, tag 0x00000001"],
    [[ethernet, ipv4, udp, { header: "bth", a: 1 }], "bth       opcode 0x04, qp 0x000002, psn 0, ack wanted"],
    [[ethernet, ipv4, udp, { header: "gtpu", sequence: 5 }], "gtpu      g-pdu, teid 0x00000001, seq 5, length 4"],
    [[ethernet, ipv4, udp, { header: "geneve" }], "geneve    vni 1, experimental"],
    [[ethernet, { header: "mpls" }], "mpls      label 16, ttl 64, bottom of stack"],
    [[ethernet, { header: "macsec", sci: 5 }], "macsec    an 0, pn 1, sci 0x0000000000000005, encrypted"],
    [[ethernet, { ...ipv4, fragment_offset: 10, identification: 3 }], "ipv4      192.0.2.1 > 192.0.2.2, ttl 64, fragment 0x0003 at 80, the last, experimental, length 20"],
    [[{ header: "loopback" }], "loopback  family 0", LINK_TYPES.NULL],
    [[{ header: "loopback", family: 0x1e000000 }], "loopback  family ipv6, little-endian", LINK_TYPES.NULL],
    [[{ header: "linux_cooked" }], "linux_cooked  to us, 02:00:00:00:00:01, experimental", LINK_TYPES.LINUX_SLL],
  ]; // prettier-ignore
  for (const [layers, line, linkType] of lines) expect(await last(layers, linkType)).toBe(line);
});

test("detail and bytes", async () => {
  const layers: Layer[] = [
    { header: "ethernet" },
    { header: "vlan" },
    { header: "mpls" },
    new Uint8Array(20).fill(0x41),
  ];
  expect(await text(layers, { detail: true, hex: true })).toEqual([
    "      0  ethernet  02:00:00:00:00:01 > 02:00:00:00:00:02, vlan",
    "      0      destination  02:00:00:00:00:02",
    "      6      source       02:00:00:00:00:01",
    "     12      type         0x8100 (vlan)",
    "      0    02 00 00 00 00 02 02 00 00 00 00 01 81 00        ..............",
    "     14  vlan      vid 1, mpls",
    "     14      pcp   0",
    "     14      dei   0",
    "     14      vid   1",
    "     16      type  0x8847 (mpls)",
    "     14    00 01 88 47                                      ...G",
    "     18  mpls      label 16, ttl 64, bottom of stack",
    "     18      label  16",
    "     20      exp    0",
    "     20      s_bos  1",
    "     21      ttl    64",
    "     18    00 01 01 40                                      ...@",
    "     22  payload   20 bytes",
    "     22      bytes  4141414141414141414141414141414141414141",
    "     22    41 41 41 41 41 41 41 41 41 41 41 41 41 41 41 41  AAAAAAAAAAAAAAAA",
    "     38    41 41 41 41                                      AAAA",
  ]);
});

test("colours are the caller's", async () => {
  const painted = await text([{ header: "ethernet" }, { header: "ipv4", checksum: 5 }], {
    paint: (style, one) => `<${style}>${one}</${style}>`,
  });
  expect(painted[1]).toMatch(
    /^<dim> +14<\/dim> {2}<bold>ipv4 {4}<\/bold> .*, <red>bad checksum 0x0005 \(0x\w{4}\)<\/red>$/,
  );
});

test("lines keep to the width, whatever the frame holds", async () => {
  const random = new Random(seedFor("print"));
  for (const { tree } of await draw(framesOfEachKind(random, 500))) {
    for (const line of printFrame(tree, { detail: true, hex: true }).split("\n")) {
      expect(line.length).toBeLessThanOrEqual(110);
      expect(line).toBe(line.trimEnd());
    }
  }
  expect(printFrame((await drawOne(new Uint8Array())).tree)).toBe("");
});
