/** The rule that finds the packets of a connection: of no object, and not listed in outcomes. */
import { Op } from "../../abi/engine.js";
import { insertRule } from "../../engine/rules.js";
import { readBits } from "../../packet/bytes.js";
import type { Route } from "../queue/addressHandle.js";
import type { DeviceFunction } from "../device/function.js";
import { isIpv4Mapped } from "../base/gids.js";
import { matchOf, type MatchFields } from "../match/match.js";
import { ROCE_PORT } from "./frame.js";

export class ConnectionRule {
  readonly id: number;
  readonly #function: DeviceFunction;
  /** The rule in the core. */
  readonly #handle: number;

  /**
   * Packets that come to a function for a queue pair of this number, the way back along `route`, go to `queue`.
   * @throws ENOMEM
   */
  constructor(call: string, of: DeviceFunction, route: Route, qp_num: number, queue: number) {
    const { device, stages } = of;
    const { mask, value, ranges } = matchOf(call, "attr", fieldsOf(route, qp_num));
    this.#function = of;
    this.id = device.installed.nextId;
    // No packet is for two queue pairs: the order of their rules does not matter.
    const rule = { id: this.id, rankHigh: 0, rankLow: 0, mask, value, ranges, actions: [Op.queue, queue] };
    try {
      this.#handle = device.allocated(call, insertRule(device.core, stages.open(call, "connected").table, rule));
    } catch (error) {
      stages.close("connected");
      throw error;
    }
    device.installed.add(this);
    stages.added("connected");
  }

  remove(): void {
    const { device, stages } = this.#function;
    device.core.exports.removeRule(this.#handle);
    device.installed.remove(this);
    stages.removed("connected");
  }
}

function fieldsOf({ port, sgid, dgid }: Route, qp_num: number): MatchFields {
  const ipv4 = isIpv4Mapped(sgid);
  const name = ipv4 ? "ipv4" : "ipv6";
  const address = (gid: Uint8Array): bigint => (ipv4 ? readBits(gid, 96, 32) : readBits(gid, 0, 128));
  return {
    "ext.port": port.number,
    "outer.udp_dport": ROCE_PORT,
    "misc.bth_dst_qp": qp_num,
    [`outer.${name}_src`]: address(dgid),
    [`outer.${name}_dst`]: address(sgid),
  };
}
