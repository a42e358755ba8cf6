/** A batch of ESP packets goes through actions before and after the decryption as frames one by one do. */
import { expect, test } from "vitest";
import type { Outcome } from "../../../src/index.js";
import { hexOf } from "../../../src/base/hex.js";
import * as dv from "../../../src/mlx5dv/index.js";
import { ipv4Frame } from "../../mlx5dv/support/directRules.js";
import { BMP, create, ENCRYPT, ESN, handle, sealed, sealedByWebCrypto, sealing, tunnel } from "../support/esp.js";
import { count, DROP, FlowBench, tag, valuesOf } from "../support/flows.js";

const FRAMES = Array.from({ length: 40 }, (_, n) => ipv4Frame({ dport: n }));
/** The time to live of a frame of `ipv4Frame`. */
const TTL = 22;

/** What another device sends: each packet, and one of them again. */
async function wire(): Promise<Uint8Array[]> {
  const bench = await FlowBench.open();
  sealing(bench, create(bench, tunnel(ENCRYPT)));
  const packets = FRAMES.map((frame) => sealed(bench, frame));
  return [...packets, packets[3]!];
}

const modify = (bench: FlowBench, value: number): dv.FlowAction =>
  dv.mlx5dv_create_flow_action_modify_header(
    ...([bench.context, undefined, [{ type: "set", field: "OUT_IP_TTL", data: value }]] as const),
    dv.MLX5DV_FLOW_TABLE_TYPE_NIC_RX,
  );

const textOf = ({ verdict, reason, to }: Outcome): string =>
  `${verdict} ${reason} ${to.map((one) => `${one.tag} ${hexOf(one.frame)}`).join()}`;

const ACTIONS: readonly [string, (bench: FlowBench, decrypt: object) => object[]][] = [
  ["alone", (_, decrypt) => [decrypt]],
  ["a tag and a counter", (bench, decrypt) => [tag(7), decrypt, count(bench.counters())]],
  ["a header change after it", (bench, decrypt) => [decrypt, handle(modify(bench, 9))]],
  ["a header change before it", (bench, decrypt) => [handle(modify(bench, 9)), decrypt]],
  ["a drop", (_, decrypt) => [decrypt, DROP]],
];

test.each(ACTIONS)("%s", async (_, actions) => {
  const packets = await wire();
  const [batch, single] = await Promise.all(
    [0, 1].map(async () => {
      const bench = await FlowBench.open();
      const decrypt = create(bench, tunnel(0, { replay_proto: BMP, replay_ptr: { size: 64 } }));
      bench.flow("in", actions(bench, handle(decrypt)));
      return bench;
    }),
  );
  const together = batch!.device.receiveBatch(1, packets).map(textOf);
  expect(together).toEqual(packets.map((packet) => textOf(single!.device.receive(1, packet))));
  expect(together.at(-1)).toBe("drop esp_replay ");
  expect(batch!.device.reasons()).toEqual(single!.device.reasons());
});

test("tags, counts and changes are those of the packet inside", async () => {
  const packets = await wire();
  const bench = await FlowBench.open();
  const counters = bench.counters();
  bench.flow("in", [tag(7), handle(create(bench, tunnel(0))), count(counters), handle(modify(bench, 9))]);
  const outcomes = bench.device.receiveBatch(1, packets.slice(0, FRAMES.length));
  expect(outcomes.map(({ to }) => [to[0]?.tag, to[0]?.frame[TTL]])).toEqual(FRAMES.map(() => [7, 9]));
  expect(valuesOf(counters)[0]).toBe(BigInt(FRAMES.length));
});

test("a flow without a destination drops what it has decrypted", async () => {
  const packets = (await wire()).slice(0, FRAMES.length);
  const bench = await FlowBench.open();
  const decrypt = create(bench, tunnel(0));
  const { mask, match_criteria_enable, value } = dv.matchParameters({}, { root: true });
  const matcher = dv.mlx5dv_create_flow_matcher(bench.context, { match_mask: mask, match_criteria_enable });
  dv.mlx5dv_create_flow(matcher, value, 1, [{ type: dv.MLX5DV_FLOW_ACTION_IBV_FLOW_ACTION, action: decrypt }]);
  const outcomes = bench.device.receiveBatch(1, packets);
  expect(outcomes.map(({ reason }) => reason)).toEqual(packets.map(() => "no_destination"));
  expect(decrypt.state.packets).toBe(BigInt(packets.length));
});

test("a packet whose extended number is another one after the packet before it", async () => {
  const epoch = 2n ** 32n;
  // The packet inside, padding to a multiple of 4, its length, IPv4.
  const inside = Uint8Array.of(...ipv4Frame().subarray(14), 1, 2, 2, 4).slice();
  const packet = (number: bigint): Promise<Uint8Array> => sealedByWebCrypto(inside, number, true);
  const [first, far] = await Promise.all([packet(epoch + 5n), packet(epoch + 5n + 2n ** 31n)]);
  // Near the first, its lower bits stand for a number before 2^32; 2^31 further, for one after it.
  for (const [number, text] of [
    [epoch + 0xffff_fff8n, "deliver null"],
    [0xffff_fff8n, "drop esp_authentication"],
  ] as const) {
    const packets = [far, await packet(number)];
    const benches = await Promise.all(
      [0, 1].map(async () => {
        const bench = await FlowBench.open();
        const window = { comp_mask: ESN, esn: 0, replay_proto: BMP, replay_ptr: { size: 64 } };
        const decrypt = create(bench, tunnel(0, window, { seq: 0xffff_fff0 }));
        bench.flow("in", [handle(decrypt)]);
        expect(bench.received(first)).toBe("in deliver");
        return { device: bench.device, decrypt };
      }),
    );
    const [batch, single] = [benches[0]!, benches[1]!];
    const together = batch.device.receiveBatch(1, packets).map(textOf);
    expect(together).toEqual(packets.map((one) => textOf(single.device.receive(1, one))));
    expect(together[1]).toContain(text);
    expect(batch.decrypt.state).toEqual(single.decrypt.state);
  }
});
