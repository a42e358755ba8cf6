/** Several flows that share an ESP action: engine and reference, on what flows match, copy, count, and hand on (docs/esp.md, "Flows"). */
import { expect, test } from "vitest";
import type { Outcome } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import * as v from "../../../src/verbs/index.js";
import { changed, counted, DeviceFlowBench, inTable, NIC_TX } from "../../mlx5dv/support/createFlow.js";
import { deviceMatch, TableBench } from "../../mlx5dv/support/devx.js";
import { type Association, associate, espPlace, openFully, sealFully } from "../../oracle/esp/esp.js";
import { openInline, sealInline } from "../../oracle/esp/inline.js";
import { outerOf } from "../../oracle/esp/packet.js";
import { ethernetSize } from "../../oracle/wire/link.js";
import { disturbed, randomClear, randomFull, randomInline, sealedFrame } from "../../oracle/generate/esp.js";
import { Random } from "../../oracle/generate/random.js";
import type { Frame } from "../../oracle/act/rewrite.js";
import { attr, count, DONT_TRAP, EGRESS, valuesOf } from "../../verbs/support/flows.js";
import { climb } from "../../verbs/support/queuePairs.js";
import { actionFor } from "./support/bench.js";
import { seedFor } from "../support/core.js";
import { checkReached, rounds } from "../../support/tier.js";
import { hexOf } from "../../../src/base/hex.js";

const ROUNDS = rounds(25, "FLOWSTEER_ESP");

/** Flows are told apart by the destination MAC, which ESP leaves as it is; of the last there is none. */
const GROUPS = [0, 1, 2, 3] as const;
type Group = (typeof GROUPS)[number];
const mac = (group: Group): number[] => [2, 0, 0, 0, 0, group];
const toGroup = (group: Group) => ({
  type: v.IBV_FLOW_SPEC_ETH,
  val: { dst_mac: Uint8Array.from(mac(group)) },
  mask: { dst_mac: new Uint8Array(6).fill(0xff) },
});
const inGroup = (group: Group) => ({ "outer.dmac": `02:00:00:00:00:0${group}` });

const whole = ({ bytes }: { bytes: Uint8Array }): Frame => {
  return { bytes, linkType: 1, wireLength: bytes.length, port: 1, parser: {} };
};

/** A frame of a group; null where it has no whole Ethernet header. */
function grouped(frame: Frame, group: Group): Frame | null {
  if (frame.linkType !== 1 || frame.bytes.length < 14) return null;
  if (frame.bytes.length < ethernetSize(frame.bytes, 0)) return null;
  const bytes = frame.bytes.slice();
  bytes.set(mac(group));
  return { ...frame, bytes };
}

/** Frames and bytes, and how often each thing was seen. */
class Sums {
  readonly #sums = new Map<string, [bigint, bigint]>();

  add(name: string, bytes: number): void {
    const [frames, all] = this.of(name);
    this.#sums.set(name, [frames + 1n, all + BigInt(bytes)]);
  }

  of(name: string): [bigint, bigint] {
    return this.#sums.get(name) ?? [0n, 0n];
  }

  expectAll(...names: string[]): void {
    checkReached(() => expect(names.filter((name) => this.of(name)[0] === 0n)).toEqual([]));
  }
}

/** Destinations with bytes, copies in brackets, then what became of the frame. */
function textOf({ copies, to, verdict, reason }: Outcome): string {
  const one = ({ name, frame }: { name: string; frame: Uint8Array }): string =>
    `${name.replace("qp:", "")} ${hexOf(frame)}`;
  return [...copies.map((copy) => `(${one(copy)})`), ...to.map(one), verdict, reason ?? ""].join(" ").trim();
}

/** What flows behind the action make of a frame; null where its outer IP version is not told by the reference. */
function behind(frame: Frame, sums: Sums): string | null {
  const version = outerOf(frame, false)?.version;
  if (version === undefined) return null;
  sums.add(`version ${version}`, Math.max(frame.wireLength, frame.bytes.length));
  return `${version === 4 ? "four" : "six"} ${hexOf(frame.bytes)} deliver`;
}

/** What becomes of a received frame of a group. */
function received(sa: Association, frame: Frame, group: Group, sums: Sums): string | null {
  sums.add(`flow ${group}`, frame.wireLength);
  if (group === 3) return behind(frame, sums);
  const made = openFully(sa, frame);
  sums.add(typeof made === "string" ? "lost" : `good ${group}`, 0);
  if (typeof made === "string") return `drop ${made}`;
  const hex = hexOf(made.bytes);
  if (group === 1) return `one ${hex} deliver`;
  if (group === 0) {
    const on = behind(made, sums);
    return on && `(trap ${hex}) ${on}`;
  }
  const version = outerOf(made, false)?.version;
  if (version === undefined) return null;
  sums.add(`table ${version}`, 0);
  return `(two ${hex}) drop ${version === 4 ? "drop_action" : "table_miss"}`;
}

