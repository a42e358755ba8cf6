/** The state that tables are in: every change of tables, rules, their actions, their order or links has a number of its own. */
export namespace Epoch {
  export let number: u64 = 1;
}

/** What lookups have found so far counts no more. */
// @ts-ignore: decorator
@inline
export function invalidate(): void {
  Epoch.number++;
}
