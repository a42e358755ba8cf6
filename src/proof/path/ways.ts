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
import { TablePipeline } from "../../model/table/pipeline.js";
import type { Condition, Edge } from "./graph.js";

/** Where a frame is when it leaves its table. */
interface Place {
  readonly from: number;
  readonly rule: RuleNode | null;
  readonly actions: number;
  readonly changes: readonly number[];
  readonly by: Link["by"];
}

const NONE: readonly never[] = [];
const CHANGES: ReadonlySet<number> = new Set([
  Op.modify,
  Op.push_vlan,
  Op.pop_vlan,
  Op.reformat,
  Op.state,
  Op.meter,
  Op.first_hit,
  Op.track,
  Op.esp,
]);
const DELIVERS: ReadonlySet<number> = new Set([Op.queue, Op.queue_from_others, Op.rss]);

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
      if (CHANGES.has(op)) changes.push(op, operand);
      if (DELIVERS.has(op)) delivered = true;
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

  /** Adds the ways of an operation; whether it is the last one of its rule. */
  #leaves(place: Place, table: number, op: number, operand: number): boolean {
    switch (op) {
      case Op.resume as number: {
        const slot = ((place.rule as RuleNode).stored.rankHigh >>> 15) + 1;
        this.#add(place, table, "resume", { slot });
        return true;
      }
      case Op.pass as number:
        this.#miss(place, table);
        return true;
      case Op.pass_chain as number:
        this.#miss(place, this.#lastOfChain(table));
        return true;
      case Op.sampler as number:
        this.#sampler(place, table, operand);
        return true;
      case Op.array as number:
        return this.#array(place, table, operand);
      default:
        return this.#terminal(place, table, op, operand);
    }
  }

  /** As `terminal` of assembly/act/terminal.ts. */
  #terminal(place: Place, table: number, op: number, operand: number): boolean {
    const word = (at: number): number => this.#traced.core.u32[at >> 2] as number;
    switch (op) {
      case Op.table as number:
        this.#add(place, operand, "jump");
        return true;
      case Op.root as number:
        this.#add(place, word(operand + ROOT_TABLE), "jump", { slot: word(operand + ROOT_SLOT) });
        return true;
      case Op.vport as number:
        if (operand === VPORT_UPLINK) this.#switchedOut(place);
        else this.#add(place, this.#functionTable(operand), "vport", { vport: operand });
        return true;
      case Op.port as number:
        this.#switchedOut(place);
        return true;
      case Op.drop as number:
        return true;
      case Op.default_miss as number:
        this.#miss(place, table);
        return true;
      default:
        return false;
    }
  }

  #array(place: Place, table: number, operand: number): boolean {
    const members = membersOf(this.#traced.core, Op.array, operand).filter(({ op }) => op !== (Op.count as number));
    for (const { op, operand: to, reformat } of members) {
      const changes = reformat === 0 ? place.changes : [...place.changes, Op.reformat, reformat];
      this.#terminal({ ...place, changes, by: "array" }, table, op, to);
    }
    return members.length > 0;
  }

  #sampler(place: Place, table: number, operand: number): void {
    const word = (at: number): number => this.#traced.core.u32[at >> 2] as number;
    const last = membersOf(this.#traced.core, Op.sampler, operand).find(
      ({ op }) => op !== (Op.count as number) && op !== (Op.tag as number),
    );
    if (last !== undefined) this.#terminal({ ...place, by: "sample" }, table, last.op, last.operand);
    const program = word(operand + SAMPLER_PROGRAM);
    const changes = program === 0 ? place.changes : [...place.changes, Op.modify, program];
    this.#add({ ...place, changes, by: "sampler" }, word(operand + SAMPLER_TABLE), "jump");
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
