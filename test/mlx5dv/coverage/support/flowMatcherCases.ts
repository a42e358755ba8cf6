/** Cases for mlx5dv_create_flow_matcher and mlx5dv_create_steering_anchor. */
import * as dv from "../../../../src/mlx5dv/index.js";
import { buildFrame } from "../../../../src/packet/index.js";
import * as v from "../../../../src/verbs/index.js";
import {
  DROPS,
  FDB,
  inTable,
  NIC_RX,
  NIC_TX,
  ofPort,
  RDMA_RX,
  RDMA_TX,
  TRANSPORT_RX,
  TRANSPORT_TX,
} from "../../support/createFlow.js";
import {
  datagrams,
  deviceFlow,
  entryOf,
  flowEntry,
  flowMatcher,
  flowTable,
  INTO,
  leads,
  TO,
  TO_FRAME,
  TO_OTHER,
} from "./flows.js";
import { changed, FRAME, OTHER, VXLAN } from "./frames.js";
import { casesOf, same, type Case, type Probe, type Run } from "./record.js";

const ethernet = { header: "ethernet" } as const;
const ipv4 = { header: "ipv4" } as const;
const MPLS = buildFrame([ethernet, { header: "mpls", label: 0x12345 }, ipv4, { header: "tcp" }]);
const ICMP = buildFrame([ethernet, ipv4, { header: "icmp", type: 8 }]);
const ROCE = buildFrame([ethernet, ipv4, { header: "udp", destination_port: 4791 }, new Uint8Array(24)]);
const PARSER = { samples: [{ id: 3, header: "ethernet", level: "outer", offset: 2 }] } as const;

/** A field matches the frame by its value, and does not match with the lowest bit inverted. */
const field =
  (name: string, value: number, frame: Uint8Array, beside: Record<string, number> = {}): Run =>
  async (first) => {
    const p = await first.another({ parser: PARSER });
    const matcher = flowMatcher(p, { ...beside, [name]: value });
    deviceFlow(p, { ...beside, [name]: (value ^ 1) >>> 0 }, [TO(p, "b")], matcher);
    p.gets(p.received(frame), "miss no_rule");
    deviceFlow(p, { ...beside, [name]: value }, [TO(p, "a")], matcher);
    p.gets(p.received(frame), "a deliver");
  };

