/**
 * Trees: every byte of any frame exactly once, raw values, the same checksum verdicts as the
 * engine.
 */
import { expect, test } from "vitest";
import { MAP_ENTRIES } from "../../src/abi/headers.js";
import { buildFrame, frameTree, layersOf, printFrame, type FrameTree, type Layer } from "../../src/packet/index.js";
import { hexBytes, hexOf, readBits } from "../../src/packet/bytes.js";
import { decodeGeneve, decodeOptions, encodeGeneve, encodeOption, IPV4, IPV6, TCP } from "../../src/packet/options.js";
import { framesOfEachKind, Random, randomFrame } from "../oracle/generate/frame.js";
import { frameText, seedFor, type TestFrame } from "../assembly/support/core.js";
import { draw, drawOne, nodeOf, valuesOf, type Drawn } from "./support/frames.js";
import { rounds } from "../support/tier.js";

/** Violations of the rule that each byte is in the tree once. */
function gaps({ nodes }: FrameTree, length: number): string[] {
  const wrong: string[] = [];
  let at = 0;
  for (const node of nodes) {
    if (node.offset !== at) wrong.push(`${node.header} at ${node.offset}, not ${at}`);
    let bit = 8 * at;
    for (const { name, offset, bit: within, bits } of node.fields) {
      if (8 * offset + within !== bit) wrong.push(`${node.header}.${name} at ${offset}:${within}`);
      bit += bits;
    }
    at += node.length;
    if (bit !== 8 * at) wrong.push(`${node.header}: fields end at bit ${bit}, the header at byte ${at}`);
  }
  if (at !== length) wrong.push(`the nodes end at ${at} of ${length}`);
  return wrong;
}

function misread({ bytes, tree }: Drawn): string[] {
  return tree.nodes.flatMap(({ header, fields }) =>
    fields
      .filter(({ value, offset, bit, bits }) => {
        const lies = readBits(bytes, 8 * offset + bit, bits);
        if (value instanceof Uint8Array) return hexOf(value) !== hexOf(bytes.subarray(offset, offset + bits / 8));
        return typeof value === "string" ? false : BigInt(value) !== lies;
      })
      .map(({ name }) => `${header}.${name}`),
  );
}

/** Checksums on which tree and engine disagree. */
function misjudged({ parsed, tree }: Drawn): string[] {
  const wrong: string[] = [];
  for (const { header, level, fields } of tree.nodes) {
    const right = fields.find(({ name }) => name === "checksum")?.right;
    const segment = header === "tcp" || header === "udp";
    if (right === undefined || !(header === "ipv4" || segment)) continue;
    if (segment && parsed.fields[`${level}.l4_ok`] !== 1) continue;
    const engine = parsed.fields[`${level}.${segment ? "l4" : "ipv4"}_checksum_ok`] === 1;
    if (engine !== right) wrong.push(`${level} ${header}: engine ${engine}, tree ${right}`);
  }
  return wrong;
}

async function check(frames: readonly TestFrame[]): Promise<void> {
  for (const [i, drawn] of (await draw(frames)).entries()) {
    const wrong = [...gaps(drawn.tree, drawn.bytes.length), ...misread(drawn), ...misjudged(drawn)];
    const listed = drawn.tree.nodes.filter(({ header }) => !["payload", "trailer", "unlisted"].includes(header));
    if (listed.length !== drawn.parsed.headers.length) wrong.push("not the headers that were parsed");
    if (drawn.parsed.headers.length < MAP_ENTRIES && drawn.tree.nodes.some(({ header }) => header === "unlisted")) {
      wrong.push("headers that are not listed");
    }
    printFrame(drawn.tree, { detail: true, hex: true });
    if (wrong.length > 0) expect.fail(`${frameText(frames[i] as TestFrame)}\n${wrong.join("\n")}`);
  }
}

test("random frames of every kind", async () => {
  const random = new Random(seedFor("tree"));
  await check([...framesOfEachKind(random, 2000), ...Array.from({ length: 2000 }, () => randomFrame(random))]);
});

test("frames cut at every byte, and with every byte inverted", async () => {
  const random = new Random(seedFor("tree, cut"));
  for (const frame of framesOfEachKind(random, 16)) {
    const { bytes } = frame;
    const cuts = Array.from(bytes, (_, i) => ({ ...frame, bytes: bytes.slice(0, i) }));
    const flipped = Array.from(bytes, (byte, i) => ({ ...frame, bytes: bytes.with(i, byte ^ 0xff) }));
    await check([...cuts, ...flipped]);
  }
});

test("a parse of another frame", async () => {
  const random = new Random(seedFor("tree, another"));
  const drawn = await draw(framesOfEachKind(random, 400));
  for (const [i, { parsed }] of drawn.entries()) {
    const { bytes } = drawn[(i * 7 + 1) % drawn.length] as Drawn;
    expect(gaps(frameTree(bytes, parsed), bytes.length)).toEqual([]);
  }
});

