/** Calls on a device that had none: they make tables, masks, records and areas that later calls find there. */
import { createDevice, type Device, type DeviceOptions } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import { buildFrame } from "../../../src/packet/index.js";
import * as v from "../../../src/verbs/index.js";
import { created } from "../../mlx5dv/support/devx.js";
import { ipv4Frame } from "../../mlx5dv/support/directRules.js";
import { DEEP } from "../../support/tier.js";
import { attributesOf, openEnd, pattern, raise, type End } from "../../verbs/support/connected.js";
import {
  ALL,
  count,
  dport,
  DONT_TRAP,
  EGRESS,
  FlowBench,
  MC,
  outcomeText,
  SNIFFER,
  tag,
  TCP,
} from "../../verbs/support/flows.js";
import { climb } from "../../verbs/support/queuePairs.js";
import type { Call, World } from "./everyAllocation.js";

const FRAMES = Array.from({ length: 40 }, (_, n) => ipv4Frame({ dport: n, dst: [10, 0, 0, n % 12] }));
const MULTICAST = Uint8Array.from(FRAMES[0]!, (byte, i) => (i === 0 ? 1 : byte));

type Action = ReturnType<typeof dv.mlx5dv_dr_action_create_drop>;

/** Bytes of a message: several packets. */
const LENGTH = DEEP ? 4096 : 1500;
/** Calls that an error may leave unfinished; the message of the probe finishes them. */
const MESSAGE = "ibv_post_send";

/** A call, and what takes back what it made. */
type Step = readonly [name: string, run: () => (() => void) | undefined];

function worldOf(device: Device, steps: readonly Step[], probe: () => unknown): World {
  const undo: (() => void)[] = [];
  const calls = steps.map(([name, run]): Call => ({
    name,
    args: [],
    isMessage: name.startsWith(MESSAGE),
    run: () => {
      const back = run();
      if (back !== undefined) undo.push(back);
    },
  }));
  return { device, calls, probe, end: () => undo.reverse().forEach((back) => back()) };
}

/** Flows of each kind, and what frames need: rows, bytes, the flow cache, copies. */
export async function flowCalls(options: DeviceOptions): Promise<World> {
  const bench = await FlowBench.open(options);
  const { device } = bench;
  for (const name of ["a", "b", "all", "mc", "s", "d", "out"]) bench.qp(name);
  const counters = bench.counters();
  const flow = (name: string, specs: readonly object[], over = {}): Step => [
    `ibv_create_flow ${name} ${JSON.stringify(over)}`,
    () => {
      const one = bench.flow(name, specs, over);
      return () => v.ibv_destroy_flow(one);
    },
  ];
  const traffic = (name: string, run: () => unknown): Step => [name, () => void run()];
  let burst: ReturnType<Device["openBurst"]> | undefined;
  const steps: Step[] = [
    traffic("receive", () => device.receive(1, FRAMES[0]!)),
    flow("a", [TCP]),
    flow("b", [TCP, count(counters)]),
    flow("all", [count(counters)], ALL),
    flow("mc", [], MC),
    flow("s", [tag(3), count(counters)], SNIFFER),
    flow("d", [TCP], DONT_TRAP),
    flow("out", [tag(9)], EGRESS),
    flow("a", [], { ...ALL, port: 2 }),
    flow("b", [dport(80), tag(1)], { priority: 1 }),
    [
      "hostRules.add",
      () => {
        const rule = device.hostRules.add({ application: "tc", port: 1, action: { queue: 7 } });
        return () => rule.remove();
      },
    ],
    traffic("countHits", () => device.countHits()),
    ...FRAMES.slice(0, 8).map((frame, n) => traffic(`receive ${n}`, () => device.receive(1, frame))),
    traffic("receiveBatch", () => device.receiveBatch(1, FRAMES)),
    traffic("parseBatch", () => device.parseBatch(FRAMES)),
    traffic("send", () => device.send(bench.qp("out"), FRAMES[1]!)),
    traffic("openBurst", () => (burst = device.openBurst())),
    traffic("burst.put", () => FRAMES.forEach((frame) => burst?.put(frame))),
    traffic("burst.steer", () => burst?.steer()),
  ];
  return worldOf(device, steps, () => device.receiveBatch(1, [...FRAMES, MULTICAST]).map(outcomeText));
}

