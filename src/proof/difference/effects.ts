/**
 * What rules do, as texts in which names stand for addresses: rules of two devices with the same text do the same to every
 * frame, as long as tables of the same name treat frames alike.
 */
import {
  ACTION_SIZE,
  ARRAY_COUNT,
  ARRAY_FIRST,
  MEMBER_OP,
  MEMBER_OPERAND,
  MEMBER_REFORMAT,
  MEMBER_SIZE,
  Op,
  REGISTER_B,
  ROOT_SLOT,
  ROOT_TABLE,
} from "../../abi/engine.js";
import { ESP_CIPHER, ESP_SIZE, ESP_WINDOW, ESP_WINDOW_WORDS } from "../../abi/esp.js";
import { INSTRUCTION_SIZE, MODIFY_COPY, Place, PROGRAM_COUNT, PROGRAM_FIRST } from "../../abi/program.js";
import {
  COMPLETION_SIZE,
  RECEIVE_BUFFERS,
  RECEIVE_COMPLETIONS,
  RECEIVE_FLAGS,
  RECEIVE_HEAD,
  RECEIVE_RING,
  RECEIVE_TAIL,
  RECEIVE_WRAP,
} from "../../abi/queue.js";
import { REFORMAT_DATA, REFORMAT_LENGTH } from "../../abi/reformat.js";
import {
  RSS_KEY,
  RSS_KEY_SIZE,
  RSS_MASK,
  RSS_QUEUES,
  SAMPLER_COUNT,
  SAMPLER_FIRST,
  SAMPLER_NUMBER,
  SAMPLER_PROGRAM,
  SAMPLER_RATIO,
  SAMPLER_TABLE,
} from "../../abi/state.js";
import { StateKind } from "../../abi/trace.js";
import { cipherId } from "../../engine/ciphers.js";
import type { TracedCore } from "../../engine/tracedCore.js";
import { stateName } from "../../explain/trace/objects.js";
import type { RuleNode } from "../../explain/why/rules.js";
import { hexOf } from "../../base/hex.js";
import { operationOf, opName, someOperation, type StateUse } from "../../model/action/operations.js";
import type { InstalledRule } from "../../model/base/installed.js";
import type { Device } from "../../model/device/device.js";
import { programAt } from "../path/headerChange.js";
import type { Behaviour } from "./compare.js";

/** Names for what only the comparison of two devices can name. */
export interface PlaceNames {
  /** The name of a table, which is that of its partner in the other device. */
  table(address: number): string;
  /** A name for the first rank of a slot in a table. */
  slot(table: number, slot: number): string;
  /** The name of an object with state. */
  state(name: string): string;
}

export class Effects {
  readonly #device: Device;
  readonly #traced: TracedCore;
  readonly #places: PlaceNames;
  readonly #ignoresCounters: boolean;
  readonly #ignoresTags: boolean;
  /** The texts of records that many rules share, by operation and address. */
  readonly #records = new Map<string, string>();

  constructor(device: Device, traced: TracedCore, places: PlaceNames, { ignore = [] }: Behaviour) {
    this.#device = device;
    this.#traced = traced;
    this.#places = places;
    this.#ignoresCounters = ignore.includes("counters");
    this.#ignoresTags = ignore.includes("tags");
  }

  /** What a rule does, operation by operation. */
  of({ stored, object }: RuleNode): string {
    return this.#list(this.#traced.actionsOf(stored), object);
  }

  /**
   * What a rule does on a path, operation by operation: the tables that members of arrays lead to are those of other paths.
   * @param upTo how many of its first actions are included
   * @param isSeen whether a later rule or action can read the registers that header changes write; B is always reported
   */
  operationsOf({ stored, object }: RuleNode, upTo = Infinity, isSeen = true): string[] {
    const actions = this.#traced.actionsOf(stored).slice(0, 2 * upTo);
    return this.#texts(isSeen ? actions : this.#withoutUnseen(actions), object, true);
  }