test("DECRYPT: a flow that traps not, one that delivers, one that leads to a table, and flows behind", async () => {
  const random = new Random(seedFor("esp flows in"));
  const tally = new Sums();
  for (let round = 0; round < ROUNDS; round++) {
    const bench = await DeviceFlowBench.open();
    const { flows, context, device } = bench;
    const settings = { ...randomFull(random, false), hardLimit: 0n };
    const [action, sa, sums] = [actionFor(context, settings), associate(settings), new Sums()];
    const handle = { type: v.IBV_FLOW_SPEC_ACTION_HANDLE, action };
    const counters = [0, 1, 3, 4, 6].map(() => flows.counters());
    const [trapped, delivered, , four, six] = counters as [object, object, object, object, object];
    flows.flow("trap", [toGroup(0), handle, count(trapped)], DONT_TRAP);
    flows.flow("one", [toGroup(1), handle, count(delivered)]);
    const devx = dv.mlx5dv_open_device(device, { flags: dv.MLX5DV_CONTEXT_FLAGS_DEVX });
    const match = deviceMatch({ "outer.ip_version": 4 });
    const next = new TableBench(devx, dv.FS_FT_NIC_RX, { level: 1 }, match.group);
    next.entry({ match_value: match.value, action: dv.MLX5_FLOW_CONTEXT_ACTION_DROP });
    const led = bench.counter();
    const into = { type: dv.MLX5DV_FLOW_ACTION_DEST_DEVX, obj: next.table };
    bench.flow(inGroup(2), [changed(action), counted(led), into]);
    bench.flow(inGroup(2), [changed(action), bench.to("two")]);
    flows.flow("four", [{ type: v.IBV_FLOW_SPEC_IPV4 }, count(four)], { priority: 1 });
    flows.flow("six", [{ type: v.IBV_FLOW_SPEC_IPV6 }, count(six)], { priority: 2 });

    const frames: Frame[] = [];
    const expected: string[] = [];
    while (frames.length < 24) {
      const { highest } = sa.numbers;
      const group = random.pick(GROUPS);
      const partner = { ...sa, next: BigInt.asUintN(sa.esn === null ? 32 : 64, highest + BigInt(random.below(3))) };
      partner.iv = random.bits(64);
      const sealed = sealedFrame(random, partner, whole(randomClear(random)));
      const frame = sealed && grouped(random.chance(0.8) ? whole(sealed) : disturbed(random, whole(sealed)), group);
      if (!frame || (group === 3 && outerOf(frame, false) === null)) continue;
      const becomes = received(sa, frame, group, sums);
      if (becomes === null) throw new Error(`the reference knows no version of ${hexOf(frame.bytes)}`);
      frames.push(frame);
      expected.push(becomes);
    }
    const options = frames.map(({ linkType, wireLength }) => ({ linkType, wireLength }));
    const outcomes = device.receiveBatch(
      1,
      frames.map(({ bytes }) => bytes),
      options,
    );
    for (const [i, outcome] of outcomes.entries()) expect(textOf(outcome), hexOf(frames[i]!.bytes)).toBe(expected[i]);
    expect(valuesOf(trapped as never)).toEqual(sums.of("flow 0"));
    expect(valuesOf(delivered as never)).toEqual(sums.of("flow 1"));
    expect([led.read().packets, led.read().bytes]).toEqual(sums.of("flow 2"));
    expect(valuesOf(four as never)).toEqual(sums.of("version 4"));
    expect(valuesOf(six as never)).toEqual(sums.of("version 6"));
    expect(action.state).toMatchObject({ packets: sa.packets, number: sa.numbers.highest });
    for (const name of ["lost", "good 0", "good 1", "good 2", "version 4", "version 6", "table 4", "table 6"])
      if (sums.of(name)[0] > 0n) tally.add(name, 0);
  }
  tally.expectAll("lost", "good 0", "good 1", "good 2", "version 4", "version 6", "table 4", "table 6");
});

