/**
 * Rule changes that wait for the next sync of their domain (createDevice: asyncRules). A sync
 * applies them in the order of the calls. A rule to be destroyed uses its objects until then.
 */
import type { DeviceBase } from "../base/deviceBase.js";
import type { Handle } from "../base/handle.js";
import type { RuleMask } from "../../engine/ruleMask.js";
import type { FieldRange } from "../../engine/rules.js";

/** What the core needs to insert a rule. */
export interface Insertion {
  readonly mask: Uint8Array | RuleMask;
  readonly value: Uint8Array;
  readonly ranges: readonly FieldRange[];
  /** The actions for frames of the first direction. */
  readonly record: readonly number[];
  /** The actions for frames of the second direction, where they differ; else null. */
  readonly other: SecondDirection | null;
}

interface SecondDirection {
  readonly keys: readonly [number, number];
  readonly record: readonly number[];
}

/** A rule, as its pending changes need it. */
export interface PendingRule {
  readonly matcher: Handle;
  readonly actions: readonly Handle<DeviceBase | null>[];
  readonly destroyed: boolean;
  /** @internal Inserts the rule into the core. @throws ENOMEM */
  insert(insertion: Insertion): void;
  /** @internal Removes the rule from the core and releases what it uses. */
  remove(): void;
}

/** A rule to be inserted, or to be removed. */
interface Change {
  readonly rule: PendingRule;
  readonly insertion: Insertion | null;
}

export class PendingRules {
  private _changes: Change[] = [];

  /** The next sync inserts the rule. */
  create(rule: PendingRule, insertion: Insertion): void {
    this._changes.push({ rule, insertion });
  }

  /** Drops the last change. */
  takeBack(): void {
    this._changes.pop();
  }

  /** The next sync removes the rule. */
  destroy(rule: PendingRule): void {
    this._changes.push({ rule, insertion: null });
    countLeaving(this, rule, 1);
  }

  /** Whether some rule to be inserted passes a test. */
  some(test: (rule: PendingRule, insertion: Insertion) => boolean): boolean {
    return this._changes.some(({ rule, insertion }) => insertion !== null && !rule.destroyed && test(rule, insertion));
  }

  /**
   * Applies the pending changes. @throws ENOMEM the changes before are applied; that change and the
   * rest stay pending
   */
  apply(): void {
    let done = 0;
    try {
      for (; done < this._changes.length; done++) {
        const { rule, insertion } = this._changes[done] as Change;
        if (insertion === null) {
          countLeaving(this, rule, -1);
          rule.remove();
        } else if (!rule.destroyed) {
          rule.insert(insertion);
        }
      }
    } finally {
      this._changes = this._changes.slice(done);
    }
  }
}

/** Uses of an object that end with the next sync, by the list that holds them. */
export const LEAVING = new WeakMap<Handle<DeviceBase | null>, Map<PendingRules, number>>();

function countLeaving(held: PendingRules, { matcher, actions }: PendingRule, change: number): void {
  for (const one of [matcher, ...actions]) {
    let counts = LEAVING.get(one);
    if (counts === undefined) LEAVING.set(one, (counts = new Map<PendingRules, number>()));
    counts.set(held, (counts.get(held) ?? 0) + change);
  }
}

/**
 * SPEC: an object that only rules to be destroyed use can itself be destroyed: the call applies
 * their changes first.
 * @throws ENOMEM a change before them finds no memory
 */
export function settle(object: Handle<DeviceBase | null>): void {
  const counts = LEAVING.get(object);
  if (counts === undefined) return;
  const leaving = [...counts].filter(([, count]) => count > 0);
  if (leaving.length === 0 || leaving.reduce((sum, [, count]) => sum + count, 0) < object.users) return;
  for (const [held] of leaving) held.apply();
}
