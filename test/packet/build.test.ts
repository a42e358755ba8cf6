/** Built frames: parsed again, wrong on request, round trips. */
import { expect, test } from "vitest";
import { Header } from "../../src/abi/headers.js";
import { LINK_TYPES } from "../../src/index.js";
import { buildFrame, layersOf, type Layer } from "../../src/packet/index.js";
import { hexOf } from "../../src/packet/bytes.js";
import { LAYOUTS } from "../../src/packet/layout.js";
import { framesOfEachKind, jumbogram, Random, randomFrame } from "../oracle/generate/frame.js";
import { frameText, seedFor, type TestFrame } from "../assembly/support/core.js";
import { EVERY_HEADER, WRONG } from "./support/everyHeader.js";
import { draw, drawOne, valuesOf } from "./support/frames.js";
import { rounds } from "../support/tier.js";

const hex = (...layers: readonly Layer[]): string => hexOf(buildFrame(layers));
const DATA = Uint8Array.of(1, 2, 3);
/** The addresses of IPv4 defaults. */
const A4 = "c0000201";
const B4 = "c0000202";

test("every header can be built, and is read back whole", async () => {
  const built = new Set<string>();
  for (const { name, linkType, layers } of EVERY_HEADER) {
    const { tree, parsed } = await drawOne(buildFrame(layers), linkType);
    expect(parsed.stopped, name).toBeNull();
    const given = layers.map((layer) => (layer instanceof Uint8Array ? "payload" : layer.header));
    // The parser reads nothing after the first fragment's header or inside MACsec and ESP.
    expect(
      tree.nodes.map(({ header }) => header),
      name,
    ).toEqual(given);
    for (const header of given) built.add(header);
  }
  const kinds = Object.values(Header).filter((name) => typeof name === "string" && name !== "none" && name !== "ip");
  expect(kinds.filter((name) => !built.has(String(name)))).toEqual([]);
  expect(Object.keys(LAYOUTS).sort()).toEqual(kinds.sort());
});

