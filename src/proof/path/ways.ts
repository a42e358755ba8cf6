/**
 * What leads on from a table: the ways that its rules, and frames without a rule, take to other tables. It follows
 * assembly/act/run.ts, assembly/act/split.ts and assembly/forward/.
 */
import {
  Op,
  ROOT_SLOT,
  ROOT_TABLE,
  TABLE_FDB,
  TABLE_ROOT,
  TABLE_SEND,
  TABLE_TO_STAGE,
  VPORT_MANAGER,
  VPORT_UPLINK,
} from "../../abi/engine.js";
import { EXT_PORT, LAYER_DMAC, MISC_SOURCE_PORT, OUTER } from "../../abi/key.js";
import { SAMPLER_PROGRAM, SAMPLER_TABLE } from "../../abi/state.js";
import type { TracedCore } from "../../engine/tracedCore.js";
import { membersOf, type Link } from "../../explain/why/links.js";
import type { RuleNode } from "../../explain/why/rules.js";
import type { Device } from "../../model/device/device.js";
import { operationOf, opName, type OpName } from "../../model/action/operations.js";
import { TablePipeline } from "../../model/table/pipeline.js";
import type { Condition, Edge } from "./graph.js";

/**
 * Adds the ways of an operation. Null, or a function that returns false, where the operation after it runs.
 */
type Leaving = ((ways: Ways, place: Place, table: number, operand: number) => unknown) | null;

/** Where a frame is when it leaves its table. */
interface Place {
  readonly from: number;
  readonly rule: RuleNode | null;
  readonly actions: number;
  readonly changes: readonly number[];
  readonly by: Link["by"];
}

const NONE: readonly never[] = [];
const FROM_MANAGER: Condition = { bit: 8 * MISC_SOURCE_PORT, width: 16, value: VPORT_MANAGER, equal: true };
const FROM_OTHERS: Condition = { ...FROM_MANAGER, equal: false };
const DMAC: number = 8 * (OUTER + LAYER_DMAC);
const TO_GROUP: Condition = { bit: DMAC + 7, width: 1, value: 1, equal: true };
const TO_ONE: Condition = { ...TO_GROUP, equal: false };

/** Lists the ways of one copy of a device. */
export class Ways {
  readonly #device: Device;
  readonly #traced: TracedCore;
  /** The root table of the eSwitch; 0 for none. */
  readonly #fdb: number;
  #edges: Edge[] = [];

  constructor(device: Device, traced: TracedCore) {
    this.#device = device;
    this.#traced = traced;
    this.#fdb = device.function(VPORT_MANAGER).part(TablePipeline).switched;
  }

  /** The ways of frames that no rule of a table takes. */
  ofMisses(table: number): Edge[] {
    this.#edges = [];
    this.#miss({ from: table, rule: null, actions: 0, changes: NONE, by: "action" }, table);
    return this.#edges;
  }

  /** The ways of frames that a rule takes. */
  ofRule(rule: RuleNode, actions: readonly number[]): Edge[] {
    this.#edges = [];
    const { table } = rule;
    const changes: number[] = [];
    let delivered = false;
    for (let i = 0; i < actions.length; i += 2) {
      const op = actions[i] as number;
      const operand = actions[i + 1] as number;
      const operation = operationOf(op);
      if (operation.changes !== null) changes.push(op, operand);
      if (operation.delivers) delivered = true;
      const place: Place = { from: table, rule, actions: i / 2, changes: listOf(changes), by: "action" };
      if (this.#leaves(place, table, op, operand)) return this.#edges;
    }
    const place: Place = { from: table, rule, actions: actions.length / 2, changes: listOf(changes), by: "action" };
    if (!delivered) this.#byDefault(place, table);
    return this.#edges;
  }

  #add(place: Place, to: number, move: Edge["move"], more: Partial<Edge> = {}): void {
    if (to === 0) return;
    this.#edges.push({ ...place, to, move, vport: -1, slot: 0, conditions: NONE, ...more });
  }