/** Rules of a root table for the same frames, each with a queue and a counter more. */
export async function entryCalls(options: DeviceOptions): Promise<World> {
  const bench = await FlowBench.open({ ...options, profile: "connectx6dx" });
  const { device } = bench;
  const context = dv.mlx5dv_open_device(device, { flags: dv.MLX5DV_CONTEXT_FLAGS_DEVX });
  const domain = dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
  const root = dv.mlx5dv_dr_table_create(domain, 0);
  const { match_criteria_enable, mask, value } = dv.matchParameters({ "outer.ip_protocol": 6 }, { root: true });
  const lists = Array.from({ length: 12 }, (_, n) => [
    dv.mlx5dv_dr_action_create_flow_counter(created(context, dv.allocFlowCounterCommand()), 0),
    dv.mlx5dv_dr_action_create_dest_ibv_qp(bench.qp(`q${n}`)),
  ]);
  const matcher = dv.mlx5dv_dr_matcher_create(root, 1, match_criteria_enable, mask);
  const steps = lists.map((list, n): Step => [
    `rule ${n}`,
    () => {
      const rule = dv.mlx5dv_dr_rule_create(matcher, value, list.length, list);
      return () => void dv.mlx5dv_dr_rule_destroy(rule);
    },
  ]);
  return worldOf(device, steps, () => device.receiveBatch(1, FRAMES).map(outcomeText));
}

/** Domains, tables, rules of many masks and actions, and flow tables of device commands. */
export async function ruleCalls(options: DeviceOptions): Promise<World> {
  const bench = await FlowBench.open({ vports: 2, ...options });
  const { device } = bench;
  const context = dv.mlx5dv_open_device(device, { flags: dv.MLX5DV_CONTEXT_FLAGS_DEVX });
  const queue = bench.qp("a");
  const rx = dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
  const fdb = dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_FDB);
  const made = new Map<string, unknown>();
  const get = <T>(name: string): T => made.get(name) as T;
  const step = <T>(name: string, make: () => T, destroy: (one: T) => unknown): Step => [
    name,
    () => {
      const one = make();
      made.set(name, one);
      return () => void destroy(one);
    },
  ];
  const table = (name: string, domain: typeof rx, level: number): Step =>
    step(name, () => dv.mlx5dv_dr_table_create(domain, level), dv.mlx5dv_dr_table_destroy);
  /** A matcher and a rule of it. */
  const rule = (
    name: string,
    to: string,
    fields: Parameters<typeof dv.matchParameters>[0],
    actions: () => Action[],
  ): Step[] => {
    const { match_criteria_enable, mask, value } = dv.matchParameters(fields, { root: to.startsWith("root") });
    const matcher = `matcher ${name}`;
    return [
      step(
        matcher,
        () => dv.mlx5dv_dr_matcher_create(get(to), 1, match_criteria_enable, mask),
        dv.mlx5dv_dr_matcher_destroy,
      ),
      step(
        `rule ${name}`,
        () => {
          const list = actions();
          return dv.mlx5dv_dr_rule_create(get(matcher), value, list.length, list);
        },
        dv.mlx5dv_dr_rule_destroy,
      ),
    ];
  };
  const action = (name: string, make: () => Action): Step => step(name, make, dv.mlx5dv_dr_action_destroy);
  const encap = buildFrame([{ header: "ethernet" }, { header: "ipv4" }, { header: "udp" }, { header: "vxlan" }]);
  const reformat = dv.MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL;
  const bits = ["outer.tcp_dport", "outer.tcp_sport", "outer.ipv4_dst", "outer.ipv4_src", "outer.dmac", "outer.smac"];
  const all = bits.flatMap((first, i) => bits.slice(i + 1).map((second) => ({ [first]: 0, [second]: 0 })));
  const masks = DEEP ? all : all.slice(0, 3);
  const steps: Step[] = [
    table("root", rx, 0),
    table("table", rx, 1),
    table("root fdb", fdb, 0),
    table("switch", fdb, 1),
    action("drop", () => dv.mlx5dv_dr_action_create_drop()),
    action("to a", () => dv.mlx5dv_dr_action_create_dest_ibv_qp(queue)),
    action("to table", () => dv.mlx5dv_dr_action_create_dest_table(get("table"))),
    action("to switch", () => dv.mlx5dv_dr_action_create_dest_table(get("switch"))),
    action("encap", () => dv.mlx5dv_dr_action_create_packet_reformat(fdb, 0, reformat, encap.length, encap)),
    action("ttl", () =>
      dv.mlx5dv_dr_action_create_modify_header(rx, 0, undefined, [{ type: "set", field: "OUT_IP_TTL", data: 1 }]),
    ),
    action("vport 0", () => dv.mlx5dv_dr_action_create_dest_vport(fdb, 0)),
    action("vport 1", () => dv.mlx5dv_dr_action_create_dest_vport(fdb, 1)),
    action("both", () =>
      dv.mlx5dv_dr_action_create_dest_array(fdb, 2, [
        { type: dv.MLX5DV_DR_ACTION_DEST, dest: get("vport 0") },
        {
          type: dv.MLX5DV_DR_ACTION_DEST_REFORMAT,
          dest_reformat: { reformat: get("encap"), dest: get("vport 1") },
        },
      ]),
    ),
    ...rule("all rx", "root", {}, () => [get("to table")]),
    ...rule("all fdb", "root fdb", {}, () => [get("to switch")]),
    ...rule("both", "switch", { "outer.ip_version": 4 }, () => [get("both")]),
    ...masks.flatMap((fields, n) => rule(`${n}`, "table", fields, () => [get("drop")])),
    ...FRAMES.slice(0, DEEP ? 12 : 3).flatMap((_, n) =>
      rule(`to ${n}`, "table", { "outer.ipv4_dst": `10.0.0.${n}`, "outer.ip_ttl_hoplimit": 64 }, () => [
        get("ttl"),
        get("to a"),
      ]),
    ),
    step("flow table", () => created(context, dv.createFlowTableCommand(4, { level: 4 })), dv.mlx5dv_devx_obj_destroy),
    ...FRAMES.slice(0, 8).map((frame, n): Step => [`receive ${n}`, () => void device.receive(1, frame)]),
    ["receiveBatch", () => void device.receiveBatch(1, FRAMES)],
  ];
  return worldOf(device, steps, () => device.receiveBatch(1, FRAMES).map(outcomeText));
}