test("values stand where the parser reads them", async () => {
  const fields = async (linkType: number, ...layers: readonly Layer[]): Promise<Record<string, number | string>> =>
    (await drawOne(buildFrame(layers), linkType)).parsed.fields;
  expect(
    await fields(
      LINK_TYPES.ETHERNET,
      { header: "ethernet", destination: "66:11:22:33:44:55", source: "02:aa:bb:cc:dd:ee" },
      { header: "vlan", pcp: 3, dei: 1, vid: 77 },
      { header: "ipv4", source: "10.0.0.1", destination: "10.0.0.2", ttl: 9, dscp: 46, ecn: 1 },
      { header: "tcp", source_port: 1, destination_port: 2, sequence: 3, acknowledgement: 4, flags: ["ns", "fin"] },
    ),
  ).toMatchObject({
    "outer.dmac": "66:11:22:33:44:55",
    "outer.smac": "02:aa:bb:cc:dd:ee",
    "outer.cvlan_tag": 1,
    "outer.first_prio": 3,
    "outer.first_cfi": 1,
    "outer.first_vid": 77,
    "outer.ethertype": 0x0800,
    "outer.ip_version": 4,
    "outer.ipv4_src": "10.0.0.1",
    "outer.ipv4_dst": "10.0.0.2",
    "outer.ip_ttl_hoplimit": 9,
    "outer.ip_dscp": 46,
    "outer.ip_ecn": 1,
    "outer.ip_protocol": 6,
    "outer.tcp_sport": 1,
    "outer.tcp_dport": 2,
    "outer.tcp_flags": 0x101,
    "misc3.outer_tcp_seq_num": 3,
    "misc3.outer_tcp_ack_num": 4,
    "outer.l3_ok": 1,
    "outer.l4_ok": 1,
    "outer.ipv4_checksum_ok": 1,
    "outer.l4_checksum_ok": 1,
  });
  const tunnel = [{ header: "ethernet" }, { header: "ipv4" }, { header: "udp" }] as const;
  const inner = [
    { header: "ipv6", flow_label: 0xabcde, source: "fe80::1" },
    { header: "sctp", source_port: 7 },
  ] as const;
  const innerFields = {
    "inner.ipv6_src": "fe80::1",
    "misc.inner_ipv6_flow_label": 0xabcde,
    "ext.inner_sctp_sport": 7,
    "inner.l3_ok": 1,
  };
  expect(
    await fields(1, ...tunnel, { header: "vxlan", vni: 0x123456 }, { header: "ethernet" }, ...inner),
  ).toMatchObject({ ...innerFields, "misc.vxlan_vni": 0x123456, "outer.l4_checksum_ok": 1 });
  expect(await fields(1, ...tunnel, { header: "vxlan_gpe", vni: 5, flags: 0x0d }, ...inner)).toMatchObject({
    ...innerFields,
    "misc3.outer_vxlan_gpe_vni": 5,
    "misc3.outer_vxlan_gpe_flags": 0x0d,
    "misc3.outer_vxlan_gpe_next_protocol": 2,
  });
  expect(
    await fields(1, ...tunnel, { header: "geneve", vni: 6, oam: true, options: "0102810100000001" }, ...inner),
  ).toMatchObject({
    ...innerFields,
    "misc.geneve_vni": 6,
    "misc.geneve_oam": 1,
    "misc.geneve_opt_len": 2,
    "misc.geneve_protocol_type": 0x86dd,
  });
  expect(
    await fields(
      1,
      ...tunnel,
      { header: "gtpu", teid: 0xdeadbeef, sequence: 1 },
      { header: "gtpu_extension", content: "0901" },
      ...inner,
    ),
  ).toMatchObject({
    ...innerFields,
    "misc3.gtpu_teid": 0xdeadbeef,
    "misc3.gtpu_msg_type": 255,
    "misc3.gtpu_msg_flags": 0x36,
    "misc3.gtpu_dw_2": 0x00010085,
    "misc3.gtpu_first_ext_dw_0": 0x01090100,
  });
  expect(await fields(1, ...tunnel, { header: "mpls", label: 3, exp: 5, ttl: 9 }, ...inner)).toMatchObject({
    ...innerFields,
    "misc2.outer_first_mpls_over_udp_label": 3,
    "misc2.outer_first_mpls_over_udp_exp": 5,
    "misc2.outer_first_mpls_over_udp_s_bos": 1,
    "misc2.outer_first_mpls_over_udp_ttl": 9,
  });
  expect(await fields(1, ...tunnel, { header: "bth", opcode: 10, dst_qp: 0x123456, a: 1 })).toMatchObject({
    "misc.bth_opcode": 10,
    "misc.bth_dst_qp": 0x123456,
    "misc.bth_a": 1,
  });
  expect(await fields(1, ...tunnel, { header: "esp", spi: 0x1000, sequence: 5 })).toMatchObject({
    "outer.udp_dport": 4500,
    "misc.outer_esp_spi": 0x1000,
    "ext.outer_esp_seq": 5,
  });
  expect(
    await fields(
      1,
      { header: "ethernet" },
      { header: "ipv6" },
      { header: "gre", key: 0xaabbccdd, sequence: 2 },
      ...inner,
    ),
  ).toMatchObject({
    ...innerFields,
    "misc.gre_k_present": 1,
    "misc.gre_s_present": 1,
    "misc.gre_key": 0xaabbccdd,
    "misc.gre_protocol": 0x86dd,
  });
  expect(
    await fields(1, { header: "ethernet" }, { header: "macsec", packet_number: 7, sci: 5, an: 1 }, DATA),
  ).toMatchObject({
    "misc5.macsec_tag_0": 0x88e52d00,
    "misc5.macsec_tag_1": 7,
    "misc5.macsec_tag_2": 0,
    "misc5.macsec_tag_3": 5,
  });
  expect(
    await fields(1, { header: "ethernet" }, { header: "ipv4" }, { header: "icmp", type: 3, code: 1, rest: 0x0102 }),
  ).toMatchObject({
    "misc3.icmp_type": 3,
    "misc3.icmp_code": 1,
    "misc3.icmp_header_data": 0x0102,
  });
});

