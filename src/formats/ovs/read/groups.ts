/** Groups whose buckets lead to other groups. */
import type { Group } from "./pipeline/state.js";
import type { Act } from "./steps.js";

/** The groups that acts name, also in lists within them. */
export function groupsIn(acts: readonly Act[]): string[] {
  return acts.flatMap((one) => {
    if (one.kind === "group") return [one.id];
    if (one.kind === "write") return groupsIn(one.acts);
    return one.kind === "clones" ? one.lists.flatMap(groupsIn) : [];
  });
}

/** Whether buckets of a group lead to it again, by way of other groups too. */
export function isCircular(id: string, groups: ReadonlyMap<string, Group>): boolean {
  const seen = new Set<string>();
  const open = [id];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const other of groups.get(next)?.buckets.flatMap(groupsIn) ?? []) {
      if (other === id) return true;
      if (seen.has(other)) continue;
      seen.add(other);
      open.push(other);
    }
  }
  return false;
}