/** The three changes of state that connect a queue pair. */
function climbing(number: number, end: End, peer: End): Step[] {
  return ["INIT", "RTR", "RTS"].map((state, i) => [
    `ibv_modify_qp ${number} to ${state}`,
    () => {
      raise(end, attributesOf(end, peer), i + 1, i);
      return undefined;
    },
  ]);
}

/** Queue pairs that connect, send messages and join groups. */
export async function queueCalls(options: DeviceOptions): Promise<World> {
  const device = await createDevice(options);
  const [own, peer] = [openEnd(device), openEnd(device)];
  const groups = openEnd(device, { type: v.IBV_QPT_UD });
  // In INIT it has its port, and no rule for datagrams, so that the first group opens the table.
  climb(groups.qp, 1, 1);
  own.memory.set(pattern(3 * LENGTH));
  const send = (n: number): void => {
    const addr = own.memory.subarray(n * LENGTH, (n + 1) * LENGTH);
    const sg_list = [{ addr, length: LENGTH, lkey: own.mr.lkey }];
    const flags = { opcode: v.IBV_WR_SEND, send_flags: v.IBV_SEND_SIGNALED };
    v.ibv_post_send(own.qp, { wr_id: n, sg_list, num_sge: 1, ...flags });
  };
  device.connect(1, device, 1);
  const steps: Step[] = [
    ...[own, peer].flatMap((end, n) => climbing(n, end, n === 0 ? peer : own)),
    ...[0, 1, 2].map((n): Step => [
      `ibv_post_recv ${n}`,
      () => {
        const addr = peer.memory.subarray(n * LENGTH, (n + 1) * LENGTH);
        v.ibv_post_recv(peer.qp, { wr_id: n, sg_list: [{ addr, length: LENGTH, lkey: peer.mr.lkey }], num_sge: 1 });
        return undefined;
      },
    ]),
    ...[0, 1].map((n): Step => [
      `${MESSAGE} ${n}`,
      () => {
        send(n);
        return undefined;
      },
    ]),
    ["ibv_resize_cq", () => void v.ibv_resize_cq(own.received, 200)],
    ["ibv_attach_mcast", () => void v.ibv_attach_mcast(groups.qp, "ff0e::9", 0)],
    ["ibv_detach_mcast", () => void v.ibv_detach_mcast(groups.qp, "ff0e::9", 0)],
  ];
  return worldOf(device, steps, () => {
    send(2);
    const sent = v.ibv_poll_cq(own.sent, 4).map(({ wr_id, status }) => [wr_id, status]);
    const received = v.ibv_poll_cq(peer.received, 4).map(({ wr_id, status }) => [wr_id, status]);
    return [own.qp.state, peer.qp.state, sent, received, [...peer.memory.subarray(0, 3 * LENGTH)].join("")];
  });
}