const MATCHER: Readonly<Record<string, Run>> = {
  "group outer": field("outer.tcp_dport", 80, FRAME),
  "group misc": field("misc.vxlan_vni", 0x1234, VXLAN),
  "group inner": field("inner.ethertype", 0x0800, VXLAN),
  "group misc2": field("misc2.outer_first_mpls_label", 0x12345, MPLS),
  "group misc3": field("misc3.icmp_type", 8, ICMP),
  "group misc4": field("misc4.prog_sample_field_value_3", 1, FRAME),
  "group misc5": field("misc5.tunnel_header_0", 0x0800_0000, VXLAN),
  NIC_RX: (p) => {
    deviceFlow(p, {}, [TO(p, "a")], inTable(NIC_RX));
    p.gets(p.received(FRAME), "a deliver");
  },
  "NIC_TX, by its type and by EGRESS": (p) => {
    deviceFlow(p, TO_OTHER, [DROPS], inTable(NIC_TX));
    deviceFlow(p, TO_FRAME, [DROPS], { flags: v.IBV_FLOW_ATTR_FLAGS_EGRESS, priority: 1 });
    for (const frame of [FRAME, OTHER]) p.gets(p.sent(frame), "drop drop_action");
    p.gets(p.sent(changed(FRAME, 5, 3)), "port:1 transmit");
  },
  FDB: (p) => {
    p.listen("a", 0);
    deviceFlow(p, TO_OTHER, [DROPS], inTable(FDB));
    for (const outcome of [p.received(OTHER), p.sent(OTHER), p.sent(OTHER, 1)]) p.gets(outcome, "drop drop_action");
    for (const outcome of [p.received(FRAME), p.sent(FRAME, 1)]) p.gets(outcome, "a deliver");
  },
  "FDB of a VF": (p) => {
    const matcher = flowMatcher(p, {}, inTable(FDB), p.context(1));
    p.refuses("EOPNOTSUPP", () => dv.mlx5dv_create_flow(matcher, null, 1, [DROPS]));
  },
  "RDMA_RX: RoCE, before NIC_RX": (p) => {
    deviceFlow(p, {}, [TO(p, "b")]);
    deviceFlow(p, {}, [TO(p, "a")], inTable(RDMA_RX));
    p.gets(p.received(ROCE), "a deliver");
    p.gets(p.received(FRAME), "b deliver");
  },
  "RDMA_TX: what datagrams become": (p) => sends(p, inTable(RDMA_TX)),
  "RDMA_TRANSPORT_RX: RoCE of a port": (p) => {
    deviceFlow(p, {}, [TO(p, "a")]);
    deviceFlow(p, {}, [TO(p, "b")], ofPort(TRANSPORT_RX, 2));
    p.gets(p.received(ROCE, 1), "a deliver");
    p.gets(p.received(ROCE, 2), "b deliver");
  },
  "RDMA_TRANSPORT_TX: what datagrams of a port become": (p) => {
    deviceFlow(p, {}, [DROPS], ofPort(TRANSPORT_TX, 2));
    sends(p, ofPort(TRANSPORT_TX, 1));
  },
  "RDMA_RX, RDMA_TRANSPORT_RX: flow tables of these types": (p) => {
    deviceFlow(p, {}, [TO(p, "a")]);
    const [first, second] = [flowTable(p, dv.FS_FT_RDMA_RX), flowTable(p, dv.FS_FT_RDMA_TRANSPORT_RX)];
    deviceFlow(p, {}, [INTO(first)], inTable(RDMA_RX));
    deviceFlow(p, {}, [INTO(second)], ofPort(TRANSPORT_RX, 2));
    flowEntry(p, first, { action: dv.MLX5_FLOW_CONTEXT_ACTION_ALLOW });
    p.gets(p.received(ROCE, 1), "a deliver");
    p.gets(p.received(ROCE, 2), "a deliver");
    flowEntry(p, second, { action: dv.MLX5_FLOW_CONTEXT_ACTION_DROP });
    p.gets(p.received(ROCE, 1), "a deliver");
    p.gets(p.received(ROCE, 2), "drop drop_action");
    p.refuses("EINVAL", () => deviceFlow(p, {}, [INTO(second)], inTable(RDMA_RX)));
  },
  "priority, lower first; then the older mask": (p) => {
    deviceFlow(p, {}, [TO(p, "a")], { priority: 2 });
    const older = deviceFlow(p, TO_FRAME, [TO(p, "b")], { priority: 1 });
    deviceFlow(p, { "outer.ip_protocol": 6 }, [TO(p, "c")], { priority: 1 });
    p.gets(p.received(FRAME), "b deliver");
    v.ibv_destroy_flow(older);
    p.gets(p.received(FRAME), "c deliver");
    p.refuses("EINVAL", () => flowMatcher(p, {}, { priority: 0x10000 }));
  },
  "comp_mask, type, flags": (p) => {
    const make = (attr: dv.FlowMatcherAttr) => () => flowMatcher(p, {}, attr);
    p.refuses("EOPNOTSUPP", make({ comp_mask: 4 }));
    p.refuses("EOPNOTSUPP", make({ type: v.IBV_FLOW_ATTR_SNIFFER }));
    p.refuses("EINVAL", make({ flags: v.IBV_FLOW_ATTR_FLAGS_DONT_TRAP }));
    p.refuses("EINVAL", make({ ...inTable(NIC_TX), flags: v.IBV_FLOW_ATTR_FLAGS_EGRESS }));
    // Without its bit ft_type is ignored.
    deviceFlow(p, {}, [TO(p, "a")], { ft_type: 99 });
    p.gets(p.received(FRAME), "a deliver");
  },
  "ft_type and ib_port": (p) => {
    const make = (attr: dv.FlowMatcherAttr) => () => flowMatcher(p, {}, attr);
    p.refuses("EINVAL", make(inTable(7)));
    p.refuses("EINVAL", make(inTable(TRANSPORT_RX)));
    p.refuses("EOPNOTSUPP", make(ofPort(NIC_RX, 1)));
    for (const port of [0, 3]) p.refuses("EINVAL", make(ofPort(TRANSPORT_RX, port)));
  },
  "criteria, size and reserved bits of the mask": (p) => {
    const make =
      (match_mask: Uint8Array | null, criteria = 0) =>
      () =>
        dv.mlx5dv_create_flow_matcher(p.context(), { match_mask, match_criteria_enable: criteria });
    if (!p.manual) p.refuses("EINVAL", make(new Uint8Array(513)));
    const reserved = new Uint8Array(64);
    reserved[24] = 1;
    p.refuses("EOPNOTSUPP", make(reserved, 1));
    if (p.manual) p.refuses("EINVAL", make(new Uint8Array(4), 0x80));
    else p.refuses("EINVAL", make(null));
    dv.mlx5dv_create_flow(make(new Uint8Array(512))(), new Uint8Array(512), 1, [TO(p, "a")]);
    p.gets(p.received(FRAME), "a deliver");
  },
};

