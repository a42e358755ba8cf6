/**
 * Rules for RoCE packets: those of a connection, and datagrams, go to their queue pair, those of a
 * multicast group to all queue pairs of the group. No object owns such a rule, and outcomes do not list it.
 */
import { Op } from "../../abi/engine.js";
import { PORT_ROCE } from "../../abi/protocols.js";
import { changeActions, insertRule } from "../../engine/rules.js";
import { readBits } from "../../packet/bytes.js";
import type { Route } from "../queue/addressHandle.js";
import type { FunctionBase } from "../base/deviceBase.js";
import { isIpv4Mapped } from "../base/port/gids.js";
import type { Port } from "../base/port/ports.js";
import { matchOf, type MatchFields } from "../match/match.js";
import { TablePipeline } from "../table/pipeline.js";

export class ConnectedRule {
  readonly id: number;
  /** What gets its packets: `qp:a`, or `group ff0e::1`. */
  readonly name: string;
  private readonly _function: FunctionBase;
  /** The rule's handle in the core. */
  private readonly _handle: number;

  /**
   * Installs a rule of the function's stage `connected`.
   * @param name what gets its packets
   * @param actions pairs of operation and operand
   * @throws ENOMEM
   */
  constructor(of: FunctionBase, name: string, fields: MatchFields, actions: readonly number[]) {
    const { device } = of;
    const pipeline = of.part(TablePipeline);
    const { mask, value, ranges } = matchOf("attr", fields);
    this._function = of;
    this.name = name;
    this.id = device.installed.nextId;
    // A packet names one queue pair or group: the order of these rules does not matter.
    const rule = { id: this.id, rankHigh: 0, rankLow: 0, mask, value, ranges, actions };
    try {
      this._handle = device.allocated(insertRule(device.core, pipeline.open("connected").table, rule));
    } catch (error) {
      pipeline.close("connected");
      throw error;
    }
    device.installed.add(this);
    pipeline.added("connected");
  }

  /** Outcomes do not list it. */
  flowsFor(): readonly object[] {
    return [];
  }

  /** Replaces the actions. @throws ENOMEM, for a longer list only */
  change(actions: readonly number[]): void {
    const { device } = this._function;
    device.allocated(changeActions(device.core, this._handle, actions) ? 1 : 0);
  }

  remove(): void {
    const { device } = this._function;
    device.core.exports.removeRule(this._handle);
    device.installed.remove(this);
    this._function.part(TablePipeline).removed("connected");
  }
}

/**
 * The receive rule of a connection: packets for queue pair `qp_num` from the peer of `route` go to
 * `queue`.
 * @param route the route of sent packets; the rule matches the reverse direction
 * @param queue the handle of the queue in the core
 * @throws ENOMEM
 */
export function connectionRule(of: FunctionBase, route: Route, qp_num: number, queue: number): ConnectedRule {
  const name = of.device.queues.get(queue)?.label ?? `qp ${qp_num}`;
  return new ConnectedRule(of, name, fieldsOf(route, qp_num), [Op.queue, queue]);
}

function fieldsOf({ port, sgid, dgid }: Route, qp_num: number): MatchFields {
  const ipv4 = isIpv4Mapped(sgid);
  const name = ipv4 ? "ipv4" : "ipv6";
  const address = (gid: Uint8Array): bigint => (ipv4 ? readBits(gid, 96, 32) : readBits(gid, 0, 128));
  return {
    "ext.port": port.number,
    "outer.udp_dport": PORT_ROCE,
    "misc.bth_dst_qp": qp_num,
    [`outer.${name}_src`]: address(dgid),
    [`outer.${name}_dst`]: address(sgid),
  };
}

/**
 * The receive rule of a UD queue pair: unicast packets for queue pair `qp_num` that are for the MAC of
 * the port go to `queue`.
 * @throws ENOMEM
 */
export function datagramRule(of: FunctionBase, port: Port, qp_num: number, queue: number): ConnectedRule {
  const name = of.device.queues.get(queue)?.label ?? `qp ${qp_num}`;
  const fields: MatchFields = {
    "ext.port": port.number,
    "outer.dmac": readBits(port.mac, 0, 48),
    "outer.udp_dport": PORT_ROCE,
    "misc.bth_dst_qp": qp_num,
  };
  return new ConnectedRule(of, name, fields, [Op.queue, queue]);
}
