/** Cases for flow actions, which change the frames of flows as direct rules do. */
import * as dv from "../../../../src/mlx5dv/index.js";
import * as v from "../../../../src/verbs/index.js";
import vectors from "../../../vectors/esp-gcm.json" with { type: "json" };
import { changed, encapsulated, FRAME, GRE_DATA, INNER, joined, OTHER, summed, VXLAN } from "./frames.js";
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

const hex = (text: string): Uint8Array => Uint8Array.from(text.match(/../g) ?? [], (byte) => parseInt(byte, 16));
/** A case of draft-mcgrew-gcm-test-01: a packet after two bytes of padding. */
const SEALED = vectors.cases.find(({ n }) => n === 3)!;
const ESP: v.FlowActionEsp = {
  esp_attr: { flags: 0 },
  keymat_ptr: { salt: hex(SEALED.salt), icv_len: 16, aes_key: hex(SEALED.key) },
};
/** Ethernet and IPv4 before ESP. */
const carries = (...parts: readonly Uint8Array[]): Uint8Array => {
  const whole = joined(FRAME.subarray(0, 34), ...parts);
  return summed(changed(changed(whole, 16, (whole.length - 14) >> 8, (whole.length - 14) & 255), 23, 50));
};

const FLOW_ESP: Readonly<Record<string, Run>> = {
  "REQUIRE_METADATA: decrypted, and told behind the MACs": (p) => {
    const action_flags = dv.MLX5_IB_UAPI_FLOW_ACTION_FLAGS_REQUIRE_METADATA;
    const comp_mask = dv.MLX5DV_FLOW_ACTION_ESP_MASK_FLAGS;
    const action = dv.mlx5dv_create_flow_action_esp(p.context(), ESP, { comp_mask, action_flags });
    const specs: object[] = [
      { type: v.IBV_FLOW_SPEC_IPV4 },
      { type: v.IBV_FLOW_SPEC_ESP },
      { type: v.IBV_FLOW_SPEC_ACTION_HANDLE, action },
    ];
    const attr = { type: v.IBV_FLOW_ATTR_NORMAL, port: 1, specs: specs as v.FlowSpec[] };
    const flow = v.ibv_create_flow(p.queue("a"), attr);
    const [packet, plain] = [hex(SEALED.esp), hex(SEALED.plaintext)];
    const [head, payload] = [packet.subarray(0, 16), plain.subarray(0, plain.length - 4)];
    const opened = carries(head, payload);
    // Good, next header, SPI.
    const metadata = joined(Uint8Array.of(0x8c, 0xe4, 0x11, plain.at(-1) ?? 0), packet.subarray(0, 4));
    p.bytes(p.received(carries(packet)), joined(opened.subarray(0, 12), metadata, opened.subarray(12)));
    p.refuses("EBUSY", () => v.ibv_destroy_flow_action(action));
    v.ibv_destroy_flow(flow);
    v.ibv_destroy_flow_action(action);
  },
  "comp_mask, action_flags, full offload": (p) => {
    const make = (esp: v.FlowActionEsp, attr: dv.Mlx5FlowActionEsp) => () =>
      dv.mlx5dv_create_flow_action_esp(p.context(), esp, attr);
    p.refuses("EOPNOTSUPP", make(ESP, { comp_mask: 2 }));
    p.refuses("EOPNOTSUPP", make(ESP, { comp_mask: 1, action_flags: 2 }));
    const full = { ...ESP, esp_attr: { flags: v.IB_UVERBS_FLOW_ACTION_ESP_FLAGS_FULL_OFFLOAD } };
    p.refuses(p.manual ? "EINVAL" : "EOPNOTSUPP", make(full, { comp_mask: 1, action_flags: 1 }));
  },
};

export const FLOW_ACTION_CASES: readonly Case[] = [
  ...casesOf("mlx5dv_create_flow_action_modify_header", FLOW_MODIFY),
  ...casesOf("mlx5dv_create_flow_action_packet_reformat", FLOW_REFORMAT),
  ...casesOf("mlx5dv_create_flow_action_esp", FLOW_ESP),
];