test("more headers than are listed", async () => {
  const tags = Array.from({ length: 40 }, () => "00018100").join("");
  const bytes = hexBytes(`0200000000020200000000018100${tags}000188b5aabb`) as Uint8Array;
  const { tree } = await drawOne(bytes);
  expect(tree.nodes.length).toBe(MAP_ENTRIES + 2);
  expect(tree.nodes.at(-2)).toMatchObject({ header: "unlisted", offset: 14 + 4 * (MAP_ENTRIES - 1) });
  expect(tree.nodes.at(-1)).toMatchObject({ header: "payload", length: 2 });
  expect(gaps(tree, bytes.length)).toEqual([]);
});

test("a frame, field by field", async () => {
  // Handmade: 802.1Q tag, IPv4 with a router alert, TCP with two options, two bytes of padding.
  const bytes = hexBytes(`
    020000000002 020000000001 8100
    a064 0800
    46b8 0030 1234 4000 4006 0000 c0000201 c0000202 94040000
    c000 0050 00000001 00000002 6012 ffff 0000 0000 02040564
    dead
  `) as Uint8Array;
  const { tree } = await drawOne(bytes);
  expect(tree.stopped).toBeNull();
  expect(tree.nodes.map(({ header, offset, length }) => [header, offset, length])).toEqual([
    ["ethernet", 0, 14],
    ["vlan", 14, 4],
    ["ipv4", 18, 24],
    ["tcp", 42, 24],
    ["trailer", 66, 2],
  ]);
  expect(valuesOf(nodeOf(tree, "vlan"))).toEqual({ pcp: 5, dei: 0, vid: 100, type: 0x0800 });
  expect(
    nodeOf(tree, "ipv4").fields.map(({ name, offset, bit, bits, text }) => [name, offset, bit, bits, text]),
  ).toEqual([
    ["version", 18, 0, 4, "4"],
    ["ihl", 18, 4, 4, "6 (24 bytes)"],
    ["dscp", 19, 0, 6, "46"],
    ["ecn", 19, 6, 2, "0"],
    ["total_length", 20, 0, 16, "48"],
    ["identification", 22, 0, 16, "0x1234"],
    ["flags", 24, 0, 3, "0x2 (df)"],
    ["fragment_offset", 24, 3, 13, "0"],
    ["ttl", 26, 0, 8, "64"],
    ["protocol", 27, 0, 8, "6 (tcp)"],
    ["checksum", 28, 0, 16, "0x0000 (wrong, 0x0ed4 would be right)"],
    ["source", 30, 0, 32, "192.0.2.1"],
    ["destination", 34, 0, 32, "192.0.2.2"],
    ["options", 38, 0, 32, "router alert 0"],
  ]);
  const { flags, options } = valuesOf(nodeOf(tree, "tcp"));
  expect([flags, options]).toEqual([0x012, hexBytes("02040564")]);
  expect(nodeOf(tree, "tcp").fields.at(-1)?.items).toEqual([
    { offset: 62, length: 4, value: { option: "mss", size: 1380 }, text: "mss 1380" },
  ]);
});

test.each([
  [
    "tcp",
    `45000034 00000000 40060000 c0000201 c0000202`,
    "c0000050 00000001 00000002 8010ffff 00000000",
    "0101080a",
    12,
  ],
  ["gre", `4500002c 00000000 402f0000 c0000201 c0000202`, "b0000800", "12340000 aabbcc", 12],
  ["gtpu", `45000034 00000000 40110000 c0000201 c0000202 c0000868 00200000`, "32ff000c 00000001", "0007", 4],
])("cut options of %s belong to it, and the frame is built again", async (header, below, fixed, rest, options) => {
  const whole = hexBytes(`020000000002020000000001 0800 ${below} ${fixed} ${rest}`) as Uint8Array;
  const size = (hexBytes(fixed) as Uint8Array).length;
  const at = whole.length - size - (hexBytes(rest) as Uint8Array).length;
  for (let captured = at + size; captured <= whole.length; captured++) {
    const bytes = whole.slice(0, captured);
    const [drawn] = await draw([{ bytes, wireLength: 70 }]);
    const { tree, parsed } = drawn as Drawn;
    expect(tree.nodes.at(-1)).toMatchObject({ header, offset: at, length: captured - at });
    expect(tree.stopped).toMatchObject({ header, offset: at, wanted: size + options, had: captured - at });
    expect(parsed.payload).toEqual({ offset: captured, end: captured });
    expect(hexOf(buildFrame(layersOf(tree)))).toBe(hexOf(bytes));
  }
});

test("GRE version 1 that carries a packet has no acknowledgement, and a route with R", async () => {
  const gre = async (...layers: Layer[]): Promise<FrameTree> =>
    (await drawOne(buildFrame([{ header: "ethernet" }, { header: "ipv4" }, ...layers]))).tree;
  const tunnel = await gre({ header: "gre", version: 1, a: 1, r: 1, key: 7 }, { header: "ipv4" }, { header: "tcp" });
  expect(tunnel.nodes.map(({ header }) => header)).toEqual(["ethernet", "ipv4", "gre", "ipv4", "tcp"]);
  expect(valuesOf(nodeOf(tunnel, "gre"))).toMatchObject({ version: 1, a: 1, key: 7, routing: new Uint8Array(4) });
  expect(valuesOf(nodeOf(tunnel, "gre"))).not.toHaveProperty("acknowledgement");
  const pptp = await gre({ header: "gre", version: 1, a: 1, r: 1, key: 7, protocol_type: 0x880b, acknowledgement: 8 });
  expect(valuesOf(nodeOf(pptp, "gre"))).toMatchObject({ version: 1, acknowledgement: 8 });
  expect(valuesOf(nodeOf(pptp, "gre"))).not.toHaveProperty("routing");
});

