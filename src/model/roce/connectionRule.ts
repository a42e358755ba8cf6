/**
 * The receive rule of a connection: it passes the packets of a connected queue pair to that queue
 * pair. No object owns it, and outcomes do not list it.
 */
import { Op } from "../../abi/engine.js";
import { PORT_ROCE } from "../../abi/protocols.js";
import { insertRule } from "../../engine/rules.js";
import { readBits } from "../../packet/bytes.js";
import type { Route } from "../queue/addressHandle.js";
import type { FunctionBase } from "../base/deviceBase.js";
import { isIpv4Mapped } from "../base/gids.js";
import { matchOf, type MatchFields } from "../match/match.js";
import { TablePipeline } from "../table/pipeline.js";

export class ConnectionRule {
  readonly id: number;
  readonly #function: FunctionBase;
  /** The rule's handle in the core. */
  readonly #handle: number;

  /**
   * Installs the rule: packets for queue pair `qp_num` from the peer of `route` go to `queue`.
   * @param of the function whose receive rules get it
   * @param route the route of sent packets; the rule matches the reverse direction
   * @param queue the handle of the queue in the core
   * @throws ENOMEM
   */
  constructor(call: string, of: FunctionBase, route: Route, qp_num: number, queue: number) {
    const { device } = of;
    const pipeline = of.part(TablePipeline);
    const { mask, value, ranges } = matchOf(call, "attr", fieldsOf(route, qp_num));
    this.#function = of;
    this.id = device.installed.nextId;
    // A packet names one queue pair: the order of these rules does not matter.
    const rule = { id: this.id, rankHigh: 0, rankLow: 0, mask, value, ranges, actions: [Op.queue, queue] };
    try {
      this.#handle = device.allocated(call, insertRule(device.core, pipeline.open(call, "connected").table, rule));
    } catch (error) {
      pipeline.close("connected");
      throw error;
    }
    device.installed.add(this);
    pipeline.added("connected");
  }

  remove(): void {
    const { device } = this.#function;
    device.core.exports.removeRule(this.#handle);
    device.installed.remove(this);
    this.#function.part(TablePipeline).removed("connected");
  }
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
