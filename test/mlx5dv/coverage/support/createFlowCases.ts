/**
 * Cases for mlx5dv_create_flow: each type of action, lists of them, values, the order among other
 * flows.
 */
import * as dv from "../../../../src/mlx5dv/index.js";
import type { FlowCounter } from "../../../../src/model/action/counter.js";
import * as v from "../../../../src/verbs/index.js";
import {
  changed as does,
  counted,
  DROPS,
  FDB,
  inTable,
  MISSES,
  NIC_RX,
  NIC_TX,
  RDMA_RX,
  tagged,
} from "../../support/createFlow.js";
import { DROP, outcomeText, valuesOf } from "../../../verbs/support/flows.js";
import {
  deviceFlow,
  flowEntry,
  flowMatcher,
  flowTable,
  INTO,
  leads,
  tirOf,
  TO,
  TO_FRAME,
  TO_OTHER,
} from "./flows.js";
import { changed, encapsulated, FRAME, GRE_DATA, INNER, OTHER, VXLAN } from "./frames.js";
import { casesOf, same, type Case, type Probe, type Run } from "./record.js";

const DMAC: dv.ModifyActions = [{ type: "set", field: "OUT_DMAC_15_0", data: 0xabcd }];
const REG_C0: dv.ModifyActions = [{ type: "set", field: "METADATA_REG_C_0", data: 5, length: 16 }];
const DECAP_L2 = dv.MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2;
const ENCAP_L2 = dv.MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL;

const modify = (p: Probe, ft_type: number, actions = DMAC): dv.FlowActionAttr =>
  does(dv.mlx5dv_create_flow_action_modify_header(p.context(), undefined, actions, ft_type));
const reformat = (p: Probe, type: number, data: Uint8Array | null, ft_type: number): dv.FlowActionAttr =>
  does(dv.mlx5dv_create_flow_action_packet_reformat(p.context(), undefined, data, type, ft_type));

function counters(p: Probe): v.Counters {
  const made = v.ibv_create_counters(p.context(), { comp_mask: 0 });
  for (const counter_desc of [v.IBV_COUNTER_PACKETS, v.IBV_COUNTER_BYTES]) {
    v.ibv_attach_counters_point_flow(made, { counter_desc, index: counter_desc }, null);
  }
  return made;
}