  /** Whether a header change of a rule reads a register. */
  readsRegister({ stored }: RuleNode): boolean {
    return someOperation(
      this.#traced.actionsOf(stored),
      ({ operand }, program) =>
        operand === "program" &&
        programAt(this.#traced.core, program).some(
          ({ type, from }) => type === MODIFY_COPY && from >= (Place.register as number),
        ),
    );
  }

  /** Actions without the header changes that write only registers other than B. */
  #withoutUnseen(actions: readonly number[]): number[] {
    return actions.flatMap((op, n) => {
      if (n % 2 === 1) return [];
      const operand = actions[n + 1] as number;
      const isUnseen =
        operationOf(op).operand === "program" &&
        programAt(this.#traced.core, operand).every(
          ({ to }) => to >= (Place.register as number) && to < (Place.register as number) + REGISTER_B,
        );
      return isUnseen ? [] : [op, operand];
    });
  }

  #list(actions: readonly number[], rule: InstalledRule): string {
    return this.#texts(actions, rule).join("; ");
  }

  #texts(actions: readonly number[], rule: InstalledRule, onPath = false): string[] {
    const texts: string[] = [];
    for (let i = 0; i < actions.length; i += 2) {
      const [op, operand] = [actions[i] as number, actions[i + 1] as number];
      const next = actions[i + 2];
      if (op === (Op.not_for as number) && next !== undefined && this.#isIgnored(next)) continue;
      if (op === (Op.none as number) || this.#isIgnored(op)) continue;
      const isArray = onPath && op === (Op.array as number);
      texts.push(`${opName(op)} ${isArray ? this.#array(operand, rule, true) : this.#operand(op, operand, rule)}`);
    }
    return texts;
  }

  #isIgnored(op: number): boolean {
    if (op === (Op.count as number)) return this.#ignoresCounters;
    return (op === (Op.tag as number) || op === (Op.untag as number)) && this.#ignoresTags;
  }

  #operand(op: number, operand: number, rule: InstalledRule): string {
    const { operand: kind, state } = operationOf(op);
    switch (kind) {
      case "number":
      case "vport":
      case "port":
        return String(operand);
      case "sender":
      case "queue":
        return this.#queue(operand);
      case "table":
        return this.#places.table(operand);
      case "priority": {
        const table = this.#word(operand + ROOT_TABLE);
        return `${this.#places.table(table)} from ${this.#places.slot(table, this.#word(operand + ROOT_SLOT))}`;
      }
      case "state":
        return this.#state(state as StateUse, operand, rule);
      case "sampler":
        return this.#sampler(operand, rule);
      case "association":
        return this.#association(operand, rule);
      case "program":
        return this.#record(op, operand, () => this.#program(operand));
      case "reformat":
        return this.#record(op, operand, () => this.#reformat(operand));
      case "rss":
        return this.#record(op, operand, () => this.#rss(operand));
      case "array":
        return this.#record(op, operand, () => this.#array(operand, rule));
    }
  }

  /** Records that do not depend on the rule. */
  #record(op: number, operand: number, read: () => string): string {
    const key = `${op} ${operand}`;
    let text = this.#records.get(key);
    if (text === undefined) this.#records.set(key, (text = read()));
    return text;
  }

  #state({ kind, bytes }: StateUse, address: number, rule: InstalledRule): string {
    const name = this.#places.state(stateName(this.#traced.core, kind, address, rule));
    return bytes === 0 ? name : `${name} ${this.#bytes(address, bytes)}`;
  }

  #program(address: number): string {
    return this.#bytes(address + PROGRAM_FIRST, this.#word(address + PROGRAM_COUNT) * INSTRUCTION_SIZE);
  }

  #reformat(address: number): string {
    const { u8 } = this.#traced.core;
    const length = (u8[address + REFORMAT_LENGTH] as number) + 256 * (u8[address + REFORMAT_LENGTH + 1] as number);
    return this.#bytes(address, REFORMAT_DATA + length);
  }

  #rss(address: number): string {
    const count = this.#word(address + RSS_MASK) + 1;
    const first = this.#word(address + RSS_QUEUES);
    const queues = Array.from({ length: count }, (_, n) => this.#queue(this.#word(first + 4 * n)));
    return `${this.#bytes(address, 4)} ${this.#bytes(address + RSS_KEY, RSS_KEY_SIZE)} ${queues.join(" ")}`;
  }

  #array(address: number, rule: InstalledRule, onPath = false): string {
    const members = Array.from({ length: this.#word(address + ARRAY_COUNT) }, (_, n) => {
      const at = address + ARRAY_FIRST + n * MEMBER_SIZE;
      const reformat = this.#word(at + MEMBER_REFORMAT);
      const op = this.#word(at + MEMBER_OP);
      const leadsOn = onPath && operationOf(op).operand === "table";
      const action = leadsOn ? "on" : this.#list([op, this.#word(at + MEMBER_OPERAND)], rule);
      return reformat === 0 ? action : `${this.#reformat(reformat)} ${action}`;
    });
    return `[${members.join(", ")}]`;
  }

  #sampler(address: number, rule: InstalledRule): string {
    const count = this.#word(address + SAMPLER_COUNT);
    const first = (address + SAMPLER_FIRST) >> 2;
    const actions = this.#traced.core.u32.subarray(first, first + (count * ACTION_SIZE) / 4);
    const program = this.#word(address + SAMPLER_PROGRAM);
    const head = `${this.#word(address + SAMPLER_NUMBER)} 1/${this.#word(address + SAMPLER_RATIO)}`;
    const table = this.#places.table(this.#word(address + SAMPLER_TABLE));
    return `${head} ${program === 0 ? "" : this.#program(program)} ${table} [${this.#list(Array.from(actions), rule)}]`;
  }

  #association(address: number, rule: InstalledRule): string {
    const { core } = this.#traced;
    const name = stateName(core, StateKind.esp, address, rule);
    const window = this.#word(address + ESP_WINDOW);
    const numbers = window === 0 ? "" : this.#bytes(window, 8 * (this.#word(address + ESP_WINDOW_WORDS) + 1));
    const before = this.#bytes(address, ESP_CIPHER);
    const between = this.#bytes(address + ESP_CIPHER + 4, ESP_WINDOW - ESP_CIPHER - 4);
    const after = this.#bytes(address + ESP_WINDOW + 4, ESP_SIZE - ESP_WINDOW - 4);
    const key = cipherId(core, this.#word(address + ESP_CIPHER));
    return `${name} ${before} ${key} ${between} ${after} ${numbers}`;
  }

  /** A queue by its name, with all that decides whether it takes a frame. */
  #queue(handle: number): string {
    if (handle === 0) return "none";
    const { label } = this.#device.queues.get(handle) ?? { label: `queue ${handle}` };
    const completions = this.#word(handle + RECEIVE_COMPLETIONS);
    const completion = completions === 0 ? "" : this.#bytes(completions, COMPLETION_SIZE);
    return `${label} ${this.#word(handle + RECEIVE_FLAGS)} ${completion} ${this.#buffers(handle)}`;
  }

  /** The lengths of the receive buffers that wait. */
  #buffers(handle: number): string {
    const queue = this.#word(handle + RECEIVE_BUFFERS);
    const [head, tail] = [this.#word(queue + RECEIVE_HEAD), this.#word(queue + RECEIVE_TAIL)];
    const [ring, wrap] = [this.#word(queue + RECEIVE_RING), this.#word(queue + RECEIVE_WRAP)];
    const lengths: number[] = [];
    for (let n = head; n !== tail; n = (n + 1) >>> 0) lengths.push(this.#word(ring + 4 * (n & wrap)));
    return lengths.join(" ");
  }

  #word(address: number): number {
    return this.#traced.core.u32[address >> 2] as number;
  }

  #bytes(address: number, length: number): string {
    return hexOf(this.#traced.core.u8.subarray(address, address + length));
  }
}
