/**
 * RSS: the public vectors, queue pairs with an indirection table, and the reference on random
 * frames.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { Op } from "../../../src/abi/engine.js";
import * as abi from "../../../src/abi/state.js";
import { openTracer } from "../../../src/explain/index.js";
import { valueText } from "../../../src/explain/match/notation.js";
import { fieldNamed } from "../../../src/model/match/fields.js";
import { createDevice, createSink, type Device } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import { Action } from "../../../src/model/action/action.js";
import { QueueList } from "../../../src/model/queue/indirectionTable.js";
import type { QueuePair } from "../../../src/model/queuePair/queuePair.js";
import { HASH_FIELDS } from "../../../src/model/base/limits.js";
import { RssRecord } from "../../../src/model/queue/rss.js";
import { buildFrame } from "../../../src/packet/index.js";
import * as v from "../../../src/verbs/index.js";
import { seedFor } from "../../assembly/support/core.js";
import { ipv4Frame, refused } from "../../mlx5dv/support/directRules.js";
import { Random, randomFrame } from "../../oracle/generate/frame.js";
import { parseReference } from "../../oracle/wire/parse.js";
import { hashReference, toeplitzReference, type Hash, type Selection } from "../../oracle/walk/rss.js";

/** Microsoft, "Verifying the RSS hash calculation": the key; destination, source, hash of the addresses, and with ports. */
const KEY = Uint8Array.from(
  "6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c6a42b73bbeac01fa".match(/../g) as string[],
  (byte) => parseInt(byte, 16),
);
const VECTORS: [string, number, string, number, number, number][] = [
  ["161.142.100.80", 1766, "66.9.149.187", 2794, 0x323e8fc2, 0x51ccc178],
  ["65.69.140.83", 4739, "199.92.111.2", 14230, 0xd718262a, 0xc626b0ea],
  ["12.22.207.184", 38024, "24.19.198.95", 12898, 0xd2d0a5de, 0x5c2b394a],
  ["209.142.163.6", 2217, "38.27.205.30", 48228, 0x82989176, 0xafc7327f],
  ["202.188.127.2", 1303, "153.39.163.191", 44251, 0x5d1809c5, 0x10e828a2],
  ["3ffe:2501:200:3::1", 1766, "3ffe:2501:200:1fff::7", 2794, 0x2cc18cd5, 0x40207d3d],
  ["ff02::1", 4739, "3ffe:501:8::260:97ff:fe40:efab", 14230, 0x0f0c461c, 0xdde51bbf],
  ["fe80::200:f8ff:fe21:67cf", 38024, "3ffe:1900:4545:3:200:f8ff:fe21:67cf", 44251, 0x4b61e985, 0x02d1feef],
];

interface World {
  device: Device;
  context: v.Context;
  pd: v.ProtectionDomain;
  cq: v.CompletionQueue;
  memory: Uint8Array;
  buffer: v.ReceiveRequest;
}

async function open(): Promise<World> {
  const device = await createDevice();
  const context = v.ibv_open_device(device);
  const pd = v.ibv_alloc_pd(context);
  const memory = new Uint8Array(4096);
  const mr = v.ibv_reg_mr(pd, memory, undefined, v.IBV_ACCESS_LOCAL_WRITE);
  const buffer = { wr_id: 7, sg_list: [{ addr: memory, lkey: mr.lkey }] };
  return { device, context, pd, cq: v.ibv_create_cq(context, 4096), memory, buffer };
}

/** Work queues with one buffer each, in a table. */
function tableOf(
  { context, pd, cq, buffer }: World,
  log: number,
): { queues: v.WorkQueue[]; table: v.IndirectionTable } {
  const queues = Array.from({ length: 2 ** log }, () => {
    const wq = v.ibv_create_wq(context, { wq_type: v.IBV_WQT_RQ, max_wr: 1, max_sge: 1, pd, cq });
    v.ibv_modify_wq(wq, { attr_mask: v.IBV_WQ_ATTR_STATE, wq_state: v.IBV_WQS_RDY });
    v.ibv_post_wq_recv(wq, buffer);
    return wq;
  });
  return { queues, table: v.ibv_create_rwq_ind_table(context, { log_ind_tbl_size: log, ind_tbl: queues }) };
}

