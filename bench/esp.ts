/**
 * ESP with AES-GCM (RFC 4106) on packets in memory: AES-128, 8 bytes of AAD, an ICV of 16 bytes.
 */
import { loadCore } from "./core.js";
import { receivedFrames, wholeAction } from "./esp/action.js";
import { createCipher, keyOf, PACKETS, Packets } from "./esp/packets.js";
import { cpuSeconds, repeated, timed, type Suite, type Target, type TimedCase, type Workload } from "./harness.js";
import type { GcmPeer } from "./peers/gcm.js";
import { loadNoble } from "./peers/noble.js";
import { NodeGcm } from "./peers/nodeGcm.js";
import { numbers } from "./random.js";

const BATCH = 32;
const ASSOCIATIONS = 1000;
const NODE = "node:crypto";
const NOBLE = "@noble/ciphers";
const ONE = "engine, one association";

/**
 * Bytes of data, and the goals against node:crypto: one encryption per call, one decryption per
 * call, encryption of a batch.
 */
const SIZES: readonly [length: number, seal?: Target, open?: Target, batch?: Target][] = [
  [64, { goal: 6, floor: 4.3 }, { goal: 6, floor: 3.9 }, { goal: 12, floor: 7 }],
  [256, { goal: 2.5, floor: 1.65 }, { goal: 2, floor: 1.3 }, { goal: 5, floor: 3.1 }],
  [576, { goal: 1.75, floor: 1.1 }, { goal: 1.5, floor: 1.05 }, { goal: 2.5, floor: 1.65 }],
  [1024],
  [1400, { goal: 1, floor: 0.7 }, { goal: 1, floor: 0.64 }, { goal: 1.3, floor: 0.85 }],
  [9000],
];
/** Bytes of frames that a program receives, and the goal against node:crypto by hand. */
const RECEIVED = [
  [64, 5],
  [576, 2.2],
  [1400, 1.5],
  [9000, 0.7],
] as const;
/** Against JavaScript, up to 1,400 bytes. */
const PLAIN: Target = { goal: 12 };

export const esp: Suite = {
  name: "esp",
  title: "ESP: AES-128-GCM of packets in memory, sealed and opened in place",
  async *workloads(quick) {
    const noble = await loadNoble(!quick);
    if ("skipped" in noble) console.log(`  ${NOBLE}: skipped, ${noble.skipped}`);
    const peers: GcmPeer[] = [new NodeGcm(keyOf(0))];
    if ("make" in noble) peers.push(noble.make(keyOf(0)));
    for (const [length, seal, open, batch] of quick ? SIZES.slice(0, 2) : SIZES) {
      const core = await loadCore();
      const packets = new Packets(core, createCipher(core, keyOf(0)), length);
      yield sealing(packets, peers, length, seal, batch);
      yield opening(packets, peers, length, open);
    }
    for (const length of quick ? [64] : [64, 1400]) yield await manyAssociations(length, quick ? 10 : ASSOCIATIONS);
    for (const length of quick ? [576] : [576, 1400]) yield* await wholeAction(length);
    for (const [length, goal] of quick ? RECEIVED.slice(0, 1) : RECEIVED) yield await receivedFrames(length, goal);
    yield await makingAssociations();
  },
  async facts() {
    const core = await loadCore();
    const empty = core.exports.arenaUsed() >>> 0;
    createCipher(core, keyOf(0));
    return { "core memory an association, bytes": (core.exports.arenaUsed() >>> 0) - empty };
  },
};

function sealing(packets: Packets, peers: GcmPeer[], length: number, one?: Target, many?: Target): Workload {
  const engine = (name: string, batch: number, target?: Target): TimedCase => ({
    name,
    seconds: timed(() => packets.seal(batch)),
    ...targets(length, target),
  });
  return {
    name: `seal ${length.toLocaleString("en")} bytes`,
    unit: "packet",
    units: PACKETS,
    check: () => peers.forEach((peer) => packets.check(peer)),
    cases: [
      engine("engine, one a call", 1, one),
      engine(`engine, batch of ${BATCH}`, BATCH, many),
      ...peers.map((peer) => ({ name: peer.name, peer: true, seconds: timed(() => packets.sealByPeer(peer)) })),
    ],
  };
}

function opening(packets: Packets, peers: GcmPeer[], length: number, one?: Target): Workload {
  const engine = (name: string, batch: number, target?: Target): TimedCase => ({
    name,
    seconds: repeated((times) => packets.openSeconds(batch, times)),
    ...targets(length, target),
  });
  return {
    name: `open ${length.toLocaleString("en")} bytes`,
    unit: "packet",
    units: PACKETS,
    check: () => peers.forEach((peer) => packets.check(peer)),
    cases: [
      engine("engine, one a call", 1, one),
      engine(`engine, batch of ${BATCH}`, BATCH),
      ...peers.map((peer) => ({ name: peer.name, peer: true, seconds: timed(packets.opener(peer)) })),
    ],
  };
}

function targets(length: number, node: Target | undefined): { targets?: Record<string, Target> } {
  if (node === undefined) return length <= 1400 ? { targets: { [NOBLE]: PLAIN } } : {};
  return { targets: { [NODE]: node, [NOBLE]: PLAIN } };
}

/** Keys and tables that miss the CPU cache: each packet has another association. */
async function manyAssociations(length: number, count: number): Promise<Workload> {
  const core = await loadCore();
  const ciphers = Uint32Array.from({ length: count }, (_, n) => createCipher(core, keyOf(n)));
  const packets = new Packets(core, ciphers[0]!, length);
  const next = numbers(7);
  const order = Uint32Array.from({ length: 16 * PACKETS }, () => ciphers[next() % count]!);
  const alone = new Uint32Array(1).fill(ciphers[0]!);
  const nodes = Array.from({ length: count }, (_, n) => new NodeGcm(keyOf(n)));
  let from = 0;
  let turn = 0;
  return {
    name: `seal ${length.toLocaleString("en")} bytes of ${count.toLocaleString("en")} associations in random order`,
    unit: "packet",
    units: PACKETS,
    check: () => packets.check(nodes[0]!),
    cases: [
      {
        name: "engine, one a call",
        seconds: timed(() => packets.sealBy(order, (from += PACKETS))),
        targets: { [ONE]: { goal: 0.5 } },
      },
      { name: ONE, peer: true, seconds: timed(() => packets.sealBy(alone, 0)) },
      { name: NODE, peer: true, seconds: timed(() => packets.sealByPeer(nodes[turn++ % count]!)) },
    ],
  };
}

/** Cost of a new key, compared with the time of packets of node:crypto. */
async function makingAssociations(): Promise<Workload> {
  const PEER = `${NODE}, 8 packets of 64 bytes`;
  const core = await loadCore();
  const key = keyOf(1);
  const packets = new Packets(core, createCipher(core, keyOf(0)), 64);
  const node = new NodeGcm(keyOf(0));
  return {
    name: "make an association, and give it back",
    unit: "association",
    units: 1,
    check: () => packets.check(node),
    cases: [
      {
        name: "engine",
        seconds: timed(() => core.exports.releaseCipher(createCipher(core, key))),
        targets: { [PEER]: { goal: 1 } },
      },
      {
        name: PEER,
        peer: true,
        seconds: repeated((times) => {
          const start = cpuSeconds();
          for (let i = 0; i < times; i++) packets.sealByPeer(node);
          return ((cpuSeconds() - start) * 8) / PACKETS;
        }),
      },
    ],
  };
}
