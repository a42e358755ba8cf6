/**
 * Changes of rules that wait for the next sync of their domain (createDevice: asyncRules). They are done in the order of the
 * calls; what a rule to be destroyed uses is in use until then.
 */
import type { DeviceBase } from "../base/deviceBase.js";
import type { Handle } from "../base/handle.js";
import type { FieldRange } from "../../engine/rules.js";

/** What the core needs to have a rule. */
export interface Insertion {
  readonly mask: Uint8Array;
  readonly value: Uint8Array;
  readonly ranges: readonly FieldRange[];
  /** The actions for frames of the first direction. */
  readonly record: readonly number[];
  /** The actions for those of the second, where they differ; else null. */
  readonly other: SecondDirection | null;
}

interface SecondDirection {
  readonly keys: readonly [number, number];
  readonly record: readonly number[];
}

/** A rule as its pending changes need it. */
export interface PendingRule {
  readonly matcher: Handle;
  readonly actions: readonly Handle<DeviceBase | null>[];
  readonly destroyed: boolean;
  /** Comes into the core. @throws ENOMEM */
  insert(call: string, insertion: Insertion): void;
  /** Leaves the core, and lets go what it uses. */
  remove(): void;
}

/** A rule to be made, or to be destroyed. */
interface Change {
  readonly rule: PendingRule;
  readonly insertion: Insertion | null;
}

export class PendingRules {
  #changes: Change[] = [];

  /** The rule comes into the core at the next sync. */
  create(rule: PendingRule, insertion: Insertion): void {
    this.#changes.push({ rule, insertion });
  }

  /** The last change is none. */
  takeBack(): void {
    this.#changes.pop();
  }

  /** The rule leaves the core at the next sync. */
  destroy(rule: PendingRule): void {
    this.#changes.push({ rule, insertion: null });
    countLeaving(this, rule, 1);
  }

  /** Whether there is a rule to be made that passes a test. */
  some(test: (rule: PendingRule, insertion: Insertion) => boolean): boolean {
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
const LEAVING = new WeakMap<Handle<DeviceBase | null>, Map<PendingRules, number>>();

function countLeaving(held: PendingRules, { matcher, actions }: PendingRule, change: number): void {
  for (const one of [matcher, ...actions]) {
    let counts = LEAVING.get(one);
    if (counts === undefined) LEAVING.set(one, (counts = new Map<PendingRules, number>()));
    counts.set(held, (counts.get(held) ?? 0) + change);
  }
}

/**
 * SPEC: an object that only rules to be destroyed use can be destroyed itself: they go first.
 * @throws ENOMEM what waits before them finds no room
 */
export function settle(call: string, object: Handle<DeviceBase | null>): void {
  const counts = LEAVING.get(object);
  if (counts === undefined) return;
  const leaving = [...counts].filter(([, count]) => count > 0);
  if (leaving.length === 0 || leaving.reduce((sum, [, count]) => sum + count, 0) < object.users) return;
  for (const [held] of leaving) held.apply(call);
}
