/**
 * A device with functions, each with its own queue, and rules of its domains, for tests of paths
 * through the eSwitch.
 */
import { createDevice, createSink, type Device, type DeviceOptions, type MatchFields } from "../../../src/index.js";
import * as dv from "../../../src/mlx5dv/index.js";
import type { Action } from "../../../src/model/action/action.js";
import type { Context } from "../../../src/model/base/context.js";
import { Domain, Table } from "../../../src/model/table/domain.js";
import { DOMAIN_TYPES, type DomainType } from "../../../src/model/base/domainType.js";
import { Matcher } from "../../../src/model/table/matcher.js";
import type { QueuePair } from "../../../src/model/queuePair/queuePair.js";
import { Rule } from "../../../src/model/rule/rule.js";
import { ibv_open_device } from "../../../src/verbs/index.js";
import { ipv4Frame } from "../../mlx5dv/support/directRules.js";
import { outcomeText } from "../../verbs/support/flows.js";

/** Creates an action in the domain of its rule. */
export type SwitchAction = (domain: Domain) => Action;

export class Switch {
  readonly device: Device;
  /** Of the PF, VF 1, VF 2. */
  readonly contexts: readonly [Context, Context, Context];
  /** One each, named "pf", "v1", "v2"; on port 1. */
  readonly queues: readonly [QueuePair, QueuePair, QueuePair];
  readonly #roots = new Map<string, Table>();

  private constructor(device: Device) {
    this.device = device;
    const open = (vport: number): Context => ibv_open_device(device.function(vport));
    this.contexts = [open(0), open(1), open(2)];
    const [pf, first, second] = this.contexts;
    this.queues = [createSink(pf, "pf"), createSink(first, "v1"), createSink(second, "v2")];
  }

  /** Two ports, two VFs; unmatched frames go to host queue 0 of each function. */
  static async open(options: DeviceOptions = {}): Promise<Switch> {
    const device = await createDevice({ ports: 2, vports: 2, ...options });
    for (const vport of [0, 1, 2]) device.function(vport).hostRules.add({ application: "nic", action: { queue: 0 } });
    return new Switch(device);
  }

  /** The root table of a domain of a function. */
  root(type: DomainType, vport = 0): Table {
    const key = `${type} ${vport}`;
    let root = this.#roots.get(key);
    if (root === undefined) {
      const domain = Domain.create(this.contexts[vport] as Context, DOMAIN_TYPES.indexOf(type));
      this.#roots.set(key, (root = Table.create(domain, 0)));
    }
    return root;
  }

  /** A rule of a root table, after its existing rules. */
  rule(type: DomainType, match: MatchFields, actions: readonly SwitchAction[], vport = 0): Rule {
    const root = this.root(type, vport);
    const made = actions.map((make) => make(root.domain));
    return Rule.named(Matcher.named(root, 0, undefined, "rules"), match, made);
  }

  /** A rule of the eSwitch for a TCP port. */
  fdb(dport: number, ...actions: readonly SwitchAction[]): Rule {
    return this.rule("fdb", { "outer.tcp_dport": dport }, actions);
  }

  /** Result of a received frame for a TCP port. */
  wire(dport: number, port = 1): string {
    return outcomeText(this.device.receive(port, ipv4Frame({ dport })));
  }

  /** Result of a frame sent by a function. */
  sent(vport: 0 | 1 | 2, dport: number): string {
    return outcomeText(this.device.send(this.queues[vport], ipv4Frame({ dport })));
  }
}

/** The wire, as a vport. */
export const UPLINK = 0xffff;

export const toVport =
  (vport: number): SwitchAction =>
  (domain) =>
    dv.mlx5dv_dr_action_create_dest_vport(domain, vport);
export const toPort =
  (port: number): SwitchAction =>
  (domain) =>
    dv.mlx5dv_dr_action_create_dest_ib_port(domain, port);
export const DROP: SwitchAction = () => dv.mlx5dv_dr_action_create_drop();
export const DEFAULT_MISS: SwitchAction = () => dv.mlx5dv_dr_action_create_default_miss();
export const POP: SwitchAction = () => dv.mlx5dv_dr_action_create_pop_vlan();
export const pushVlan =
  (vlan: number): SwitchAction =>
  (domain) =>
    dv.mlx5dv_dr_action_create_push_vlan(domain, vlan);
export const toQueue =
  (queue: QueuePair): SwitchAction =>
  () =>
    dv.mlx5dv_dr_action_create_dest_ibv_qp(queue);

/** A copy to each. */
export const toAll =
  (...members: readonly SwitchAction[]): SwitchAction =>
  (domain) =>
    dv.mlx5dv_dr_action_create_dest_array(
      domain,
      undefined,
      members.map((make) => ({ type: dv.MLX5DV_DR_ACTION_DEST, dest: make(domain) })),
    );

/** Numbers in fields of headers and registers, by their names. */
export const set =
  (fields: Readonly<Record<string, number>>): SwitchAction =>
  (domain) => {
    const actions = Object.entries(fields).map(([field, data]) => ({ type: "set", field, data }) as const);
    return dv.mlx5dv_dr_action_create_modify_header(domain, dv.MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL, undefined, actions);
  };
