/** Direct rules of all domains with every kind of action, for dumps; and a reader of dumps. */
import * as dv from "../../../src/mlx5dv/index.js";
import type { Action } from "../../../src/model/action/action.js";
import { AsoObject, type AsoKind } from "../../../src/model/action/asoObject.js";
import type { Domain } from "../../../src/model/table/domain.js";
import type { MatchFields } from "../../../src/model/match/match.js";
import type { Rule } from "../../../src/model/rule/rule.js";
import { enter, openCounter, openSwitch, ruleFor, VXLAN, type SwitchBench } from "./switchBench.js";

/** The match of the first rule's matcher, in every group. */
export const EVERY_GROUP: MatchFields = {
  "outer.dmac": "02:00:00:00:00:01/ff:ff:ff:00:00:ff",
  "outer.first_vid": 100,
  "outer.ip_version": 4,
  "outer.ipv4_dst": "10.1.0.0/16",
  "outer.udp_dport": 4789,
  "misc.vxlan_vni": 42,
  "misc.gre_key": 0x01020304,
  "misc2.metadata_reg_c_2": "0x7/0xff",
  "misc3.outer_tcp_seq_num": 77,
  "misc4.prog_sample_field_value_3": 5,
  "misc5.tunnel_header_1": 9,
  "inner.ip_version": 6,
  "inner.ipv6_src": "2001:db8::/32",
  "inner.tcp_flags": "2/0x1ff",
};

export interface Scene extends SwitchBench {
  /** By effect. */
  rules: Record<string, Rule>;
}

export async function openScene(): Promise<Scene> {
  const parser = { samples: [{ id: 3, header: "payload", level: "outer", offset: 0 }] } as const;
  const bench = await openSwitch({ profile: "manual", parser });
  const { context, rx, tx, fdb } = bench;
  const table = (domain: Domain, level: number): ReturnType<typeof dv.mlx5dv_dr_table_create> =>
    dv.mlx5dv_dr_table_create(domain, level);
  const rules: Record<string, Rule> = {};
  const toQueue = dv.mlx5dv_dr_action_create_dest_ibv_qp(bench.queues[0]!);
  const object = (kind: AsoKind): AsoObject => AsoObject.create(context, kind, 0, new Uint8Array(64));
  const aso = (kind: AsoKind, flags: number): Action =>
    dv.mlx5dv_dr_action_create_aso(rx.domain, object(kind), 0, flags, 1);
  const reformat = (type: number, data: Uint8Array | null = null): Action =>
    dv.mlx5dv_dr_action_create_packet_reformat(rx.domain, 0, type, undefined, data);
  const flow_meter_parameter = Uint8Array.of(0x80, 0, 0, 0, 0, 0, 0, 0, 0, 1);

  for (const place of [rx, tx, fdb]) enter(place);
  const set = [{ type: "set", field: "OUT_IP_TTL", data: 9 }] as const;
  const first = [
    dv.mlx5dv_dr_action_create_tag(0x1234),
    dv.mlx5dv_dr_action_create_modify_header(rx.domain, 0, undefined, set),
    dv.mlx5dv_dr_action_create_flow_counter(openCounter(context), 0),
    toQueue,
  ];
  rules["every group"] = ruleFor(rx.table, EVERY_GROUP, first, 7);
  rules["tunnels"] = ruleFor(rx.table, {}, [
    reformat(dv.MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2),
    reformat(dv.MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L3_TUNNEL_TO_L2, VXLAN.subarray(0, 14)),
    dv.mlx5dv_dr_action_create_pop_vlan(),
    dv.mlx5dv_dr_action_create_push_vlan(rx.domain, 0x81000064),
    reformat(dv.MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL, VXLAN),
    reformat(dv.MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L3_TUNNEL, VXLAN),
    dv.mlx5dv_dr_action_create_drop(),
  ]);
  rules["state"] = ruleFor(rx.table, {}, [
    aso("first_hit", 1),
    aso("flow_meter", 4),
    aso("connection", 1),
    dv.mlx5dv_dr_action_create_flow_meter({ next_table: table(rx.domain, 5), reg_c_index: 2, flow_meter_parameter }),
  ]);
  const sampler = { sample_ratio: 2, default_next_table: table(rx.domain, 6), sample_actions: [toQueue] };
  rules["sampler"] = ruleFor(rx.table, {}, [dv.mlx5dv_dr_action_create_flow_sampler(sampler)]);
  rules["sent"] = ruleFor(tx.table, { "misc.source_sqn": 5 }, [dv.mlx5dv_dr_action_create_default_miss()]);
  rules["back"] = ruleFor(tx.table, {}, [dv.mlx5dv_dr_action_create_dest_root_table(tx.root, 0)]);
  const toVport = dv.mlx5dv_dr_action_create_dest_vport(fdb.domain, 2);
  const toPort = dv.mlx5dv_dr_action_create_dest_ib_port(fdb.domain, 1);
  rules["vport"] = ruleFor(fdb.table, { "misc.source_port": 1 }, [toVport]);
  rules["port"] = ruleFor(fdb.table, { "misc.source_port": 2 }, [toPort]);
  const members = [toVport, toPort].map((dest) => ({ type: dv.MLX5DV_DR_ACTION_DEST, dest }));
  rules["array"] = ruleFor(fdb.table, {}, [dv.mlx5dv_dr_action_create_dest_array(fdb.domain, undefined, members)]);
  return { ...bench, rules };
}

/** The concatenated dumps of its domains. */
export function sceneText({ rx, tx, fdb }: Scene): string {
  return [rx, tx, fdb].map(({ domain }) => textOf((file) => dv.mlx5dv_dump_dr_domain(file, domain))).join("");
}

/** Columns of a type of record, after the type. */
export type Columns = readonly string[];

/** The text of a dump as lists of records, each a type and its columns. */
export function readDump(text: string): { type: number; columns: Columns }[] {
  if (!text.endsWith("\n")) throw new Error("the last line is cut");
  return text
    .slice(0, -1)
    .split("\n")
    .map((line) => {
      const [type, ...columns] = line.split(",");
      return { type: Number(type), columns };
    });
}

/** The output of a dump. */
export function textOf(dump: (file: dv.DumpFile) => number): string {
  let text = "";
  const result = dump((more) => (text += more));
  if (result !== 0) throw new Error(`a dump gives ${result}`);
  return text;
}