const BESIDE: Readonly<Record<string, Run>> = {
  IBV_COUNTER: (p) => {
    const [matcher, points] = [flowMatcher(p, TO_FRAME), counters(p)];
    const actions = [TO(p, "a"), { type: dv.MLX5DV_FLOW_ACTION_IBV_COUNTER, counter: points }];
    const make = () => deviceFlow(p, TO_FRAME, actions, matcher);
    if (!p.manual) {
      p.refuses("EOPNOTSUPP", make);
      return;
    }
    make();
    for (const frame of [FRAME, FRAME, OTHER]) p.received(frame);
    p.gets(p.received(FRAME), "a deliver");
    same(valuesOf(points).join(), "3,192", "points");
  },
  "COUNTERS_DEVX in NIC_RX, NIC_TX, FDB": (p) => {
    p.listen("b", 0);
    const made: FlowCounter[] = [NIC_RX, NIC_TX, FDB].map((type) => {
      const counter = p.counters();
      deviceFlow(p, TO_FRAME, [counted(counter), type === NIC_RX ? TO(p, "a") : DROPS], inTable(type));
      return counter;
    });
    const [received, sent, between] = made as [FlowCounter, FlowCounter, FlowCounter];
    p.gets(p.sent(FRAME), "drop drop_action");
    p.gets(p.received(FRAME), "drop drop_action");
    p.gets(p.received(OTHER), "b deliver");
    p.counts(sent, 1, 64);
    p.counts(between, 1, 64);
    p.counts(received, 0, 0);
    p.refuses("EBUSY", () => dv.mlx5dv_devx_obj_destroy(received));
  },
  COUNTERS_DEVX_WITH_OFFSET: (p) => {
    const bulk = p.counters(2);
    deviceFlow(p, TO_FRAME, [counted(bulk, 3), TO(p, "a")]);
    deviceFlow(p, TO_OTHER, [counted(bulk), TO(p, "b")]);
    p.gets(p.received(FRAME), "a deliver");
    p.gets(p.received(FRAME), "a deliver");
    p.gets(p.received(OTHER), "b deliver");
    p.counts(bulk, 1, 64);
    p.counts(bulk, 2, 128, 3);
    const matcher = flowMatcher(p);
    p.refuses("EINVAL", () => deviceFlow(p, {}, [counted(bulk, 4), TO(p, "a")], matcher));
  },
  "a counter without an end": (p) => {
    const [counter, matcher] = [p.counters(), flowMatcher(p)];
    const make = () => deviceFlow(p, {}, [counted(counter)], matcher);
    deviceFlow(p, {}, [counted(counter)], inTable(NIC_TX));
    p.gets(p.sent(FRAME), "port:1 transmit");
    p.counts(counter, 1, 64);
    if (p.manual) make();
    else p.refuses("EINVAL", make);
  },
  TAG: (p) => {
    deviceFlow(p, TO_FRAME, [tagged(0xffffff), TO(p, "a")]);
    p.gets(p.received(FRAME), "a16777215 deliver");
    const matcher = flowMatcher(p);
    p.refuses("EINVAL", () => deviceFlow(p, {}, [tagged(0x1000000), TO(p, "a")], matcher));
  },
  "TAG in FDB": (p) => {
    p.listen("a", 0);
    const matcher = flowMatcher(p, TO_FRAME, inTable(FDB));
    const make = () => deviceFlow(p, TO_FRAME, [tagged(5), DROPS], matcher);
    if (p.manual) {
      p.refuses("EINVAL", make);
      return;
    }
    make();
    p.gets(p.received(OTHER), "a deliver");
    p.gets(p.received(FRAME), "drop drop_action");
  },
  "IBV_FLOW_ACTION: header changes in NIC_RX and NIC_TX": (p) => {
    deviceFlow(p, {}, [modify(p, NIC_RX), TO(p, "a")]);
    p.bytes(p.received(FRAME), changed(FRAME, 4, 0xab, 0xcd));
    deviceFlow(p, {}, [modify(p, NIC_TX)], inTable(NIC_TX));
    p.bytes(p.sent(OTHER), changed(FRAME, 4, 0xab, 0xcd));
  },
  "IBV_FLOW_ACTION: a register": (p) => {
    deviceFlow(p, {}, [modify(p, NIC_RX, REG_C0), TO(p, "a")]);
    p.registers(p.received(FRAME), { C0: 5 });
  },
  "IBV_FLOW_ACTION: decapsulation in NIC_RX": (p) => {
    deviceFlow(p, {}, [reformat(p, DECAP_L2, null, NIC_RX), TO(p, "a")]);
    p.bytes(p.received(VXLAN), INNER);
    p.gets(p.received(FRAME), "drop not_a_tunnel");
  },
  "IBV_FLOW_ACTION: encapsulation in NIC_TX": (p) => {
    const counter = p.counters();
    const actions = [reformat(p, ENCAP_L2, GRE_DATA, NIC_TX), modify(p, NIC_TX), counted(counter)];
    deviceFlow(p, {}, actions, inTable(NIC_TX));
    p.bytes(p.sent(FRAME), encapsulated(GRE_DATA, changed(FRAME, 4, 0xab, 0xcd)));
    p.counts(counter, 1, 64);
  },
  "IBV_FLOW_ACTION in FDB": (p) => {
    const [matcher, set] = [flowMatcher(p, {}, inTable(FDB)), modify(p, FDB)];
    const make = () => deviceFlow(p, {}, [set], matcher);
    if (!p.manual) {
      p.refuses("EINVAL", make);
      return;
    }
    p.listen("a", 0);
    make();
    p.bytes(p.sent(FRAME, 1), changed(FRAME, 4, 0xab, 0xcd));
  },
  "IBV_FLOW_ACTION of another type of table, in RDMA tables": (p) => {
    const [a, set, other] = [TO(p, "a"), modify(p, NIC_RX), modify(p, NIC_TX)];
    const [matcher, rdma] = [flowMatcher(p), flowMatcher(p, {}, inTable(RDMA_RX))];
    p.refuses("EINVAL", () => deviceFlow(p, {}, [a, other], matcher));
    p.refuses("EINVAL", () => deviceFlow(p, {}, [a, set], rdma));
  },
};

