/** The gateway as direct rules. */
import { createDevice, createSink, type Device } from "../../src/index.js";
import * as dv from "../../src/mlx5dv/index.js";
import type { Action } from "../../src/model/action/action.js";
import type { FlowCounter } from "../../src/model/action/counter.js";
import type { Table } from "../../src/model/table/domain.js";
import type { MatchFields } from "../../src/model/match/match.js";
import { tupleAt } from "../tuples.js";
import {
  gatewayMac,
  hostAddress,
  hostMac,
  hostPort,
  macDigits,
  OWN_MACS,
  ownMac,
  tunnelHeaders,
  type Count,
  type Mac,
} from "./gateway.js";

export interface EngineGateway {
  device: Device;
  counts: () => Count[];
}

export async function engineGateway(rules: number): Promise<EngineGateway> {
  const device = await createDevice();
  const context = dv.mlx5dv_open_device(device, { flags: dv.MLX5DV_CONTEXT_FLAGS_DEVX });
  const domain = dv.mlx5dv_dr_domain_create(context, dv.MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
  const table = (level: number): Table => dv.mlx5dv_dr_table_create(domain, level);
  const [root, tuples, routes, tunnels] = [table(0), table(1), table(2), table(3)];
  const onward = dv.mlx5dv_dr_action_create_dest_table;
  const [toTuples, toRoutes, toTunnels] = [onward(tuples), onward(routes), onward(tunnels)];
  const drop = dv.mlx5dv_dr_action_create_drop();
  const queue = dv.mlx5dv_dr_action_create_dest_ibv_qp(createSink(context, "web"));
  const command = dv.allocFlowCounterCommand(Math.ceil(Math.log2(rules)));
  const bulk: FlowCounter = dv.mlx5dv_devx_obj_create(context, command, undefined, new Uint8Array(16), undefined);
  const change = (actions: dv.ModifyAction[]): Action =>
    dv.mlx5dv_dr_action_create_modify_header(domain, 0, undefined, actions);

  fill(root, OWN_MACS, (i) => [{ "outer.dmac": macText(ownMac(i)) }, [i === 0 ? toTuples : drop]]);
  fill(tuples, rules, (i) => {
    const { src, dst, ports } = tupleAt(i);
    const match = {
      "outer.ipv4_src": quad(src),
      "outer.ipv4_dst": quad(dst),
      "outer.ip_protocol": 6,
      "outer.tcp_sport": ports >>> 16,
      "outer.tcp_dport": ports & 0xffff,
    };
    const translate = change([
      { type: "set", field: "OUT_DIPV4", data: hostAddress(i) },
      { type: "set", field: "OUT_TCP_DPORT", data: hostPort(i) },
      { type: "add", field: "OUT_IP_TTL", data: 0xff },
    ]);
    return [match, [translate, dv.mlx5dv_dr_action_create_flow_counter(bulk, i), toRoutes]];
  });
  fill(routes, rules, (i) => {
    const macs = change([...macWords("OUT_SMAC", gatewayMac), ...macWords("OUT_DMAC", hostMac(i))]);
    return [{ "outer.ipv4_dst": quad(hostAddress(i)) }, [macs, toTunnels]];
  });
  fill(tunnels, rules, (i) => {
    const type = dv.MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL;
    const data = tunnelHeaders(i);
    const tunnel = dv.mlx5dv_dr_action_create_packet_reformat(domain, 0, type, data.length, data);
    return [{ "outer.dmac": macText(hostMac(i)) }, [tunnel, queue]];
  });
  const counts = (): Count[] =>
    Array.from({ length: rules }, (_, i) => {
      const { packets, bytes } = bulk.read(i);
      return [Number(packets), Number(bytes)];
    });
  return { device, counts };
}

/** Rules of one matcher. */
function fill(table: Table, rules: number, rule: (i: number) => [MatchFields, Action[]]): void {
  const { match_criteria_enable, mask } = dv.matchParameters(rule(0)[0]);
  const matcher = dv.mlx5dv_dr_matcher_create(table, 0, match_criteria_enable, mask);
  for (let i = 0; i < rules; i++) {
    const [match, actions] = rule(i);
    dv.mlx5dv_dr_rule_create(matcher, dv.matchParameters(match).value, actions.length, actions);
  }
}

function macWords(field: string, mac: Mac): dv.ModifyAction[] {
  const digits = macDigits(mac);
  return [
    { type: "set", field: `${field}_47_16`, data: parseInt(digits.slice(0, 8), 16) },
    { type: "set", field: `${field}_15_0`, data: parseInt(digits.slice(8), 16) },
  ];
}

const macText = (mac: Mac): string => macDigits(mac).replace(/..(?!$)/g, "$&:");
const quad = (address: number): string => [24, 16, 8, 0].map((shift) => (address >>> shift) & 0xff).join(".");
