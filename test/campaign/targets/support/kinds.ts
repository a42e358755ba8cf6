/** Kinds of objects that come and go on a device, each after those that it needs. */
import type { Device } from "../../../../src/index.js";
import * as dv from "../../../../src/mlx5dv/index.js";
import { DevxFlowGroup } from "../../../../src/model/devx/flowTable.js";
import * as v from "../../../../src/verbs/index.js";
import { created } from "../../../mlx5dv/support/devx.js";
import { climb } from "../../../verbs/support/queuePairs.js";
import type { Random } from "../../../oracle/generate/random.js";

const RESULT_REGISTER = 1;
const CAP = { max_send_wr: 4, max_recv_wr: 4, max_send_sge: 1, max_recv_sge: 1, max_inline_data: 0 };

/** What stays as long as the device. */
export type Ground = ReturnType<typeof groundOf>;

export function groundOf(device: Device) {
  const context = dv.mlx5dv_open_device(device, { flags: dv.MLX5DV_CONTEXT_FLAGS_DEVX });
  const rx = dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
  const [pd, cq] = [v.ibv_alloc_pd(context), v.ibv_create_cq(context, 256)];
  return { device, context, rx, pd, cq };
}

/** An object of a kind that is there; `Missing` where there is none. */
export type Pick = <T extends Used>(kind: Kind<T>) => T;
export class Missing extends Error {}

/** An object, and how many others use it. */
export interface Used {
  readonly users: number;
}

export interface Kind<T extends Used> {
  readonly name: string;
  make(ground: Ground, random: Random, pick: Pick): T;
  destroy(one: T): unknown;
}

function kind<T extends Used>(name: string, make: Kind<T>["make"], destroy: Kind<T>["destroy"]): Kind<T> {
  return { name, make, destroy };
}

const address = (random: Random): string => `10.0.${random.below(4)}.${random.below(256)}`;

const queue = kind(
  "queue pair",
  ({ pd, cq }) => {
    const qp = v.ibv_create_qp(pd, {
      send_cq: cq,
      recv_cq: cq,
      cap: CAP,
      qp_type: v.IBV_QPT_RAW_PACKET,
      sq_sig_all: 0,
    });
    climb(qp);
    return qp;
  },
  v.ibv_destroy_qp,
);
const workQueue = kind(
  "work queue",
  ({ context, pd, cq }) => v.ibv_create_wq(context, { wq_type: v.IBV_WQT_RQ, max_wr: 4, max_sge: 1, pd, cq }),
  v.ibv_destroy_wq,
);
const verbsCounters = kind(
  "counters",
  ({ context }) => v.ibv_create_counters(context, { comp_mask: 0 }),
  v.ibv_destroy_counters,
);
const bulk = kind(
  "flow counter",
  ({ context }) => created(context, dv.allocFlowCounterCommand(1)),
  dv.mlx5dv_devx_obj_destroy,
);
const firstHit = kind(
  "first-hit object",
  ({ context }) => created(context, dv.createAsoCommand(dv.MLX5_OBJ_TYPE_FIRST_HIT_ASO)),
  dv.mlx5dv_devx_obj_destroy,
);
const connection = kind(
  "connection object",
  ({ context }) => created(context, dv.createAsoCommand(dv.MLX5_OBJ_TYPE_CONN_TRACK_ASO)),
  dv.mlx5dv_devx_obj_destroy,
);
const table = kind(
  "table",
  ({ rx }, random) => dv.mlx5dv_dr_table_create(rx, random.below(5)),
  dv.mlx5dv_dr_table_destroy,
);
const matcher = kind(
  "matcher",
  (_, random, pick) => {
    const { match_criteria_enable, mask } = dv.matchParameters({ "outer.ip_version": 4, "outer.ipv4_dst": "10.0.0.0" });
    return dv.mlx5dv_dr_matcher_create(pick(table), random.below(8), match_criteria_enable, mask);
  },
  dv.mlx5dv_dr_matcher_destroy,
);
const tag = kind("tag", (_, random) => dv.mlx5dv_dr_action_create_tag(random.below(1000)), dv.mlx5dv_dr_action_destroy);
const drop = kind("drop", () => dv.mlx5dv_dr_action_create_drop(), dv.mlx5dv_dr_action_destroy);
const count = kind(
  "count action",
  (_ground, _random, pick) => dv.mlx5dv_dr_action_create_flow_counter(pick(bulk), 0),
  dv.mlx5dv_dr_action_destroy,
);
const change = kind(
  "header change",
  ({ rx }, random) =>
    dv.mlx5dv_dr_action_create_modify_header(rx, 0, undefined, [
      { type: "set", field: "OUT_IP_TTL", data: random.below(256) },
    ]),
  dv.mlx5dv_dr_action_destroy,
);
const hit = kind(
  "first-hit action",
  ({ rx }, _, pick) => dv.mlx5dv_dr_action_create_aso(rx, pick(firstHit), 0, 1, RESULT_REGISTER),
  dv.mlx5dv_dr_action_destroy,
);
const track = kind(
  "tracking action",
  ({ rx }, _, pick) => dv.mlx5dv_dr_action_create_aso(rx, pick(connection), 0, 1, RESULT_REGISTER),
  dv.mlx5dv_dr_action_destroy,
);
const toQueue = kind(
  "queue action",
  (_ground, _random, pick) => dv.mlx5dv_dr_action_create_dest_ibv_qp(pick(queue)),
  dv.mlx5dv_dr_action_destroy,
);
const toTable = kind(
  "table action",
  (_ground, _random, pick) => dv.mlx5dv_dr_action_create_dest_table(pick(table)),
  dv.mlx5dv_dr_action_destroy,
);
const meter = kind(
  "meter",
  (_ground, random, pick) =>
    dv.mlx5dv_dr_action_create_flow_meter({
      next_table: pick(table),
      active: 1,
      reg_c_index: RESULT_REGISTER,
      flow_meter_parameter: dv.flowMeterBytes({ cbs_mantissa: random.between(1, 255), cir_mantissa: 1 }),
    }),
  dv.mlx5dv_dr_action_destroy,
);
const array = kind(
  "destination array",
  ({ rx }, _, pick) =>
    dv.mlx5dv_dr_action_create_dest_array(rx, 2, [
      { type: dv.MLX5DV_DR_ACTION_DEST, dest: pick(toQueue) },
      { type: dv.MLX5DV_DR_ACTION_DEST, dest: pick(toTable) },
    ]),
  dv.mlx5dv_dr_action_destroy,
);
const sampler = kind(
  "sampler",
  (_ground, random, pick) =>
    dv.mlx5dv_dr_action_create_flow_sampler({
      sample_ratio: random.between(1, 8),
      default_next_table: pick(table),
      num_sample_actions: 1,
      sample_actions: [pick(toQueue)],
    }),
  dv.mlx5dv_dr_action_destroy,
);
const esp = kind(
  "ESP action",
  ({ context }, random) =>
    v.ibv_create_flow_action_esp(context, {
      esp_attr: { spi: random.below(16), seq: 1, flags: v.IBV_FLOW_ACTION_ESP_FLAGS_FULL_OFFLOAD },
      keymat_ptr: { salt: new Uint8Array(4), icv_len: 16, aes_key: new Uint8Array(16).fill(random.below(256)) },
      replay_proto: v.IBV_FLOW_ACTION_ESP_REPLAY_BMP,
      replay_ptr: { size: 64 },
      esp_encap: [{ type: v.IBV_FLOW_SPEC_IPV4, val: { src_ip: "10.0.0.1", dst_ip: address(random) } }],
    }),
  v.ibv_destroy_flow_action,
);
const region = kind(
  "memory region",
  ({ pd }) => v.ibv_reg_mr(pd, new Uint8Array(8), undefined, v.IBV_ACCESS_LOCAL_WRITE),
  v.ibv_dereg_mr,
);
const flow = kind(
  "flow",
  (_ground, random, pick) =>
    v.ibv_create_flow(pick(queue), {
      type: v.IBV_FLOW_ATTR_NORMAL,
      priority: random.below(4),
      port: 1,
      flags: 0,
      specs: [
        { type: v.IBV_FLOW_SPEC_ETH, val: {}, mask: {} },
        { type: v.IBV_FLOW_SPEC_IPV4, val: { dst_ip: address(random) }, mask: { dst_ip: 0xffffffff } },
        ...(random.chance(0.3) ? [{ type: v.IBV_FLOW_SPEC_ACTION_COUNT, counters: pick(verbsCounters) } as const] : []),
      ],
    }),
  v.ibv_destroy_flow,
);

