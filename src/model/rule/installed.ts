/** What has a rule in the core, by the number under which outcomes list it. */
import type { DevxFlowEntry } from "../devx/flowEntry.js";
import type { FlowEntry } from "../flow/entry.js";
import type { HostRule } from "../flow/hostRules.js";
import type { ConnectionRule } from "../roce/connectionRule.js";
import { Rule } from "./rule.js";

export type Installed = Rule | FlowEntry | HostRule | DevxFlowEntry | ConnectionRule;

export class InstalledRules {
  readonly #byId: (Installed | undefined)[] = [];
  readonly #free: number[] = [];
  /** How many have been removed: their numbers are those of others. */
  removed = 0;

  /** The number that the next one gets. */
  get nextId(): number {
    return this.#free.at(-1) ?? this.#byId.length;
  }

  /** One that was made with `nextId`. */
  add(one: Installed): void {
    if (one.id === this.#byId.length) this.#byId.push(one);
    else this.#byId[this.#free.pop() as number] = one;
  }

  remove({ id }: Installed): void {
    this.#byId[id] = undefined;
    this.#free.push(id);
    this.removed++;
  }

  /** The one with this number, which is alive. */
  at(id: number): Installed {
    return this.#byId[id] as Installed;
  }

  *[Symbol.iterator](): Iterator<Installed> {
    for (const one of this.#byId) if (one !== undefined) yield one;
  }

  /** Direct rules alone. */
  *rules(): Iterable<Rule> {
    for (const one of this) if (one instanceof Rule) yield one;
  }
}
