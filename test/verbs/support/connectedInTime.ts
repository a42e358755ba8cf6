/** A connection over a network that takes time, loses, doubles and reorders frames: what is drawn, and what the engine does. */
import { expect } from "vitest";
import * as v from "../../../src/verbs/index.js";
import type { Random } from "../../oracle/generate/random.js";
import type { ConnectionRun, Fate, Happening } from "../../oracle/roce/connection.js";
import { join, openEnd, openPair, pattern, type End } from "./connected.js";

const STATUSES = new Map([
  [v.IBV_WC_SUCCESS, "success"],
  [v.IBV_WC_RETRY_EXC_ERR, "retry"],
  [v.IBV_WC_RNR_RETRY_EXC_ERR, "rnr"],
  [v.IBV_WC_WR_FLUSH_ERR, "flush"],
]);
/** min_rnr_timer 12: 0.64 ms. */
const RNR = { min_rnr_timer: 12, time: 640_000n };
const SLOT = 1 << 14;
const MTU = 256;

/** A network: each frame of a direction has its fate. */
class Network {
  readonly #frames: { at: bigint; order: number; run: () => void }[] = [];
  #order = 0;

  add(at: bigint, run: () => void): void {
    this.#frames.push({ at, order: this.#order++, run });
  }

  get next(): bigint | null {
    this.#frames.sort((a, b) => (a.at === b.at ? a.order - b.order : a.at < b.at ? -1 : 1));
    return this.#frames[0]?.at ?? null;
  }

  run(time: bigint): void {
    while (this.next === time) this.#frames.shift()?.run();
  }
}

function earliest(times: readonly (bigint | null)[]): bigint | null {
  return times.reduce((best, time) => (time !== null && (best === null || time < best) ? time : best), null);
}

export async function engine(run: ConnectionRun, fate: Fate): Promise<Happening[]> {
  const devices = await openPair();
  const type = run.reliable ? v.IBV_QPT_RC : v.IBV_QPT_UC;
  const [sender, peer] = devices.map((device) => openEnd(device, { type })) as [End, End];
  const { timeout, retryCount: retry_cnt, rnrRetry: rnr_retry } = run;
  join(sender, peer, { path_mtu: v.IBV_MTU_256, timeout, retry_cnt, rnr_retry, min_rnr_timer: RNR.min_rnr_timer });
  const network = new Network();
  devices.forEach((device, n) => {
    let frames = 0;
    const to = devices[1 - n]!;
    device.connect(
      1,
      (frame) => {
        for (const time of fate(n === 0, frames++)) {
          const copy = frame.slice();
          network.add(device.now() + time, () => to.receive(1, copy));
        }
      },
      { delays: true },
    );
  });
  for (const [message, { at, length }] of run.messages.entries()) {
    network.add(at, () => {
      sender.memory.set(pattern(length, message), 0);
      const sg_list = [{ addr: sender.memory.subarray(0, length), lkey: sender.mr.lkey }];
      const request = {
        wr_id: BigInt(message),
        opcode: v.IBV_WR_SEND,
        send_flags: v.IBV_SEND_SIGNALED,
        sg_list,
        num_sge: 1,
      };
      v.ibv_post_send(sender.qp, request);
    });
  }
  const slot = (index: number): Uint8Array => peer.memory.subarray(index * SLOT, (index + 1) * SLOT);
  for (const [index, at] of run.receives.entries()) {
    network.add(at, () =>
      v.ibv_post_recv(peer.qp, {
        wr_id: BigInt(index),
        sg_list: [{ addr: slot(index), lkey: peer.mr.lkey }],
        num_sge: 1,
      }),
    );
  }
  const happened: Happening[] = [];
  const starts = run.messages.map(({ length }, message) => pattern(length, message).join());
  for (;;) {
    const now = earliest([network.next, ...devices.map((device) => device.nextDeadline())]);
    if (now === null) return happened;
    for (const device of devices) device.advanceTo(now);
    network.run(now);
    for (const { wr_id, status } of v.ibv_poll_cq(sender.sent, 64)) {
      happened.push([now, "sent", Number(wr_id), STATUSES.get(status) ?? String(status)]);
    }
    for (const { wr_id, status, byte_len } of v.ibv_poll_cq(peer.received, 64)) {
      expect(status).toBe(v.IBV_WC_SUCCESS);
      const bytes = slot(Number(wr_id)).subarray(0, byte_len).join();
      expect(starts).toContain(bytes);
      happened.push([now, "received", Number(wr_id), String(byte_len)]);
    }
  }
}

export function draw(random: Random): { run: ConnectionRun; fate: Fate; text: string } {
  const reliable = random.chance(0.8);
  // Posted in one go, several messages are in flight.
  const span = random.pick([1, 60_000, 2_000_000]);
  const messages = Array.from({ length: random.between(1, 8) }, () => ({
    at: BigInt(random.between(1, span)),
    length: random.pick([0, 1, 255, 256, 257, random.between(1, 3_000)]),
  })).sort((a, b) => Number(a.at - b.at));
  const late = random.chance(0.4) ? 4_000_000 : 1;
  const receives = messages.map(() => BigInt(random.between(0, late))).sort((a, b) => Number(a - b));
  const [loss, double, slow] = [random.pick([0, 0.05, 0.3, 1]), random.pick([0, 0.2]), random.pick([0, 0.3])];
  const limits = {
    timeout: random.pick([6, 8, 10]),
    retryCount: random.between(0, 7),
    rnrRetry: random.pick([0, 1, 3, 7]),
  };
  const run: ConnectionRun = { reliable, mtu: MTU, ...limits, rnrTime: RNR.time, messages, receives };
  const fates = new Map<string, bigint[]>();
  const fate: Fate = (fromSender, n) => {
    const key = `${fromSender} ${n}`;
    const known = fates.get(key);
    if (known !== undefined) return known;
    const one = (): bigint =>
      BigInt(random.between(1_000, 9_999) * 7 + (random.chance(slow) ? random.between(1, 400_000) : 0));
    const all = random.chance(loss) ? [] : random.chance(double) ? [one(), one()] : [one()];
    fates.set(key, all);
    return all;
  };
  const text = JSON.stringify({ ...run, loss, double, slow }, (_, value: unknown) =>
    typeof value === "bigint" ? Number(value) : value,
  );
  return { run, fate, text };
}