/** A flow there drops the packets of datagrams; RoCE packets that return match. */
function sends(p: Probe, at: dv.FlowMatcherAttr): void {
  deviceFlow(p, {}, [TO(p, "a")], ofPort(TRANSPORT_RX, 2));
  const send = datagrams(p);
  const arrives = (): void => {
    const outcome = send();
    same(outcome !== undefined, true, "left");
    p.gets(outcome!, "a deliver");
  };
  arrives();
  const drops = deviceFlow(p, {}, [DROPS], at);
  same(send() === undefined, true, "kept");
  // It does not apply to raw frames.
  p.gets(p.sent(FRAME), "port:1 transmit");
  v.ibv_destroy_flow(drops);
  arrives();
}

const DESTROY_MATCHER: Readonly<Record<string, Run>> = {
  "with a flow": (p) => {
    const matcher = flowMatcher(p, TO_FRAME);
    const flow = deviceFlow(p, TO_FRAME, [TO(p, "a")], matcher);
    p.refuses("EBUSY", () => dv.mlx5dv_destroy_flow_matcher(matcher));
    p.gets(p.received(FRAME), "a deliver");
    v.ibv_destroy_flow(flow);
    same(dv.mlx5dv_destroy_flow_matcher(matcher), 0, "returned");
    p.refuses("EINVAL", () => dv.mlx5dv_destroy_flow_matcher(matcher));
    p.refuses("EINVAL", () => deviceFlow(p, TO_FRAME, [TO(p, "a")], matcher));
  },
};

const back = ({ id }: dv.SteeringAnchor): Partial<dv.FlowEntryFields> =>
  leads(dv.MLX5_FLOW_DESTINATION_TYPE_FLOW_TABLE, id);