function spreading(
  { context, pd }: World,
  rwq_ind_tbl: v.IndirectionTable,
  rx_hash_fields_mask: number,
  more: object = {},
): v.QueuePair {
  return v.ibv_create_qp_ex(context, {
    comp_mask: v.IBV_QP_INIT_ATTR_PD | v.IBV_QP_INIT_ATTR_IND_TABLE | v.IBV_QP_INIT_ATTR_RX_HASH,
    qp_type: v.IBV_QPT_RAW_PACKET,
    pd,
    rwq_ind_tbl,
    rx_hash_conf: { rx_hash_function: v.IBV_RX_HASH_FUNC_TOEPLITZ, rx_hash_key: KEY, rx_hash_fields_mask },
    ...more,
  });
}

/** Matches all frames. */
const EVERYTHING = { match_sz: 0, match_buf: new Uint8Array(0) };

/** A flow that delivers all frames to a queue pair. */
const flowTo = (qp: v.QueuePair): v.Flow =>
  v.ibv_create_flow(qp, { type: v.IBV_FLOW_ATTR_NORMAL, priority: 0, port: 1, num_of_specs: 0, specs: [] });

const ADDRESSES4 = v.IBV_RX_HASH_SRC_IPV4 | v.IBV_RX_HASH_DST_IPV4;
const ADDRESSES6 = v.IBV_RX_HASH_SRC_IPV6 | v.IBV_RX_HASH_DST_IPV6;
const TCP_PORTS = v.IBV_RX_HASH_SRC_PORT_TCP | v.IBV_RX_HASH_DST_PORT_TCP;
const UDP_PORTS = v.IBV_RX_HASH_SRC_PORT_UDP | v.IBV_RX_HASH_DST_PORT_UDP;

describe("the vectors of the verification suite", () => {
  let world: World;
  let queues: v.WorkQueue[];
  let table: v.IndirectionTable;
  beforeAll(async () => {
    world = await open();
    ({ queues, table } = tableOf(world, 10));
  });

  test.each(VECTORS)("%s:%i from %s:%i", (dst, dport, src, sport, plain, ports) => {
    const six = dst.includes(":");
    const reach = (mask: number, protocol: "tcp" | "udp"): number => {
      const qp = spreading(world, table, mask);
      const flow = flowTo(qp);
      const frame = buildFrame([
        { header: "ethernet" },
        six ? { header: "ipv6", source: src, destination: dst } : { header: "ipv4", source: src, destination: dst },
        { header: protocol, source_port: sport, destination_port: dport },
      ] as never);
      const [to] = world.device.receive(1, frame).to;
      v.ibv_destroy_flow(flow);
      v.ibv_destroy_qp(qp);
      if (to?.kind !== "wq") throw new Error("no work queue");
      v.ibv_post_wq_recv(to.object, world.buffer);
      expect(v.ibv_poll_cq(world.cq, 9)).toMatchObject([
        { wr_id: 7, byte_len: frame.length, qp_num: to.object.wq_num },
      ]);
      return queues.indexOf(to.object);
    };
    const addresses = six ? ADDRESSES6 : ADDRESSES4;
    expect(reach(addresses, "tcp")).toBe(plain & 1023);
    expect(reach(addresses | TCP_PORTS, "tcp")).toBe(ports & 1023);
    expect(reach(addresses | UDP_PORTS, "udp")).toBe(ports & 1023);
    // Selected but absent fields are left out.
    expect(reach(addresses | TCP_PORTS, "udp")).toBe(plain & 1023);
    expect(reach((six ? ADDRESSES4 : ADDRESSES6) | v.IBV_RX_HASH_IPSEC_SPI, "udp")).toBe(0);
  });

  test("are those of the reference, all 32 bits", () => {
    const bytesOf = (text: string): number[] => {
      const frame = buildFrame([
        { header: "ethernet" },
        text.includes(":") ? { header: "ipv6", source: text } : { header: "ipv4", source: text },
      ] as never);
      return text.includes(":") ? [...frame.subarray(22, 38)] : [...frame.subarray(26, 30)];
    };
    for (const [dst, dport, src, sport, plain, ports] of VECTORS) {
      const input = [...bytesOf(src), ...bytesOf(dst)];
      expect(toeplitzReference(input, KEY)).toBe(plain);
      const both = [sport >> 8, sport & 255, dport >> 8, dport & 255];
      expect(toeplitzReference([...input, ...both], KEY)).toBe(ports);
    }
  });
});

