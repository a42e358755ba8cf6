/** ESP packets at the ends of what lengths, numbers and headers can say (docs/esp.md). */
import { describe, expect, test } from "vitest";
import { buildFrame, type Layer } from "../../../src/packet/index.js";
import * as mlx5dv from "../../../src/mlx5dv/index.js";
import type { FlowAction } from "../../../src/model/action/flowAction.js";
import * as v from "../../../src/verbs/index.js";
import { ipv4Frame } from "../../mlx5dv/support/directRules.js";
import {
  BMP,
  create,
  ENCRYPT,
  ESN,
  ESP_SPEC,
  handle,
  inline,
  numbersOf,
  sealed,
  sealing,
  sent,
  TRANSPORT,
  tunnel,
} from "../support/esp.js";
import { EGRESS, FlowBench, IPV4 } from "../support/flows.js";

/** The most that the length of an IPv4 packet says. */
const MAX = 65_535;
const IP = { header: "ipv4", source: "10.0.0.1", destination: "10.0.0.2" };
const ESP = { header: "esp", spi: 9, sequence: 1 };

const frameOf = (...layers: object[]): Uint8Array => buildFrame([{ header: "ethernet" }, ...layers] as Layer[]);
const payload = (length: number): object => ({ header: "payload", bytes: new Uint8Array(length).fill(0x45) });

const inlining = (bench: FlowBench, flags = 0): unknown =>
  bench.flow("out", [IPV4, ESP_SPEC, handle(create(bench, inline(ENCRYPT | flags)))], EGRESS);

describe("a packet that would be longer than IP can say", () => {
  test("transport mode", async () => {
    const bench = await FlowBench.open();
    const action = create(bench, tunnel(TRANSPORT | ENCRYPT, { esp_encap: [] }));
    sealing(bench, action);
    // IPv4 20, UDP 8; ESP with IV 16, trailer 2 with padding, ICV 16.
    const room = MAX - 20 - 16 - 16 - 2;
    const fits = room - ((room + 2) % 4) - 8;
    expect(sealed(bench, frameOf(IP, { header: "udp" }, payload(fits))).length).toBeLessThanOrEqual(14 + MAX);
    expect(sent(bench, frameOf(IP, { header: "udp" }, payload(fits + 1)))).toMatchObject({
      verdict: "drop",
      reason: "frame_too_long",
    });
    expect(action.state).toMatchObject({ number: 2n, packets: 1n });
  });

  test("inline encryption", async () => {
    const bench = await FlowBench.open();
    inlining(bench);
    // IPv4 20, SPI and number 8, IV 8; trailer 2 with padding, ICV 16.
    const room = MAX - 20 - 16 - 16 - 2;
    const fits = room - ((room + 2) % 4);
    expect(sealed(bench, frameOf(IP, ESP, payload(8 + fits))).length).toBeLessThanOrEqual(14 + MAX);
    expect(sent(bench, frameOf(IP, ESP, payload(8 + fits + 1)))).toMatchObject({
      verdict: "drop",
      reason: "frame_too_long",
    });
  });
});

test("inline encryption takes no fragment: an ESP packet is encrypted whole (RFC 4303, 3.3.4)", async () => {
  const bench = await FlowBench.open();
  inlining(bench);
  const frame = frameOf({ ...IP, flags: 1 }, ESP, payload(48));
  expect(sent(bench, frame)).toMatchObject({ verdict: "drop", reason: "esp_fragment" });
});

/** What the other end finds in the IP header after it has opened the packet. */
async function nextHeader(mode: number, content: Uint8Array): Promise<{ reason: string | null; frame: number[] }> {
  const [bench, there] = [await FlowBench.open(), await FlowBench.open()];
  inlining(bench, mode);
  there.flow("in", [handle(create(there, tunnel(mode, mode === TRANSPORT ? { esp_encap: [] } : {})))]);
  const packet = sealed(bench, frameOf(IP, { ...ESP, spi: 0x1234_5678 }, { header: "payload", bytes: content }));
  const { reason, to } = there.device.receive(1, packet);
  return { reason, frame: [...(to[0]?.frame ?? [])] };
}

const IV = new Uint8Array(8);
const bytesOf = (...parts: Uint8Array[]): Uint8Array => Uint8Array.from(parts.flatMap((part) => [...part]));

