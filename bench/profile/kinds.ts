/**
 * The everyday kinds of frames that the profile measures: a device, its frames, and their expected
 * outcome.
 */
import { GROUP_EXT, GROUP_OUTER } from "../../src/abi/key.js";
import { createDevice, createSink, type Device, type DeviceOptions } from "../../src/index.js";
import { loadScenario } from "../../src/scenario/index.js";
import { buildFrame } from "../../src/packet/index.js";
import * as v from "../../src/verbs/index.js";
import { readRules, readTrace } from "../classify/ruleSets.js";
import { keyOf } from "../esp/packets.js";
import { AclDevice } from "../frames/acl.js";
import { framesOf, separate } from "../frames/stream.js";
import { tcpFrame, vxlanFrame } from "../makeFrames.js";
import { tupleAt, TUNNEL_WANTS, TUPLE_WANTS, type Tuple } from "../tuples.js";

export interface Kind {
  name: string;
  /** Description for readers of the page. */
  about: string;
  open: (options: DeviceOptions, quick: boolean) => Promise<Opened>;
}

export interface Opened {
  device: Device;
  frames: readonly Uint8Array[];
  /** The tag of each frame, or null; each is delivered. */
  tags: (number | null)[];
  /** What its rules make the parser fill, and the first table with rules; left out where a frame cannot be steered twice as it lies. */
  alone?: { wanted: number; table: number };
}

const RULES = 1000;
const FRAMES = 4096;
const QUICK = 16;
const ESP_FRAMES = 256;
const SPI = 0x1000;

type Fields = Record<string, string | number>;

export const KINDS: readonly Kind[] = [
  {
    name: "TCP, one table",
    about: "64 bytes; 1,000 rules on the 5-tuple, which count, tag and name a queue",
    open: (options, quick) => tuples(options, quick, [tcpTable("root", 0, toQueue)], tcpFrame, TUPLE_WANTS),
  },
  {
    name: "TCP, three tables",
    about:
      "64 bytes; by destination MAC to 1,000 rules on the 5-tuple, which count and tag, then to 1,000 on the address",
    open: (options, quick) =>
      tuples(
        options,
        quick,
        [
          { name: "root", level: 0, rules: 1, match: () => ({ "outer.dmac": MAC }), actions: onward("tuples") },
          tcpTable("tuples", 1, (i) => [...counted(i), { table: "routes" }]),
          {
            name: "routes",
            level: 2,
            rules: RULES,
            match: (i) => ({ "outer.ipv4_dst": quad(tupleAt(i).dst) }),
            actions: () => [{ queue: "q" }],
          },
        ],
        tcpFrame,
        TUPLE_WANTS,
      ),
  },
  {
    name: "VXLAN",
    about: "114 bytes; 1,000 rules on the VNI and the inner 5-tuple",
    open: (options, quick) =>
      tuples(
        options,
        quick,
        [
          {
            ...tcpTable("root", 0, toQueue),
            match: (i) => ({ "misc.vxlan_vni": 0x1234, ...tcpFields("inner", tupleAt(i)) }),
          },
        ],
        vxlanFrame,
        TUNNEL_WANTS,
      ),
  },
  {
    name: "IPv6",
    about: "84 bytes of TCP; 1,000 rules on both addresses and both ports",
    open: (options, quick) =>
      tuples(
        options,
        quick,
        [
          {
            ...tcpTable("root", 0, toQueue),
            match: (i) => ({
              "outer.ipv6_src": v6(tupleAt(i).src),
              "outer.ipv6_dst": v6(tupleAt(i).dst),
              "outer.tcp_sport": tupleAt(i).ports >>> 16,
              "outer.tcp_dport": tupleAt(i).ports & 0xffff,
            }),
          },
        ],
        ipv6Frame,
        (1 << GROUP_OUTER) | (1 << GROUP_EXT),
      ),
  },
  {
    name: "ESP",
    about: "a flow of the verbs opens a tunnel (AES-128-GCM, full offload) with 256 bytes inside",
    open: (options) => esp(options),
  },
  {
    name: "acl1 10k",
    about:
      "64 bytes; 9,693 ClassBench rules of 251 masks, with ranges, which count, tag and name a queue; uniform trace",
    open: (options, quick) => acl(options, quick),
  },
];

const MAC = "02:00:00:00:00:01";
const quad = (address: number): string => [24, 16, 8, 0].map((shift) => (address >>> shift) & 0xff).join(".");
const v6 = (low: number): string => `2001:db8::1:${(low >>> 16).toString(16)}:${(low & 0xffff).toString(16)}`;

interface TableOf {
  name: string;
  level: number;
  rules: number;
  match: (i: number) => Fields;
  actions: (i: number) => object[];
}

const counted = (i: number): object[] => [{ tag: i }, { count: "counter", offset: i }];
const toQueue = (i: number): object[] => [...counted(i), { queue: "q" }];
const onward = (table: string) => (): object[] => [{ table }];

