/** Lists of acts that share their ends: the same list is one object with one number. */
import type { Act } from "./steps.js";

export interface Node {
  readonly act: Act;
  readonly next: Node | null;
  readonly id: number;
  readonly length: number;
}

export class Nodes {
  readonly #byKey = new Map<string, Node>();

  one(act: Act, next: Node | null): Node {
    const key = `${next?.id ?? 0} ${act.key}`;
    const found = this.#byKey.get(key);
    if (found !== undefined) return found;
    const made: Node = { act, next, id: this.#byKey.size + 1, length: (next?.length ?? 0) + 1 };
    this.#byKey.set(key, made);
    return made;
  }

  list(acts: readonly Act[], next: Node | null = null): Node | null {
    return acts.reduceRight<Node | null>((rest, act) => this.one(act, rest), next);
  }
}

/** Words of OpenFlow's action sets, in the order in which a set is executed. */
const ORDER = ["pop_vlan", "push_vlan", "dec_ttl", "other", "last"] as const;

/** A list of acts as an action set: one of a kind, in the order of sets, and one end. */
export function asSet(acts: readonly Act[]): readonly Act[] {
  const kinds = new Map<string, Act[]>(ORDER.map((kind) => [kind, []]));
  for (const act of acts) {
    const kind = kindInSet(act);
    if (kind === "other") kinds.get(kind)?.push(act);
    else if (kind === "last") kinds.set(kind, [lastOf(act, kinds.get(kind)?.[0])]);
    else kinds.set(kind, [act]);
  }
  const last = kinds.get("last") ?? [];
  return last.length === 0 ? [] : ORDER.flatMap((kind) => kinds.get(kind) ?? []);
}

/** A set with more acts: a later one replaces those that do the same. */
export function intoSet(set: readonly Act[], more: readonly Act[]): Act[] {
  const all = new Map<string, Act>();
  for (const act of [...set, ...more]) {
    const kind = kindInSet(act);
    const key = kind === "other" || kind === "last" ? act.key : kind;
    all.delete(key);
    all.set(key, act);
  }
  return [...all.values()];
}

export function actsOf(list: Node | null): Act[] {
  const acts: Act[] = [];
  for (let node = list; node !== null; node = node.next) acts.push(node.act);
  return acts;
}

function kindInSet({ kind }: Act): (typeof ORDER)[number] {
  if (kind === "pop_vlan" || kind === "push_vlan" || kind === "dec_ttl") return kind;
  return ["output", "in_port", "group", "lookup"].includes(kind) ? "last" : "other";
}

/** A group comes before an output, that before a resubmit; of one kind the later one stays. */
function lastOf(act: Act, held: Act | undefined): Act {
  if (held === undefined) return act;
  const rank = ({ kind }: Act): number => (kind === "group" ? 0 : kind === "lookup" ? 2 : 1);
  return rank(act) <= rank(held) ? act : held;
}
