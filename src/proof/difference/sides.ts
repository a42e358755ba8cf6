/** The two devices of a comparison, with the names that their tables have in common. */
import { Op, TABLE_FDB, TABLE_LOOPED, TABLE_ROOT, TABLE_SEND, TABLE_TO_STAGE } from "../../abi/engine.js";
import type { RuleContent } from "../../engine/tracedCore.js";
import type { Tracer } from "../../explain/trace/tracer.js";
import type { RuleNode } from "../../explain/why/rules.js";
import { someOperation, type Operation } from "../../model/action/operations.js";
import type { Edge, Entry, Graph } from "../path/graph.js";
import { World } from "../path/world.js";
import type { Behaviour } from "./compare.js";
import { Effects } from "./effects.js";
import { ruleKey } from "./treatment.js";

const MISS_FLAGS = TABLE_ROOT | TABLE_FDB | TABLE_SEND | TABLE_LOOPED | TABLE_TO_STAGE;

/** A table of each device. */
export interface TablePair {
  readonly name: string;
  readonly old: number;
  readonly changed: number;
}

/** One device of a comparison. */
export class Side {
  readonly world: World;
  readonly #behaviour: Behaviour;
  readonly #effects: Effects;
  /** The names of tables that the other device has too; others have a name that only this device uses. */
  readonly #names: ReadonlyMap<number, string>;
  readonly #texts = new Map<number, string>();
  readonly #edges = new Map<number, ReadonlyMap<number, readonly Edge[]>>();
  readonly #slots = new Map<string, string>();

  /**
   * @param only a word for the tables that only this device has
   * @param renamed the names of tables that the other device has by another name, with that
   */
  constructor(
    tracer: Tracer,
    names: ReadonlyMap<number, string>,
    readonly only: "old" | "new",
    behaviour: Behaviour,
    readonly renamed: ReadonlyMap<string, string> = new Map(),
  ) {
    this.world = new World(tracer);
    this.#behaviour = behaviour;
    this.#names = names;
    const places = {
      table: (address: number): string => this.#nameOf(address),
      slot: (table: number, slot: number): string => this.#slotName(table, slot),
      state: (name: string): string => this.stateName(name),
    };
    this.#effects = new Effects(tracer.device, tracer.traced, places, behaviour);
  }

  /** Whether what happens to a frame can depend on the seed. */
  get isRandom(): boolean {
    const { graph, tracer } = this.world;
    return graph.tables.some((table) =>
      this.world
        .nodesOf(table)
        .some(({ stored }) => someOperation(tracer.traced.actionsOf(stored), ({ operand }) => operand === "sampler")),
    );
  }

  /** What a rule does with every frame that hits it. */
  effectOf(rule: RuleNode): string {
    const { address } = rule.stored;
    let text = this.#texts.get(address);
    if (text === undefined) {
      text = `${this.nameOf(rule)} ${this.#effects.of(rule)} | ${this.#edgesText(this.waysOf(rule.table, address))}`;
      this.#texts.set(address, text);
    }
    return text;
  }

  /** The name of a rule, where names are behaviour. */
  nameOf(rule: RuleNode): string {
    return this.#behaviour.rules === true ? ruleKey(this.world.rules.refOf(rule)) : "";
  }

  /** What the first actions of a rule do, operation by operation; see `Effects.operationsOf`. */
  operationsOf(rule: RuleNode, upTo?: number, isSeen?: boolean): readonly string[] {
    return this.#effects.operationsOf(rule, upTo, isSeen);
  }

  /** Whether a header change of a rule reads a register. */
  readsRegister(rule: RuleNode): boolean {
    return this.#effects.readsRegister(rule);
  }

  /** What a rule does with frames whose walk it ends, operation by operation. */
  endEffects(rule: RuleNode, isSeen?: boolean): readonly string[] {
    const { actions } = this.world.contentOf(rule);
    const ways = this.#edgesText(this.waysOf(rule.table, rule.stored.address));
    const drop = actions.findIndex((op, n) => n % 2 === 0 && op === (Op.drop as number) && actions[n + 1] === 0);
    if (drop >= 0 && ways === "" && this.ignoresReasons) return [...this.operationsOf(rule, drop / 2, isSeen), "lost"];
    const flags = hasEnd(actions) ? 0 : this.world.tracer.traced.flagsOf(rule.table) & MISS_FLAGS;
    return [...this.operationsOf(rule, undefined, isSeen), `${flags} | ${ways}`];
  }

  /** What happens to frames whose walk ends at a table without a rule. */
  lastMiss(table: number): string {
    const flags = this.world.tracer.traced.flagsOf(table) & (TABLE_FDB | TABLE_SEND | TABLE_TO_STAGE);
    const isLost = flags === 0 && this.waysOf(table, 0).length === 0;
    return isLost && this.ignoresReasons ? "lost" : this.missEffect(table);
  }

  /** Objects without a name are called by the table that they lead to: `flow_meter (eth0 prio 1 metered)`. */
  stateName(name: string): string {
    const [, kind = "", table] = /^(.*?) \((.+)\)$/.exec(name) ?? [];
    const other = table === undefined ? undefined : this.renamed.get(table);
    return other === undefined ? name : `${kind} (${other})`;
  }

  /** Whether it does not count why a frame is lost. */
  get ignoresReasons(): boolean {
    return this.#behaviour.ignore?.includes("reason") === true;
  }

  /** Whether both devices have a table. */
  isShared(table: number): boolean {
    return this.#names.has(table);
  }

