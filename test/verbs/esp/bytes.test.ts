/** The C bytes of ESP parameters: encoded, decoded, and the resulting associations. */
import { describe, expect, test } from "vitest";
import { ESP_CIPHER, ESP_SIZE, ESP_WINDOW } from "../../../src/abi/esp.js";
import { hexOf } from "../../../src/base/hex.js";
import type { EspAction } from "../../../src/model/esp/action.js";
import * as v from "../../../src/verbs/index.js";
import {
  BMP,
  create,
  ENCRYPT,
  ESN,
  inline,
  IPV4_ENCAP,
  iv,
  KEY,
  keymat,
  NONE,
  SALT,
  SPI,
  told,
  tunnel,
} from "../support/esp.js";
import { FlowBench } from "../support/flows.js";

const MACS = { dst_mac: "02:00:00:00:00:01", src_mac: "02:00:00:00:00:02" };
const TAGGED = { type: v.IBV_FLOW_SPEC_ETH, val: { ...MACS, vlan_tag: 0xa005 } };
const IPV6 = {
  type: v.IBV_FLOW_SPEC_IPV6,
  val: { src_ip: "2001:db8::1", dst_ip: "2001:db8::2", flow_label: 0xabcde, traffic_class: 0xb8, hop_limit: 9 },
};
const EXT = {
  type: v.IBV_FLOW_SPEC_IPV4_EXT,
  val: { src_ip: "192.0.2.1", dst_ip: "198.51.100.2", tos: 0x2b, ttl: 7, flags: 2 },
};
const UDP = { type: v.IBV_FLOW_SPEC_UDP, val: { src_port: 1000, dst_port: 4501 } };

const SAMPLES: readonly v.FlowActionEsp[] = [
  tunnel(ENCRYPT, { comp_mask: ESN, esn: 0xfedcba98 }, { hard_limit_pkts: 2n ** 63n + 5n, tfc_pad: 77 }),
  tunnel(0, { replay_proto: BMP, replay_ptr: { size: 1000 }, esp_encap: [TAGGED, IPV6, UDP] }),
  tunnel(0, { esp_encap: [EXT] }),
  inline(ENCRYPT, { keymat_ptr: keymat({ iv: iv(0x0102030405060708n), icv_len: 12 }) }),
  { replay_proto: NONE },
  {},
];

/** The association of an action, without the addresses that differ. */
function association({ device, operand }: EspAction): string {
  const record = device.core.u8.slice(operand, operand + ESP_SIZE);
  record.fill(0, ESP_CIPHER, ESP_CIPHER + 4).fill(0, ESP_WINDOW, ESP_WINDOW + 4);
  return hexOf(record);
}

test("the structs as the header has them", () => {
  const bytes = v.flowActionEspBytes(SAMPLES[0]!);
  const view = new DataView(bytes.buffer);
  const u32 = (at: number): number => view.getUint32(at, true);
  const [attr, key, encap] = [u32(0), u32(16), u32(40)];
  expect([u32(8), view.getUint16(12, true), u32(24), view.getUint16(28, true), u32(32)]).toEqual([0, 56, 0, 0, 0]);
  expect([u32(48), u32(52)]).toEqual([1, 0xfedcba98]);
  expect([0, 4, 8, 12].map((at) => u32(attr + at))).toEqual([SPI, 1, 77, 5]);
  expect(view.getBigUint64(attr + 16, true)).toBe(2n ** 63n + 5n);
  expect(bytes.slice(key + 12, key + 16)).toEqual(SALT);
  expect([8, 16, 20].map((at) => u32(key + at))).toEqual([0, 16, 16]);
  expect(bytes.slice(key + 24, key + 40)).toEqual(KEY);
  expect([8, 12].map((at) => u32(encap + at))).toEqual([0, 0]);
  expect([view.getUint16(encap + 16, true), view.getUint16(encap + 18, true)]).toEqual([8, 0x30]);
  expect([...bytes.slice(u32(encap), u32(encap) + 8)]).toEqual([192, 0, 2, 1, 198, 51, 100, 2]);
});

test.each(SAMPLES.map((esp, i) => [i, esp] as const))("objects to bytes and back: %i", (_i, esp) => {
  const bytes = v.flowActionEspBytes(esp);
  const objects = v.flowActionEspFromBytes(bytes);
  expect(v.flowActionEspBytes(objects)).toEqual(bytes);
});