/** Frames first enter a flow table, whose single entry leads to the anchor. */
const ANCHOR: Readonly<Record<string, Run>> = {
  "NIC_RX: the first rule of a priority": (p) => {
    const table = flowTable(p);
    deviceFlow(p, {}, [INTO(table)]);
    deviceFlow(p, {}, [TO(p, "a")], { priority: 4 });
    deviceFlow(p, {}, [TO(p, "b")], { priority: 5 });
    flowEntry(p, table, back(dv.mlx5dv_create_steering_anchor(p.context(), { ft_type: NIC_RX, priority: 5 })));
    p.gets(p.received(FRAME), "b deliver");
  },
  NIC_TX: (p) => {
    const table = flowTable(p, dv.FS_FT_NIC_TX);
    deviceFlow(p, {}, [INTO(table)], inTable(NIC_TX));
    flowEntry(p, table, back(dv.mlx5dv_create_steering_anchor(p.context(), { ft_type: NIC_TX, priority: 2 })));
    p.gets(p.sent(FRAME), "port:1 transmit");
    deviceFlow(p, TO_FRAME, [DROPS], { ...inTable(NIC_TX), priority: 3 });
    p.gets(p.sent(FRAME), "drop drop_action");
    p.gets(p.sent(OTHER), "port:1 transmit");
  },
  FDB: (p) => {
    p.listen("a", 0);
    const table = flowTable(p, dv.FS_FT_FDB);
    deviceFlow(p, {}, [INTO(table)], inTable(FDB));
    flowEntry(p, table, back(dv.mlx5dv_create_steering_anchor(p.context(), { ft_type: FDB, priority: 1 })));
    deviceFlow(p, TO_OTHER, [DROPS], { ...inTable(FDB), priority: 1 });
    p.gets(p.received(OTHER), "drop drop_action");
    p.gets(p.received(FRAME), "a deliver");
  },
  RDMA_RX: (p) => {
    const table = flowTable(p);
    deviceFlow(p, {}, [INTO(table)]);
    deviceFlow(p, {}, [TO(p, "a")], { ...inTable(RDMA_RX), priority: 1 });
    const anchor = dv.mlx5dv_create_steering_anchor(p.context(), { ft_type: RDMA_RX, priority: 0 });
    flowEntry(p, table, back(anchor));
    p.gets(p.received(ROCE), "a deliver");
  },
  "anchors of one place have one id": (p) => {
    const make = (priority: number) => dv.mlx5dv_create_steering_anchor(p.context(), { priority });
    const [one, again, other] = [make(1), make(1), make(2)];
    same([again.id === one.id, other.id === one.id].join(), "true,false", "ids");
    const table = flowTable(p);
    deviceFlow(p, {}, [INTO(table)]);
    deviceFlow(p, {}, [TO(p, "a")], { priority: 1 });
    flowEntry(p, table, back(one));
    dv.mlx5dv_destroy_steering_anchor(one);
    p.gets(p.received(FRAME), "a deliver");
  },
  "comp_mask, types, priorities": (p) => {
    const make =
      (attr: dv.SteeringAnchorAttr, vport = 0) =>
      () =>
        dv.mlx5dv_create_steering_anchor(p.context(vport), attr);
    p.refuses("EOPNOTSUPP", make({ comp_mask: 1 }));
    p.refuses("EINVAL", make({ ft_type: 7 }));
    for (const ft_type of [TRANSPORT_RX, TRANSPORT_TX]) p.refuses("EOPNOTSUPP", make({ ft_type }));
    p.refuses("EOPNOTSUPP", make({ ft_type: FDB }, 1));
    p.refuses("EINVAL", make({ priority: 0x10000 }));
    if (!p.manual) p.refuses("EINVAL", make({ priority: 16 }));
  },
  "without CAP_NET_RAW": (p) => {
    const context = v.ibv_open_device(p.device, { cap_net_raw: false });
    p.refuses("EPERM", () => dv.mlx5dv_create_steering_anchor(context, {}));
  },
};

const DESTROY_ANCHOR: Readonly<Record<string, Run>> = {
  "while entries lead to it": (p) => {
    const table = flowTable(p);
    deviceFlow(p, {}, [INTO(table)]);
    deviceFlow(p, {}, [TO(p, "a")], { priority: 1 });
    const anchor = dv.mlx5dv_create_steering_anchor(p.context(), { priority: 1 });
    const entry = flowEntry(p, table, back(anchor));
    p.refuses("EBUSY", () => dv.mlx5dv_destroy_steering_anchor(anchor));
    p.gets(p.received(FRAME), "a deliver");
    dv.mlx5dv_devx_obj_destroy(entry);
    same(dv.mlx5dv_destroy_steering_anchor(anchor), 0, "returned");
    p.refuses("EINVAL", () => dv.mlx5dv_destroy_steering_anchor(anchor));
    const again = dv.setFlowTableEntryCommand(entryOf(table, back(anchor)));
    p.fails("unknown_object", (output) => dv.mlx5dv_devx_obj_create(p.context(), again, undefined, output, undefined));
  },
};

export const FLOW_MATCHER_CASES: readonly Case[] = [
  ...casesOf("mlx5dv_create_flow_matcher", MATCHER),
  ...casesOf("mlx5dv_destroy_flow_matcher", DESTROY_MATCHER),
];

export const ANCHOR_CASES: readonly Case[] = [
  ...casesOf("mlx5dv_create_steering_anchor", ANCHOR),
  ...casesOf("mlx5dv_destroy_steering_anchor", DESTROY_ANCHOR),
];