test("a trailer is counted by nothing, and padding is on request", () => {
  const layers: Layer[] = [{ header: "ethernet" }, { header: "ipv4" }, { header: "udp" }];
  const plain = hex(...layers);
  expect(hex(...layers, { header: "trailer", bytes: "ffff" })).toBe(`${plain}ffff`);
  expect(hexOf(buildFrame(layers, { pad: true }))).toBe(plain.padEnd(120, "0"));
  expect(buildFrame([...layers, new Uint8Array(40)], { pad: true }).length).toBe(82);
  expect(plain.length).toBe(84);
});

test("what is given stands as it is", async () => {
  for (const { name, layers } of WRONG) {
    const { tree } = await drawOne(buildFrame(layers));
    for (const [i, layer] of layers.entries()) {
      if (layer instanceof Uint8Array || i >= tree.nodes.length || tree.nodes[i]?.header !== layer.header) continue;
      const { header: _, ...given } = layer;
      expect(valuesOf(tree.nodes[i]), name).toMatchObject(given);
    }
  }
  expect(hex({ header: "gre", k: 0, key: 5 })).toBe("000088b500000005");
  expect(hex({ header: "ipv4", version: 15, ihl: 3, total_length: 1, checksum: 2 }, DATA)).toBe(
    `f30000010000000040fd0002${A4}${B4}010203`,
  );
  expect(hex({ header: "ipv6" }, { header: "ah", bytes: "ab" }, DATA).slice(-8)).toBe("ab010203");
});

test("layers of any frame build it again", async () => {
  const random = new Random(seedFor("build"));
  const frames: TestFrame[] = [
    ...framesOfEachKind(random, 2000),
    ...Array.from({ length: rounds(1000) }, () => randomFrame(random)),
  ];
  for (const frame of framesOfEachKind(random, 16)) {
    const { bytes } = frame;
    frames.push(...Array.from(bytes, (_, i) => ({ ...frame, bytes: bytes.slice(0, i) })));
    frames.push(...Array.from(bytes, (byte, i) => ({ ...frame, bytes: bytes.with(i, byte ^ (1 << (i & 7))) })));
  }
  frames.push(jumbogram(random));
  for (const [i, { bytes, tree }] of (await draw(frames)).entries()) {
    const built = hexOf(buildFrame(layersOf(tree)));
    if (built !== hexOf(bytes)) expect.fail(`${frameText(frames[i] as TestFrame)}\nbuilt ${built}`);
  }
});

test("checksums and lengths taken out of a frame become what they were", async () => {
  for (const { name, linkType, layers } of EVERY_HEADER) {
    const bytes = buildFrame(layers);
    const { tree } = await drawOne(bytes, linkType);
    const without = layersOf(tree).map((layer): Layer => {
      const derived = [
        "checksum",
        "length",
        "total_length",
        "payload_length",
        "ihl",
        "data_offset",
        "opt_len",
        "s_bos",
      ];
      // The checksum of GRE is present because it is given.
      if (layer instanceof Uint8Array || layer.header === "gre") return layer;
      return Object.fromEntries(Object.entries(layer).filter(([key]) => !derived.includes(key))) as unknown as Layer;
    });
    expect(hexOf(buildFrame(without)), name).toBe(hexOf(bytes));
  }
});

test("an array of bytes given to a layer is the caller's still", () => {
  const bytes = Uint8Array.of(1, 2, 3, 4);
  buildFrame([{ header: "ipv4", options: bytes }, bytes]);
  expect([...bytes]).toEqual([1, 2, 3, 4]);
});

test("data of options is bytes or hexadecimal digits", () => {
  const geneve = (data: Uint8Array | string) => hex({ header: "geneve", options: [{ class: 1, type: 2, data }] });
  expect(geneve("01 02 03 04")).toBe(geneve(Uint8Array.of(1, 2, 3, 4)));
  const tcp = (data: Uint8Array | string) => hex({ header: "tcp", checksum: 0, options: [{ option: 253, data }] });
  expect(tcp("0102")).toBe(tcp(Uint8Array.of(1, 2)));
  expect(() => tcp("01020")).toThrow("layers[0].options[0].data");
});