describe("a queue pair with an indirection table", () => {
  test.each([
    ["IPv4 and IPv6", ADDRESSES4 | v.IBV_RX_HASH_SRC_IPV6],
    ["TCP and UDP", TCP_PORTS | v.IBV_RX_HASH_DST_PORT_UDP],
    ["SPI and ports", v.IBV_RX_HASH_IPSEC_SPI | v.IBV_RX_HASH_SRC_PORT_UDP],
    ["no fields for more than one queue", 0],
  ])("does not hash %s", async (_, mask) => {
    const world = await open();
    const { table } = tableOf(world, 1);
    const path = "rx_hash_conf.rx_hash_fields_mask";
    expect(refused(() => spreading(world, table, mask))).toMatchObject({ code: "EINVAL", path });
    expect(table.users).toBe(0);
  });

  test("takes one queue without fields", async () => {
    const world = await open();
    const { queues, table } = tableOf(world, 0);
    flowTo(spreading(world, table, 0));
    expect(world.device.receive(1, ipv4Frame()).to).toMatchObject([{ kind: "wq", name: queues[0]?.label }]);
  });

  test("is refused what it cannot be", async () => {
    const world = await open();
    const { table } = tableOf(world, 1);
    const other = tableOf(await open(), 1).table;
    const conf = (more: object): object => ({
      rx_hash_conf: { rx_hash_function: 1, rx_hash_key: KEY, rx_hash_fields_mask: ADDRESSES4, ...more },
    });
    const both = v.IBV_QP_INIT_ATTR_IND_TABLE | v.IBV_QP_INIT_ATTR_RX_HASH;
    const flags = (create_flags: number): object => ({
      comp_mask: 1 | both | v.IBV_QP_INIT_ATTR_CREATE_FLAGS,
      create_flags,
    });
    const { cq } = world;
    const cases: [object, string, string][] = [
      [{ qp_type: v.IBV_QPT_UD }, "EOPNOTSUPP", "qp_type"],
      [{ send_cq: cq }, "EOPNOTSUPP", "send_cq"],
      [{ cap: { max_send_wr: 1 } }, "EOPNOTSUPP", "cap.max_send_wr"],
      [{ recv_cq: cq }, "EINVAL", "recv_cq"],
      [{ cap: { max_recv_wr: 1 } }, "EINVAL", "cap.max_recv_wr"],
      [{ cap: { max_recv_sge: 1 } }, "EINVAL", "cap.max_recv_sge"],
      [{ rwq_ind_tbl: other }, "EINVAL", "rwq_ind_tbl"],
      [{ comp_mask: 1 | v.IBV_QP_INIT_ATTR_IND_TABLE }, "EINVAL", "qp_init_attr.comp_mask"],
      [{ comp_mask: 1 | v.IBV_QP_INIT_ATTR_RX_HASH }, "EINVAL", "qp_init_attr.comp_mask"],
      [{ comp_mask: both }, "EINVAL", "qp_init_attr.comp_mask"],
      [{ comp_mask: 1 | both | v.IBV_QP_INIT_ATTR_MAX_TSO_HEADER }, "EOPNOTSUPP", "qp_init_attr.comp_mask"],
      [flags(v.IBV_QP_CREATE_CVLAN_STRIPPING), "EOPNOTSUPP", "qp_init_attr.create_flags"],
      [conf({ rx_hash_function: 2 }), "EOPNOTSUPP", "rx_hash_conf.rx_hash_function"],
      [conf({ rx_hash_key: KEY.subarray(1) }), "EINVAL", "rx_hash_conf.rx_hash_key_len"],
      [conf({ rx_hash_key_len: 39 }), "EINVAL", "rx_hash_conf.rx_hash_key_len"],
      [conf({ rx_hash_fields_mask: 1 << 9 }), "EOPNOTSUPP", "rx_hash_conf.rx_hash_fields_mask"],
      [conf({ rx_hash_fields_mask: 2n ** 32n }), "EOPNOTSUPP", "rx_hash_conf.rx_hash_fields_mask"],
    ];
    const { memoryUsed } = world.device;
    for (const [more, code, path] of cases) {
      expect(refused(() => spreading(world, table, ADDRESSES4, more))).toMatchObject({ code, path });
    }
    expect([world.device.memoryUsed, table.users]).toEqual([memoryUsed, 0]);
    expect(spreading(world, table, 0, conf({ rx_hash_fields_mask: BigInt(ADDRESSES4) })).isRss).toBe(true);
    expect(spreading(world, table, ADDRESSES4, flags(0)).isRss).toBe(true);
    expect(v.ibv_query_device_ex(world.context).rss_caps).toMatchObject({
      supported_qpts: 1 << v.IBV_QPT_RAW_PACKET,
      rx_hash_fields_mask: BigInt(HASH_FIELDS),
      rx_hash_function: v.IBV_RX_HASH_FUNC_TOEPLITZ,
    });
  });

  test("only receives, and holds its table", async () => {
    const world = await open();
    const { memoryUsed } = world.device;
    const { queues, table } = tableOf(world, 1);
    const qp = spreading(world, table, ADDRESSES4);
    const { buffer } = world;
    for (const call of [
      () => v.ibv_modify_qp(qp, { qp_state: v.IBV_QPS_INIT, port_num: 1 }, v.IBV_QP_STATE | v.IBV_QP_PORT),
      () => v.ibv_query_qp(qp),
      () => v.ibv_post_recv(qp, buffer),
      () => v.ibv_post_send(qp, { wr_id: 1, sg_list: buffer.sg_list, opcode: v.IBV_WR_SEND }),
    ]) {
      expect(refused(call)).toMatchObject({ code: "EOPNOTSUPP", path: "qp" });
    }
    expect(refused(() => world.device.send(qp, ipv4Frame()))?.code).toBe("EINVAL");
    expect(refused(() => v.ibv_destroy_rwq_ind_table(table))?.code).toBe("EBUSY");
    const flow = flowTo(qp);
    expect(refused(() => v.ibv_destroy_qp(qp))?.code).toBe("EBUSY");
    v.ibv_destroy_flow(flow);
    v.ibv_destroy_qp(qp);
    v.ibv_destroy_rwq_ind_table(table);
    for (const queue of queues) v.ibv_destroy_wq(queue);
    expect(world.device.memoryUsed).toBe(memoryUsed);
  });

  test("drops with the reason of the queue that was chosen", async () => {
    const world = await open();
    const { queues, table } = tableOf(world, 0);
    flowTo(spreading(world, table, ADDRESSES4));
    const reason = (): string | null => world.device.receive(1, ipv4Frame()).reason;
    expect([reason(), reason()]).toEqual([null, "no_receive_buffer"]);
    v.ibv_modify_wq(queues[0] as v.WorkQueue, { attr_mask: 1, wq_state: v.IBV_WQS_ERR });
    expect(reason()).toBe("queue_not_ready");
  });

  test("gets its share of a flow beside others, of a sniffer, an array and a direct rule", async () => {
    const world = await open();
    const { device, context, pd } = world;
    const { queues, table } = tableOf(world, 0);
    const label = queues[0]?.label as string;
    const qp = spreading(world, table, ADDRESSES4);
    const web = createSink(context, "web");
    const names = (): string[][] => {
      v.ibv_post_wq_recv(queues[0] as v.WorkQueue, world.buffer);
      const { to, copies } = device.receive(1, ipv4Frame());
      return [to.map(({ name }) => name), copies.map(({ name }) => name)];
    };
    v.ibv_poll_cq(world.cq, 9);
    v.ibv_modify_wq(queues[0] as v.WorkQueue, { attr_mask: 1, wq_state: v.IBV_WQS_RESET });
    v.ibv_modify_wq(queues[0] as v.WorkQueue, { attr_mask: 1, wq_state: v.IBV_WQS_RDY });
    const flows = [flowTo(qp), flowTo(web)];
    expect(names()).toEqual([[label, "qp:web"], []]);
    for (const flow of flows) v.ibv_destroy_flow(flow);
    const trapless = { type: v.IBV_FLOW_ATTR_NORMAL, flags: v.IBV_FLOW_ATTR_FLAGS_DONT_TRAP, port: 1, specs: [] };
    const copying = v.ibv_create_flow(qp, { ...trapless, priority: 0, num_of_specs: 0 });
    expect(names()).toEqual([[], [label]]);
    v.ibv_destroy_flow(copying);
    const domain = dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
    const root = dv.mlx5dv_dr_table_create(domain, 0);
    const matcher = dv.mlx5dv_dr_matcher_create(root, 0, 0, EVERYTHING);
    const toQueue = dv.mlx5dv_dr_action_create_dest_ibv_qp(qp);
    const rule = dv.mlx5dv_dr_rule_create(matcher, EVERYTHING, 1, [toQueue]);
    expect(names()).toEqual([[label], []]);
    dv.mlx5dv_dr_rule_destroy(rule);
    const toWeb = dv.mlx5dv_dr_action_create_dest_ibv_qp(web);
    const array = dv.mlx5dv_dr_action_create_dest_array(domain, 2, [
      { type: dv.MLX5DV_DR_ACTION_DEST, dest: toWeb },
      { type: dv.MLX5DV_DR_ACTION_DEST, dest: toQueue },
    ]);
    dv.mlx5dv_dr_rule_create(matcher, EVERYTHING, 1, [array]);
    expect(names()).toEqual([["qp:web", label], []]);
    expect(pd.users).toBeGreaterThan(0);
  });
});

