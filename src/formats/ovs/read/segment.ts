/**
 * What one rule does before its frame goes on. A rule executes its actions in an order of its own:
 * decapsulation, tags off, changes, tags on, destinations. What a flow does in another order is cut into
 * several rules.
 */
import type { ScenarioRuleAction } from "../../../scenario/action/definition.js";
import { termText } from "../../rules/matchDraft.js";
import type { Change } from "./steps.js";

type Modify = Extract<ScenarioRuleAction, object>["modify"] & object;
type ArrayMember = NonNullable<Extract<ScenarioRuleAction, object>["array"]>[number];
type Member = Extract<ArrayMember, object>;

/** Members of an array, and a table after them. */
const MAX_DESTINATIONS = 62;

interface Tag {
  readonly tpid: number;
  vid: number;
  pcp: number;
}

export class Segment {
  readonly missing: string[] = [];
  #decapsulates = false;
  #pops = 0;
  readonly #changes: Modify[number][] = [];
  #changesTag = false;
  readonly #pushes: Tag[] = [];
  readonly #members: Member[] = [];
  #meter: ScenarioRuleAction | undefined;

  get isEmpty(): boolean {
    return (
      !this.#decapsulates &&
      this.#pops === 0 &&
      this.#changes.length === 0 &&
      this.#pushes.length === 0 &&
      this.#members.length === 0 &&
      this.#meter === undefined
    );
  }

  get isFull(): boolean {
    return this.#members.length >= MAX_DESTINATIONS;
  }

  /** Gives the frame its colour in a register C: 0 is red. */
  meter(object: string, register: number): void {
    this.#meter = { aso: { object, flags: "flow_meter_green", return_reg_c: register } };
  }

  decapsulate(): void {
    this.#decapsulates = true;
  }

  /** @returns whether this rule can do it; else another one has to */
  pop(): boolean {
    if (this.#members.length > 0) return false;
    if (this.#pushes.pop() !== undefined) return true;
    if (this.#changesTag) return false;
    this.#pops++;
    return true;
  }

  push(tpid: number, vid: number, pcp: number): boolean {
    if (this.#members.length > 0) return false;
    this.#pushes.push({ tpid, vid, pcp });
    return true;
  }

  /** @param fields the match fields of the change and of its source */
  change(change: Change, field: string, source?: string): boolean {
    if (this.#members.length > 0) return false;
    const isOfTag = [field, source].some((name) => name?.startsWith("outer.first_") === true);
    if (isOfTag && this.#pushes.length > 0) return this.#intoTag(change);
    if (isOfTag) this.#changesTag = true;
    if (change.kind === "add") this.#changes.push({ add: field, by: change.by });
    else if (change.kind === "copy") {
      const { fromBit, intoBit, bits } = change;
      this.#changes.push({ copy: source ?? "", into: field, fromBit, intoBit, bits });
    } else if (change.mask !== 0n)
      this.#changes.push({ set: field, to: termText(field, { value: change.value, mask: change.mask }) });
    return true;
  }

  /** A tag that this rule pushes has its value at once. */
  #intoTag(change: Change): boolean {
    const tag = this.#pushes.at(-1);
    if (tag === undefined || change.kind !== "set") return false;
    const old = change.field === "outer.first_vid" ? tag.vid : tag.pcp;
    const value = (BigInt(old) & ~change.mask) | change.value;
    if (change.field === "outer.first_vid") tag.vid = Number(value);
    else if (change.field === "outer.first_prio") tag.pcp = Number(value);
    else return false;
    return true;
  }

  output(member: Member): void {
    this.#members.push(member);
  }

  /** The actions of the rule; it leads to a table, or ends. */
  actions(table?: string): ScenarioRuleAction[] {
    const members = [...this.#members, ...(table === undefined ? [] : [{ table }])];
    const [first, ...others] = members;
    if (first === undefined) return ["drop"];
    const before: ScenarioRuleAction[] = [
      ...(this.#meter === undefined ? [] : [this.#meter]),
      ...(this.#decapsulates ? [{ reformat: { type: "l2_tunnel_to_l2" as const } }] : []),
      ...Array.from({ length: this.#pops }, () => "pop_vlan" as const),
      ...(this.#changes.length === 0 ? [] : [{ modify: this.#changes }]),
      ...this.#pushes.map(({ tpid, vid, pcp }) => ({
        push_vlan: { ...(tpid === 0x88a8 ? { tpid: "0x88a8" as const } : {}), vid, pcp },
      })),
    ];
    if (others.length > 0) return [...before, { array: members }];
    const { reformat, ...destination } = first;
    return [...before, ...(reformat === undefined ? [] : [{ reformat }]), destination] as ScenarioRuleAction[];
  }
}

export type { Member, Modify };
