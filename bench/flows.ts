/** Verbs flows: created and destroyed one by one, and frames against flows with several masks. */
import { MAX_BATCH } from "../src/abi/engine.js";
import { PRESENT_ETH, PRESENT_L3, PRESENT_PROTOCOL, PRESENT_TCP } from "../src/abi/key.js";
import { createDevice, createSink, type Device } from "../src/index.js";
import {
  IBV_FLOW_ATTR_NORMAL,
  IBV_FLOW_SPEC_ACTION_TAG,
  IBV_FLOW_SPEC_ETH,
  IBV_FLOW_SPEC_IPV4,
  IBV_FLOW_SPEC_IPV4_EXT,
  IBV_FLOW_SPEC_TCP,
  flowAttrBytes,
  ibv_create_flow,
  ibv_destroy_flow,
  ibv_open_device,
  type FlowAttr,
  type FlowSpec,
} from "../src/verbs/index.js";
import type { QueuePair } from "../src/model/queuePair/queuePair.js";
import { tcpFrame } from "./makeFrames.js";
import { expectEqual, timed, type Suite, type Workload } from "./harness.js";
import { PlainClassifier, type MaskWord } from "./peers/classifier.js";
import { PlainNic } from "./peers/nic.js";
import * as at from "./peers/record.js";
import { steerBatches } from "./steerBatches.js";
import { trace, tupleAt, type Tuple } from "./tuples.js";

const MADE = 2000;
const FRAMES = 4096;
/** Of tcpFrame. */
const DMAC = "02:00:00:00:00:01";
const NETWORK = 0xffffff00;

/** Flows of one mask: the specs of a tuple, and the same as words of the plain parser. */
interface Kind {
  specs: (tuple: Tuple) => FlowSpec[];
  mask: readonly MaskWord[];
  values: (tuple: Tuple) => number[];
}

const PORT: MaskWord = { word: at.PORT, bits: 0xffff };
const VERSION: MaskWord = { word: at.STATE, bits: 0x1e };
const PROTOCOL: MaskWord = { word: at.PROTOCOL, bits: 0xff };
const here = (bits: number): MaskWord => ({ word: at.HERE, bits });
const source = (bits: number): MaskWord => ({ word: at.SRC + 3, bits });
const destination = (bits: number): MaskWord => ({ word: at.DST + 3, bits });

const KINDS: readonly Kind[] = [
  {
    specs: ({ src, dst, ports }) => [
      { type: IBV_FLOW_SPEC_IPV4, val: { src_ip: src, dst_ip: dst }, mask: { src_ip: 0xffffffff, dst_ip: 0xffffffff } },
      {
        type: IBV_FLOW_SPEC_TCP,
        val: { src_port: ports >>> 16, dst_port: ports & 0xffff },
        mask: { src_port: 0xffff, dst_port: 0xffff },
      },
    ],
    mask: [PORT, VERSION, PROTOCOL, source(-1), destination(-1), { word: at.TCP_PORTS, bits: -1 }, here(PRESENT_TCP)],
    values: ({ src, dst, ports }) => [1, 8, 6, src | 0, dst | 0, ports | 0, PRESENT_TCP],
  },
  {
    specs: ({ src }) => [
      { type: IBV_FLOW_SPEC_ETH, val: { dst_mac: DMAC }, mask: { dst_mac: "ff:ff:ff:ff:ff:ff" } },
      { type: IBV_FLOW_SPEC_IPV4, val: { src_ip: src }, mask: { src_ip: 0xffffffff } },
    ],
    mask: [
      PORT,
      VERSION,
      { word: at.DMAC_HIGH, bits: -1 },
      { word: at.DMAC_LOW, bits: -1 },
      source(-1),
      here(PRESENT_ETH | PRESENT_L3),
    ],
    values: ({ src }) => [1, 8, 0x0200, 1, src | 0, PRESENT_ETH | PRESENT_L3],
  },
  {
    specs: ({ dst, ports }) => [
      { type: IBV_FLOW_SPEC_IPV4, val: { dst_ip: (dst & NETWORK) >>> 0 }, mask: { dst_ip: NETWORK } },
      { type: IBV_FLOW_SPEC_TCP, val: { dst_port: ports & 0xffff }, mask: { dst_port: 0xffff } },
    ],
    mask: [PORT, VERSION, PROTOCOL, destination(NETWORK | 0), { word: at.TCP_PORTS, bits: 0xffff }, here(PRESENT_TCP)],
    values: ({ dst, ports }) => [1, 8, 6, dst & NETWORK, ports & 0xffff, PRESENT_TCP],
  },
  {
    specs: ({ src }) => [
      {
        type: IBV_FLOW_SPEC_IPV4_EXT,
        val: { src_ip: (src & NETWORK) >>> 0, proto: 6 },
        mask: { src_ip: NETWORK, proto: 0xff },
      },
    ],
    mask: [PORT, VERSION, PROTOCOL, source(NETWORK | 0), here(PRESENT_L3 | PRESENT_PROTOCOL)],
    values: ({ src }) => [1, 8, 6, src & NETWORK, PRESENT_L3 | PRESENT_PROTOCOL],
  },
];