const ADDRESSES_AND_PORTS = ["outer", "inner"].flatMap((level) =>
  ["ipv4", "ipv6", "tcp", "udp"].flatMap((header) =>
    (header.startsWith("ip") ? ["src", "dst"] : ["sport", "dport"]).map((end) => `${level}.${header}_${end}`),
  ),
);
const FRAMES = 4000;
const LOG = 8;

test("random frames go where the reference says", async () => {
  const seed = seedFor("rss");
  const random = new Random(seed);
  const device = await createDevice();
  const context = v.ibv_open_device(device);
  const domain = dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
  const root = dv.mlx5dv_dr_table_create(domain, 0);
  const matcher = dv.mlx5dv_dr_matcher_create(root, 0, 0, EVERYTHING);
  const sinks = Array.from({ length: 2 ** LOG }, (_, i) => createSink(context, String(i)));
  const list = new QueueList(device, sinks);
  const reached = new Set<QueuePair>();
  const tracer = await openTracer(device);
  let told = 0;
  for (let round = 0; round < 40; round++) {
    const hash = randomHash(random);
    const rss = new RssRecord(list, recordOf(hash));
    const parts = { step: "end", op: Op.rss, operand: rss.address } as const;
    const action = new Action(device, "dest_ibv_qp", parts);
    const rule = dv.mlx5dv_dr_rule_create(matcher, EVERYTHING, 1, [action]);
    for (let i = 0; i < FRAMES / 40; i++) {
      const frame = randomFrame(random);
      const { bytes, linkType, wireLength } = frame;
      const { fields } = parseReference(bytes, { linkType, wireLength });
      const expected = hashReference(fields, hash) & (2 ** LOG - 1);
      if (fields.size > 0 && expected !== 0) told++;
      const [to] = device.receive(1, bytes, { linkType, wireLength }).to;
      if (to?.kind === "qp") reached.add(to.object);
      const about = `seed ${seed}, round ${round}, frame ${i}: ${JSON.stringify(hash)}`;
      expect(to?.name, about).toBe(`qp:${expected}`);
      if (i % 5 !== 0) continue;
      // The explanation has the hash of the reference, the entry that the engine took, and every field once.
      const steps = tracer.trace(1, bytes, { linkType, wireLength: wireLength ?? bytes.length }).steps;
      const choice = steps.flatMap((step) => (step.kind === "action" ? (step.hash ?? []) : [])).at(-1);
      expect(choice, about).toMatchObject({
        function: hash.function,
        symmetric: hash.symmetric,
        hash: hashReference(fields, hash) >>> 0,
        entry: expected,
        entries: 2 ** LOG,
      });
      const input = (choice.input.match(/../g) ?? []).map((byte) => parseInt(byte, 16));
      if (hash.function === "toeplitz") expect(toeplitzReference(input, hash.key), about).toBe(choice.hash);
      for (const { field, value } of choice.fields) {
        const found = fields.get(field);
        expect(found === undefined ? null : valueText(fieldNamed(field)!, found), about).toBe(value);
      }
      const left = choice.leftOut.filter(({ cause }) => cause !== "unselected");
      const named = [...choice.fields.map(({ field }) => field), ...left.flatMap((one) => one.fields)];
      expect(named.sort(), about).toEqual(selectedFields(hash).sort());
      const unselected = choice.leftOut.filter((one) => !left.includes(one)).flatMap((one) => one.fields);
      const has = hash.function === "none" ? [] : ADDRESSES_AND_PORTS.filter((one) => fields.has(one));
      const inUse = ["outer", "inner"].filter((level) => selectedFields(hash).some((one) => one.includes(level)));
      const levels = inUse.length === 0 ? ["outer"] : inUse;
      const others = has.filter((one) => levels.includes(one.slice(0, 5)) && !named.includes(one));
      expect(unselected.sort(), about).toEqual(others.sort());
      for (const { cause, fields: names } of left) {
        const level = names[0]?.replace(/^misc\./, "").startsWith("inner") === true ? "inner" : "outer";
        if (cause === "fragment") expect(fields.get(`${level}.frag`), about).toBe(1n);
        else for (const name of names) expect(fields.has(name), `${about} ${name}`).toBe(false);
      }
    }
    dv.mlx5dv_dr_rule_destroy(rule);
    rss.release();
  }
  expect(told).toBeGreaterThan(FRAMES / 5);
  expect(reached.size).toBeGreaterThan(2 ** LOG / 2);
});

