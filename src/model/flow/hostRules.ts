/**
 * Rules of the host's applications (ibv_create_flow(3), "Flow domains and priority"). They get the
 * frames that no flow and no direct rule took, and give them to queues of the host or drop them.
 *
 * Their ranks are | application 2 | priority 16 | age 46 |.
 */
import { Op, QUEUE_READY, QUEUE_SINK } from "../../abi/engine.js";
import { insertRule } from "../../engine/rules.js";
import { inCall, refuse } from "../../errors.js";
import { namesHint } from "../../base/nearest.js";
import { Printable, type PrintedFields } from "../../base/printable.js";
import type { DeviceBase } from "../base/deviceBase.js";
import type { Hits } from "../base/hitCounts.js";
import type { FunctionBase } from "../base/deviceBase.js";
import { unsigned, wrongType } from "../../base/checks.js";
import { Handle } from "../base/handle.js";
import { TablePipeline } from "../table/pipeline.js";
import { matchOf, type MatchFields } from "../match/match.js";

/** The applications, in the order of their rules. */
export const HOST_APPLICATIONS = ["ethtool", "tc", "nic"] as const;
export type HostApplication = (typeof HOST_APPLICATIONS)[number];

/** What a host rule does with its frames. */
export type HostAction = "drop" | { queue: number };

export interface HostRuleOptions {
  application: HostApplication;
  /** The lower number wins among the rules of the application. @default 0 */
  priority?: number;
  /** @default all ports */
  port?: number;
  /** Fields by name, such as `{ "outer.tcp_dport": 22 }`. @default every frame */
  match?: MatchFields;
  action: HostAction;
  /** Its name in outcomes. @default made from its application */
  name?: string;
}

/** A queue of the host. It takes every frame. */
export class HostQueue {
  readonly kind = "host";
  readonly isSink = true;
  /** Its name in outcomes. */
  readonly label: string;
  readonly handle: number;
  /** Rules that deliver to it. */
  users = 0;

  constructor(of: FunctionBase, number: number, handle: number) {
    this.label = of.managesSwitch ? `host:${number}` : `vf${of.vport}/host:${number}`;
    this.handle = handle;
  }
}

export class HostRule extends Handle {
  readonly id: number;
  readonly application: HostApplication;
  readonly priority: number;
  readonly action: HostAction;
  /** @internal */
  readonly rules: HostRules;
  /** @internal The rule in the core. */
  readonly handle: number;

  /** @internal */
  constructor(
    rules: HostRules,
    id: number,
    handle: number,
    options: Required<Omit<HostRuleOptions, "port" | "match">>,
  ) {
    super(rules.function.device, options.name);
    this.rules = rules;
    this.id = id;
    this.handle = handle;
    this.application = options.application;
    this.priority = options.priority;
    this.action = options.action;
  }

  /** @internal */
  protected override printedFields(): PrintedFields {
    return { ...super.printedFields(), action: this.action };
  }

  /**
   * Packets and bytes that hit the rule, from the moment that they are counted (docs/metrics.md).
   * @throws SteeringError EINVAL: they are not counted
   */
  hits(): Hits {
    return inCall("hostRule.hits", () => this.device.hitsOf([this]));
  }

  /** Removes the rule. @throws EINVAL it was removed before */
  remove(): void {
    inCall("hostRule.remove", () => {
      if (this.destroyed) refuse({ code: "EINVAL", reason: "object_destroyed", path: "rule", value: this });
      this.destroyed = true;
      this.rules.forget(this);
    });
  }
}

/** The host rules of a function: `device.hostRules` are those of the PF. */
export class HostRules extends Printable {
  /** @internal */
  readonly function: FunctionBase;
  readonly device: DeviceBase;
  /** @internal */
  readonly pipeline: TablePipeline;
  private readonly _queues = new Map<number, HostQueue>();
  private _made = 0;