  /** The name that a table has in both devices. */
  tableName(table: number): string {
    return this.#nameOf(table);
  }

  /** What happens to every frame that no rule of a table takes. */
  missEffect(table: number): string {
    const { tracer } = this.world;
    const flags = tracer.traced.flagsOf(table) & MISS_FLAGS;
    return `${flags} | ${this.#edgesText(this.waysOf(table, 0))}`;
  }

  /** The ways from a table that the rule at an address leads to; those of misses for 0. */
  waysOf(table: number, rule: number): readonly Edge[] {
    return this.#edgesOf(table).get(rule) ?? [];
  }

  /** The ways from a table, by the address of the rule; 0 for misses. */
  #edgesOf(table: number): ReadonlyMap<number, readonly Edge[]> {
    let edges = this.#edges.get(table);
    if (edges === undefined) {
      const byRule = new Map<number, Edge[]>();
      for (const edge of this.world.graph.edgesFrom(table)) {
        const address = edge.rule?.stored.address ?? 0;
        const known = byRule.get(address);
        if (known === undefined) byRule.set(address, [edge]);
        else known.push(edge);
      }
      this.#edges.set(table, (edges = byRule));
    }
    return edges;
  }

  #edgesText(edges: readonly Edge[]): string {
    return edges
      .map(({ move, to, vport, slot, conditions }) => {
        const from = move === "resume" || slot === 0 ? "" : this.#slotName(to, slot);
        return `${move} ${this.#nameOf(to)} ${vport} ${from} ${JSON.stringify(conditions)}`;
      })
      .join(", ");
  }

  /** The slots with which rules lead into a table, by their names. */
  beginsOf(table: number): ReadonlyMap<string, number> {
    const edges = this.world.graph.edgesTo(table).filter(({ move, slot }) => move !== "resume" && slot > 0);
    return new Map(edges.map(({ slot }) => [this.#slotName(table, slot), slot]));
  }

  /** The first rank of a slot is named by the matches of the rules that come before it. */
  #slotName(table: number, slot: number): string {
    const key = `${table} ${slot}`;
    let name = this.#slots.get(key);
    if (name === undefined) {
      const { world } = this;
      const before = world.nodesOf(table).slice(0, world.graph.rulesOf(table).firstFrom(slot));
      name = JSON.stringify(before.map((rule) => matchText(world.contentOf(rule))).sort());
      this.#slots.set(key, name);
    }
    return name;
  }

  /** The table of a name that both devices have; undefined without one. */
  tableNamed(name: string): number | undefined {
    return [...this.#names].find(([, one]) => one === name)?.[0];
  }

  #nameOf(table: number): string {
    return this.#names.get(table) ?? `${this.only} ${table}`;
  }

  /** The place where frames of a source of the other device come in; null without one. */
  entryLike({ source }: Entry): Entry | null {
    const text = JSON.stringify(source);
    return this.world.graph.entries.find((entry) => JSON.stringify(entry.source) === text) ?? null;
  }
}

const PLACES: ReadonlySet<Operation["operand"]> = new Set(["table", "priority", "vport", "port"]);

/** Whether the default of the table never applies after actions. */
function hasEnd(actions: readonly number[]): boolean {
  return someOperation(actions, ({ operand, delivers, exceptSender }, value) => {
    if (exceptSender === true) return operand === "sender" && value === 0;
    return delivers === true || PLACES.has(operand);
  });
}

/** Equal for equal matches: the masked bytes, with mask and value, and the ranges. */
export function matchText({ mask, value, ranges }: RuleContent): string {
  const codes: number[] = [];
  for (let byte = 0; byte < mask.length; byte++) {
    if (mask[byte] !== 0) codes.push(byte, ((mask[byte] as number) << 8) | (value[byte] as number));
  }
  const text = String.fromCharCode(...codes);
  return ranges.length === 0
    ? text
    : `${text} ${ranges
        .map((range) => JSON.stringify(range))
        .sort()
        .join()}`;
}

/** The tables of two devices by function, domain and name; tables that are left, in their order. */
export function pairTables(old: Graph, changed: Graph, [a, b]: readonly [Tracer, Tracer]): TablePair[] {
  const others = new Map(changed.tables.map((table) => [nameOf(b, table), table]));
  const pairs: TablePair[] = [];
  const left: number[] = [];
  for (const table of old.tables) {
    const name = nameOf(a, table);
    const other = others.get(name);
    if (other === undefined) left.push(table);
    else pairs.push({ name, old: table, changed: other });
    others.delete(name);
  }
  for (const table of left) {
    const place = placeOf(a, table);
    const other = [...others].find(([, one]) => placeOf(b, one) === place);
    if (other === undefined) continue;
    others.delete(other[0]);
    pairs.push({ name: `${nameOf(a, table)} = ${other[0]}`, old: table, changed: other[1] });
  }
  return pairs;
}

function nameOf({ device }: Tracer, table: number): string {
  const { object, stage } = device.tables.get(table) ?? { object: null, stage: `no rules ${table}` };
  return `${placeOf({ device }, table)} ${object === null ? `stage ${stage}` : `table ${object.name}`}`;
}

/** What tables with different names must have in common. */
function placeOf({ device }: Pick<Tracer, "device">, table: number): string {
  const place = device.tables.get(table);
  return place === undefined ? "none" : `${place.vport} ${place.domain} ${place.stage ?? ""}`;
}
