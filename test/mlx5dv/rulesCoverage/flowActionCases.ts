/** Cases for flow actions, which change the frames of flows as direct rules do. */
import * as dv from "../../../src/mlx5dv/index.js";
import * as v from "../../../src/verbs/index.js";
import { changed, encapsulated, FRAME, GRE_DATA, INNER, OTHER, VXLAN } from "./frames.js";
import { casesOf, type Case, type Run } from "./record.js";

const DECAP_L2 = dv.MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2;
const ENCAP_L2 = dv.MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL;
const DMAC: dv.ModifyActions = [{ type: "set", field: "OUT_DMAC_15_0", data: 0xabcd }];
const WITH_DMAC = changed(FRAME, 4, 0xab, 0xcd);

const { MLX5DV_FLOW_TABLE_TYPE_NIC_RX: FT_RX, MLX5DV_FLOW_TABLE_TYPE_NIC_TX: FT_TX } = dv;
const EGRESS = v.IBV_FLOW_ATTR_FLAGS_EGRESS;

const FLOW_MODIFY: Readonly<Record<string, Run>> = {
  "in a flow": (p) => {
    const action = dv.mlx5dv_create_flow_action_modify_header(p.context(), undefined, DMAC, FT_RX);
    const flow = p.flow("a", [action]);
    p.bytes(p.received(FRAME), WITH_DMAC);
    p.refuses("EBUSY", () => v.ibv_destroy_flow_action(action));
    v.ibv_destroy_flow(flow as never);
    v.ibv_destroy_flow_action(action);
  },
  "in an EGRESS flow": (p) => {
    p.flow("a", [dv.mlx5dv_create_flow_action_modify_header(p.context(), undefined, DMAC, FT_TX)], EGRESS);
    p.bytes(p.sent(FRAME), WITH_DMAC);
  },
  "of another direction": (p) => {
    const action = dv.mlx5dv_create_flow_action_modify_header(p.context(), undefined, DMAC, FT_TX);
    p.queue("a");
    p.refuses("EINVAL", () => p.flow("a", [action]));
  },
  "size, type of table": (p) => {
    const context = p.context();
    for (const size of [0, 4]) {
      p.refuses("EINVAL", () => dv.mlx5dv_create_flow_action_modify_header(context, size, new Uint8Array(8), FT_RX));
    }
    p.refuses("EINVAL", () => dv.mlx5dv_create_flow_action_modify_header(context, undefined, DMAC, 7));
  },
};

const FLOW_REFORMAT: Readonly<Record<string, Run>> = {
  "decapsulation in a flow": (p) => {
    const action = dv.mlx5dv_create_flow_action_packet_reformat(p.context(), 0, null, DECAP_L2, FT_RX);
    p.flow("a", [action]);
    p.bytes(p.received(VXLAN), INNER);
    p.refuses("EBUSY", () => v.ibv_destroy_flow_action(action));
  },
  "encapsulation in an EGRESS flow": (p) => {
    const make = dv.mlx5dv_create_flow_action_packet_reformat;
    p.flow("a", [make(p.context(), undefined, GRE_DATA, ENCAP_L2, FT_TX)], EGRESS);
    p.bytes(p.sent(OTHER), encapsulated(GRE_DATA, OTHER));
  },
  "the other way round": (p) => {
    const context = p.context();
    const make = (type: number, data: Uint8Array | null, ft_type: number) => () =>
      dv.mlx5dv_create_flow_action_packet_reformat(context, undefined, data, type, ft_type);
    if (!p.manual) {
      p.refuses("EOPNOTSUPP", make(ENCAP_L2, GRE_DATA, FT_RX));
      p.refuses("EOPNOTSUPP", make(DECAP_L2, null, FT_TX));
      return;
    }
    p.flow("a", [make(ENCAP_L2, GRE_DATA, FT_RX)()]);
    p.bytes(p.received(FRAME), encapsulated(GRE_DATA, FRAME));
  },
  "data and size": (p) => {
    const context = p.context();
    const make = dv.mlx5dv_create_flow_action_packet_reformat;
    p.refuses("EINVAL", () => make(context, 0, GRE_DATA, ENCAP_L2, FT_TX));
    p.refuses("EINVAL", () => make(context, 8, null, ENCAP_L2, FT_TX));
    p.refuses("EINVAL", () => make(context, 0, null, ENCAP_L2, FT_TX));
  },
};

export const FLOW_ACTION_CASES: readonly Case[] = [
  ...casesOf("mlx5dv_create_flow_action_modify_header", FLOW_MODIFY),
  ...casesOf("mlx5dv_create_flow_action_packet_reformat", FLOW_REFORMAT),
];
