/** The calls of a program, one of each kind, with arguments that are right. */
import { MessageWriter, type HandleName } from "../../../../src/calls/index.js";
import * as dv from "../../../../src/mlx5dv/index.js";
import * as v from "../../../../src/verbs/index.js";
import type { Values } from "./callMessages.js";

/** Addresses in the memory of the program. */
export interface Places {
  readonly ring: number;
  readonly otherRing: number;
  readonly buffer: number;
  readonly size: number;
}

export interface ProgramCall {
  readonly call: string;
  /** The kind of the object that it makes, and the name by which later calls find it. */
  readonly makes?: readonly [HandleName, string];
  readonly values: (number: (name: string) => number, lkey: number) => Values;
}

const COOKIE = 0x1000;

export function programCalls({ ring, otherRing, buffer, size }: Places): readonly ProgramCall[] {
  const made = (kind: HandleName, name: string, call: string, values: ProgramCall["values"]): ProgramCall => ({
    call,
    makes: [kind, name],
    values,
  });
  const does = (call: string, values: ProgramCall["values"]): ProgramCall => ({ call, values });
  const { match_criteria_enable, mask, value } = dv.matchParameters({
    "outer.ip_version": 4,
    "outer.ipv4_dst": "10.0.0.1",
  });
  const match = ({ match_buf }: { match_buf: Uint8Array }): Values => ({ match_sz: match_buf.length, match_buf });
  const command = (kind: string, bytes: Uint8Array): ProgramCall =>
    made("mlx5dv_devx_obj", kind, "mlx5dv_devx_obj_create", (n) => ({
      context: n("context"),
      in: bytes,
      inlen: bytes.length,
      outlen: 16,
    }));
  const cap = { max_send_wr: 8, max_recv_wr: 8, max_send_sge: 2, max_recv_sge: 2, max_inline_data: 64 };
  const pair = (name: string, qp_type: number): ProgramCall[] => [
    made("ibv_qp", name, "ibv_create_qp", (n) => ({
      pd: n("pd"),
      qp_init_attr: { send_cq: n("cq"), recv_cq: n("cq"), cap, qp_type, sq_sig_all: 1 },
      cookie: COOKIE,
    })),
    ...[1, 2, 3].map((qp_state) =>
      does("ibv_modify_qp", (n) => ({
        qp: n(name),
        attr: { qp_state, port_num: 1, qkey: 1, sq_psn: 1 },
        attr_mask:
          1 |
          (qp_state === 1
            ? qp_type === v.IBV_QPT_UD
              ? 0x70
              : 0x20
            : qp_type === v.IBV_QPT_UD && qp_state === 3
              ? 0x10000
              : 0),
      })),
    ),
  ];
  return [
    made("ibv_context", "context", "mlx5dv_open_device", () => ({ device: 0, attr: { flags: 1 } })),
    made("ibv_pd", "pd", "ibv_alloc_pd", (n) => ({ context: n("context") })),
    made("ibv_mr", "mr", "ibv_reg_mr", (n) => ({ pd: n("pd"), addr: buffer, length: size, access: 7, iova: buffer })),
    made("ibv_comp_channel", "channel", "ibv_create_comp_channel", (n) => ({ context: n("context") })),
    made("ibv_cq", "cq", "ibv_create_cq", (n) => ({
      context: n("context"),
      cqe: 16,
      channel: n("channel"),
      ring,
      cookie: COOKIE,
    })),
    made("ibv_cq", "cq_ex", "ibv_create_cq_ex", (n) => ({
      context: n("context"),
      cq_attr: { cqe: 16, wc_flags: 0 },
      ring: otherRing,
      cookie: COOKIE,
    })),
    does("ibv_req_notify_cq", (n) => ({ cq: n("cq") })),
    ...pair("raw", v.IBV_QPT_RAW_PACKET),
    ...pair("ud", v.IBV_QPT_UD),
    made("ibv_srq", "srq", "ibv_create_srq", (n) => ({
      pd: n("pd"),
      srq_init_attr: { attr: { max_wr: 8, max_sge: 1 } },
      cookie: COOKIE,
    })),
    made("ibv_wq", "wq", "ibv_create_wq", (n) => ({
      context: n("context"),
      wq_init_attr: { wq_type: 0, max_wr: 8, max_sge: 1, pd: n("pd"), cq: n("cq") },
      cookie: COOKIE,
    })),
    does("ibv_modify_wq", (n) => ({ wq: n("wq"), wq_attr: { attr_mask: 1, wq_state: 1 } })),
    made("ibv_rwq_ind_table", "ind_table", "ibv_create_rwq_ind_table", (n) => ({
      context: n("context"),
      init_attr: { ind_tbl: [n("wq")] },
    })),
    made("ibv_qp", "rss", "ibv_create_qp_ex", (n) => ({
      context: n("context"),
      qp_attr: {
        qp_type: v.IBV_QPT_RAW_PACKET,
        comp_mask: 0x31,
        pd: n("pd"),
        rwq_ind_tbl: n("ind_table"),
        rx_hash_conf: {
          rx_hash_function: 1,
          rx_hash_key_len: 40,
          rx_hash_key: new Uint8Array(40),
          rx_hash_fields_mask: 3,
        },
      },
    })),
    made("ibv_ah", "ah", "ibv_create_ah", (n) => ({
      pd: n("pd"),
      attr: { is_global: 1, port_num: 1, grh: { dgid: { raw: GID }, hop_limit: 1 } },
    })),
    made("ibv_flow", "flow", "ibv_create_flow", (n) => ({ qp: n("raw"), flow: FLOW, size: FLOW.length })),
    made("ibv_counters", "counters", "ibv_create_counters", (n) => ({ context: n("context"), init_attr: {} })),
    does("ibv_attach_counters_point_flow", (n) => ({ counters: n("counters"), attr: { index: 0 } })),
    does("ibv_read_counters", (n) => ({ counters: n("counters"), bytes: 16, flags: 1 })),
    made("ibv_flow_action", "esp", "ibv_create_flow_action_esp", (n) => ({
      context: n("context"),
      esp: { esp_attr: { spi: 1 }, keymat_len: 64, keymat_ptr: KEY },
    })),
    made("mlx5dv_flow_matcher", "flow_matcher", "mlx5dv_create_flow_matcher", (n) => ({
      context: n("context"),
      matcher_attr: { match_criteria_enable, match_mask: match(mask), priority: 1 },
    })),
    made("ibv_flow", "dv_flow", "mlx5dv_create_flow", (n) => ({
      matcher: n("flow_matcher"),
      match_value: match(value),
      num_actions: 1,
      actions_attr: [{ type: 0, qp: n("raw") }],
    })),
    made("mlx5dv_dr_domain", "domain", "mlx5dv_dr_domain_create", (n) => ({ ctx: n("context") })),
    made("mlx5dv_dr_table", "table", "mlx5dv_dr_table_create", (n) => ({ domain: n("domain"), level: 1 })),
    made("mlx5dv_dr_matcher", "matcher", "mlx5dv_dr_matcher_create", (n) => ({
      table: n("table"),
      match_criteria_enable,
      mask: match(mask),
    })),
    made("mlx5dv_dr_action", "drop", "mlx5dv_dr_action_create_drop", () => ({})),
    made("mlx5dv_dr_action", "to_qp", "mlx5dv_dr_action_create_dest_ibv_qp", (n) => ({ ibqp: n("raw") })),
    made("mlx5dv_dr_action", "to_table", "mlx5dv_dr_action_create_dest_table", (n) => ({ table: n("table") })),
    made("mlx5dv_dr_action", "array", "mlx5dv_dr_action_create_dest_array", (n) => ({
      domain: n("domain"),
      num_dest: 2,
      dests: [
        { type: 0, dest: n("to_qp") },
        { type: 0, dest: n("to_table") },
      ],
    })),
    made("mlx5dv_dr_action", "meter", "mlx5dv_dr_action_create_flow_meter", (n) => ({
      attr: {
        next_table: n("table"),
        active: 1,
        reg_c_index: 1,
        flow_meter_parameter_sz: METER.length,
        flow_meter_parameter: METER,
      },
    })),
    made("mlx5dv_dr_action", "modify", "mlx5dv_dr_action_create_modify_header", (n) => ({
      domain: n("domain"),
      actions_sz: 8,
      actions: Uint8Array.of(0x10, 0x0e, 0, 8, 0, 0, 0, 7),
    })),
    made("mlx5dv_dr_rule", "rule", "mlx5dv_dr_rule_create", (n) => ({
      matcher: n("matcher"),
      value: match(value),
      num_actions: 1,
      actions: [n("drop")],
    })),
    does("mlx5dv_dump_dr_domain", (n) => ({ domain: n("domain") })),
    command("counter", dv.allocFlowCounterCommand()),
    command("aso", dv.createAsoCommand(dv.MLX5_OBJ_TYPE_CONN_TRACK_ASO)),
    command("flow_table", dv.createFlowTableCommand(0, { level: 2 })),
    does("mlx5dv_devx_general_cmd", (n) => {
      const query = dv.queryHcaCapCommand(0, true);
      return { context: n("context"), in: query, inlen: query.length, outlen: 4112 };
    }),
    does("post_recv", (n, lkey) =>
      posted(n("raw"), (to) => entries(to, [{ address: buffer, length: 128, lkey }]), "receive"),
    ),
    does("post_send", (n, lkey) =>
      posted(n("raw"), (to) =>
        send(to, 0, () => entries(to, [{ address: buffer, length: 64, lkey }]), new Uint8Array(64).fill(0xff)),
      ),
    ),
    does("post_send", (n, lkey) =>
      posted(n("ud"), (to) =>
        send(to, n("ah"), () => entries(to, [{ address: buffer, length: 16, lkey }]), new Uint8Array(16)),
      ),
    ),
    does("mlx5dv_dr_domain_sync", (n) => ({ domain: n("domain"), flags: 1 })),
    does("ibv_query_qp", (n) => ({ qp: n("raw") })),
    does("ibv_resize_cq", (n) => ({ cq: n("cq"), cqe: 16, ring: otherRing })),
  ];
}

