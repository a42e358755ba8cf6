/**
 * Multicast groups (ibv_attach_mcast(3)): a rule for each group of a port gives the datagrams of the
 * group to all attached queue pairs.
 */
import { Op } from "../../abi/engine.js";
import { PORT_ROCE } from "../../abi/protocols.js";
import { IBV_QPT_UD } from "../../abi/verbs.js";
import { unsigned } from "../../base/checks.js";
import { refuse } from "../../errors.js";
import { hexOf } from "../../base/hex.js";
import { formatIpv6 } from "../../packet/addresses.js";
import { readBits } from "../../packet/bytes.js";
import { gidFrom, isIpv4Mapped, isMulticast, type GidInput } from "../base/port/gids.js";
import { MAX_GROUP_QUEUE_PAIRS } from "../base/limits.js";
import type { MatchFields } from "../match/match.js";
import type { QueuePair } from "./queuePair.js";
import { ConnectedRule } from "../roce/connectionRule.js";

/** The destination queue pair of every multicast packet (InfiniBand architecture 1.4, 10.5.2). */
const MULTICAST_QPN = 0xff_ffff;
const CITE = "ibv_attach_mcast";

export class Group {
  readonly key: string;
  /** The attached queue pairs, oldest first. */
  readonly members: QueuePair[];
  private readonly _rule: ConnectedRule;

  constructor(key: string, port: number, gid: Uint8Array, first: QueuePair) {
    this.key = key;
    this.members = [first];
    const name = `group ${formatIpv6(readBits(gid, 0, 128))}`;
    this._rule = new ConnectedRule(first.context.function, name, fieldsOf(port, gid), actionsOf(this.members));
  }

  add(qp: QueuePair): void {
    if (this.members.length >= MAX_GROUP_QUEUE_PAIRS) {
      const hint = `max_mcast_qp_attach is ${MAX_GROUP_QUEUE_PAIRS}`;
      refuse({ code: "ENOMEM", reason: "no_memory", path: "gid", value: this.key, hint });
    }
    this._rule.change(actionsOf([...this.members, qp]));
    this.members.push(qp);
  }

  /** @returns whether a member is left */
  remove(qp: QueuePair): boolean {
    this.members.splice(this.members.indexOf(qp), 1);
    if (this.members.length > 0) this._rule.change(actionsOf(this.members));
    else this._rule.remove();
    return this.members.length > 0;
  }
}

/** The groups of a function. */
export class MulticastGroups {
  /** By GID and port. */
  private readonly _groups = new Map<string, Group>();
  /** The groups of each queue pair, by GID. */
  private readonly _memberships = new WeakMap<QueuePair, Map<string, Group>>();

  /** The group with this GID that a queue pair is attached to. */
  of(qp: QueuePair, gid: Uint8Array): Group | undefined {
    return this._memberships.get(qp)?.get(hexOf(gid));
  }

  attach(qp: QueuePair, gid: Uint8Array): void {
    const own = this._memberships.get(qp) ?? new Map<string, Group>();
    own.set(hexOf(gid), this._joined(qp, gid));
    this._memberships.set(qp, own);
  }

  private _joined(qp: QueuePair, gid: Uint8Array): Group {
    const { device, attributes } = qp;
    const key = `${hexOf(gid)} port ${attributes.port_num}`;
    const group = this._groups.get(key);
    if (group !== undefined) {
      group.add(qp);
      return group;
    }
    const { inventory } = device.hardware;
    inventory.checkRoom(device, "mcast");
    const made = new Group(key, attributes.port_num, gid, qp);
    this._groups.set(key, made);
    inventory.add("mcast");
    return made;
  }

  detach(qp: QueuePair, gid: Uint8Array, group: Group): void {
    this._memberships.get(qp)?.delete(hexOf(gid));
    if (group.remove(qp)) return;
    this._groups.delete(group.key);
    qp.device.hardware.inventory.remove("mcast");
  }
}

/**
 * Attaches a UD queue pair to a group, once however often it is called. SPEC: the group is that of the
 * port that the queue pair has now.
 */
export function attachMulticast(qp: QueuePair, gid: GidInput, lid: number): void {
  const group = groupOf(qp, gid, lid);
  const groups = qp.context.function.part(MulticastGroups);
  if (groups.of(qp, group) !== undefined) return;
  if (qp.attributes.port_num === 0) {
    const hint = "move it to INIT first, which sets its port";
    refuse({ code: "EINVAL", reason: "bad_state", path: "qp", value: "RESET", hint, cite: CITE });
  }
  groups.attach(qp, group);
  qp.users++;
}

/** Detaches a queue pair from a group. @throws EINVAL it is not attached */
export function detachMulticast(qp: QueuePair, gid: GidInput, lid: number): void {
  const bytes = groupOf(qp, gid, lid);
  const groups = qp.context.function.part(MulticastGroups);
  const group = groups.of(qp, bytes);
  if (group === undefined) {
    const hint = "the queue pair is not attached to this group";
    refuse({ code: "EINVAL", reason: "no_entry", path: "gid", value: gid, hint, cite: CITE });
  }
  groups.detach(qp, bytes, group);
  qp.users--;
}

/** The GID of a group, checked. The LID is that of InfiniBand links: any of 16 bits. */
function groupOf(qp: QueuePair, gid: GidInput, lid: number): Uint8Array {
  if (qp.qp_type !== IBV_QPT_UD) {
    const hint = "only queue pairs of type IBV_QPT_UD can be in groups";
    refuse({ code: "EINVAL", reason: "bad_object", path: "qp", value: qp, hint, cite: CITE });
  }
  const bytes = gidFrom("gid", gid);
  unsigned("lid", lid, 16);
  if (isMulticast(bytes)) return bytes;
  const hint = "ff00::/8, or an IPv4 group such as 239.1.1.1";
  return refuse({ code: "EINVAL", reason: "bad_address", path: "gid", value: gid, hint, cite: CITE });
}

function fieldsOf(port: number, gid: Uint8Array): MatchFields {
  const ipv4 = isIpv4Mapped(gid);
  return {
    "ext.port": port,
    "outer.udp_dport": PORT_ROCE,
    "misc.bth_dst_qp": MULTICAST_QPN,
    [`outer.${ipv4 ? "ipv4" : "ipv6"}_dst`]: ipv4 ? readBits(gid, 96, 32) : readBits(gid, 0, 128),
  };
}

function actionsOf(members: readonly QueuePair[]): number[] {
  return members.flatMap(({ handle, blocksOwnMulticast }) => [
    blocksOwnMulticast ? Op.queue_from_others : Op.queue,
    handle,
  ]);
}