const deviceTable = kind(
  "flow table",
  ({ context }) =>
    created(context, dv.createFlowTableCommand(dv.FS_FT_NIC_RX, { log_size: 4, level: 1, decap_en: true })),
  dv.mlx5dv_devx_obj_destroy,
);
const deviceGroup = kind(
  "flow group",
  ({ context }, _, pick) => {
    const range = { start_flow_index: 0, end_flow_index: 15 };
    const { id: table_id } = pick(deviceTable);
    return created(context, dv.createFlowGroupCommand({ table_type: dv.FS_FT_NIC_RX, table_id, ...range }));
  },
  dv.mlx5dv_devx_obj_destroy,
);
const deviceEntry = kind(
  "flow table entry",
  ({ context }, random, pick) => {
    const group = pick(deviceGroup);
    if (!(group instanceof DevxFlowGroup)) throw new Missing();
    const { id: group_id, table } = group;
    const end = random.pick([dv.MLX5_FLOW_CONTEXT_ACTION_ALLOW, dv.MLX5_FLOW_CONTEXT_ACTION_DROP]);
    const action = end | (random.chance(0.5) ? dv.MLX5_FLOW_CONTEXT_ACTION_DECAP : 0);
    const fields = { table_type: dv.FS_FT_NIC_RX, table_id: table.id, group_id, flow_index: random.below(16), action };
    return created(context, dv.setFlowTableEntryCommand(fields));
  },
  dv.mlx5dv_devx_obj_destroy,
);

/** Actions that a rule has before its last one, and last ones. */
const CHANGES = [tag, count, change, hit, track];
const ENDS = [drop, toQueue, toTable, meter, array, sampler];

const VALUES = Array.from(
  { length: 1024 },
  (_, n) => dv.matchParameters({ "outer.ip_version": 4, "outer.ipv4_dst": `10.0.${n >> 8}.${n & 255}` }).value,
);

/** Rules are made many at a time: they are most of what comes and goes. */
export const rule = kind(
  "rule",
  (_ground, random, pick) => {
    // Other actions are refused where their level or their place is wrong.
    const before = random.chance(0.5) ? [pick(random.chance(0.95) ? tag : random.pick(CHANGES))] : [];
    const end = pick(random.chance(0.95) ? random.pick([drop, toQueue]) : random.pick(ENDS));
    const value = VALUES[random.below(VALUES.length)]!;
    const actions = [...before, end];
    return dv.mlx5dv_dr_rule_create(pick(matcher), value, actions.length, actions);
  },
  dv.mlx5dv_dr_rule_destroy,
);

export const KINDS = [
  ...[queue, workQueue, verbsCounters, bulk, firstHit, connection, region, esp],
  ...[table, matcher, ...CHANGES, drop, toQueue, toTable, meter, array, sampler, flow, rule],
  ...[deviceTable, deviceGroup, deviceEntry],
] as readonly Kind<Used>[];