function randomHash(random: Random): Hash {
  const selection = (): Selection => ({
    version: random.pick([4, 4, 6]),
    protocol: random.pick(["tcp", "udp"]),
    source: random.chance(0.7),
    destination: random.chance(0.7),
    sourcePort: random.chance(0.6),
    destinationPort: random.chance(0.6),
    spi: random.chance(0.4),
  });
  const level = random.below(4);
  return {
    function: random.pick(["toeplitz", "toeplitz", "toeplitz", "xor8"]),
    symmetric: random.chance(0.4),
    outer: level === 0 ? null : selection(),
    inner: level < 2 ? selection() : null,
    key: Uint8Array.from({ length: 40 }, () => random.below(256)),
  };
}

function selectedFields({ outer, inner }: Hash): string[] {
  return Object.entries({ outer, inner }).flatMap(([level, choice]) => {
    if (choice === null) return [];
    const { version, protocol, source, destination, sourcePort, destinationPort, spi } = choice;
    return [
      source === true ? `${level}.ipv${version}_src` : [],
      destination === true ? `${level}.ipv${version}_dst` : [],
      sourcePort === true ? `${level}.${protocol}_sport` : [],
      destinationPort === true ? `${level}.${protocol}_dport` : [],
      spi === true ? `misc.${level}_esp_spi` : [],
    ].flat();
  });
}

function recordOf({ function: name, symmetric, outer, inner, key }: Hash) {
  const bits = (selection: Selection | null): number => {
    if (selection === null) return 0;
    const { version, protocol, source, destination, sourcePort, destinationPort, spi } = selection;
    const [one, two, three, four, five, six, seven] = [
      [source, abi.RSS_SOURCE],
      [destination, abi.RSS_DESTINATION],
      [sourcePort, abi.RSS_SOURCE_PORT],
      [destinationPort, abi.RSS_DESTINATION_PORT],
      [spi, abi.RSS_SPI],
      [version === 6, abi.RSS_IPV6],
      [protocol === "udp", abi.RSS_UDP],
    ].map(([on, bit]) => (on === true ? (bit as number) : 0)) as [
      number,
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    return one | two | three | four | five | six | seven;
  };
  const number = { none: abi.HASH_NONE, xor8: abi.HASH_XOR8, toeplitz: abi.HASH_TOEPLITZ }[name];
  return { function: number, symmetric, outer: bits(outer), inner: bits(inner), key };
}