  /** Adds the ways of an operation; whether it is the last one of its rule. As assembly/act/terminal.ts. */
  #leaves(place: Place, table: number, op: number, operand: number): boolean {
    const leave: Leaving = Ways.#LEAVING[opName(op)];
    return leave !== null && leave(this, place, table, operand) !== false;
  }

  static readonly #LEAVING = {
    none: null,
    not_for: null,
    untag: null,
    tag: null,
    count: null,
    drop: () => true,
    default_miss: (ways, place, table) => ways.#miss(place, table),
    copy_queue: null,
    copy_from_others: null,
    queue: null,
    queue_from_others: null,
    table: (ways, place, _, to) => ways.#add(place, to, "jump"),
    resume: (ways, place, table) => {
      const slot = ((place.rule as RuleNode).stored.rankHigh >>> 15) + 1;
      ways.#add(place, table, "resume", { slot });
    },
    pass: (ways, place, table) => ways.#miss(place, table),
    modify: null,
    push_vlan: null,
    pop_vlan: null,
    reformat: null,
    vport: (ways, place, _, vport) =>
      vport === VPORT_UPLINK
        ? ways.#switchedOut(place)
        : ways.#add(place, ways.#functionTable(vport), "vport", { vport }),
    port: (ways, place) => ways.#switchedOut(place),
    array: (ways, place, table, operand) => ways.#array(place, table, operand),
    root: (ways, place, _, at) =>
      ways.#add(place, ways.#word(at + ROOT_TABLE), "jump", { slot: ways.#word(at + ROOT_SLOT) }),
    state: null,
    meter: null,
    first_hit: null,
    track: null,
    sampler: (ways, place, table, operand) => ways.#sampler(place, table, operand),
    rss: null,
    copy_rss: null,
    esp: null,
    pass_chain: (ways, place, table) => ways.#miss(place, ways.#lastOfChain(table)),
  } satisfies Record<OpName, Leaving>;

  #array(place: Place, table: number, operand: number): boolean {
    const members = membersOf(this.#traced.core, Op.array, operand).filter(({ op }) => op !== (Op.count as number));
    for (const { op, operand: to, reformat } of members) {
      const changes = reformat === 0 ? place.changes : [...place.changes, Op.reformat, reformat];
      this.#leaves({ ...place, changes, by: "array" }, table, op, to);
    }
    return members.length > 0;
  }

  #sampler(place: Place, table: number, operand: number): void {
    const last = membersOf(this.#traced.core, Op.sampler, operand).find(
      ({ op }) => op !== (Op.count as number) && op !== (Op.tag as number),
    );
    if (last !== undefined) this.#leaves({ ...place, by: "sample" }, table, last.op, last.operand);
    const program = this.#word(operand + SAMPLER_PROGRAM);
    const changes = program === 0 ? place.changes : [...place.changes, Op.modify, program];
    this.#add({ ...place, changes, by: "sampler" }, this.#word(operand + SAMPLER_TABLE), "jump");
  }

  /** A frame without a rule at a table. */
  #miss(place: Place, table: number): void {
    const next = this.#traced.missTableOf(table);
    const flags = this.#traced.flagsOf(table);
    if (next !== 0) this.#add(place, next, "miss");
    else if ((flags & TABLE_FDB) !== 0) this.#missFdb(place, flags);
    else if ((flags & TABLE_SEND) !== 0) this.#egress(place);
  }

  #lastOfChain(table: number): number {
    let last = table;
    while ((this.#traced.flagsOf(last) & TABLE_TO_STAGE) === 0) last = this.#traced.missTableOf(last);
    return last;
  }

  /** All actions have run without a destination. */
  #byDefault(place: Place, table: number): void {
    const flags = this.#traced.flagsOf(table);
    if ((flags & TABLE_SEND) !== 0) this.#egress(place);
    else if ((flags & TABLE_FDB) !== 0) this.#missFdb(place, flags);
  }

  #egress(place: Place): void {
    if (this.#fdb !== 0) this.#add(place, this.#fdb, "egress");
    else this.#defaultOfFdb(place);
  }

  #missFdb(place: Place, flags: number): void {
    if ((flags & TABLE_ROOT) !== 0) this.#defaultOfFdb(place);
    else this.#add(place, this.#functionTable(VPORT_MANAGER), "default", { vport: VPORT_MANAGER });
  }

  /** Frames of the manager leave by their port, all others go to the manager. */
  #defaultOfFdb(place: Place): void {
    const to = this.#functionTable(VPORT_MANAGER);
    this.#add(place, to, "default", { vport: VPORT_MANAGER, conditions: [FROM_OTHERS] });
    const { looped, root } = this.#device.function(VPORT_MANAGER).part(TablePipeline);
    this.#loop(place, looped, [TO_GROUP]);
    for (const { number, mac } of this.#device.hardware.ports) {
      const atPort: Condition = { bit: 8 * EXT_PORT, width: 16, value: number, equal: true };
      const own: Condition = { bit: DMAC, width: 48, value: numberOf(mac), equal: true };
      this.#loop(place, looped, [TO_ONE, atPort, own]);
      this.#loop(place, root, [TO_ONE, atPort, { ...own, equal: false }]);
    }
  }

  /** A rule of the FDB sends frames out of a port: those of the manager to a group are looped back too. */
  #switchedOut(place: Place): void {
    this.#loop(place, this.#device.function(VPORT_MANAGER).part(TablePipeline).looped, [TO_GROUP]);
  }

  #loop(place: Place, to: number, conditions: readonly Condition[]): void {
    this.#add(place, to, "loop", { vport: VPORT_MANAGER, conditions: [FROM_MANAGER, ...conditions] });
  }

  #word(address: number): number {
    return this.#traced.core.u32[address >> 2] as number;
  }

  #functionTable(vport: number): number {
    const { core } = this.#traced;
    return core.u32[(core.functions >> 2) + vport] as number;
  }
}

/** Most rules change nothing: they share one list. */
function listOf(changes: readonly number[]): readonly number[] {
  return changes.length === 0 ? NONE : changes.slice();
}

/** A MAC address as a number. */
function numberOf(mac: Uint8Array): number {
  return mac.reduce((number, byte) => number * 256 + byte, 0);
}
