/** Edge cases of ESP actions that random frames rarely reach (docs/esp.md). */
import { expect, test } from "vitest";
import { buildFrame, type Layer } from "../../../src/packet/index.js";
import { MAX_FRAME } from "../../../src/abi/engine.js";
import { ESP_AUTH_FAILED, ESP_BAD_PROTOCOL, ESP_DECRYPTED } from "../../../src/abi/esp.js";
import * as mlx5dv from "../../../src/mlx5dv/index.js";
import * as v from "../../../src/verbs/index.js";
import {
  create,
  ENCRYPT,
  ESN,
  ESP_SPEC,
  handle,
  inline,
  IPV4_ENCAP,
  NEW_WINDOW,
  sealed,
  sealedByWebCrypto,
  sealing,
  sent,
  TRANSPORT,
  tunnel,
  UDP_ENCAP,
} from "../support/esp.js";
import { EGRESS, FlowBench, IPV4 } from "../support/flows.js";

const clear = (tos: number, bytes: number): Uint8Array =>
  buildFrame([
    { header: "ethernet" },
    { header: "ipv4", source: "10.0.0.1", destination: "10.0.0.2", dscp: tos >> 2, ecn: tos & 3 },
    { header: "udp" },
    { header: "payload", bytes: new Uint8Array(bytes) },
  ] as Layer[]);

test("an SPI of 0 behind UDP is the marker of IKE, and no ESP", async () => {
  const bench = await FlowBench.open();
  bench.flow("in", [handle(create(bench, tunnel(0, { esp_encap: [IPV4_ENCAP, UDP_ENCAP] }, { spi: 0 })))]);
  const frame = buildFrame([
    { header: "ethernet" },
    { header: "ipv4", source: "192.0.2.1", destination: "198.51.100.2" },
    { header: "udp", destination_port: 4500 },
    { header: "payload", bytes: new Uint8Array(64) },
  ]);
  expect(bench.device.receive(1, frame)).toMatchObject({ verdict: "drop", reason: "esp_not_esp" });
});

test("a packet that IP cannot say the length of any more is dropped, and uses no number", async () => {
  const bench = await FlowBench.open();
  const action = create(bench, tunnel(ENCRYPT));
  sealing(bench, action);
  // 20 of outer IP, 16 of ESP and IV, 16 of ICV, trailer and padding.
  const most = 65_535 - 20 - 16 - 16 - 2;
  const fits = most - ((most + 2) % 4);
  expect(sealed(bench, clear(0, fits - 28)).length).toBeLessThanOrEqual(14 + 65_535);
  expect(action.state.number).toBe(2n);
  expect(sent(bench, clear(0, fits - 27))).toMatchObject({ verdict: "drop", reason: "frame_too_long" });
  expect(action.state).toMatchObject({ number: 2n, iv: 1n, packets: 1n });
});

test("an action gives DSCP alone: ECN is that of the packet inside", async () => {
  const bench = await FlowBench.open();
  const ext = { type: v.IBV_FLOW_SPEC_IPV4_EXT, val: { src_ip: "192.0.2.1", dst_ip: "192.0.2.2", tos: 0x2b } };
  sealing(bench, create(bench, tunnel(ENCRYPT, { esp_encap: [ext] })));
  for (const [inner, outer] of [
    [0xb8, 0x28],
    [0xb9, 0x29],
    [0x02, 0x2a],
  ] as const) {
    expect(sealed(bench, clear(inner, 8))[15]).toBe(outer);
  }
});

test("ESN_NEW_WINDOW can be taken back", async () => {
  const bench = await FlowBench.open();
  const esn = { comp_mask: ESN, esn: 5 };
  const frame = buildFrame([
    { header: "ethernet" },
    { header: "ipv4", source: "192.0.2.1", destination: "198.51.100.2" },
    { header: "esp", spi: 9, sequence: 1 },
    { header: "payload", bytes: new Uint8Array(36).fill(0x45) },
  ]);
  bench.flow("out", [IPV4, ESP_SPEC, handle(create(bench, inline(ENCRYPT, esn)))], EGRESS);
  const packet = sealed(bench, frame);
  const action = create(bench, inline(0, { ...esn, esp_attr: { flags: NEW_WINDOW } }));
  bench.flow("in", [IPV4, ESP_SPEC, handle(action)]);
  const fault = (): string | undefined => bench.device.receive(1, packet).to[0]?.espFault;
  expect(fault()).toBe("icv");
  v.ibv_modify_flow_action_esp(action, { esp_attr: { flags: 0 } });
  expect(fault()).toBeUndefined();
});