/** A flow to UDP port 4791: the attributes, and a spec of UDP. */
const FLOW = Uint8Array.from([
  ...[0, 0, 0, 0, 0, 0, 0, 0, 36, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0],
  ...[0x41, 0, 0, 0, 16, 0, 0x12, 0xb7, 0, 0, 0xff, 0xff, 0, 0, 0, 0],
]);
/** That of a port with the MAC 02:00:00:00:00:01. */
const GID = Uint8Array.of(0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xfe, 0, 0, 1);
/** struct ib_uverbs_flow_action_esp_keymat_aes_gcm: icv_len 16, key_len 16. */
const KEY = new Uint8Array(64);
KEY[16] = 16;
KEY[20] = 16;
const METER = dv.flowMeterBytes({ cbs_mantissa: 1, cir_mantissa: 1 });

/** The requests of a post. */
function posted(qp: number, request: (to: MessageWriter) => void, kind: "send" | "receive" = "send"): Values {
  const writer = new MessageWriter();
  if (kind === "receive") writer.wide(1);
  request(writer);
  const requests = writer.framed().subarray(4);
  return { qp, srq: qp, wq: qp, requests, size: requests.length };
}

interface Entry {
  readonly address: number;
  readonly length: number;
  readonly lkey: number;
}

function entries(to: MessageWriter, list: readonly Entry[]): void {
  to.u32(list.length);
  for (const { address, length, lkey } of list) {
    to.wide(address);
    to.u32(length);
    to.u32(lkey);
  }
}

/** A receive request with entries that no region has, however many and long they are. */
export function hugeReceive(qp: number, count: number, length: number): Values {
  const list = Array.from({ length: count }, () => ({ address: 0, length, lkey: 1 }));
  return posted(qp, (to) => entries(to, list), "receive");
}

function send(to: MessageWriter, ah: number, list: () => void, data: Uint8Array): void {
  to.wide(0);
  for (const word of [v.IBV_WR_SEND, v.IBV_SEND_SIGNALED, 0]) to.u32(word);
  to.wide(0);
  to.u32(0);
  to.wide(0);
  to.wide(0);
  for (const word of [ah, ah === 0 ? 0 : 1, 1]) to.u32(word);
  list();
  to.bytes(data);
}
