/** Packet reformats: the refusals of each profile, and the records for the core. */
import { describe, expect, test } from "vitest";
import type { ActionSetting } from "../../../src/model/action/modifyHeader.js";
import { reformatRecord } from "../../../src/model/action/reformat.js";
import { refused } from "../../mlx5dv/support/directRules.js";
import { settingUnder } from "../support/settings.js";

const MANUAL = settingUnder("manual", "fdb");
const FDB = settingUnder("connectx7", "fdb");
const RX = settingUnder("connectx7", "nic_rx");
const TX = settingUnder("connectx7", "nic_tx");
const [L2_TUNNEL_TO_L2, L2_TO_L2_TUNNEL, L3_TUNNEL_TO_L2, L2_TO_L3_TUNNEL] = [0, 1, 2, 3];

const MACS = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
const bytes = (...parts: (number | number[])[]): Uint8Array => Uint8Array.from(parts.flat());
const ipv4 = (protocol: number, over: { first?: number; fragment?: number; options?: number } = {}): number[] => {
  const { first = 0x45, fragment = 0, options = 0 } = over;
  const head = [first, 0, 0, 0, 0, 0, fragment >> 8, fragment & 255, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
  return [...head, ...Array<number>(options).fill(0)];
};
const ipv6 = (next: number): number[] => [0x60, 0, 0, 0, 0, 0, next, 64, ...Array<number>(32).fill(1)];
const udp = (port: number): number[] => [0, 0, port >> 8, port & 255, 0, 0, 0, 0];
const VXLAN = [8, 0, 0, 0, 0, 0, 1, 0];
const VXLAN4 = bytes(MACS, 8, 0, ipv4(17), udp(4789), VXLAN);

const record = (type: number, data?: Uint8Array | null, size?: number, setting = MANUAL): Uint8Array =>
  reformatRecord(setting, type, data, size);
const refusal = (type: number, data?: Uint8Array | null, size?: number, setting = MANUAL): string | undefined => {
  const error = refused(() => record(type, data, size, setting));
  return error && `${error.code} ${error.reason} ${error.path}`;
};

/** Type, version, entropy, length, IP, UDP; then the unchanged data. */
function heads(type: number, data: Uint8Array): number[] {
  const one = record(type, data);
  const view = new DataView(one.buffer);
  expect([...one.subarray(16)]).toEqual([...data]);
  const byte = [0, 1, 2].map((at) => view.getUint8(at));
  return [...byte, ...[4, 6, 8].map((at) => view.getUint16(at, true))];
}

describe("records", () => {
  test("headers that are mended, wherever tags and options move them", () => {
    expect(heads(1, VXLAN4)).toEqual([1, 4, 1, 50, 14, 34]);
    expect(heads(3, bytes(MACS, 0x81, 0, 0, 5, 8, 0, ipv4(17), udp(6635)))).toEqual([3, 4, 1, 46, 18, 38]);
    const qinq = bytes(MACS, 0x88, 0xa8, 0, 5, 0x81, 0, 0, 6, 0x86, 0xdd, ipv6(17), udp(6081));
    expect(heads(1, qinq)).toEqual([1, 6, 1, 70, 22, 62]);
    const options = bytes(MACS, 8, 0, ipv4(17, { first: 0x48, options: 12 }), udp(2152));
    expect(heads(1, options)).toEqual([1, 4, 1, 54, 14, 46]);
  });

  test.each([4789, 4790, 6081, 2152, 6635])("UDP port %d has entropy", (port) => {
    expect(heads(1, bytes(MACS, 0x86, 0xdd, ipv6(17), udp(port)))).toEqual([1, 6, 1, 62, 14, 54]);
  });

  test.each([4788, 4791, 53, 0])("UDP port %d has none", (port) => {
    expect(heads(1, bytes(MACS, 8, 0, ipv4(17), udp(port)))).toEqual([1, 4, 0, 42, 14, 34]);
  });

  test.each<[string, Uint8Array, number[]]>([
    ["GRE", bytes(MACS, 8, 0, ipv4(47), 0, 0, 0x65, 0x58), [4, 0, 38, 14, 0]],
    ["IP in IPv6", bytes(MACS, 0x86, 0xdd, ipv6(4)), [6, 0, 54, 14, 0]],
    [
      "UDP behind an extension header",
      bytes(MACS, 0x86, 0xdd, ipv6(0), 17, 0, 0, 0, 0, 0, 0, 0, udp(4789)),
      [6, 0, 70, 14, 0],
    ],
    ["a later fragment", bytes(MACS, 8, 0, ipv4(17, { fragment: 1 }), udp(4789)), [4, 0, 42, 14, 0]],
    ["a first fragment", bytes(MACS, 8, 0, ipv4(17, { fragment: 0x2000 }), udp(4789)), [4, 1, 42, 14, 34]],
    ["a UDP header that is cut", bytes(MACS, 8, 0, ipv4(17), udp(4789)).subarray(0, 41), [4, 0, 41, 14, 0]],
  ])("%s", (_, data, wanted) => {
    expect(heads(1, data)).toEqual([1, ...wanted]);
  });

  test("decapsulation", () => {
    expect([...record(L2_TUNNEL_TO_L2, null)]).toEqual(Array(16).fill(0));
    expect(record(L2_TUNNEL_TO_L2, new Uint8Array(), 0)).toEqual(record(L2_TUNNEL_TO_L2));
    expect(heads(L3_TUNNEL_TO_L2, bytes(MACS, 8, 0))).toEqual([2, 0, 0, 14, 0, 0]);
    expect(heads(L3_TUNNEL_TO_L2, bytes(MACS, 0x81, 0, 0, 5, 8, 0))).toEqual([2, 0, 0, 18, 0, 0]);
  });

  test("data_sz bytes of the data, copied", () => {
    const long = bytes([...VXLAN4], Array<number>(100).fill(0xff));
    const one = record(1, long, 50);
    long.fill(0);
    expect(one).toEqual(record(1, VXLAN4));
    expect(record(1, bytes(1, 2, 3, [...VXLAN4]).subarray(3))).toEqual(one);
  });
});

describe("what every profile refuses", () => {
  test.each<[string, number, Uint8Array | null, number | undefined, string]>([
    ["a size without data", 1, null, 50, "data_sz"],
    ["data without a size", 1, VXLAN4, 0, "data_sz"],
    ["data without a size, and without use", 0, VXLAN4, 0, "data_sz"],
    ["more than there is", 1, VXLAN4, 51, "data_sz"],
    ["1025 bytes", 1, bytes([...VXLAN4], Array<number>(975).fill(0)), undefined, "data_sz"],
    ["a type beyond 3", 4, VXLAN4, undefined, "reformat_type"],
    ["encapsulation without data", 1, null, undefined, "data_sz"],
    ["encapsulation without data", 3, null, 0, "data_sz"],
    ["data that stays out", 0, bytes(MACS, 8, 0), undefined, "data_sz"],
    ["no Ethernet header", 2, null, undefined, "data_sz"],
    ["13 bytes", 2, new Uint8Array(13), undefined, "data_sz"],
    ["16 bytes", 2, new Uint8Array(16), undefined, "data_sz"],
    ["22 bytes", 2, new Uint8Array(22), undefined, "data_sz"],
    ["no IP", 1, bytes(MACS, 0x88, 0x47, 0, 0, 1, 64), undefined, "data"],
    ["IPv4 by type, IPv6 by version", 1, bytes(MACS, 8, 0, ipv6(17)), undefined, "data"],
    ["IPv6 by type, IPv4 by version", 1, bytes(MACS, 0x86, 0xdd, ipv4(17), ipv4(17)), undefined, "data"],
    ["IPv4 that is cut", 3, bytes(MACS, 8, 0, ipv4(4)).subarray(0, 33), undefined, "data"],
    ["IPv4 options that are cut", 3, bytes(MACS, 8, 0, ipv4(4, { first: 0x46 })), undefined, "data"],
    ["a short IPv4 header", 3, bytes(MACS, 8, 0, ipv4(4, { first: 0x44 })), undefined, "data"],
    ["IPv6 that is cut", 3, bytes(MACS, 0x86, 0xdd, ipv6(4)).subarray(0, 53), undefined, "data"],
    ["tags alone", 1, bytes(MACS, 0x81, 0, 0, 1), undefined, "data"],
    ["an old tag", 1, bytes(MACS, 0x91, 0, 0, 1, 8, 0, ipv4(17)), undefined, "data"],
    ["half an EtherType", 1, bytes(MACS, 8), undefined, "data"],
  ])("%s", (_, type, data, size, path) => {
    for (const setting of [MANUAL, FDB]) expect(refusal(type, data, size, setting)).toBe(`EINVAL bad_reformat ${path}`);
  });

  test("1024 bytes are taken, and the smallest headers", () => {
    expect(record(1, bytes([...VXLAN4], Array<number>(974).fill(0))).length).toBe(16 + 1024);
    expect(heads(3, bytes(MACS, 8, 0, ipv4(4)))).toEqual([3, 4, 0, 34, 14, 0]);
    expect(heads(3, bytes(MACS, 0x86, 0xdd, ipv6(41)))).toEqual([3, 6, 0, 54, 14, 0]);
  });

  test("a domain with its root table alone, before anything else", () => {
    const only = { ...MANUAL, rootOnly: true };
    expect(refusal(9, null, 5, only)).toBe("EOPNOTSUPP root_only flags");
    expect(refusal(1, VXLAN4, undefined, { ...only, rootLevel: true })).toBeUndefined();
  });

  test("types of JavaScript", () => {
    for (const data of [[1], "00", {}]) expect(() => record(1, data as unknown as Uint8Array)).toThrow(TypeError);
    expect(() => record("1" as unknown as number, VXLAN4)).toThrow(TypeError);
    expect(() => record(1, VXLAN4, "50" as unknown as number)).toThrow(TypeError);
  });
});

test("devices encapsulate what they send and decapsulate what they receive", () => {
  const data = [null, VXLAN4, bytes(MACS, 8, 0), VXLAN4];
  const takes = (setting: ActionSetting): number[] =>
    [0, 1, 2, 3].filter((type) => refusal(type, data[type], undefined, setting) === undefined);
  expect(takes(RX)).toEqual([L2_TUNNEL_TO_L2, L3_TUNNEL_TO_L2]);
  expect(takes(TX)).toEqual([L2_TO_L2_TUNNEL, L2_TO_L3_TUNNEL]);
  expect(takes(FDB)).toEqual([0, 1, 2, 3]);
  expect(takes(settingUnder("connectx7", "fdb", true))).toEqual([]);
  for (const domainType of ["nic_rx", "nic_tx", "fdb"] as const) {
    for (const rootLevel of [false, true])
      expect(takes(settingUnder("manual", domainType, rootLevel))).toEqual([0, 1, 2, 3]);
  }
  expect(refusal(1, VXLAN4, undefined, RX)).toBe("EINVAL bad_reformat reformat_type");
  expect(refusal(1, VXLAN4, undefined, settingUnder("connectx7", "fdb", true))).toBe(
    "EOPNOTSUPP unsupported reformat_type",
  );
  // Data and its size are checked first, the content of the data afterwards.
  expect(refusal(1, null, 5, RX)).toBe("EINVAL bad_reformat data_sz");
  expect(refusal(1, bytes(1), undefined, RX)).toBe("EINVAL bad_reformat reformat_type");
});