test("a packet inside whose header is longer than it is dropped, and nothing behind it is read", async () => {
  const [bench, there] = [await FlowBench.open(), await FlowBench.open()];
  sealing(bench, create(bench, tunnel(TRANSPORT | ENCRYPT, { esp_encap: [] })));
  there.flow("in", [handle(create(there, tunnel(0)))]);
  // Encrypted in transport mode, decrypted in tunnel mode: the payload of IP in IP is accepted
  // unchanged.
  for (const [first, reason] of [
    [0x45, null],
    [0x46, "esp_trailer"],
    [0x4f, "esp_trailer"],
    [0x44, "esp_trailer"],
  ] as const) {
    const inner = Uint8Array.of(first, 2, 0, 20, 0, 0, 0, 0, 64, 59, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2);
    const frame = buildFrame([
      { header: "ethernet" },
      { header: "ipv4", source: "192.0.2.1", destination: "198.51.100.2", protocol: 4, ecn: 3 },
      { header: "payload", bytes: inner },
    ]);
    expect(there.device.receive(1, sealed(bench, frame)).reason).toBe(reason);
  }
});

test("the outer header has the DF bit of an IPv4 packet inside, or its own", async () => {
  const ext = (flags: number): v.FlowActionEspEncap => ({ type: v.IBV_FLOW_SPEC_IPV4_EXT, val: { flags } });
  const df = async (encap: v.FlowActionEspEncap, frame: Uint8Array): Promise<number | undefined> => {
    const bench = await FlowBench.open();
    sealing(bench, create(bench, tunnel(ENCRYPT, { esp_encap: [encap] })));
    return sealed(bench, frame)[20];
  };
  const [plain, set, more] = [0, 0x40, 0xe0].map((bits) => clear(0, 8).with(20, bits));
  // A next header with the bit of DF, in the byte where IPv4 has the flags.
  const six = buildFrame([
    { header: "ethernet" },
    { header: "ipv6", next_header: 0x7b },
    { header: "payload", bytes: new Uint8Array(8) },
  ]);
  expect(await Promise.all([plain!, set!, more!, six].map((frame) => df(IPV4_ENCAP, frame)))).toEqual([0, 64, 64, 0]);
  expect(await Promise.all([plain!, set!, six].map((frame) => df(ext(2), frame)))).toEqual([64, 64, 64]);
  expect(await Promise.all([plain!, set!, six].map((frame) => df(ext(0), frame)))).toEqual([0, 0, 0]);
});

test("the metadata element of a decryption has to fit the longest frame", async () => {
  const bench = await FlowBench.open();
  const action = mlx5dv.mlx5dv_create_flow_action_esp(bench.context, inline(0), {
    comp_mask: mlx5dv.MLX5DV_FLOW_ACTION_ESP_MASK_FLAGS,
    action_flags: mlx5dv.MLX5_IB_UAPI_FLOW_ACTION_FLAGS_REQUIRE_METADATA,
  });
  bench.flow("in", [IPV4, ESP_SPEC, handle(action)]);
  const frame = buildFrame([
    { header: "ethernet" },
    { header: "ipv4", source: "192.0.2.1", destination: "198.51.100.2" },
    { header: "esp", spi: 9, sequence: 1 },
    { header: "payload", bytes: new Uint8Array(64) },
  ]);
  const reason = (wireLength: number): string | null => bench.device.receive(1, frame, { wireLength }).reason;
  expect([MAX_FRAME - 8, MAX_FRAME - 7].map(reason)).toEqual([null, "frame_too_long"]);
});

test("the metadata element says what is wrong with a packet", async () => {
  const bench = await FlowBench.open();
  const action = mlx5dv.mlx5dv_create_flow_action_esp(bench.context, inline(0), {
    comp_mask: mlx5dv.MLX5DV_FLOW_ACTION_ESP_MASK_FLAGS,
    action_flags: mlx5dv.MLX5_IB_UAPI_FLOW_ACTION_FLAGS_REQUIRE_METADATA,
  });
  bench.flow("in", [IPV4, ESP_SPEC, handle(action)]);
  const told = (frame: Uint8Array): unknown[] => {
    const [to] = bench.device.receive(1, frame).to;
    return [to?.espFault, to?.frame[14]];
  };
  // Eight bytes, then padding of 2 and its length, and a next header of UDP.
  const inside = Uint8Array.of(0, 1, 0, 2, 0, 8, 0, 0, 1, 2, 2, 17);
  const good = await sealedByWebCrypto(inside, 1n, false);
  expect(told(good)).toEqual([undefined, ESP_DECRYPTED]);
  expect(told(good.with(good.length - 1, good.at(-1) ^ 1))).toEqual(["icv", ESP_AUTH_FAILED]);
  // More padding than there are bytes.
  expect(told(await sealedByWebCrypto(inside.with(10, 11), 2n, false))).toEqual(["trailer", ESP_BAD_PROTOCOL]);
});