test("objects, bytes, and objects with bytes in them make the same action", async () => {
  const bench = await FlowBench.open();
  for (const esp of SAMPLES.slice(0, 4)) {
    const bytes = v.flowActionEspBytes(esp);
    const objects = v.flowActionEspFromBytes(bytes);
    const view = new DataView(bytes.buffer);
    const [attr, key] = [view.getUint32(0, true), view.getUint32(16, true)];
    const parts = { ...objects, esp_attr: bytes.subarray(attr, attr + 24), keymat_ptr: bytes.subarray(key, key + 56) };
    const expected = association(create(bench, esp));
    for (const one of [bytes, objects, parts]) {
      expect(association(v.ibv_create_flow_action_esp(bench.context, one))).toBe(expected);
    }
  }
});

test("modify takes bytes; NULL keeps", async () => {
  const bench = await FlowBench.open();
  const action = create(bench, tunnel(0, { replay_proto: BMP, replay_ptr: { size: 64 } }));
  v.ibv_modify_flow_action_esp(action, v.flowActionEspBytes({}));
  expect(action.state.windowSize).toBe(64);
  v.ibv_modify_flow_action_esp(action, v.flowActionEspBytes({ replay_proto: NONE }));
  expect(action.state.windowSize).toBeNull();
});

test("bytes that end anywhere are refused, or are all that is needed", async () => {
  const bench = await FlowBench.open();
  const bytes = v.flowActionEspBytes(SAMPLES[1]!);
  for (let length = 0; length < bytes.length; length++) {
    const short = bytes.subarray(0, length);
    const refusal = told(() => v.ibv_create_flow_action_esp(bench.context, short));
    expect(refusal).toMatch(/^EINVAL too_short esp/);
  }
  expect(bench.context.users).toBe(0);
});

test("a chain in a circle is read to its fourth link", async () => {
  const bench = await FlowBench.open();
  const bytes = v.flowActionEspBytes(tunnel(0));
  const view = new DataView(bytes.buffer);
  const link = view.getUint32(40, true);
  view.setUint32(link + 8, link, true);
  const refusal = told(() => v.ibv_create_flow_action_esp(bench.context, bytes));
  expect(refusal).toBe("EINVAL bad_spec esp.esp_encap[1].type");
  const circle: v.FlowActionEspEncap = { ...IPV4_ENCAP };
  circle.next_ptr = circle;
  expect(told(() => create(bench, tunnel(0, { esp_encap: circle })))).toBe("EINVAL bad_spec esp.esp_encap[1].type");
  // A pointer beyond 32 bits points to nothing.
  view.setUint32(4, 1, true);
  expect(told(() => v.ibv_create_flow_action_esp(bench.context, bytes))).toBe("EINVAL too_short esp.esp_attr");
});

describe("headers of a chain", () => {
  const headers = async (...links: v.FlowActionEspEncap[]): Promise<string> => {
    const bench = await FlowBench.open();
    const flags = links[0]?.type === v.IBV_FLOW_SPEC_UDP ? v.IBV_FLOW_ACTION_ESP_FLAGS_TRANSPORT : 0;
    return association(create(bench, tunnel(flags, { esp_encap: links }))).slice(2 * 68);
  };
  /** bytes, IP, UDP, version, DF, traffic, ETH; then the headers. */
  const expected = (fields: string, ...bytes: string[]): string =>
    (fields + bytes.join("")).replaceAll(" ", "").padEnd(184, "0");

  test("IPv4, everything from the packet inside", async () => {
    const ip = "45000000 00000000 40320000 c0000201 c6336402";
    expect(await headers(IPV4_ENCAP)).toBe(expected("14000000 0000 0000 04 01 01 00", ip));
  });

  test("IPv4 with what its filter says", async () => {
    const ip = "45280000 00004000 07110000 c0000201 c6336402";
    expect(await headers(EXT, UDP)).toBe(expected("1c000000 0000 1400 04 00 00 00", ip, "03e8 1195 0000 0000"));
    const plain = { type: v.IBV_FLOW_SPEC_IPV4_EXT, val: { tos: 3 } };
    expect(await headers(plain)).toBe(expected("14000000 0000 0000 04 00 01 00", "4500000000000000 40320000"));
  });

  test("Ethernet with a tag, IPv6, UDP", async () => {
    const eth = "020000000001 020000000002 8100a005 86dd";
    const ip = "6b8abcde 0000 11 09 20010db8000000000000000000000001 20010db8000000000000000000000002";
    const fields = "42000000 1200 3a00 06 00 00 01";
    expect(await headers(TAGGED, IPV6, UDP)).toBe(expected(fields, eth, ip, "03e8 1195 0000 0000"));
  });

  test("UDP alone, in transport mode", async () => {
    expect(await headers({ type: v.IBV_FLOW_SPEC_UDP })).toBe(expected("08000000 0000 0000 00 00 00 00", "1194 1194"));
  });
});
