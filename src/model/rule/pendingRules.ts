/**
 * Changes of rules that wait for the next sync of their domain (createDevice: asyncRules). They are done in the order of the
 * calls; what a rule to be destroyed uses is in use until then.
 */
import type { Device } from "../device/device.js";
import type { Handle } from "../base/handle.js";
import type { Insertion, Rule } from "./rule.js";

/** A rule to be made, or to be destroyed. */
interface Change {
  readonly rule: Rule;
  readonly insertion: Insertion | null;
}

export class HeldRules {
  #changes: Change[] = [];

  /** The rule comes into the core at the next sync. */
  create(rule: Rule, insertion: Insertion): void {
    this.#changes.push({ rule, insertion });
  }

  /** The last change is none. */
  takeBack(): void {
    this.#changes.pop();
  }

  /** The rule leaves the core at the next sync. */
  destroy(rule: Rule): void {
    this.#changes.push({ rule, insertion: null });
    countLeaving(this, rule, 1);
  }

  /** Whether there is a rule to be made that passes a test. */
  some(test: (rule: Rule, insertion: Insertion) => boolean): boolean {
    return this.#changes.some(({ rule, insertion }) => insertion !== null && !rule.destroyed && test(rule, insertion));
  }

  /** Does what waits. @throws ENOMEM what comes before is done; that change and the rest still wait */
  apply(call: string): void {
    let done = 0;
    try {
      for (; done < this.#changes.length; done++) {
        const { rule, insertion } = this.#changes[done] as Change;
        if (insertion === null) {
          countLeaving(this, rule, -1);
          rule.remove();
        } else if (!rule.destroyed) {
          rule.insert(call, insertion);
        }
      }
    } finally {
      this.#changes = this.#changes.slice(done);
    }
  }
}

/** Uses of an object that end at the next sync, by where they wait. */
const LEAVING = new WeakMap<Handle<Device | null>, Map<HeldRules, number>>();

function countLeaving(held: HeldRules, { matcher, actions }: Rule, change: number): void {
  for (const one of [matcher, ...actions]) {
    let counts = LEAVING.get(one);
    if (counts === undefined) LEAVING.set(one, (counts = new Map<HeldRules, number>()));
    counts.set(held, (counts.get(held) ?? 0) + change);
  }
}

/**
 * SPEC: an object that only rules to be destroyed use can be destroyed itself: they go first.
 * @throws ENOMEM what waits before them finds no room
 */
export function settle(call: string, object: Handle<Device | null>): void {
  const counts = LEAVING.get(object);
  if (counts === undefined) return;
  const leaving = [...counts].filter(([, count]) => count > 0);
  if (leaving.length === 0 || leaving.reduce((sum, [, count]) => sum + count, 0) < object.users) return;
  for (const [held] of leaving) held.apply(call);
}