test("ENCRYPT: an EGRESS flow and a flow of a NIC_TX matcher count and seal with one row of numbers", async () => {
  const random = new Random(seedFor("esp flows out"));
  const tally = new Sums();
  for (let round = 0; round < ROUNDS; round++) {
    const bench = await DeviceFlowBench.open();
    const { flows, context, device } = bench;
    const settings = randomFull(random, true);
    const [action, sa, sums] = [actionFor(context, settings), associate(settings), new Sums()];
    const [ours, led] = [flows.counters(), bench.counter()];
    const handle = { type: v.IBV_FLOW_SPEC_ACTION_HANDLE, action };
    flows.flow("out", [toGroup(0), handle, count(ours)], EGRESS);
    bench.flow(inGroup(1), [changed(action), counted(led)], inTable(NIC_TX));
    for (let i = 0; i < 24; i++) {
      const group = random.pick([0, 1, 3] as const);
      const frame = grouped(whole(randomClear(random)), group);
      if (!frame) continue;
      sums.add(`flow ${group}`, frame.wireLength);
      const made = group === 3 ? frame : sealFully(sa, frame);
      tally.add(typeof made === "string" ? "lost" : `good ${group}`, 0);
      const text = typeof made === "string" ? `drop ${made}` : `port:1 ${hexOf(made.bytes)} transmit`;
      expect(textOf(device.send(flows.qp("out"), frame.bytes)), hexOf(frame.bytes)).toBe(text);
    }
    expect(valuesOf(ours)).toEqual(sums.of("flow 0"));
    expect([led.read().packets, led.read().bytes]).toEqual(sums.of("flow 1"));
    expect(action.state.packets).toBe(sa.packets);
  }
  tally.expectAll("lost", "good 0", "good 1", "good 3");
});

/** Bytes of a receive buffer. */
const ROOM = 16_384;

test("inline DECRYPT: completions have the reference's syndrome as vendor error, and its bytes", async () => {
  const random = new Random(seedFor("esp completions"));
  const tally = new Sums();
  for (let round = 0; round < ROUNDS; round++) {
    const { flows, context, device } = await DeviceFlowBench.open();
    const sa = associate(randomInline(random, false));
    const cq = v.ibv_create_cq_ex(context, { cqe: 4, wc_flags: v.IBV_WC_EX_WITH_BYTE_LEN });
    const pd = v.ibv_alloc_pd(context);
    const cap = { max_recv_wr: 1, max_recv_sge: 1 };
    const qp = v.ibv_create_qp(pd, { send_cq: cq, recv_cq: cq, cap, qp_type: v.IBV_QPT_RAW_PACKET });
    climb(qp, 1, 2);
    const mr = v.ibv_reg_mr(pd, new Uint8Array(ROOM), undefined, v.IBV_ACCESS_LOCAL_WRITE);
    const handle = { type: v.IBV_FLOW_SPEC_ACTION_HANDLE, action: actionFor(context, sa) };
    const counters = flows.counters();
    for (const type of [v.IBV_FLOW_SPEC_IPV4, v.IBV_FLOW_SPEC_IPV6]) {
      v.ibv_create_flow(qp, attr([{ type }, { type: v.IBV_FLOW_SPEC_ESP }, handle, count(counters)]));
    }
    let bytes = 0;
    for (let n = 1n; n <= 8n;) {
      // Frames without trailer and ICV are those of full offload in transport mode, sealed once more inline.
      const partner = { ...sa, transport: true, encap: [], next: BigInt(random.word()), iv: random.bits(64) };
      const carried = sealedFrame(random, partner, whole(randomClear(random)));
      const sealed = carried && sealInline({ ...sa, metadata: false }, whole(carried));
      if (!sealed || typeof sealed === "string") continue;
      const own = random.chance(0.2) ? whole(carried) : disturbed(random, whole(sealed));
      const frame = grouped(own, 0);
      if (!frame || frame.bytes.length > ROOM - 64 || !espPlace(frame, false)) continue;
      const { frame: made, syndrome } = openInline(sa, frame);
      v.ibv_post_recv(qp, { wr_id: n, sg_list: [{ addr: mr.bytes, lkey: mr.lkey }] });
      const { linkType, wireLength } = frame;
      device.receive(1, frame.bytes, { linkType, wireLength });
      expect(v.ibv_start_poll(cq), hexOf(frame.bytes)).toBe(0);
      const told = [cq.wr_id, cq.status, v.ibv_wc_read_vendor_err(cq), v.ibv_wc_read_byte_len(cq)];
      v.ibv_end_poll(cq);
      expect(told, hexOf(frame.bytes)).toEqual([n, v.IBV_WC_SUCCESS, syndrome, made.bytes.length]);
      expect(hexOf(mr.bytes.subarray(0, made.bytes.length))).toBe(hexOf(made.bytes));
      tally.add(`syndrome ${syndrome}`, 0);
      bytes += wireLength;
      n++;
    }
    expect(valuesOf(counters)).toEqual([8n, BigInt(bytes)]);
  }
  tally.expectAll("syndrome 0", "syndrome 1");
});
