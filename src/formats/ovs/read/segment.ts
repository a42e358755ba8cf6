/** What one rule does before its frame goes on, with the outputs of a flow. */
import type { RuleAction } from "../../rules/importRule.js";
import { termText } from "../../rules/matchDraft.js";
import { Segment } from "../../rules/segment.js";
import type { Change } from "./steps.js";

type ArrayMember = NonNullable<Extract<RuleAction, object>["array"]>[number];
export type Member = Extract<ArrayMember, object>;

/** Members of an array, and a table after them. */
const MAX_DESTINATIONS = 62;

interface Tag {
  readonly tpid?: "0x88a8";
  vid: number;
  pcp: number;
}

export class FlowSegment extends Segment {
  readonly missing: string[] = [];
  readonly #pushes: Tag[] = [];
  readonly #members: Member[] = [];

  constructor() {
    super({ commutes: true });
  }

  get isFull(): boolean {
    return this.#members.length >= MAX_DESTINATIONS;
  }

  /** Gives the frame its colour in a register C: 0 is red. */
  meter(object: string, register: number): void {
    this.put("any", { aso: { object, flags: "flow_meter_green", return_reg_c: register } });
  }

  decapsulate(): void {
    if (!this.has("decap")) this.put("decap", { reformat: { type: "l2_tunnel_to_l2" } });
  }

  /** @returns whether this rule can do it; else another one has to */
  pop(): boolean {
    if (this.has("end") || this.#pushes.pop() === undefined) return this.add("pop", "pop_vlan");
    this.remove("push");
    return true;
  }

  push(tpid: number, vid: number, pcp: number): boolean {
    const tag: Tag = { ...(tpid === 0x88a8 ? { tpid: "0x88a8" } : {}), vid, pcp };
    return this.add("push", { push_vlan: tag }) && this.#pushes.push(tag) > 0;
  }

  /** @param fields the match fields of the change and of its source */
  change(change: Change, field: string, source = ""): boolean {
    const isOfTag = [field, source].some((name) => name.startsWith("outer.first_"));
    const tag = this.#pushes.at(-1);
    if (isOfTag && tag !== undefined) return !this.has("end") && intoTag(tag, change);
    const kind = isOfTag ? "tag" : "modify";
    if (change.kind === "add") return this.modify({ add: field, by: change.by }, kind);
    if (change.kind === "set") {
      const { value, mask } = change;
      return mask === 0n || this.modify({ set: field, to: termText(field, { value, mask }) }, kind);
    }
    const { fromBit, intoBit, bits } = change;
    return this.modify({ copy: source, into: field, fromBit, intoBit, bits }, kind);
  }

  output(member: Member): void {
    this.#members.push(member);
    this.note("end", 1);
  }

  /** The actions of the rule; it leads to a table, or ends. */
  ending(table?: string): RuleAction[] {
    const members = [...this.#members, ...(table === undefined ? [] : [{ table }])];
    const [first, ...others] = members;
    if (first === undefined) return ["drop"];
    if (others.length > 0) return [...this.actions(), { array: members }];
    const { reformat, ...destination } = first;
    return [...this.actions(), ...(reformat === undefined ? [] : [{ reformat }]), destination] as RuleAction[];
  }
}

/** A tag that this rule pushes has its value at once. */
function intoTag(tag: Tag, change: Change): boolean {
  const key = change.field === "outer.first_vid" ? "vid" : change.field === "outer.first_prio" ? "pcp" : undefined;
  if (key === undefined || change.kind !== "set") return false;
  tag[key] = Number((BigInt(tag[key]) & ~change.mask) | change.value);
  return true;
}