test("inline encryption in tunnel mode knows IPv6 by its version", async () => {
  const packet = frameOf({ header: "ipv6" }, { header: "udp" }, payload(8)).subarray(14);
  const { reason, frame } = await nextHeader(0, bytesOf(IV, packet));
  expect([reason, frame.slice(12, 14), frame.slice(14)]).toEqual([null, [0x86, 0xdd], [...packet]]);
});

test.each([
  ["its header alone", 5, 20, 6],
  ["options", 6, 24, 6],
  ["a header that is longer than the payload", 6, 20, null],
  ["too short a header", 4, 24, null],
])(
  "inline encryption in transport mode knows TCP by the length of its header: %s",
  async (_, words, length, protocol) => {
    const segment = new Uint8Array(length);
    segment[12] = words << 4;
    const { reason, frame } = await nextHeader(TRANSPORT, bytesOf(IV, segment));
    expect([reason, frame[23]]).toEqual(protocol === null ? ["esp_dummy", undefined] : [null, protocol]);
  },
);

test("no packet has an extended number below 0 (RFC 4303, A.2.2)", async () => {
  const numbered = async (number: bigint): Promise<Uint8Array> => {
    const bench = await FlowBench.open();
    const esn = { comp_mask: ESN, esn: Number(number >> 32n) };
    sealing(bench, create(bench, tunnel(ENCRYPT, esn, { seq: Number(number & 0xffffffffn) })));
    return sealed(bench, ipv4Frame());
  };
  const bench = await FlowBench.open();
  const window = { comp_mask: ESN, esn: 0, replay_proto: BMP, replay_ptr: { size: 64 } };
  bench.flow("in", [handle(create(bench, tunnel(0, window, { seq: 1 })))]);
  expect(bench.device.receive(1, await numbered(5n)).verdict).toBe("deliver");
  // Less than a window before 5, in the numbers of 2 ** 32 before.
  const outcome = bench.device.receive(1, await numbered(2n ** 32n - 10n));
  expect(outcome).toMatchObject({ verdict: "drop", reason: "esp_replay" });
});

test("a cooked header says the other IP version, with VLAN tags after the last one", async () => {
  const ipv6 = { type: v.IBV_FLOW_SPEC_IPV6, val: { src_ip: "2001:db8::1", dst_ip: "2001:db8::2" } };
  const bench = await FlowBench.open();
  sealing(bench, create(bench, tunnel(ENCRYPT, { esp_encap: [ipv6] })));
  const clear = ipv4Frame();
  const packet = sealed(bench, clear).slice(14);
  bench.flow("in", [handle(create(bench, tunnel(0, { esp_encap: [ipv6] })))]);
  const got = (...link: number[]): number[] => {
    const { to } = bench.device.receive(1, Uint8Array.of(...link, ...packet), { linkType: 276 });
    return [...to[0]!.frame];
  };
  // LINKTYPE_LINUX_SLL2: the protocol first, 20 bytes; then perhaps a tag, and the EtherType after it.
  const rest = [0, 0, 0, 0, 0, 1, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0];
  const [IP4, IP6, TAG] = [
    [8, 0],
    [0x86, 0xdd],
    [0x81, 0],
  ] as const;
  expect(got(...IP6, ...rest)).toEqual([...IP4, ...rest, ...clear.subarray(14)]);
  expect(got(...TAG, ...rest, 0, 5, ...IP6)).toEqual([...TAG, ...rest, 0, 5, ...IP4, ...clear.subarray(14)]);
});