function kindOf(i: number): Kind {
  return KINDS[i % KINDS.length]!;
}

/**
 * Flow i; its priority is such that of two matching flows the one with the lower number wins, here
 * and in the peer.
 */
function flowAt(i: number): FlowAttr {
  const specs = [...kindOf(i).specs(tupleAt(i)), { type: IBV_FLOW_SPEC_ACTION_TAG, tag_id: i }];
  return { type: IBV_FLOW_ATTR_NORMAL, priority: i, num_of_specs: specs.length, port: 1, specs };
}

export const flows: Suite = {
  name: "flows",
  title: "Verbs flows: four masks, one after the other",
  async *workloads(quick) {
    yield await making(quick ? 500 : MADE);
    for (const count of [10, 1000]) yield await steering(count);
  },
};

async function open(): Promise<{ device: Device; qp: QueuePair }> {
  const device = await createDevice();
  return { device, qp: createSink(ibv_open_device(device), "web") };
}

async function making(count: number): Promise<Workload> {
  const attrs = Array.from({ length: count }, (_, i) => flowAt(i));
  const bytes = attrs.map((attr) => flowAttrBytes(attr, () => 0n));
  const sides = [await open(), await open()];
  const makeAll = (qp: QueuePair, list: readonly (FlowAttr | Uint8Array)[]): void => {
    const made = list.map((attr) => ibv_create_flow(qp, attr));
    for (const flow of made) ibv_destroy_flow(flow);
  };
  return {
    name: `create and destroy ${count.toLocaleString("en")}`,
    unit: "flow",
    units: count,
    check() {
      for (const { device, qp } of sides) {
        const made = attrs.map((attr) => ibv_create_flow(qp, attr));
        for (let i = 0; i < count; i += 97)
          expectEqual(`flow ${i}`, device.receive(1, tcpFrame(tupleAt(i))).verdict, "deliver");
        for (const flow of made) ibv_destroy_flow(flow);
        expectEqual("no flow", device.receive(1, tcpFrame(tupleAt(0))).verdict, "miss");
      }
    },
    cases: [
      { name: "engine, ibv_create_flow of objects", seconds: timed(() => makeAll(sides[0]!.qp, attrs)) },
      { name: "engine, ibv_create_flow of C bytes", seconds: timed(() => makeAll(sides[1]!.qp, bytes)) },
      {
        name: "plain JavaScript, words at hand",
        peer: true,
        seconds: timed(() => {
          const classifier = new PlainClassifier<number>();
          const made = attrs.map((_, i) => {
            const group = classifier.group(kindOf(i).mask);
            return { group, rule: group.insert(kindOf(i).values(tupleAt(i)), i, i) };
          });
          for (const { group, rule } of made) group.remove(rule);
        }),
      },
    ],
  };
}

async function steering(count: number): Promise<Workload> {
  const { device, qp } = await open();
  const plain = new PlainNic(MAX_BATCH);
  for (let i = 0; i < count; i++) {
    ibv_create_flow(qp, flowAt(i));
    const rule = { id: i, counter: { packets: 0, bytes: 0 }, tag: i, queue: "qp:web" };
    plain.classifier.group(kindOf(i).mask).insert(kindOf(i).values(tupleAt(i)), i, rule);
  }
  const frames = trace(count, FRAMES).map(tcpFrame);
  const name = `frames against ${count.toLocaleString("en")} flows`;
  return steerBatches(name, device, device.function(0).pipeline.received, plain, frames);
}