  /** @internal */
  constructor(of: FunctionBase) {
    super();
    this.function = of;
    this.device = of.device;
    this.pipeline = of.part(TablePipeline);
  }

  /** @internal */
  protected override printedFields(): PrintedFields {
    return { function: this.function, made: this._made, queues: [...this._queues.keys()] };
  }

  /**
   * Adds a rule, which takes effect at once.
   * @throws EINVAL not a rule; ENOMEM
   */
  add(options: HostRuleOptions): HostRule {
    return inCall("hostRules.add", () => {
      const { device, pipeline } = this;
      const { application, action } = options;
      const place = HOST_APPLICATIONS.indexOf(application);
      if (place < 0) {
        const hint = namesHint(String(application), "applications", [...HOST_APPLICATIONS]);
        refuse({ code: "EINVAL", reason: "unknown_name", path: "application", value: application, hint });
      }
      const priority = unsigned("priority", options.priority ?? 0, 16);
      const number = queueNumber(action);
      const { mask, value, ranges } = matchOf("match", fieldsOf(device, options));
      device.parser.check(mask);

      const queue = number === null ? null : this._queue(number);
      const id = device.installed.nextId;
      const age = this._made;
      let handle: number;
      try {
        const rule = insertRule(device.core, pipeline.open("host").table, {
          id,
          rankHigh: ((place << 30) | (priority << 14) | Math.floor(age / 2 ** 32)) >>> 0,
          rankLow: age >>> 0,
          mask,
          value,
          ranges,
          // A direct rule may have set a tag before the frame missed.
          actions: [Op.untag, 0, ...(queue === null ? [Op.drop, 0] : [Op.queue, queue.handle])],
        });
        handle = device.allocated(rule);
      } catch (error) {
        pipeline.close("host");
        if (number !== null) this._release(number);
        throw error;
      }
      this._made++;
      const name = options.name ?? `${application}${device.nextNumber(application)}`;
      const rule = new HostRule(this, id, handle, { application, priority, action, name });
      if (queue !== null) queue.users++;
      device.installed.add(rule);
      pipeline.added("host");
      device.observer?.ruleAdded(rule);
      return rule;
    });
  }

  /** @internal */
  forget(rule: HostRule): void {
    const { device, pipeline } = this;
    device.core.exports.removeRule(rule.handle);
    device.installed.remove(rule);
    pipeline.removed("host");
    if (rule.action !== "drop") {
      const queue = this._queues.get(rule.action.queue) as HostQueue;
      queue.users--;
      this._release(rule.action.queue);
    }
    device.observer?.ruleRemoved(rule);
  }

  private _queue(number: number): HostQueue {
    const { device } = this.function;
    let queue = this._queues.get(number);
    if (queue === undefined) {
      const handle = device.core.exports.createQueue(QUEUE_READY | QUEUE_SINK, 0, 0);
      queue = new HostQueue(this.function, number, device.allocated(handle));
      this._queues.set(number, queue);
      device.queues.set(queue.handle, queue);
    }
    return queue;
  }

  /** Destroys a queue that no rule delivers to. */
  private _release(number: number): void {
    const queue = this._queues.get(number);
    if (queue === undefined || queue.users > 0) return;
    const { device } = this.function;
    device.core.exports.destroyQueue(queue.handle);
    device.queues.delete(queue.handle);
    this._queues.delete(number);
  }
}

function queueNumber(action: HostAction): number | null {
  if (action === "drop") return null;
  if (typeof action === "object" && action !== null) return unsigned("action.queue", action.queue, 16);
  wrongType("action", '"drop" or { queue }', action);
}

function fieldsOf(device: DeviceBase, { port, match = {} }: HostRuleOptions): MatchFields {
  if (port === undefined) return match;
  device.checkPort(port);
  if ("ext.port" in match) {
    const hint = "the rule has a port already";
    refuse({ code: "EINVAL", reason: "contradiction", path: "match.ext.port", hint });
  }
  return { ...match, "ext.port": port };
}