function tcpFields(layer: "outer" | "inner", { src, dst, ports }: Tuple): Fields {
  return {
    [`${layer}.ipv4_src`]: quad(src),
    [`${layer}.ipv4_dst`]: quad(dst),
    [`${layer}.tcp_sport`]: ports >>> 16,
    [`${layer}.tcp_dport`]: ports & 0xffff,
  };
}

function tcpTable(name: string, level: number, actions: (i: number) => object[]): TableOf {
  return { name, level, rules: RULES, match: (i) => tcpFields("outer", tupleAt(i)), actions };
}

/** Frame i is that of tuple i, repeatedly; its tag is the number of the tuple. */
async function tuples(
  options: DeviceOptions,
  quick: boolean,
  tables: readonly TableOf[],
  frame: (tuple: Tuple) => Uint8Array,
  wanted: number,
): Promise<Opened> {
  const loaded = await loadScenario(
    {
      flowsteer: 1,
      queues: [{ name: "q" }],
      counters: [{ name: "counter", flow_counter_bulk_log_size: Math.ceil(Math.log2(RULES)) }],
      tables: tables.map(({ name, level }) => ({ name, level })),
      rules: tables.flatMap(({ name, rules, match, actions }) =>
        Array.from({ length: rules }, (_, i) => ({
          name: `${name} ${i}`,
          table: name,
          match: match(i),
          actions: actions(i),
        })),
      ),
    },
    options,
  );
  const numbers = Array.from({ length: quick ? FRAMES / QUICK : FRAMES }, (_, i) => (i * 7) % RULES);
  const table = loaded.tables.get("root")!.classifier.table;
  const frames = numbers.map((i) => frame(tupleAt(i)));
  return { device: loaded.device, frames, tags: numbers, alone: { wanted, table } };
}

function ipv6Frame({ src, dst, ports }: Tuple): Uint8Array {
  return buildFrame([
    { header: "ethernet", destination: MAC },
    { header: "ipv6", source: v6(src), destination: v6(dst) },
    { header: "tcp", source_port: ports >>> 16, destination_port: ports & 0xffff, flags: "ack" },
    new Uint8Array(10),
  ]);
}

/** Without a replay window, so that a packet may come again. */
async function esp(options: DeviceOptions): Promise<Opened> {
  const { IBV_FLOW_ACTION_ESP_FLAGS_FULL_OFFLOAD: FULL, IBV_FLOW_ACTION_ESP_FLAGS_ENCRYPT: ENCRYPT } = v;
  const spi: v.FlowSpec = { type: v.IBV_FLOW_SPEC_ESP, val: { spi: SPI }, mask: { spi: 0xffffffff } };
  const side = async (flags: number, flow: number, specs: v.FlowSpec[]) => {
    const device = await createDevice(options);
    const context = v.ibv_open_device(device);
    const action = v.ibv_create_flow_action_esp(context, {
      esp_attr: { spi: SPI, seq: 1, flags },
      keymat_ptr: { salt: new Uint8Array(4), iv: new Uint8Array(8), icv_len: 16, aes_key: keyOf(0) },
      esp_encap: [{ type: v.IBV_FLOW_SPEC_IPV4, val: { src_ip: "192.0.2.1", dst_ip: "192.0.2.2" } }],
    });
    const queue = createSink(context, "q");
    v.ibv_create_flow(queue, {
      type: v.IBV_FLOW_ATTR_NORMAL,
      port: 1,
      flags: flow,
      specs: [...specs, { type: v.IBV_FLOW_SPEC_ACTION_HANDLE, action }],
    });
    return { device, queue };
  };
  const seals = await side(FULL | ENCRYPT, v.IBV_FLOW_ATTR_FLAGS_EGRESS, []);
  const opens = await side(FULL, 0, [spi]);
  const clear = buildFrame([
    { header: "ethernet" },
    { header: "ipv4", source: "10.0.0.1", destination: "10.0.0.2" },
    { header: "udp" },
    new Uint8Array(256 - 28),
  ]);
  const frames = Array.from({ length: ESP_FRAMES }, () => seals.device.send(seals.queue, clear).to[0]!.frame);
  return { device: opens.device, frames, tags: frames.map(() => null) };
}

async function acl(options: DeviceOptions, quick: boolean): Promise<Opened> {
  const size = quick ? "1k" : "10k";
  const trace = readTrace("acl1", size, "uniform");
  const one = await AclDevice.open(readRules("acl1", size), options);
  const frames = separate(framesOf(trace.headers)).slice(0, quick ? FRAMES / QUICK : undefined);
  const tags = Array.from(trace.expected.subarray(0, frames.length));
  return { device: one.device, frames, tags, alone: { wanted: TUPLE_WANTS, table: one.table } };
}
