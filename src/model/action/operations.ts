/** The operations of the core, and what the host must know about each of them (assembly/act/). */
import { CONNECTION_SIZE } from "../../abi/connection.js";
import { Op } from "../../abi/engine.js";
import { ESP_SIZE } from "../../abi/esp.js";
import { METER_SIZE } from "../../abi/state.js";
import { StateKind } from "../../abi/trace.js";

export type OpName = keyof typeof Op;

/** What stateful actions write into the low byte of a register C. */
export type StateResult = "colour" | "flag" | "syndrome";

export interface Operation {
  /**
   * What the operand is. `number`: no address, 0 where the operation has none; `sender`: a queue whose own frames are
   * exempt, 0 for none; `priority`: the record of a table and a slot of its ranks; others: the address of that object.
   */
  readonly operand:
    | "number"
    | "vport"
    | "port"
    | "sender"
    | "queue"
    | "rss"
    | "table"
    | "priority"
    | "program"
    | "reformat"
    | "state"
    | "association"
    | "array"
    | "sampler";
  /** What it changes of the key at the next table; `parameters`: what the next operation does. Null for nothing. */
  readonly changes: "headers" | "parameters" | StateResult | null;
  /** Only affects the operation after it, or nothing. */
  readonly prepares?: true;
  /** Delivers the frame itself, not a copy: the default of the table does not apply. */
  readonly delivers?: true;
  /** Delivers a copy to the same place, and the frame goes on. */
  readonly copy?: Op;
  /** Does not apply to frames of the queue that the operand names (assembly/forward/loopback.ts). */
  readonly exceptSender?: true;
  /** A queue may receive fewer bytes than the frame had at the rule. */
  readonly shortens?: true;
  /** A frame that is lost later does not show that it ran. */
  readonly silent?: true;
  /** May be a member of destination arrays: of all, or of those in the FDB. */
  readonly member?: "any" | "fdb";
  readonly state?: StateUse;
}

/** A state that an operation changes. */
export interface StateUse {
  readonly kind: StateKind;
  /** How many bytes of it decide about later frames: 0 of a counter. */
  readonly bytes: number;
}

const OPERATIONS = {
  none: { operand: "number", changes: null, prepares: true },
  not_for: { operand: "sender", changes: null, prepares: true },
  untag: { operand: "number", changes: null, silent: true },
  tag: { operand: "number", changes: null, silent: true },
  count: { operand: "state", changes: null, member: "any", state: { kind: StateKind.counter, bytes: 0 } },
  drop: { operand: "sender", changes: null, exceptSender: true },
  default_miss: { operand: "number", changes: null, member: "fdb" },
  copy_queue: { operand: "queue", changes: null },
  copy_from_others: { operand: "queue", changes: null, exceptSender: true },
  queue: { operand: "queue", changes: null, delivers: true, copy: Op.copy_queue, member: "any" },
  queue_from_others: {
    operand: "queue",
    changes: null,
    delivers: true,
    copy: Op.copy_from_others,
    exceptSender: true,
  },
  table: { operand: "table", changes: null, silent: true, member: "any" },
  resume: { operand: "number", changes: null, silent: true },
  pass: { operand: "number", changes: null, silent: true },
  modify: { operand: "program", changes: "headers" },
  push_vlan: { operand: "number", changes: "headers" },
  pop_vlan: { operand: "number", changes: "headers", shortens: true },
  reformat: { operand: "reformat", changes: "headers", shortens: true },
  vport: { operand: "vport", changes: null, silent: true, member: "fdb" },
  port: { operand: "port", changes: null, member: "fdb" },
  array: { operand: "array", changes: null, shortens: true },
  root: { operand: "priority", changes: null, silent: true },
  state: { operand: "number", changes: "parameters", prepares: true },
  meter: { operand: "state", changes: "colour", state: { kind: StateKind.meter, bytes: METER_SIZE } },
  first_hit: { operand: "state", changes: "flag", state: { kind: StateKind.first_hit, bytes: 1 } },
  track: { operand: "state", changes: "syndrome", state: { kind: StateKind.connection, bytes: CONNECTION_SIZE } },
  sampler: { operand: "sampler", changes: null, shortens: true },
  rss: { operand: "rss", changes: null, delivers: true, copy: Op.copy_rss, member: "any" },
  copy_rss: { operand: "rss", changes: null },
  esp: {
    operand: "association",
    changes: "headers",
    shortens: true,
    state: { kind: StateKind.esp, bytes: ESP_SIZE },
  },
  pass_chain: { operand: "number", changes: null, silent: true },
} as const satisfies Readonly<Record<OpName, Operation>>;

/** Operations that change the headers of a frame, or any register. */
export type HeaderOp = {
  [Name in OpName]: (typeof OPERATIONS)[Name]["changes"] extends "headers" ? Name : never;
}[OpName];

/**
 * The name of an operation in a record of the core.
 * @throws RangeError for a number that is no operation
 */
export function opName(op: number): OpName {
  const name = Op[op] as OpName | undefined;
  if (name === undefined) throw new RangeError(`the core has no operation ${op}`);
  return name;
}

/** @throws RangeError for a number that is no operation */
export function operationOf(op: number): Operation {
  return OPERATIONS[opName(op)];
}

/** The names of the operations that a test selects. */
export function opNames(test: (operation: Operation, name: OpName) => boolean): OpName[] {
  return (Object.keys(OPERATIONS) as OpName[]).filter((name) => test(OPERATIONS[name], name));
}

/** The operation of a step of a trace. */
export function operationNamed(name: string): Operation | undefined {
  return (OPERATIONS as Readonly<Record<string, Operation>>)[name];
}

/** Whether an operation of a list does what the test asks for; the list has pairs of operation and operand. */
export function someOperation(
  actions: readonly number[],
  test: (operation: Operation, operand: number) => boolean,
): boolean {
  return actions.some((op, i) => i % 2 === 0 && test(operationOf(op), actions[i + 1] as number));
}