const LIST: Readonly<Record<string, Run>> = {
  "two ends, two counters, two tags": (p) => {
    const matcher = flowMatcher(p);
    const [a, counter] = [TO(p, "a"), p.counters(1)];
    const list =
      (...actions: dv.FlowActionAttr[]) =>
      () =>
        deviceFlow(p, {}, actions, matcher);
    const twice = p.manual ? "EINVAL" : "EOPNOTSUPP";
    for (const end of [a, DROPS, MISSES]) p.refuses(twice, list(end, DROPS));
    p.refuses(twice, list(a, counted(counter), counted(counter, 1)));
    p.refuses("EINVAL", list(a, tagged(1), tagged(1)));
    p.refuses(twice, list(a, { type: 9 }));
  },
  "flow actions: two of a kind, three, nine": (p) => {
    const [a, set] = [TO(p, "a"), modify(p, NIC_RX)];
    const made = (count: number) => {
      const matcher = flowMatcher(p, {}, { priority: count });
      return () => deviceFlow(p, {}, [a, ...Array.from({ length: count }, () => set)], matcher);
    };
    p.refuses(p.manual ? "EINVAL" : "EOPNOTSUPP", made(9));
    for (const count of [2, 3]) {
      if (p.manual) made(count)();
      else p.refuses("EINVAL", made(count));
    }
    made(1)();
    p.bytes(p.received(FRAME), changed(FRAME, 4, 0xab, 0xcd));
  },
  num_actions: (p) => {
    const matcher = flowMatcher(p);
    const actions = [TO(p, "a"), DROPS];
    const make = (count: number) => dv.mlx5dv_create_flow(matcher, new Uint8Array(4), count, actions);
    p.refuses("EINVAL", () => make(3));
    make(1);
    p.gets(p.received(FRAME), "a deliver");
  },
  "value outside the mask, another size": (p) => {
    const matcher = flowMatcher(p, TO_FRAME);
    const { value } = dv.matchParameters({ ...TO_FRAME, "outer.smac": "02:00:00:00:00:02" }, { root: true });
    const make = (bytes: dv.FlowMatchParameters) => () => dv.mlx5dv_create_flow(matcher, bytes, 1, [DROPS]);
    p.refuses("EINVAL", make(value));
    if (!p.manual) p.refuses("EINVAL", make(new Uint8Array(513)));
    if (!p.manual) p.refuses("EINVAL", make(new Uint8Array()));
  },
  "six bytes of a MAC": (p) => {
    const source = FRAME.slice(6, 12);
    const matcher = dv.mlx5dv_create_flow_matcher(p.context(), {
      match_mask: new Uint8Array(6).fill(0xff),
      match_criteria_enable: 1,
    });
    dv.mlx5dv_create_flow(matcher, source, 1, [TO(p, "a")]);
    p.gets(p.received(FRAME), "a deliver");
    p.refuses("EINVAL", () => dv.mlx5dv_create_flow(matcher, new Uint8Array(7).fill(1), 1, [DROPS]));
  },
  "the C struct as bytes": (p) => {
    const matcher = flowMatcher(p, TO_FRAME);
    const { value } = dv.matchParameters(TO_FRAME, { root: true });
    const bytes = new Uint8Array(8 + 64);
    bytes[0] = 64;
    bytes.set(value.match_buf.subarray(0, 64), 8);
    dv.mlx5dv_create_flow(matcher, bytes, 1, [TO(p, "a")]);
    p.gets(p.received(FRAME), "a deliver");
  },
  "priority beyond 15": (p) => {
    const [a, matcher] = [TO(p, "a"), flowMatcher(p, {}, { priority: 16 })];
    const make = () => deviceFlow(p, {}, [a], matcher);
    if (!p.manual) p.refuses("ENOMEM", make);
    else make();
    deviceFlow(p, {}, [TO(p, "b")], { priority: 15 });
    p.gets(p.received(FRAME), "b deliver");
  },
  "without CAP_NET_RAW, without managed flow steering": async (first) => {
    const bare = v.ibv_open_device(first.device, { cap_net_raw: false });
    const matcher = flowMatcher(first, {}, {}, bare);
    first.refuses("EPERM", () => deviceFlow(first, {}, [DROPS], matcher));
    const p = await first.another({ managedFlowSteering: false });
    const without = flowMatcher(p);
    p.refuses(p.manual ? "ENOSYS" : "EOPNOTSUPP", () => deviceFlow(p, {}, [DROPS], without));
  },
};

