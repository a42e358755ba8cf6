/**
 * The workloads: those of the benchmark suites in bench/, which Node runs too. Each compares
 * flowsteer with plain JavaScript for the same job, after both gave the same answers.
 */
import { gcm } from "@noble/ciphers/aes.js";
import { oneMatcher } from "../../../bench/classify/oneMatcher.js";
import { createCipher, keyOf, PACKETS, Packets } from "../../../bench/esp/packets.js";
import { parse } from "../../../bench/parse.js";
import type { GcmPeer } from "../../../bench/peers/gcm.js";
import { steer } from "../../../bench/steer.js";
import { repeated, timed, type Workload } from "../../../bench/workload.js";
import { loadCore } from "../../../bench/core.js";

/** A workload, and the suite that it belongs to. */
export interface Measured {
  readonly suite: string;
  readonly workload: Workload;
}

/** Rules of the three sizes of the suite "classify". */
const SIZES = [1, 1000, 100_000];
/** Bytes of data of ESP packets. */
const LENGTHS = [64, 1400];
const BATCH = 32;
const ICV = 16;

/** How many workloads there are. */
export function workloadCount(quick: boolean): number {
  return quick ? 4 : 8 + SIZES.length + 2 + 2 * LENGTHS.length;
}

/** One after another, so that only one workload's data is in memory. */
export async function* workloads(quick: boolean): AsyncIterable<Measured> {
  let first = true;
  for await (const workload of parse.workloads(quick, { sets: [], sizes: [] })) {
    if (!quick || first) yield { suite: "Parse", workload };
    first = false;
  }
  for (const rules of quick ? SIZES.slice(0, 1) : SIZES) yield { suite: "Classify", workload: await oneMatcher(rules) };
  for await (const workload of steer.workloads(quick, { sets: [], sizes: [] })) {
    yield { suite: "Frames", workload };
    if (quick) break;
  }
  for (const length of quick ? LENGTHS.slice(0, 1) : LENGTHS) yield* espWorkloads(length, quick);
}

async function* espWorkloads(length: number, quick: boolean): AsyncIterable<Measured> {
  const core = await loadCore();
  const packets = new Packets(core, createCipher(core, keyOf(0)), length);
  const peer = noblePeer(keyOf(0));
  const common = { unit: "packet", units: PACKETS, check: () => packets.check(peer) };
  yield {
    suite: "ESP",
    workload: {
      ...common,
      name: `seal ${length.toLocaleString("en")} bytes`,
      cases: [
        { name: `engine, batch of ${BATCH}`, seconds: timed(() => packets.seal(BATCH)) },
        { name: "engine, one a call", seconds: timed(() => packets.seal(1)) },
        { name: peer.name, peer: true, seconds: timed(() => packets.sealByPeer(peer)) },
      ],
    },
  };
  if (quick) return;
  yield {
    suite: "ESP",
    workload: {
      ...common,
      name: `open ${length.toLocaleString("en")} bytes`,
      cases: [
        { name: `engine, batch of ${BATCH}`, seconds: repeated((times) => packets.openSeconds(BATCH, times)) },
        { name: "engine, one a call", seconds: repeated((times) => packets.openSeconds(1, times)) },
        { name: peer.name, peer: true, seconds: timed(packets.opener(peer)) },
      ],
    },
  };
}

/** AES-GCM in JavaScript only. */
function noblePeer(key: Uint8Array): GcmPeer {
  return {
    name: "@noble/ciphers",
    seal(nonce, aad, data) {
      const sealed = gcm(key, nonce, aad).encrypt(data);
      return { data: sealed.subarray(0, data.length), icv: sealed.subarray(data.length) };
    },
    open(nonce, aad, { data }) {
      return gcm(key, nonce, aad).decrypt(new Uint8Array(data.buffer, data.byteOffset, data.length + ICV));
    },
  };
}
