/** Queues of cables mark frames of transports that know ECN, and no others (RFC 3168). */
import { expect, test } from "vitest";
import { createFabric, restoreFabric } from "../../src/fabric/index.js";
import { createSink, prometheusText } from "../../src/index.js";
import { buildFrame, type Layer } from "../../src/packet/index.js";
import { onesComplementSum } from "../../src/packet/checksum.js";
import * as v from "../../src/verbs/index.js";

type Layers = readonly Layer[];

/** Sends frames back to back to a queue that marks from the second on. @returns what arrives */
async function cross(
  ...frames: readonly Uint8Array[]
): Promise<{ arrived: Uint8Array[]; marked: number; text: string }> {
  const fabric = await createFabric({ links: [{ from: "a", to: "b", rate: 1e9, ecn: 1 }] });
  const [a, b] = [fabric.device("a"), fabric.device("b")];
  const queue = createSink(v.ibv_open_device(a), "app");
  const arrived: Uint8Array[] = [];
  b.on("frame", ({ frame }) => arrived.push(frame.slice()));
  a.send(queue, new Uint8Array(60));
  for (const frame of frames) a.send(queue, frame);
  fabric.run();
  return { arrived: arrived.slice(1), marked: a.cableCounters(1)!.marked, text: prometheusText(a.metrics()) };
}

const ethernet: Layer = { header: "ethernet" };
const vlan: Layer = { header: "vlan", vid: 5 };
const ipv4 = (ecn: number, dscp = 10, source = "10.0.0.1"): Layer => ({
  header: "ipv4",
  dscp,
  ecn,
  source,
  identification: 0xfff0,
});
const ipv6 = (ecn: number): Layer => ({ header: "ipv6", dscp: 46, ecn, flow_label: 0xfffff });
const udp: Layer = { header: "udp" };

test.each<[string, (ecn: number) => Layers]>([
  ["IPv4", (ecn) => [ethernet, ipv4(ecn), udp]],
  ["IPv6", (ecn) => [ethernet, ipv6(ecn), udp]],
  ["IPv4 after two tags", (ecn) => [ethernet, vlan, vlan, ipv4(ecn), udp]],
])("%s: ECT(0) and ECT(1) become CE, the rest stays", async (_, layers) => {
  const frames = [0, 1, 2, 3].map((ecn) => buildFrame([...layers(ecn)]));
  const { arrived, marked } = await cross(...frames);
  expect(marked).toBe(2);
  const ce = buildFrame([...layers(3)]);
  // Checksums of built frames are right, and so equal those that the queue has fixed.
  expect(arrived).toEqual([frames[0], ce, ce, frames[3]]);
});

test("a checksum is fixed for every value of the other words, and a wrong one stays wrong", async () => {
  for (let salt = 0; salt < 64; salt++) {
    const source = `10.${salt * 3}.255.${255 - salt}`;
    const of = (ecn: number): Uint8Array => buildFrame([ethernet, ipv4(ecn, salt, source), udp]);
    const wrong = of(1);
    wrong[24]! ^= 0x5a;
    const [right, still] = (await cross(of(1), wrong)).arrived;
    expect(right).toEqual(of(3));
    expect(onesComplementSum(still!.subarray(14, 34))).toBe(onesComplementSum(wrong.subarray(14, 34)));
    expect(onesComplementSum(right!.subarray(14, 34))).toBe(0xffff);
  }
});

test("other frames are as they were, however short", async () => {
  const arp = buildFrame([ethernet, { header: "arp" }]);
  const tunnelled = buildFrame([ethernet, ipv4(0), { header: "udp" }, { header: "vxlan" }, ethernet, ipv4(2), udp]);
  const cut = buildFrame([ethernet, ipv4(2), udp]).subarray(0, 33);
  const frames = [arp, tunnelled, cut, cut.subarray(0, 15), cut.subarray(0, 14)];
  const { arrived, marked, text } = await cross(...frames);
  expect(arrived.map((one) => [...one])).toEqual(frames.map((one) => [...one]));
  expect(marked).toBe(0);
  expect(text).toContain('flowsteer_cable_marked_frames_total{device="a",port="1"} 0\n');
});

test("the frame of the sender is not written to", async () => {
  const frame = buildFrame([ethernet, ipv4(1), udp]);
  const before = frame.slice();
  expect((await cross(frame)).marked).toBe(1);
  expect(frame).toEqual(before);
});

test("a restored fabric marks as before", async () => {
  const fabric = await createFabric({ links: [{ from: "a", to: "b", rate: 1e9, ecn: 1 }] });
  const queue = createSink(v.ibv_open_device(fabric.device("a")), "app");
  const { fabric: copy, kept } = await restoreFabric<{ queue: typeof queue }>(fabric.snapshot({ keep: { queue } }));
  for (let n = 0; n < 3; n++) copy.device("a").send(kept.queue, buildFrame([ethernet, ipv4(2), udp]));
  expect(copy.cables()[0]?.forth.marked).toBe(2);
});