const ORDER: Readonly<Record<string, Run>> = {
  "identical flows: each queue gets a copy": (p) => {
    const [a, again, b] = ["a", "a", "b"].map((name) => deviceFlow(p, TO_FRAME, [TO(p, name)]));
    p.gets(p.received(FRAME), "a b deliver");
    v.ibv_destroy_flow(a!);
    p.gets(p.received(FRAME), "a b deliver");
    v.ibv_destroy_flow(again!);
    p.gets(p.received(FRAME), "b deliver");
    v.ibv_destroy_flow(b!);
    p.gets(p.received(FRAME), "miss no_rule");
  },
  "flows for the same frames that do something else": (p) => {
    deviceFlow(p, TO_FRAME, [TO(p, "a"), tagged(1)]);
    const [matcher, set] = [flowMatcher(p, TO_FRAME), modify(p, NIC_RX)];
    const table = flowTable(p);
    for (const actions of [[DROPS], [TO(p, "b"), tagged(2)], [TO(p, "b"), set]]) {
      p.refuses("EEXIST", () => deviceFlow(p, TO_FRAME, actions, matcher));
    }
    deviceFlow(p, TO_FRAME, [INTO(table)], matcher);
    const second = flowTable(p);
    p.refuses("EEXIST", () => deviceFlow(p, TO_FRAME, [INTO(second)], matcher));
    same(outcomeText(p.received(FRAME)), "(a1) drop table_miss", "outcome");
  },
  "among flows of the verbs and rules of the root table": (p) => {
    const rule = p.rule(p.table(p.rx, 0), [p.toQueue("r")], {}, 2);
    const attr = { type: v.IBV_FLOW_ATTR_NORMAL, port: 1, priority: 3, specs: [DROP] as v.FlowSpec[] };
    const verbs = v.ibv_create_flow(p.queue("v"), attr);
    deviceFlow(p, {}, [TO(p, "a")], { priority: 4 });
    const before = deviceFlow(p, {}, [TO(p, "b")], { priority: 1 });
    p.gets(p.received(FRAME), "b deliver");
    v.ibv_destroy_flow(before);
    p.gets(p.received(FRAME), "r deliver");
    dv.mlx5dv_dr_rule_destroy(rule);
    p.gets(p.received(FRAME), "drop drop_action");
    v.ibv_destroy_flow(verbs);
    p.gets(p.received(FRAME), "a deliver");
  },
  "for multicast alone": (p) => {
    const group = changed(FRAME, 0, 1);
    deviceFlow(p, { "outer.dmac": "01:00:00:00:00:01" }, [TO(p, "m")]);
    p.gets(p.received(group), "m deliver");
    deviceFlow(p, {}, [TO(p, "a")], { priority: 15 });
    p.gets(p.received(group), p.manual ? "m deliver" : "a deliver");
  },
  "of a flow table that leads back by TIR": (p) => {
    const table = flowTable(p);
    deviceFlow(p, TO_FRAME, [INTO(table), tagged(7)]);
    flowEntry(p, table, leads(dv.MLX5_FLOW_DESTINATION_TYPE_TIR, tirOf(p, "a").id));
    p.gets(p.received(FRAME), "a7 deliver");
  },
};

export const CREATE_FLOW_CASES: readonly Case[] = [...casesOf("mlx5dv_create_flow", { ...BESIDE, ...LIST, ...ORDER })];
