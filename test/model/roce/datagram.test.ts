/** Datagrams as packets, byte by byte and as parsed. */
import { expect, test } from "vitest";
import { createDevice } from "../../../src/index.js";
import type { Route } from "../../../src/model/queue/addressHandle.js";
import { datagramFrame, type Datagram } from "../../../src/model/roce/datagram.js";
import { gidFrom, macFrom } from "../../../src/model/base/port/gids.js";
import { Port } from "../../../src/model/base/port/ports.js";
import { hexOf } from "../../../src/packet/bytes.js";
import { invariantCrc } from "../../../src/packet/icrc.js";
import { frameTree } from "../../../src/packet/index.js";

const port = new Port(1, macFrom("mac", "02:11:22:33:44:01"), []);

function route(sgid: string, dgid: string, more: Partial<Route> = {}): Route {
  return {
    port,
    sgid: gidFrom("sgid", sgid),
    dgid: gidFrom("dgid", dgid),
    dmac: macFrom("dmac", "02:00:00:00:00:02"),
    flowLabel: 0,
    hopLimit: 64,
    trafficClass: 0,
    ...more,
  };
}

function datagram(way: Route, more: Partial<Datagram> = {}): Datagram {
  return {
    route: way,
    source_qpn: 0x11,
    remote_qpn: 0x12,
    remote_qkey: 0x11111111,
    pkey: 0xffff,
    psn: 0xabcd,
    solicited: false,
    immediate: null,
    payload: [new TextEncoder().encode("datagram")],
    ...more,
  };
}

/** The offsets are those of tshark 4. */
test("over IPv4", async () => {
  const frame = datagramFrame(datagram(route("10.0.0.1", "10.0.0.2", { trafficClass: 0x69, hopLimit: 9 })));
  expect(hexOf(frame)).toBe(
    [
      "020000000002" + "021122334401" + "0800",
      "4569003c00004000" + "0911" + hexOf(frame.subarray(24, 26)) + "0a000001" + "0a000002",
      "c132" + "12b7" + "0028" + "0000",
      "6440ffff" + "00000012" + "0000abcd",
      "11111111" + "00000011",
      "646174616772616d",
      hexOf(frame.subarray(-4)),
    ].join(""),
  );
  const device = await createDevice();
  const [parsed] = device.parseBatch([frame]);
  expect(parsed?.headers.map(({ header }) => header)).toEqual(["ethernet", "ipv4", "udp", "bth"]);
  const tree = frameTree(frame, parsed!);
  const checksum = tree.nodes[1]?.fields.find(({ name }) => name === "checksum");
  expect(checksum?.right).toBe(true);
  const field = (name: string): unknown => tree.nodes[3]?.fields.find((one) => one.name === name)?.value;
  expect(["opcode", "m", "pad_count", "p_key", "dst_qp", "psn"].map(field)).toEqual([0x64, 1, 0, 0xffff, 0x12, 0xabcd]);
});

test("over IPv6", async () => {
  const way = route("fe80::1", "fe80::2", { trafficClass: 0x21, flowLabel: 0x12345, hopLimit: 255 });
  const frame = datagramFrame(datagram(way));
  expect(hexOf(frame.subarray(12, 22))).toBe("86dd" + "62112345" + "0028" + "11" + "ff");
  expect(hexOf(frame.subarray(22, 54))).toBe(
    "fe80000000000000" + "0000000000000001" + "fe80000000000000" + "0000000000000002",
  );
  const [parsed] = (await createDevice()).parseBatch([frame]);
  expect(parsed?.headers.map(({ header }) => header)).toEqual(["ethernet", "ipv6", "udp", "bth"]);
  expect(parsed?.stopped).toBeNull();
});

test.each([0, 1, 2, 3, 4, 5])("%i bytes are filled up to four, and end in the ICRC", (length) => {
  for (const way of [route("10.0.0.1", "10.0.0.2"), route("fe80::1", "fe80::2")]) {
    const payload = [new Uint8Array(length).fill(7)];
    const frame = datagramFrame(datagram(way, { payload }));
    const filled = Math.ceil(length / 4) * 4;
    const network = way.dgid[0] === 0xfe ? 40 : 20;
    expect(frame.length).toBe(14 + network + 8 + 12 + 8 + filled + 4);
    const bth = 14 + network + 8;
    expect((frame[bth + 1] ?? 0) & 0x30).toBe((filled - length) << 4);
    expect(frame.subarray(bth + 20, -4)).toEqual(Uint8Array.from([...payload[0]!, ...new Uint8Array(filled - length)]));
    const crc = new DataView(frame.buffer).getUint32(frame.length - 4);
    expect(crc).toBe(invariantCrc(frame.subarray(14, -4)));
    const view = new DataView(frame.buffer);
    expect(view.getUint16(bth - 4)).toBe(frame.length - bth + 8);
  }
});

test("immediate data, the solicited bit, and payload in pieces", () => {
  const payload = [Uint8Array.of(1), Uint8Array.of(2, 3), Uint8Array.of(4, 5)];
  const frame = datagramFrame(
    datagram(route("fe80::1", "fe80::2"), { immediate: 0x01020304, solicited: true, payload }),
  );
  expect(hexOf(frame.subarray(62, 64))).toBe("65f0");
  expect(hexOf(frame.subarray(82, -4))).toBe("01020304" + "0102030405" + "000000");
});

test("the source port follows from the flow label, or from both queue pairs", () => {
  const source = (flowLabel: number, source_qpn = 1, remote_qpn = 1): number => {
    const frame = datagramFrame(datagram(route("fe80::1", "fe80::2", { flowLabel }), { source_qpn, remote_qpn }));
    return new DataView(frame.buffer).getUint16(54);
  };
  expect(source(1)).toBe(0xc001);
  expect(source(0x3fff)).toBe(0xffff);
  expect(source(0x4000)).toBe(0xc001);
  expect(source(0xfffff)).toBe(0xffff ^ 0x3f);
  expect(source(0)).toBe(0xc001);
  // 0x11 * 0x12 = 0x132; a product of more than 20 bits is folded.
  expect(source(0, 0x11, 0x12)).toBe(0xc132);
  const product = 0xffffffn * 0xfffffen;
  let folded = product ^ (product >> 20n);
  folded = (folded ^ (folded >> 40n)) & 0xfffffn;
  expect(source(0, 0xffffff, 0xfffffe)).toBe(0xc000 | Number((folded & 0x3fffn) ^ (folded >> 14n)));
});