describe("inline crypto", () => {
  const METADATA = {
    comp_mask: mlx5dv.MLX5DV_FLOW_ACTION_ESP_MASK_FLAGS,
    action_flags: mlx5dv.MLX5_IB_UAPI_FLOW_ACTION_FLAGS_REQUIRE_METADATA,
  };

  test("that requires metadata drops a frame without the element, and one that asks for something else", async () => {
    const bench = await FlowBench.open();
    const action = mlx5dv.mlx5dv_create_flow_action_esp(bench.context, inline(ENCRYPT), METADATA);
    bench.flow("out", [IPV4, ESP_SPEC, handle(action)], EGRESS);
    const frame = frameOf(IP, ESP, payload(48));
    const element = [0x8c, 0xe4, 0, 0, 0, 0, 0, 0];
    const other = Uint8Array.of(...frame.subarray(0, 12), ...element, ...frame.subarray(12));
    expect([frame, other].map((one) => sent(bench, one).reason)).toEqual(["esp_metadata", "esp_metadata"]);
  });

  test("that requires metadata seals a frame that asks for it, under the next header of the element", async () => {
    const [bench, there] = [await FlowBench.open(), await FlowBench.open()];
    const actionOf = ({ context }: FlowBench, flags: number): FlowAction =>
      mlx5dv.mlx5dv_create_flow_action_esp(context, inline(flags), METADATA);
    bench.flow("out", [IPV4, ESP_SPEC, handle(actionOf(bench, ENCRYPT))], EGRESS);
    there.flow("in", [IPV4, ESP_SPEC, handle(actionOf(there, 0))]);
    const frame = frameOf(IP, ESP, payload(48));
    const asking = Uint8Array.of(...frame.subarray(0, 12), 0x8c, 0xe4, 8, 0, 0, 0, 0, 132, ...frame.subarray(12));
    const packet = sealed(bench, asking);
    expect([...packet.subarray(0, 14)]).toEqual([...frame.subarray(0, 14)]);
    const [opened] = there.device.receive(1, packet).to;
    // 0x11: it was decrypted; then the next header.
    expect([opened?.espFault, ...opened!.frame.subarray(12, 16)]).toEqual([undefined, 0x8c, 0xe4, 0x11, 132]);
  });

  test("puts no metadata into a frame without Ethernet", async () => {
    const bench = await FlowBench.open();
    const action = mlx5dv.mlx5dv_create_flow_action_esp(bench.context, inline(0), METADATA);
    bench.flow("in", [IPV4, ESP_SPEC, handle(action)]);
    const packet = frameOf(IP, ESP, payload(48)).slice(14);
    const { to } = bench.device.receive(1, packet, { linkType: 101 });
    expect([to[0]?.espFault, [...to[0]!.frame]]).toEqual(["icv", [...packet]]);
  });

  test("drops what ends before the IV", async () => {
    const bench = await FlowBench.open();
    inlining(bench);
    expect(sent(bench, frameOf(IP, ESP, payload(7))).reason).toBe("esp_truncated");
  });
});

test("a packet without ECN does not learn of congestion (RFC 4301, 5.1.2.1)", async () => {
  const [bench, there] = [await FlowBench.open(), await FlowBench.open()];
  sealing(bench, create(bench, tunnel(ENCRYPT)));
  there.flow("in", [handle(create(there, tunnel(0)))]);
  const tos = 15;
  for (const [inner, opened] of [
    [0, 0],
    [1, 3],
  ] as const) {
    const packet = sealed(bench, frameOf({ ...IP, ecn: inner }, { header: "udp" }, payload(8)));
    // Congestion on the way.
    packet[tos]! |= 3;
    expect(there.device.receive(1, packet).to[0]?.frame[tos]).toBe(opened);
  }
});

test("UDP that ends in its header is no length of its own", async () => {
  const [bench, there] = [await FlowBench.open(), await FlowBench.open()];
  sealing(bench, create(bench, tunnel(TRANSPORT | ENCRYPT, { esp_encap: [] })));
  there.flow("in", [handle(create(there, tunnel(TRANSPORT, { esp_encap: [] })))]);
  const clear = frameOf({ ...IP, protocol: 17 }, payload(4));
  const { to } = there.device.receive(1, sealed(bench, clear));
  expect([...to[0]!.frame]).toEqual([...clear]);
});

test("transport mode ends with the last number: it does not cycle (RFC 4303, 3.3.3)", async () => {
  const bench = await FlowBench.open();
  const action = create(bench, tunnel(TRANSPORT | ENCRYPT, { esp_encap: [] }, { seq: 0xffff_ffff }));
  sealing(bench, action);
  const clear = frameOf(IP, { header: "udp" }, payload(8));
  expect(numbersOf(sealed(bench, clear)).seq).toBe(0xffff_ffff);
  expect(sent(bench, clear)).toMatchObject({ verdict: "drop", reason: "esp_sequence_exhausted" });
  expect(action.state.packets).toBe(1n);
});
