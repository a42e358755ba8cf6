/** Actions (mlx5dv_dr: Actions) and the list of a rule: legality, and the order of execution. */
import { MAX_ACTIONS, Op } from "../abi/engine.js";
import { IBV_QPT_RAW_PACKET } from "../abi/verbs.js";
import { refuse } from "../errors.js";
import { FlowCounter } from "./counter.js";
import type { Device } from "./device.js";
import { Table, type Domain } from "./domain.js";
import { Handle, living, retire, unsigned } from "./handle.js";
import { QueuePair } from "./queues.js";

export type ActionKind = "drop" | "default_miss" | "tag" | "dest_ibv_qp" | "dest_table" | "flow_counter";

/** What each kind is in the core. Op numbers are the order of execution on receive. */
const OPS: Readonly<Record<ActionKind, Op>> = {
  tag: Op.tag,
  flow_counter: Op.count,
  drop: Op.drop,
  default_miss: Op.default_miss,
  dest_ibv_qp: Op.queue,
  dest_table: Op.table,
};

/** Tags have 24 bits: they are what a completion can carry. */
const TAG_MASK = 0xffffff;

export class Action extends Handle<Device | null> {
  readonly kind: ActionKind;
  readonly op: Op;
  readonly operand: number;
  /** What it leads to or counts on; held until the action is destroyed. */
  readonly object: Handle | null;

  private constructor(device: Device | null, kind: ActionKind, operand: number, object: Handle | null) {
    super(device, object === null ? kind : `${kind} (${object.name})`);
    this.kind = kind;
    this.op = OPS[kind];
    this.operand = operand;
    this.object = object;
    if (object !== null) object.users++;
  }

  static drop(): Action {
    return new Action(null, "drop", 0, null);
  }

  static defaultMiss(): Action {
    return new Action(null, "default_miss", 0, null);
  }

  /** SPEC: bits above 24 are dropped, as the library does. */
  static tag(call: string, value: number): Action {
    return new Action(null, "tag", unsigned(call, "tag_value", value, 32) & TAG_MASK, null);
  }

  static toQueue(call: string, queue: QueuePair): Action {
    living(call, "ibqp", queue, QueuePair);
    if (queue.qp_type !== IBV_QPT_RAW_PACKET) {
      const hint = "a queue pair of type IBV_QPT_RAW_PACKET";
      refuse({ code: "EINVAL", call, reason: "bad_object", path: "ibqp", value: queue, hint });
    }
    return new Action(queue.device, "dest_ibv_qp", queue.handle, queue);
  }

  static toTable(call: string, table: Table): Action {
    living(call, "table", table, Table);
    if (table.isRoot) {
      const hint = "a destination table has a level higher than zero";
      refuse({
        code: "EINVAL",
        call,
        reason: "root_table",
        path: "table",
        value: table,
        hint,
        cite: "mlx5dv_dr: Destination",
      });
    }
    return new Action(table.device, "dest_table", table.classifier.table, table);
  }

  static count(call: string, counter: FlowCounter, offset: number): Action {
    living(call, "devx_obj", counter, FlowCounter);
    if (unsigned(call, "offset", offset, 32) >= counter.size) {
      const hint = `the bulk has ${counter.size}`;
      refuse({ code: "EINVAL", call, reason: "out_of_range", path: "offset", value: offset, hint });
    }
    return new Action(counter.device, "flow_counter", counter.addressOf(offset), counter);
  }

  get isTerminal(): boolean {
    return this.kind !== "tag" && this.kind !== "flow_counter";
  }

  destroy(call: string): void {
    retire(call, "action", this, "destroy the rules that use it first");
    if (this.object !== null) this.object.users--;
  }
}

/**
 * Checks the actions of a rule and puts them into the order of execution, which is the device's and not the caller's.
 * Gives operation and operand in turn.
 */
export function compileActions(call: string, domain: Domain, actions: readonly Action[]): number[] {
  if (actions.length > MAX_ACTIONS) badList(call, "num_actions", actions.length, `at most ${MAX_ACTIONS}`);
  let terminal: Action | undefined;
  let tag: Action | undefined;
  for (let i = 0; i < actions.length; i++) {
    const action = actions[i] as Action;
    checkAction(call, i, action, domain);
    if (action.isTerminal) {
      if (terminal !== undefined) badList(call, `actions[${i}]`, action, `${terminal.kind} already ends the rule`);
      terminal = action;
    } else if (action.kind === "tag") {
      if (tag !== undefined) badList(call, `actions[${i}]`, action, "a frame carries one tag");
      tag = action;
    }
  }
  return inOrder(actions);
}

/** An insertion sort, stable: lists are short, and millions of rules are made. */
function inOrder(actions: readonly Action[]): number[] {
  const record: number[] = [];
  for (let i = 0; i < actions.length; i++) {
    const { op, operand } = actions[i] as Action;
    let at = record.length;
    for (; at > 0 && (record[at - 2] as number) > op; at -= 2) {
      record[at] = record[at - 2] as number;
      record[at + 1] = record[at - 1] as number;
    }
    record[at] = op;
    record[at + 1] = operand;
  }
  return record;
}

/** A living action of this device, whose table is of this domain. */
function checkAction(call: string, i: number, action: Action, domain: Domain): void {
  if (!(action instanceof Action) || action.destroyed) living(call, `actions[${i}]`, action, Action);
  if (action.device !== null && action.device !== domain.device) {
    refuse({ code: "EINVAL", call, reason: "other_device", path: `actions[${i}]`, value: action });
  }
  if (action.object instanceof Table && action.object.domain !== domain) {
    refuse({ code: "EINVAL", call, reason: "other_domain", path: `actions[${i}]`, value: action.object });
  }
}

function badList(call: string, path: string, value: unknown, hint: string): never {
  refuse({ code: "EINVAL", call, reason: "bad_action_list", path, value, hint, cite: "mlx5dv_dr: Actions" });
}