test("options are lists that lose nothing", () => {
  const random = new Random(seedFor("options"));
  const texts: (readonly [typeof TCP | null, string, object[]])[] = [
    [
      TCP,
      "020405b4 0402 080a000003e800000000 01 030307",
      [
        { option: "mss", size: 1460 },
        { option: "sack_permitted" },
        { option: "timestamps", value: 1000, echo: 0 },
        { option: "nop" },
        { option: "wscale", shift: 7 },
      ],
    ],
    [TCP, "0512 0000000a00000014 000000280000003200 00", [{ option: "sack", edges: [10, 20, 40, 50] }, { option: "end" }, { option: "rest", data: hexBytes("00") }]],
    [TCP, "0203aa fd04abcd 05", [{ option: 2, data: hexBytes("aa") }, { option: 253, data: hexBytes("abcd") }, { option: "rest", data: hexBytes("05") }]],
    [IPV4, "830b04 0a000001 0a000002 00", [{ option: "loose_source_route", pointer: 4, addresses: ["10.0.0.1", "10.0.0.2"] }, { option: "end" }]],
    [IPV4, "44080501 00000001", [{ option: "timestamp", pointer: 5, overflow_flag: 1, data: hexBytes("00000001") }]],
    [IPV6, "05020000 0100 00 c20400010000", [{ option: "router_alert", value: 0 }, { option: "padn", data: hexBytes("") }, { option: "pad1" }, { option: "jumbo", length: 65536 }]],
    [null, "01028101 deadbeef ffff0100", [{ class: 0x0102, type: 0x81, data: hexBytes("deadbeef") }, { class: 0xffff, type: 1, data: hexBytes("") }]],
  ]; // prettier-ignore
  for (const [family, text, list] of texts) {
    const bytes = hexBytes(text) as Uint8Array;
    const found = family === null ? decodeGeneve(bytes) : decodeOptions(family, bytes);
    expect(found.map(({ option }) => option)).toEqual(list);
  }
  for (let n = 0; n < rounds(4000); n++) {
    const bytes = Uint8Array.from(random.bytes(random.below(24)));
    const family = random.pick([TCP, IPV4, IPV6, null]);
    // Named types, half of the time.
    if (family !== null && random.chance(0.5)) bytes[0] = random.pick(family.named).type;
    const found = family === null ? decodeGeneve(bytes) : decodeOptions(family, bytes);
    const again = found.map(({ option }) => (family === null ? encodeGeneve(option) : encodeOption(family, option)));
    expect(again.map((one) => (one instanceof Uint8Array ? hexOf(one) : one.hint)).join("")).toBe(hexOf(bytes));
    expect(found.reduce((sum, { length }) => sum + length, 0)).toBe(bytes.length);
  }
});

test("checksums that cannot be verified are neither right nor wrong", async () => {
  const right = async (...layers: Parameters<typeof buildFrame>[0]): Promise<(boolean | undefined)[]> => {
    const { tree } = await drawOne(buildFrame([{ header: "ethernet" }, ...layers]));
    return tree.nodes.flatMap(({ fields }) => fields.filter(({ name }) => name === "checksum").map((one) => one.right));
  };
  const data = new Uint8Array(9).fill(7);
  expect(await right({ header: "ipv4" }, { header: "udp" }, data)).toEqual([true, true]);
  expect(await right({ header: "ipv4" }, { header: "udp", checksum: 0 }, data)).toEqual([true, undefined]);
  expect(await right({ header: "ipv6" }, { header: "udp", checksum: 0 }, data)).toEqual([false]);
  expect(await right({ header: "ipv4", flags: "mf" }, { header: "udp" }, data)).toEqual([true, undefined]);
  expect(await right({ header: "ipv4", total_length: 60 }, { header: "tcp" }, data)).toEqual([true, undefined]);
  expect(await right({ header: "ipv6" }, { header: "ipv6_fragment", m: 1 }, { header: "tcp" })).toEqual([undefined]);
  expect(await right({ header: "ipv6" }, { header: "ipv6_fragment" }, { header: "tcp" })).toEqual([true]);
  expect(await right({ header: "ipv4" }, { header: "sctp" }, data)).toEqual([true, true]);
  expect(await right({ header: "ipv4" }, { header: "sctp", checksum: 5 }, data)).toEqual([true, false]);
  expect(await right({ header: "ipv4" }, { header: "gre", c: 1 }, data)).toEqual([true, true]);
  expect(await right({ header: "ipv4" }, { header: "gre", checksum: 9 }, data)).toEqual([true, false]);
});
