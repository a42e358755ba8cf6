/** Where rules send frames: the tables, queues, functions and ports that their actions name. */
import {
  ACTION_SIZE,
  ARRAY_COUNT,
  ARRAY_FIRST,
  MEMBER_OP,
  MEMBER_OPERAND,
  MEMBER_REFORMAT,
  MEMBER_SIZE,
  Op,
  ROOT_TABLE,
} from "../../abi/engine.js";
import { RSS_MASK, RSS_QUEUES, SAMPLER_COUNT, SAMPLER_FIRST, SAMPLER_TABLE } from "../../abi/state.js";
import type { Core } from "../../engine/core.js";
import type { TracedCore } from "../../engine/tracedCore.js";
import { operationOf } from "../../model/action/operations.js";
import type { RuleNode, RuleReader } from "./rules.js";

/** A place that a rule sends frames to. */
export interface Link {
  readonly kind: "table" | "queue" | "vport" | "port";
  /** The address of a table or a queue; the number of a vport or port. */
  readonly to: number;
  /** How the rule leads there. */
  readonly by: "action" | "array" | "sampler" | "sample" | "rss" | "root";
}

export interface Lead {
  readonly rule: RuleNode;
  readonly link: Link;
}

/** The links of a list of actions: pairs of operation and operand. */
export function linksOf(core: Core, actions: readonly number[]): Link[] {
  const links: Link[] = [];
  for (let i = 0; i < actions.length; i += 2)
    addLinks(core, links, actions[i] as number, actions[i + 1] as number, "action");
  return links;
}

function addLinks(core: Core, links: Link[], op: number, operand: number, by: Link["by"]): void {
  const word = (at: number): number => core.u32[at >> 2] as number;
  const { operand: kind } = operationOf(op);
  switch (kind) {
    case "table":
    case "queue":
    case "vport":
    case "port":
      links.push({ kind, to: operand, by });
      break;
    case "priority":
      links.push({ kind: "table", to: word(operand + ROOT_TABLE), by: "root" });
      break;
    case "rss": {
      const queues = word(operand + RSS_QUEUES);
      const count = word(operand + RSS_MASK) + 1;
      const distinct = new Set(Array.from({ length: count }, (_, n) => word(queues + 4 * n)));
      for (const to of distinct) links.push({ kind: "queue", to, by: "rss" });
      break;
    }
    case "sampler":
      links.push({ kind: "table", to: word(operand + SAMPLER_TABLE), by: "sampler" });
      break;
    case "array":
    case "number":
    case "sender":
    case "program":
    case "reformat":
    case "state":
    case "association":
  }
  for (const member of membersOf(core, op, operand))
    addLinks(core, links, member.op, member.operand, op === (Op.array as number) ? "array" : "sample");
}

/** The links of a copy of a device's memory. */
interface CopiedLinks {
  /** `TracedCore.copies` at that time. */
  readonly copy: number;
  readonly leads: ReadonlyMap<string, readonly Lead[]>;
}

const READ = new WeakMap<TracedCore, CopiedLinks>();

/** A member of an array, or an action of the copies that a sampler makes. */
export interface Member {
  readonly op: number;
  readonly operand: number;
  /** The reformat record of a member that changes its copy first; 0 for none. */
  readonly reformat: number;
}

/** The members of an array or of a sampler; none for other operations. */
export function membersOf(core: Core, op: number, operand: number): Member[] {
  const word = (at: number): number => core.u32[at >> 2] as number;
  if (op === (Op.array as number)) {
    return Array.from({ length: word(operand + ARRAY_COUNT) }, (_, n) => {
      const at = operand + ARRAY_FIRST + n * MEMBER_SIZE;
      return {
        op: word(at + MEMBER_OP),
        operand: word(at + MEMBER_OPERAND),
        reformat: word(at + MEMBER_REFORMAT),
      };
    });
  }
  if (op !== (Op.sampler as number)) return [];
  return Array.from({ length: word(operand + SAMPLER_COUNT) }, (_, n) => {
    const at = operand + SAMPLER_FIRST + n * ACTION_SIZE;
    return { op: word(at), operand: word(at + 4), reformat: 0 };
  });
}

/** All links of a device, from the copy of its memory: read once for each copy, when first asked for. */
export class LinkMap {
  readonly #rules: RuleReader;

  constructor(rules: RuleReader) {
    this.#rules = rules;
  }

  /** The rules that lead to a place, in the order of tables and ranks. */
  leadsTo(kind: Link["kind"], to: number): readonly Lead[] {
    const { traced } = this.#rules;
    let links = READ.get(traced);
    if (links?.copy !== traced.copies) READ.set(traced, (links = { copy: traced.copies, leads: this.#read() }));
    return links.leads.get(`${kind} ${to}`) ?? [];
  }

  #read(): Map<string, Lead[]> {
    const leads = new Map<string, Lead[]>();
    const rules = this.#rules;
    for (const table of rules.device.tables.keys()) {
      for (const rule of rules.rulesOf(table)) {
        for (const link of linksOf(rules.traced.core, rules.traced.actionsOf(rule.stored))) {
          const key = `${link.kind} ${link.to}`;
          const known = leads.get(key);
          if (known === undefined) leads.set(key, [{ rule, link }]);
          else known.push({ rule, link });
        }
      }
    }
    return leads;
  }
}
